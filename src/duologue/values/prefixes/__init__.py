"""What two prompts begin with in common."""

"""What was used with each key, by day."""

"""Short texts and questions about them. Used by the skill `reading`."""

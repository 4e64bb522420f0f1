"""Full-text search of conversations."""

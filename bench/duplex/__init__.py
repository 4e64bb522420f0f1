"""Synthetic callers, what they do to a running server, and what is counted of it."""

"""Conversations on the server: the tree, the agent loop, running replies, and their HTTP routes."""

"""Faces that people brought."""

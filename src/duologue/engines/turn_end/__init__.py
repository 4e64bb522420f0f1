"""Telling from the sound of a caller's turn whether it is complete."""

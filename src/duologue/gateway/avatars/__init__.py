"""Faces to speak with: the drawn ones, and those that people bring; `/api/avatars`."""

"""Dialects: bytes on a socket or in a body, to values and back. Knows field names; opens no socket."""

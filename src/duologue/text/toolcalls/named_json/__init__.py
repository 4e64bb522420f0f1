"""Families that write the name of a tool before the JSON of its arguments."""

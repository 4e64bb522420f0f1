"""Families that write the keys and values of a call in turn, each between markers."""

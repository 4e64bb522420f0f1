"""Families that write every message with markers that say who it is for."""

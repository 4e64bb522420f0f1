"""Families that write a call as an expression of a programming language."""

"""Whose turn it is, decided on the sample clock: pure machines, values in and values out."""

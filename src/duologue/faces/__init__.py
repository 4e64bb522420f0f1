"""Drawn faces: their looks as data, what a pose makes of them, and how a face moves by itself. Pure."""

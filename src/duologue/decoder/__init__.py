"""Decoding of files that people send, in processes that may die: each job in a child of its own, with limits."""

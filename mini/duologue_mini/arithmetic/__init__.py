"""Sums as the model writes them out, and word problems that ask for them. Used by the skill `arithmetic`."""

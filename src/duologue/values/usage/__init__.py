"""The limits of keys, and what was used with them."""

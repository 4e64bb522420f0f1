"""The commands about limits and usage of keys."""

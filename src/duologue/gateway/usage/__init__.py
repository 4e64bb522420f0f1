"""Limits and usage by key: who may use how much, and who used how much."""

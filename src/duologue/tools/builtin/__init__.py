"""The built-in tools: clock, calculator, fetch, search."""

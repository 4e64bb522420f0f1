"""The built-in tools: clock, calculator, page reader, search."""

"""Text as it is spoken: clauses, numbers, symbols, and where each spoken word stands in the written text."""

"""`duologue drain` and `duologue restart`: their flags, and what they do."""

"""One conversation turn each, run against an engine. Knows no socket and no dialect."""

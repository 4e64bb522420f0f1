"""Running replies: planned, generated, logged as numbered events, saved and recovered after a crash."""

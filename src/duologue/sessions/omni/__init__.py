"""One call that an omni model holds by itself: units in, its words and sound out."""

"""How what running replies write gets into the store: when each is saved, and which are saved together."""

"""What a worker is asked without a slot, and what it answers."""

"""Questions that a worker answers without a slot, and their answers."""

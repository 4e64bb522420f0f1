"""One model turn in a worker, from request to last event."""

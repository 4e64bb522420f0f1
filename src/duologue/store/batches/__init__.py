"""The rows of files that clients of the API store, and of their batches."""

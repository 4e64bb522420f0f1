"""Several servers with the same model: which of them gets a request, and what becomes of one that fails."""

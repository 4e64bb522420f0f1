"""Models that come and go: what is available, loading, downloading, and their routes."""

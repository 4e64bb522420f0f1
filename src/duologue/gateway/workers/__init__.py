"""Worker processes and the connection to each."""

"""Files that clients of the API store: `/v1/files`."""

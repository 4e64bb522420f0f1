"""What clients read of models: the entries of `GET /v1/models`."""

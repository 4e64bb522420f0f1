"""PCM arithmetic that recognisers and speakers share."""

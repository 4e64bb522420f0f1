"""Attachments: blobs on disk or in memory, and what a model is given of them."""

"""Stored files and batches, as the database has them."""

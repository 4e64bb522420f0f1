"""This gateway among the others of its database."""

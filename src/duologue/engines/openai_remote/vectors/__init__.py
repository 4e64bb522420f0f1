"""Vectors and scores of models on other servers."""

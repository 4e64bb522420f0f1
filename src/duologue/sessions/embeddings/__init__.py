"""The work of embedding models and rerankers."""

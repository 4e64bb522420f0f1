"""The bodies and answers of embeddings and of reranking."""

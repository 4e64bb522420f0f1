"""Texts as vectors, and documents in the order of a query: `service` for every dialect, and the routes of OpenAI and the rerank APIs."""

"""Responses and conversations of OpenAI's API, and their items."""

"""Completions of a text without messages: OpenAI's older API, and llama-server's own."""

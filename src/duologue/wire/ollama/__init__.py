"""Ollama's API: its requests and answers."""

"""Ollama's API on a port of its own."""

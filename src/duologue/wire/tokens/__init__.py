"""Tokens, templates, adapters and presets, as llama-server, vLLM and tabbyAPI have them."""

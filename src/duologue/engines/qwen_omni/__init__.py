"""Qwen2.5-Omni and Qwen3-Omni through transformers: they see, hear, write and speak."""

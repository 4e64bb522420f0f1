"""Prompts of an omni model: texts and media as tokens and positions."""

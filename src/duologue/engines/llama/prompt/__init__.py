"""Prompts on llama.cpp: their tokens, with pictures and sound, and reading them in steps."""

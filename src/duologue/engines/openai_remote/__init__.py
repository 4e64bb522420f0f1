"""Engines that forward to an OpenAI-compatible server: chat, transcription and speech."""

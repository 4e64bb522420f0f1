"""Voices: espeak-ng and Kokoro, with the time of every word."""

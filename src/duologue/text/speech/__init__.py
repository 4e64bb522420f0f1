"""Prepares text for speech synthesis: clauses, numbers and symbols in words, and the mapping from spoken words to written text."""

"""Incremental scanners of a text stream: markers, code fences, stop strings, repetition."""

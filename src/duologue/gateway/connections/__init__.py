"""Connections and their bounds: accepting, reading requests, closing what is too large, too slow or too much."""

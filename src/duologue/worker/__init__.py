"""The process that owns one device and its engines."""

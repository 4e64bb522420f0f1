"""Anthropic's Messages API: requests to values, events to its messages, streams, model lists and errors."""

"""OpenAI's Responses API: its bodies to values, and events to its objects and streams."""

"""The public chat and audio APIs: OpenAI's over HTTP, and `/ws/chat`."""

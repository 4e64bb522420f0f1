"""Tools for models: MCP servers and the built-in tools. Independent of conversations and runs."""

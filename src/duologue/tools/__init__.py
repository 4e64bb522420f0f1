"""Tools a model may call: MCP servers and the built-in ones. Knows no conversation's tree and no run."""

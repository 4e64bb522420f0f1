"""MCP servers: configuration, transports, sessions, health and sign-in."""

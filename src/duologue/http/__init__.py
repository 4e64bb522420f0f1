"""HTTP building blocks the gateway and the conversations API share: server-sent events, event logs, JSON bodies, errors."""

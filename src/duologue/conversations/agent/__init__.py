"""The agent loop: one model turn after another with tool calls between them, approvals, and what a turn needs."""

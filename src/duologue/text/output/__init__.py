"""The text machine: raw model output split into reasoning, content and tool calls, and the grammar that constrains it."""

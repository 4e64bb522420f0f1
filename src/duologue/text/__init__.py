"""Machines over text: chat templates, channels of a reply, tool-call formats. No clock, no I/O."""

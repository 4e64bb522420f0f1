"""The turns of a call that an omni model holds by itself."""

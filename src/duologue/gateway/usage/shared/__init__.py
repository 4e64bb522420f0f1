"""Limits that several gateways hold together: parts of a key's allowance, moved to where they are needed."""

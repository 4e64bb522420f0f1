"""Telephone calls: `/ws/voice` and `/ws/duplex`, their replies, history and approvals."""

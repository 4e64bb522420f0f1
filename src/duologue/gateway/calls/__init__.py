"""Telephone calls: `/ws/voice`, and for both sockets of calls their model, seat, replies, history and approvals."""

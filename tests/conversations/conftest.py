"""Fixtures of this room's tests."""

from conversation_service import site as site

"""Fixtures of this room's tests."""

from tests.support.conversation_service import site as site

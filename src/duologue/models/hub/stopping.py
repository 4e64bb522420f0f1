"""The end of a download that is no longer wanted. In a file of its own, for those who have no connection yet."""

from __future__ import annotations


class Stopped(Exception):
    """Whoever asked has given up. What came until then stays where it is."""

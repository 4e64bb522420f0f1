"""The header `traceparent` of the W3C's Trace Context: which trace a request belongs to, and below which span.

Pure. Clients send it to the gateway, and the gateway to its workers.
"""

from __future__ import annotations

import re

from msgspec import Struct

_HEADER = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")
_SAMPLED = 1


class TraceContext(Struct, frozen=True):
    """A place in a trace. `sampled`: its spans are recorded."""

    trace: int
    span: int
    sampled: bool = True

    @property
    def traceparent(self) -> str:
        """The value of the header."""
        return f"00-{self.trace:032x}-{self.span:016x}-{int(self.sampled):02x}"


def parsed(traceparent: str) -> TraceContext | None:
    """The place that a header names; None for one that is not well-formed. Of a later version the beginning counts, as the standard
    says."""
    found = _HEADER.fullmatch(traceparent)
    if found is None:
        return None
    version, trace, span, flags, more = found.groups()
    if version == "ff" or (version == "00" and more):
        return None
    context = TraceContext(int(trace, 16), int(span, 16), bool(int(flags, 16) & _SAMPLED))
    return context if context.trace and context.span else None

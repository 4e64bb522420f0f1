"""The health of a tool server, and the last lines of its log with secrets redacted.

Owns the fields of `/api/mcp`. Independent of connections.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable
from typing import Literal

from msgspec import Struct

Phase = Literal["off", "idle", "starting", "handshake", "listing", "ready", "failed", "waiting", "login"]
"""`idle`: not tried yet; `waiting`: failed, will be retried; `failed`: needs a person to fix it; `login`: the user has
to sign in first; `off`: disabled."""

LINES = 200
LINE = 2000
REDACTED = "***"
# Environment values such as "on" or "8080" are not secrets; redacting them would make the log unreadable.
SHORTEST_SECRET = 6
_BEARER = re.compile(r"(?i)\b(bearer|basic)\s+[a-z0-9._~+/=-]{6,}")
_USERINFO = re.compile(r"(?<=//)[^/\s@]+@")
_CONTROL = re.compile(r"\x1b\[[0-9;]*[a-zA-Z]|[\x00-\x08\x0b-\x1f\x7f]")


class LogLine(Struct, frozen=True):
    """`at` in ms since 1970; `source`: this server, the tool server, or its standard error."""

    at: int
    source: Literal["duologue", "server", "stderr"]
    text: str


class ServerHealth(Struct, frozen=True):
    """The state of a server. `since`: start of the phase; `retry`: time of the next attempt (ms since 1970, 0: none);
    `login`: the address to open during a sign-in."""

    name: str
    phase: Phase
    since: int
    source: Literal["builtin", "config", "admin"]
    transport: str = ""
    address: str = ""
    """The command or URL, without secrets."""
    message: str = ""
    retry: int = 0
    login: str = ""
    title: str = ""
    version: str = ""
    protocol: str = ""
    instructions: str = ""
    tools: int = 0
    resources: int = 0
    templates: int = 0
    prompts: int = 0
    disabled: bool = False
    signed_in: bool = False
    """The requesting user has signed in to this server."""


class Journal:
    """The last lines of one server's log. `now` gives ms since 1970."""

    def __init__(self, secrets: Iterable[str], now: Callable[[], int]) -> None:
        self._secrets = sorted({s for s in secrets if len(s) >= SHORTEST_SECRET}, key=len, reverse=True)
        self._now = now
        self._lines: deque[LogLine] = deque(maxlen=LINES)

    def add(self, text: str, source: Literal["duologue", "server", "stderr"] = "duologue") -> None:
        """Append `text`, line by line; of a very long one only the beginning."""
        for line in text[: LINES * LINE].splitlines()[:LINES]:
            if line.strip():
                # Cut before redacting too, which is slow; wide enough that a secret at the cut is not shown.
                self._lines.append(LogLine(self._now(), source, self.redact(line[: 4 * LINE])[:LINE]))

    def lines(self) -> tuple[LogLine, ...]:
        return tuple(self._lines)

    def redact(self, text: str) -> str:
        """`text` without this server's secrets, anything that looks like credentials, and control characters."""
        for secret in self._secrets:
            text = text.replace(secret, REDACTED)
        text = _BEARER.sub(rf"\1 {REDACTED}", _USERINFO.sub(f"{REDACTED}@", text))
        return _CONTROL.sub("", text)

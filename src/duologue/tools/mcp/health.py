"""How a server is: its phase, since when, what it offers, and the last lines of its log.

Owns the fields of `/api/mcp`. Everything a server, or the program behind it, says is kept here with secrets struck
out, and no more than the last lines. Knows no connection.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable
from typing import Literal

from msgspec import Struct

Phase = Literal["off", "idle", "starting", "handshake", "listing", "ready", "failed", "waiting", "login"]
"""`idle`: not tried yet; `waiting`: it failed and is tried again soon; `failed`: only a person can mend it; `login`:
somebody has to sign in there first; `off`: disabled."""

LINES = 200
LINE = 2000
STRUCK = "***"
# Shorter secrets are words of ordinary text: striking "on" or "8080" out would leave no log.
SHORTEST_SECRET = 6
_BEARER = re.compile(r"(?i)\b(bearer|basic)\s+[a-z0-9._~+/=-]{6,}")
_USERINFO = re.compile(r"(?<=//)[^/\s@]+@")
_CONTROL = re.compile(r"\x1b\[[0-9;]*[a-zA-Z]|[\x00-\x08\x0b-\x1f\x7f]")


class LogLine(Struct, frozen=True):
    """`at` in ms since 1970; `source` says who wrote it: we, the server, or its standard error."""

    at: int
    source: Literal["duologue", "server", "stderr"]
    text: str


class ServerHealth(Struct, frozen=True):
    """A server as it stands. `since` is when its phase began, `retry` when it is tried again (ms since 1970, 0: not),
    `login` the address to open where somebody has to sign in and has begun to."""

    name: str
    phase: Phase
    since: int
    source: Literal["builtin", "config", "admin"]
    transport: str = ""
    address: str = ""
    """The command or URL it is reached by, without secrets."""
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
    """Whoever asks has signed in there, and can sign out."""


class Journal:
    """The last lines of one server's log. `now` gives ms since 1970."""

    def __init__(self, secrets: Iterable[str], now: Callable[[], int]) -> None:
        self._secrets = sorted({s for s in secrets if len(s) >= SHORTEST_SECRET}, key=len, reverse=True)
        self._now = now
        self._lines: deque[LogLine] = deque(maxlen=LINES)

    def add(self, text: str, source: Literal["duologue", "server", "stderr"] = "duologue") -> None:
        """Keep what was said, a line for each line of it."""
        for line in text.splitlines()[:LINES]:
            if line.strip():
                self._lines.append(LogLine(self._now(), source, self.redact(line)[:LINE]))

    def lines(self) -> tuple[LogLine, ...]:
        return tuple(self._lines)

    def redact(self, text: str) -> str:
        """`text` without this server's secrets and without what looks like one."""
        for secret in self._secrets:
            text = text.replace(secret, STRUCK)
        text = _BEARER.sub(rf"\1 {STRUCK}", _USERINFO.sub(f"{STRUCK}@", text))
        return _CONTROL.sub("", text)

"""A session with a server that is really there, as the tests of the tools open it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
from tests.tools.fakes import server_config

from duologue.tools.mcp.connect import open_session
from duologue.tools.mcp.health import Journal
from duologue.tools.mcp.session import McpSession
from duologue.tools.ssrf_guard import AddressGuard


class Talk:
    """An open session with its journal, and the phases it went through."""

    def __init__(self, session: McpSession, journal: Journal, phases: list[str]) -> None:
        self.session = session
        self.journal = journal
        self.phases = phases

    def log(self) -> str:
        """The journal, as one text."""
        return "\n".join(f"{line.source}: {line.text}" for line in self.journal.lines())


@asynccontextmanager
async def open_talk(
    name: str = "s",
    *,
    journal: Journal | None = None,
    addresses: AddressGuard | None = None,
    **server: Any,
) -> AsyncIterator[Talk]:
    """A session with the server of these settings, within half a minute."""
    about = server_config(name, **server)
    journal = journal or Journal(about.secrets, lambda: 0)
    phases: list[str] = []
    with anyio.fail_after(60):
        async with open_session(
            about, journal, now=lambda: 0, on_phase=phases.append, addresses=addresses
        ) as session:
            yield Talk(session, journal, phases)

"""A session with a server that is really there, as the tests of the tools open it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
from tests.tools.fakes import definition

from duologue.tools.mcp.connect import opened
from duologue.tools.mcp.health import Journal
from duologue.tools.mcp.session import McpSession
from duologue.tools.ssrf_guard import Addresses


class Talk:
    """An open session with its journal, and the phases it went through."""

    def __init__(self, session: McpSession, journal: Journal, phases: list[str]) -> None:
        self.session = session
        self.journal = journal
        self.phases = phases

    def said(self) -> str:
        """The journal, as one text."""
        return "\n".join(f"{line.source}: {line.text}" for line in self.journal.lines())


@asynccontextmanager
async def talking(
    name: str = "s",
    *,
    journal: Journal | None = None,
    addresses: Addresses | None = None,
    **server: Any,
) -> AsyncIterator[Talk]:
    """A session with the server of these settings, within half a minute."""
    about = definition(name, **server)
    journal = journal or Journal(about.secrets, lambda: 0)
    phases: list[str] = []
    with anyio.fail_after(60):
        async with opened(
            about, journal, now=lambda: 0, on_phase=phases.append, addresses=addresses
        ) as session:
            yield Talk(session, journal, phases)

"""The MCP servers that an admin has added, and the tokens of users for them. Servers from the settings file are not here.

Configurations and tokens are JSON objects; `tools/mcp` owns their fields.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import delete, select

from duologue.store.database import Database
from duologue.store.json_table import JsonTable
from duologue.store.schema.locking import replaced
from duologue.store.schema.rows import json
from duologue.store.schema.tables import mcp_servers, mcp_tokens

_object = msgspec.json.Decoder(dict[str, Any]).decode


class AddedServer(Struct, frozen=True):
    """`user`: the admin who added it; `created`: when (ms)."""

    name: str
    config: dict[str, Any]
    user: str
    created: int


class McpServers:
    """`now` gives milliseconds since 1970 (UTC). Every method raises Unavailable as the database does."""

    def __init__(self, database: Database, now: Callable[[], int]) -> None:
        self._database = database
        self._now = now
        self._tokens = JsonTable(database, mcp_tokens, now)
        self.on_stored: Callable[[], None] = lambda: None
        """Called when a change was stored."""

    async def all(self) -> list[AddedServer]:
        """Every added server, by name."""
        c = mcp_servers.c
        these = select(c.name, c.config, c.user, c.created).order_by(c.name)
        async with self._database.reading() as connection:
            rows = (await connection.execute(these)).all()
        return [AddedServer(name, _object(config), user, created) for name, config, user, created in rows]

    async def put(self, name: str, config: dict[str, Any], user: str) -> AddedServer:
        """Add a server, or replace the configuration of the one with this name."""
        server = AddedServer(name, config, user, self._now())
        columns = {"config": json(config), "user": user, "created": server.created}
        async with self._database.writing() as connection:
            await connection.execute(replaced(connection, mcp_servers, {"name": name} | columns))
        self.on_stored()
        return server

    async def delete(self, name: str) -> bool:
        """Delete a server and all users' tokens for it. Whether there was one."""
        async with self._database.writing() as connection:
            await connection.execute(delete(mcp_tokens).where(mcp_tokens.c.server == name))
            result = await connection.execute(delete(mcp_servers).where(mcp_servers.c.name == name))
        self.on_stored()
        return result.rowcount > 0

    async def tokens(self, name: str, user: str) -> dict[str, Any] | None:
        """The tokens of `user` for the server; None before the first login."""
        return await self._tokens.get(server=name, user=user)

    async def save_tokens(self, name: str, user: str, tokens: dict[str, Any] | None) -> None:
        """Store tokens; None deletes them."""
        if tokens is None:
            await self._tokens.delete(server=name, user=user)
        else:
            await self._tokens.put(tokens, server=name, user=user)
        self.on_stored()

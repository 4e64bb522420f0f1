"""MCP servers that an admin added, and what users need to log in to them. Those of the settings are not here.

Knows no field of a configuration or of a token: both are JSON objects of the tools' room.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import delete, insert, select, update

from duologue.store.database import Database
from duologue.store.json_table import Documents
from duologue.store.schema.rows import json
from duologue.store.schema.tables import mcp_servers, mcp_tokens

_object = msgspec.json.Decoder(dict[str, Any]).decode


class AddedServer(Struct, frozen=True):
    """`user` is the admin who added it, `created` when (ms)."""

    name: str
    config: dict[str, Any]
    user: str
    created: int


class McpServers:
    """`now` gives milliseconds since 1970 (UTC). Every method raises Unavailable as the database does."""

    def __init__(self, database: Database, now: Callable[[], int]) -> None:
        self._database = database
        self._now = now
        self._tokens = Documents(database, mcp_tokens, now)

    async def all(self) -> list[AddedServer]:
        """By name."""
        c = mcp_servers.c
        these = select(c.name, c.config, c.user, c.created).order_by(c.name)
        async with self._database.reading() as connection:
            found = (await connection.execute(these)).all()
        return [AddedServer(name, _object(config), user, created) for name, config, user, created in found]

    async def put(self, name: str, config: dict[str, Any], user: str) -> AddedServer:
        """Add a server, or give the one of this name another configuration."""
        server = AddedServer(name, config, user, self._now())
        columns = {"config": json(config), "user": user, "created": server.created}
        async with self._database.writing() as connection:
            this = update(mcp_servers).where(mcp_servers.c.name == name)
            if (await connection.execute(this.values(columns))).rowcount == 0:
                await connection.execute(insert(mcp_servers).values(name=name, **columns))
        return server

    async def delete(self, name: str) -> bool:
        """Forget a server and everyone's tokens of it. Whether there was one."""
        async with self._database.writing() as connection:
            await connection.execute(delete(mcp_tokens).where(mcp_tokens.c.server == name))
            gone = await connection.execute(delete(mcp_servers).where(mcp_servers.c.name == name))
        return gone.rowcount > 0

    async def tokens(self, name: str, user: str) -> dict[str, Any] | None:
        """What `user` needs to log in to the server of that name; None before the first login."""
        return await self._tokens.get(server=name, user=user)

    async def save_tokens(self, name: str, user: str, tokens: dict[str, Any] | None) -> None:
        """None forgets them."""
        if tokens is None:
            await self._tokens.delete(server=name, user=user)
        else:
            await self._tokens.put(tokens, server=name, user=user)

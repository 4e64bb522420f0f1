"""A secret that the gateways of one database have in common, made by the first of them that needs it.

Used by `gateway/sharing.py`. It needs no safer place: anyone who can read the database can read everything else too.
"""

from __future__ import annotations

import secrets
import time
from typing import TYPE_CHECKING

import msgspec
from sqlalchemy import select

from duologue.store.schema.tables import server_settings

if TYPE_CHECKING:
    from duologue.store.database import Database

NAME = "secret of the gateways"


async def shared_secret(database: Database) -> bytes:
    """The secret. Raises Unavailable. Only on PostgreSQL."""
    from sqlalchemy.dialects.postgresql import insert

    made = {"name": NAME, "value": msgspec.json.encode({"secret": secrets.token_hex(32)}).decode()}
    made["updated"] = int(time.time() * 1000)  # type: ignore[assignment]
    async with database.writing() as connection:
        await connection.execute(insert(server_settings).values(made).on_conflict_do_nothing())
        value = await connection.scalar(select(server_settings.c.value).where(server_settings.c.name == NAME))
    return bytes.fromhex(msgspec.json.decode(str(value), type=dict[str, str])["secret"])

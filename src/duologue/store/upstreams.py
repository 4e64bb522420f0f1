"""The model servers that admins have connected. Those of the settings are not here. Keys are encrypted before they come here.

The models a server had when it was last seen are stored too, so that chats find them while it is down.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from duologue.store.database import Database
from duologue.store.schema.rows import json
from duologue.store.schema.tables import upstreams
from duologue.values.requests import ModelPreset, RawFormat, UpstreamModel

_chosen = msgspec.json.Decoder(tuple[str, ...] | None).decode
_said = msgspec.json.Decoder(dict[str, tuple[str, ...]]).decode
_formats = msgspec.json.Decoder(dict[str, RawFormat]).decode
_presets = msgspec.json.Decoder(dict[str, ModelPreset]).decode
_timeouts = msgspec.json.Decoder(dict[str, int | float]).decode
_models = msgspec.json.Decoder(tuple[UpstreamModel, ...]).decode


WRITTEN = ("chosen", "seen", "modalities", "outputs", "formats", "timeouts", "presets")
"""The columns that hold JSON."""


class StoredUpstream(Struct, frozen=True):
    """A connected server. `key`: encrypted, None without one; `chosen`: the models to use, None for all; `seen`: those it had when
    it was last asked; `user`: who added it, `created`: when (ms); `modalities`: of some models what they take besides text, as an admin
    said it; `outputs`: what they give besides text, `formats`: how they write, and `presets`: how they sample, likewise. `timeouts`: the remote engine's options of
    these names, where they are not its defaults."""

    name: str
    kind: str
    url: str
    key: bytes | None = None
    chosen: tuple[str, ...] | None = None
    seen: tuple[UpstreamModel, ...] = ()
    enabled: bool = True
    user: str = ""
    created: int = 0
    modalities: dict[str, tuple[str, ...]] = {}
    outputs: dict[str, tuple[str, ...]] = {}
    formats: dict[str, RawFormat] = {}
    timeouts: dict[str, int | float] = {}
    presets: dict[str, ModelPreset] = {}


class Upstreams:
    """`now` gives milliseconds since 1970 (UTC). Every method raises Unavailable as the database does."""

    def __init__(self, database: Database, now: Callable[[], int]) -> None:
        self._database = database
        self._now = now
        self.on_stored: Callable[[], None] = lambda: None
        """Called when a change by an admin was stored."""

    async def all(self) -> list[StoredUpstream]:
        """Every server, in the order in which they were connected."""
        async with self._database.reading() as connection:
            rows = await connection.execute(select(upstreams).order_by(upstreams.c.created, upstreams.c.name))
            return [_stored(row) for row in rows.mappings()]

    async def add(self, upstream: StoredUpstream) -> StoredUpstream | None:
        """Store a new server; None if there is one of this name."""
        stored = msgspec.structs.replace(upstream, created=self._now())
        try:
            async with self._database.writing() as connection:
                await connection.execute(insert(upstreams).values(_columns(stored)))
        except IntegrityError:
            return None
        self.on_stored()
        return stored

    async def save(self, upstream: StoredUpstream, before: StoredUpstream) -> None:
        """Store what differs from `before`, of the same name, and nothing else of it: an admin may change that at another gateway meanwhile. Without effect if it was
        deleted."""
        old = _columns(before)
        changed = {name: value for name, value in _columns(upstream).items() if value != old[name]}
        if changed:
            async with self._database.writing() as connection:
                this = update(upstreams).where(upstreams.c.name == upstream.name)
                await connection.execute(this.values(changed))
        self.on_stored()

    async def save_seen(self, name: str, seen: tuple[UpstreamModel, ...]) -> None:
        """Store the models that a server has. Nothing else of it: an admin may change that at another gateway meanwhile."""
        async with self._database.writing() as connection:
            this = update(upstreams).where(upstreams.c.name == name)
            await connection.execute(this.values(seen=json(seen)))

    async def delete(self, name: str) -> bool:
        """Delete a server with its key. Whether there was one."""
        async with self._database.writing() as connection:
            result = await connection.execute(delete(upstreams).where(upstreams.c.name == name))
        self.on_stored()
        return result.rowcount > 0


def _columns(upstream: StoredUpstream) -> dict[str, Any]:
    columns = msgspec.structs.asdict(upstream)
    written = {name: json(columns[name]) for name in WRITTEN}
    return columns | written


def _stored(row: Any) -> StoredUpstream:
    read = {"chosen": _chosen(row["chosen"]), "seen": _models(row["seen"])}
    # NULL in rows of before the columns were there.
    said = {name: _said(row[name] or "{}") for name in ("modalities", "outputs")}
    told = {
        "formats": _formats(row["formats"] or "{}"),
        "timeouts": _timeouts(row["timeouts"] or "{}"),
        "presets": _presets(row["presets"] or "{}"),
    }
    return StoredUpstream(**{**row, **read, **said, **told})

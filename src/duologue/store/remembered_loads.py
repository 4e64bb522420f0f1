"""The models that admins loaded while the server ran, and the default model they chose: what the next start repeats.

One row for each worker, in the order of the loads. `gateway/models/remembered.py` owns what the rows mean.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import delete, insert, select, update

from duologue.store.database import Database
from duologue.store.json_table import JsonTable
from duologue.store.schema.rows import json
from duologue.store.schema.tables import remembered_loads, server_choices

DEFAULT_MODEL = "default_model"
"""The name of that choice."""
_sizes = msgspec.json.Decoder(dict[str, Any]).decode


class RememberedLoad(Struct, frozen=True):
    """A load. `sizes`: those that the admin `user` gave; `another`: a further worker of a model that was loaded already;
    `created`: when (ms). `loading`: the load has begun and not ended; `failed`: why it last failed, a sentence."""

    id: int
    name: str
    sizes: Mapping[str, Any]
    another: bool
    user: str
    created: int
    loading: bool = False
    failed: str = ""


class RememberedLoads:
    """`now` gives milliseconds since 1970 (UTC). Every method raises Unavailable as the database does."""

    def __init__(self, database: Database, now: Callable[[], int], instance: str = "") -> None:
        """`instance`: the data folder of the gateway whose loads these are, where there are several."""
        self._database = database
        self._now = now
        self._instance = instance
        self._choices = JsonTable(database, server_choices, now)

    async def of(self, instance: str) -> RememberedLoads:
        """The loads of this gateway. Those from a time when there was one gateway become those of the first that asks."""
        if instance:
            alone = update(remembered_loads).where(remembered_loads.c.instance == "")
            async with self._database.writing() as connection:
                await connection.execute(alone.values(instance=instance))
        return RememberedLoads(self._database, self._now, instance)

    async def all(self) -> list[RememberedLoad]:
        """Every load, the first first."""
        these = select(remembered_loads).where(remembered_loads.c.instance == self._instance)
        async with self._database.reading() as connection:
            rows = (await connection.execute(these.order_by(remembered_loads.c.id))).all()
        return [
            RememberedLoad(
                row.id,
                row.name,
                _sizes(row.sizes),
                row.another,
                row.user,
                row.created,
                row.loading,
                row.failed,
            )
            for row in rows
        ]

    async def begin(self, name: str, sizes: Mapping[str, Any], *, another: bool, user: str) -> RememberedLoad:
        """Add a load that begins now."""
        created = self._now()
        columns = {"name": name, "another": another, "user": user, "created": created, "loading": True}
        columns |= {"instance": self._instance}
        async with self._database.writing() as connection:
            result = await connection.execute(
                insert(remembered_loads).values(**columns, sizes=json(dict(sizes)), failed="")
            )
        assert result.inserted_primary_key is not None
        id = int(result.inserted_primary_key[0])
        return RememberedLoad(id, name, dict(sizes), another, user, created, loading=True)

    async def save(self, load: RememberedLoad) -> None:
        """Store the fields of a load that may change: its sizes, who asked for it, and how it went."""
        columns = {
            "sizes": json(dict(load.sizes)),
            "user": load.user,
            "loading": load.loading,
            "failed": load.failed,
        }
        async with self._database.writing() as connection:
            await connection.execute(
                update(remembered_loads).where(remembered_loads.c.id == load.id).values(**columns)
            )

    async def forget(self, *ids: int) -> None:
        async with self._database.writing() as connection:
            await connection.execute(delete(remembered_loads).where(remembered_loads.c.id.in_(ids)))

    async def default_model(self) -> dict[str, Any] | None:
        """The default model that an admin chose; None before one did."""
        return await self._choices.get(name=DEFAULT_MODEL)

    async def choose_default(self, choice: Mapping[str, Any] | None) -> None:
        """Store the default model; None forgets it."""
        if choice is None:
            await self._choices.delete(name=DEFAULT_MODEL)
        else:
            await self._choices.put(dict(choice), name=DEFAULT_MODEL)

"""This gateway among those of its database: its row, its lease, and the list of living gateways.

Made in `app.py`; `joined` is entered once the database is open. On SQLite there is one gateway, and no row is written.
"""

from __future__ import annotations

import hashlib
import logging
import os
import socket
import time
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from duologue import __version__
from duologue.config import Settings
from duologue.errors import Problem
from duologue.notifier import Notifier
from duologue.store.cluster.cluster_link import ClusterLink, alone
from duologue.store.cluster.notices import Notices
from duologue.threads import disk_io
from duologue.values.cluster.gateway_entry import GatewayEntry
from duologue.values.cluster.notices import GatewaysChanged
from duologue.wire.worker_protocol import PROTOCOL

if TYPE_CHECKING:
    from duologue.store.cluster.gateway_rows import GatewayRows
    from duologue.store.database import Database

log = logging.getLogger(__name__)

BEATS = 3
"""How often a lease is renewed while it lasts."""
INSTANCE_FILE = "instance"


class Membership:
    """`id` is the id of this process among the gateways. `clock` counts seconds steadily."""

    def __init__(self, settings: Settings, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.id = uuid.uuid4().hex
        self.lease_s = settings.cluster.lease_s
        self._data = settings.data
        self._address = settings.cluster.address
        self._clock = clock
        self._own = GatewayEntry(self.id, "", self._address, __version__, PROTOCOL, 0, 0)
        self._entries: tuple[GatewayEntry, ...] = (self._own,)
        self._lease_until = 0.0
        self.rows: GatewayRows | None = None
        """Those of the database, where several gateways may share it."""
        self.link = alone()
        """The link to the other gateways; one without others until `joined`."""
        self.changed = Notifier()
        """Wakes its waiters when gateways have come or gone."""
        self._told = Notifier()
        """Wakes when another gateway announces that it starts or stops."""

    @property
    def instance(self) -> str:
        """The id of the data folder of this gateway; "" on SQLite."""
        return self._own.instance

    @property
    def entries(self) -> tuple[GatewayEntry, ...]:
        """The gateways as of the last look, oldest first, with this one and those that have died lately."""
        return self._entries

    @property
    def living(self) -> tuple[GatewayEntry, ...]:
        """The gateways that lived at the last look, this one too."""
        return tuple(entry for entry in self._entries if entry.living or entry.id == self.id)

    async def living_now(self) -> tuple[GatewayEntry, ...]:
        """The gateways that live at this moment, this one too. Raises Unavailable."""
        if self.rows is None:
            return self.living
        return tuple(entry for entry in await self.rows.all() if entry.living or entry.id == self.id)

    def is_living(self, id: str) -> bool:
        """Whether the process of this id lived at the last look."""
        return any(entry.id == id for entry in self.living)

    @property
    def holds_lease(self) -> bool:
        """Whether no other gateway can have taken this one for dead: for work that one gateway does for all."""
        return not self.link.shared or self._clock() < self._lease_until

    @asynccontextmanager
    async def joined(self, database: Database) -> AsyncIterator[ClusterLink]:
        """Be one of the gateways of this database for as long as the block lasts. Raises Unavailable."""
        if not database.is_postgresql:
            yield self.link
            return
        from duologue.store.cluster.gateway_rows import GatewayRows

        self.rows = rows = GatewayRows(database)
        instance = await disk_io(_instance, self._data)
        self._own = GatewayEntry(self.id, instance, self._address, __version__, PROTOCOL, 0, 0)
        await self._join(rows)
        await self._look(rows)
        notices = Notices(database, self.id)
        self.link = ClusterLink(self.id, notices, lease_s=self.lease_s)
        notices.on(GatewaysChanged, lambda notice: self._told.notify())
        async with anyio.create_task_group() as tasks:
            await tasks.start(notices.run)
            tasks.start_soon(self._keep, rows)
            notices.post(GatewaysChanged())
            try:
                yield self.link
            finally:
                tasks.cancel_scope.cancel()
                with anyio.CancelScope(shield=True), anyio.move_on_after(self.lease_s, shield=True):
                    await self._leave(rows)

    async def _keep(self, rows: GatewayRows) -> None:
        """Renew the lease and read the list of gateways, at intervals and whenever another gateway starts or stops."""
        told = self._told.pending()
        while True:
            with anyio.move_on_after(self.lease_s / BEATS):
                await told.wait()
            told = self._told.pending()
            try:
                await self._renew(rows)
                await self._look(rows)
            except Problem as problem:
                log.warning("the lease of this gateway was not renewed: %s", problem.message)
                continue
            self.link.looked.notify()

    async def _join(self, rows: GatewayRows) -> None:
        begun = self._clock()
        await rows.join(self._own, round(self.lease_s * 1000))
        self._lease_until = begun + self.lease_s

    async def _renew(self, rows: GatewayRows) -> None:
        begun = self._clock()
        if not await rows.renew(self.id, round(self.lease_s * 1000)):
            log.warning("the lease of this gateway had ended; others may have ended its replies")
        # From before the statement: the row's lease ends later than this gateway believes.
        self._lease_until = begun + self.lease_s

    async def _look(self, rows: GatewayRows) -> None:
        entries = await rows.all()
        if all(entry.id != self.id for entry in entries):
            await self._join(rows)
            entries = await rows.all()
        before = {entry.id for entry in self.living}
        self._entries = entries
        if before != {entry.id for entry in self.living}:
            self.changed.notify()

    async def _leave(self, rows: GatewayRows) -> None:
        try:
            await rows.leave(self.id)
            await self.link.notices.publish(GatewaysChanged())
        except Problem as problem:
            log.warning("this gateway could not be removed from the list: %s", problem.message)


def _instance(data: Path) -> str:
    """The id of this data folder on this machine. A copy of the folder elsewhere is another instance."""
    file = data / INSTANCE_FILE
    try:
        own = file.read_text().strip()
    except FileNotFoundError:
        own = ""
    if not own:
        own = uuid.uuid4().hex
        unfinished = file.with_suffix(".new")
        unfinished.write_text(own)
        os.replace(unfinished, file)
    return hashlib.sha256(f"{own} {socket.gethostname()} {data.resolve()}".encode()).hexdigest()[:32]

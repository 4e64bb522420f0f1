"""Daily backups of the SQLite database, and the check of one that was too large to be checked at the start.

Run by `service.py`. Decides when a backup is due; `store/backup` makes and checks it, in a thread. A failed backup is reported in
the log and tried again an hour later; none of it stops the server.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import anyio

from duologue import telemetry
from duologue.errors import Problem
from duologue.threads import ThreadLane

if TYPE_CHECKING:
    from duologue.config.settings import BackupSettings
    from duologue.store.backup.daily_copies import DailyCopy
    from duologue.store.backup.integrity import DatabaseDamaged
    from duologue.store.database import Database
    from duologue.threads import Emit

T = TypeVar("T")
log = logging.getLogger(__name__)

FIRST_S = 120.0
"""Seconds after the start until the first look, so that the server starts undisturbed."""
INTERVAL_S = 600.0
"""Seconds between two looks."""
LEAST_S = 3600.0
"""Seconds between two backups at least, or between two attempts, whatever the clock says."""
ASKED_S = 0.05
"""Seconds between two questions of the thread whether to go on."""
HOUR_MS = 3_600_000


def is_due(now: int, newest: int | None, hours: float) -> bool:
    """Whether a backup is due at `now`, when the newest was made at `newest`; both in ms since 1970. One from the future means that
    the clock was set back: its age is unknown."""
    return newest is None or not -HOUR_MS <= now - newest < hours * HOUR_MS


class DailyBackups:
    """`now`: ms since 1970; `clock`: seconds that never go back. On PostgreSQL nothing is copied: its databases may be too large for the
    data folder, and each gateway has a folder of its own."""

    def __init__(
        self,
        database: Database,
        settings: BackupSettings,
        *,
        now: Callable[[], int],
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        self._database = database
        self._file = database.file or Path()
        self._settings = settings
        self._is_checked = database.is_checked
        self._now, self._clock, self._sleep = now, clock, sleep
        self._not_before = float("-inf")

    async def run(self) -> None:
        """Look again and again, until cancelled."""
        if self._database.file is None:
            self._tell_where_none_are_made()
            return
        await self._sleep(FIRST_S)
        while True:
            await self.round()
            await self._sleep(INTERVAL_S)

    async def round(self) -> None:
        """Do what is due. Failures are logged."""
        from duologue.store.backup import daily_copies
        from duologue.store.backup.integrity import DatabaseDamaged, check

        if self._clock() < self._not_before:
            return
        try:
            if not self._is_checked:
                self._is_checked = await _in_thread(lambda go_on: check(self._file, go_on))
            newest = daily_copies.newest(self._folder)
            if not self._settings.keep or not is_due(
                self._now(), newest.made if newest else None, self._settings.hours
            ):
                return
            self._not_before = self._clock() + LEAST_S
            await self._back_up()
        except DatabaseDamaged as damage:
            self._not_before = self._clock() + LEAST_S
            await self._tell(damage)
        except Problem as problem:
            self._not_before = self._clock() + LEAST_S
            log.warning("%s", problem.message)
        except Exception:
            self._not_before = self._clock() + LEAST_S
            log.exception("the daily backup failed")

    def _tell_where_none_are_made(self) -> None:
        if self._database.is_postgresql and self._settings.keep and self._settings.model_fields_set:
            log.warning(
                "backups.* is set, but no daily backups are made of PostgreSQL. Run `duologue backup` or pg_dump regularly on one machine."
            )

    @property
    def _folder(self) -> Path:
        from duologue.store.backup import daily_copies

        return self._file.parent / daily_copies.FOLDER

    async def _back_up(self) -> None:
        began = self._clock()
        made = await _in_thread(self._write_one)
        if made is not None:
            size = made.file.stat().st_size / 1e6
            seconds = self._clock() - began
            log.info("the database was backed up to %s: %.1f MB in %.1f s", made.file, size, seconds)

    def _write_one(self, go_on: Callable[[], bool]) -> DailyCopy | None:
        """Make a copy, check it, and keep it; in a thread."""
        from duologue.store.backup import daily_copies, integrity

        copy = daily_copies.make(self._file, self._folder, self._now(), go_on)
        if copy is None:
            return None
        try:
            is_sound = integrity.check(copy, go_on)
        except integrity.DatabaseDamaged as damage:
            # The copy has the pages of the original, so that is damaged too. The earlier copies stay.
            copy.unlink()
            raise integrity.DatabaseDamaged(f"a backup of it failed the check: {damage}") from damage
        if not is_sound:
            copy.unlink()
            return None
        return daily_copies.keep(copy, self._settings.keep)

    async def _tell(self, damage: DatabaseDamaged) -> None:
        from duologue.store.backup import integrity

        def mark_and_describe(_go_on: Callable[[], bool]) -> str:
            integrity.mark_damaged(self._file)
            return integrity.damage_sentence(self._file, damage)

        log.error("%s", await _in_thread(mark_and_describe))
        telemetry.metrics().database_damaged()


async def _in_thread(work: Callable[[Callable[[], bool]], T]) -> T:
    """The result of `work(go_on)`, called in a thread. `go_on` is False when the caller was cancelled."""
    results: list[T] = []

    def step(emit: Emit[None]) -> None:
        asked, answer = 0.0, True

        def go_on() -> bool:
            nonlocal asked, answer
            if answer and (at := time.monotonic()) - asked >= ASKED_S:
                asked, answer = at, emit(None)
            return answer

        results.append(work(go_on))

    async with ThreadLane(1).stream(step, 1) as steps:
        async for _ in steps:
            pass
    return results[0]

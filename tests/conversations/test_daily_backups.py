"""When a backup is due, and what is told when it cannot be made."""

from __future__ import annotations

import logging
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import pytest
from tests.store.backup.damage import make_database, truncated, zeroed_pages

from duologue import telemetry
from duologue.config.settings import BackupSettings
from duologue.conversations.daily_backups import HOUR_MS, LEAST_S, DailyBackups, is_due
from duologue.errors import Unavailable
from duologue.store.backup import daily_copies, integrity

pytestmark = pytest.mark.anyio
START = 1_800_000_000_000
DAY = 24 * HOUR_MS


def closed(data: Path, *, is_checked: bool = True) -> Any:
    """As much of a database as backups need: its file."""
    return SimpleNamespace(file=data / "duologue.db", is_checked=is_checked)


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    """The warnings and errors."""
    return [record.message for record in caplog.records if record.levelno > logging.INFO]


class Bench:
    """Backups of a real file, under clocks that stand still."""

    def __init__(self, data, *, is_checked: bool = True, **settings) -> None:
        self.at, self.seconds = START, 0.0
        self.folder = data / "backups"
        self.backups = DailyBackups(
            closed(data, is_checked=is_checked),
            BackupSettings(**settings),
            now=lambda: self.at,
            clock=lambda: self.seconds,
        )

    async def after(self, ms: int, *, clock_jumps: int = 0) -> int:
        """Look after so many milliseconds, and a jump of the wall clock; the number of the newest backup."""
        self.at += ms + clock_jumps
        self.seconds += ms / 1000
        await self.backups.round()
        newest = daily_copies.newest(self.folder)
        return newest.number if newest else 0


@pytest.fixture
def data(tmp_path):
    return tmp_path


@pytest.fixture
async def bench(data, anyio_backend):
    await anyio.to_thread.run_sync(make_database, data, "a")
    return Bench(data)


def test_a_backup_is_due_when_there_is_none_and_when_the_newest_is_old():
    assert is_due(START, None, 24)
    assert not is_due(START, START - DAY + 1, 24)
    assert is_due(START, START - DAY, 24)
    assert is_due(START, START - HOUR_MS, 1)
    # A few minutes of correction are no jump.
    assert not is_due(START, START + HOUR_MS, 24)
    assert is_due(START, START + HOUR_MS + 1, 24)


async def test_there_is_one_backup_a_day_and_seven_are_kept(bench, caplog):
    caplog.set_level(logging.INFO, "duologue.conversations.daily_backups")
    assert await bench.after(0) == 1
    assert "the database was backed up to" in caplog.text
    for _ in range(23):
        assert await bench.after(HOUR_MS) == 1
    assert await bench.after(HOUR_MS) == 2
    for _ in range(9):
        await bench.after(DAY)
    assert [copy.number for copy in daily_copies.copies(bench.folder)] == [5, 6, 7, 8, 9, 10, 11]
    for copy in daily_copies.copies(bench.folder):
        assert integrity.check(copy.file)


async def test_a_server_that_is_started_often_makes_no_more_of_them(bench, data):
    assert await bench.after(0) == 1
    for _ in range(5):
        again = Bench(data)
        again.at = bench.at
        assert await again.after(HOUR_MS) == 1


@pytest.mark.parametrize("jump", [-400 * DAY, 400 * DAY])
async def test_a_clock_that_jumps_costs_one_backup_and_stops_nothing(bench, jump):
    assert await bench.after(0) == 1
    assert await bench.after(2 * HOUR_MS, clock_jumps=jump) == 2
    for _ in range(5):
        assert await bench.after(HOUR_MS) == 2
    assert await bench.after(HOUR_MS, clock_jumps=-jump) == 3
    assert await bench.after(DAY) == 4


async def test_a_clock_that_jumps_at_every_look_makes_one_backup_an_hour_at_most(bench):
    assert await bench.after(0) == 1
    for number in range(12):
        newest = await bench.after(600_000, clock_jumps=(-1) ** number * 9 * DAY)
    assert newest <= 1 + 2 * 3600 / LEAST_S


async def test_backups_can_be_switched_off(data):
    await anyio.to_thread.run_sync(make_database, data, "a")
    assert await Bench(data, keep=0).after(DAY) == 0


async def test_a_disk_without_room_is_told_and_tried_again_an_hour_later(bench, monkeypatch, caplog):
    def full(*_arguments):
        raise Unavailable("No backup was made. The disk is full.")

    with monkeypatch.context() as disk:
        disk.setattr(daily_copies, "make", full)
        assert await bench.after(0) == 0
        assert await bench.after(600_000) == 0
    assert told(caplog) == ["No backup was made. The disk is full."]
    assert await bench.after(600_000) == 0
    assert await bench.after(HOUR_MS) == 1


async def test_a_backup_that_fails_its_check_is_deleted_and_told_and_the_earlier_ones_stay(
    bench, data, caplog
):
    assert await bench.after(0) == 1
    zeroed_pages(data / "duologue.db")
    assert await bench.after(DAY) == 1
    assert [path.name for path in bench.folder.iterdir()] == [daily_copies.copies(bench.folder)[0].file.name]
    [sentence] = told(caplog)
    assert "is damaged (a backup of it failed the check" in sentence
    assert f"--restore {bench.folder}" in sentence
    assert "duologue_database_damaged 1.0" in telemetry.metrics().render()[0].decode()
    # It is told again, and no copy of it replaces a sound one.
    for _ in range(9):
        assert await bench.after(DAY) == 1
    assert len(told(caplog)) == 10


async def test_a_database_that_was_too_large_to_be_checked_at_the_start_is_checked_while_the_server_runs(
    bench, data, caplog
):
    assert await bench.after(0) == 1
    truncated(data / "duologue.db")
    later = Bench(data, is_checked=False)
    await later.after(1)
    assert "is damaged (database disk image is malformed)" in caplog.text
    assert (data / f"duologue.db{integrity.MARK}").exists()


async def test_a_sound_large_database_is_checked_once(bench, data, monkeypatch):
    checked = []
    check = integrity.check

    def note(file, go_on) -> bool:
        checked.append(file)
        return check(file, go_on)

    monkeypatch.setattr(integrity, "check", note)
    later = Bench(data, is_checked=False, keep=0)
    await later.after(1)
    await later.after(1)
    assert checked == [data / "duologue.db"]


async def test_a_bug_is_logged_and_the_next_look_comes(bench, monkeypatch, caplog):
    with monkeypatch.context() as broken:
        broken.setattr(daily_copies, "make", lambda *_arguments: 1 / 0)
        await bench.after(0)
    assert "the daily backup failed" in caplog.text
    assert await bench.after(DAY) == 1


async def test_a_server_that_stops_ends_the_backup_it_is_making(data, monkeypatch):
    await anyio.to_thread.run_sync(make_database, data, "a")
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    backups = DailyBackups(
        closed(data),
        BackupSettings(),
        now=lambda: START,
        clock=lambda: 0.0,
        sleep=sleep,
    )
    began = anyio.Event()
    make = daily_copies.make

    def slow(*arguments):
        anyio.from_thread.run_sync(began.set)
        go_on = arguments[-1]
        while go_on():
            pass
        return make(*arguments)

    monkeypatch.setattr(daily_copies, "make", slow)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(backups.run)
        await began.wait()
        tasks.cancel_scope.cancel()
    assert slept == [120.0]
    assert daily_copies.copies(data / "backups") == []


async def test_there_are_none_of_a_database_that_is_no_file():
    database: Any = SimpleNamespace(file=None, is_checked=True, is_postgresql=False)
    await DailyBackups(database, BackupSettings(), now=lambda: START).run()


@pytest.mark.parametrize(
    ("settings", "is_told"), [({}, False), ({"keep": 3}, True), ({"hours": 12}, True), ({"keep": 0}, False)]
)
async def test_who_sets_daily_backups_is_told_that_postgresql_has_none(settings, is_told, caplog):
    database: Any = SimpleNamespace(file=None, is_checked=True, is_postgresql=True)
    await DailyBackups(database, BackupSettings(**settings), now=lambda: START).run()
    assert [("duologue backup" in line) for line in told(caplog)] == [True] * is_told

"""The audit log: every act is kept, also while the database is away, and old ones are forgotten."""

import logging

import anyio
import pytest

from duologue.config.sections.audit import AuditSettings
from duologue.errors import Unavailable
from duologue.gateway.audit import audit_log
from duologue.gateway.audit.audit_log import COMMAND_LINE, DAY_MS, Actor, AuditLog
from duologue.store.accounts.audit_rows import AuditRow, AuditRows
from duologue.store.database import Database

pytestmark = pytest.mark.anyio
ADA = Actor("ada", "local", "key_1", "10.0.0.1")


class Clock:
    at = 400 * DAY_MS

    def __call__(self) -> int:
        return self.at


class Faulty(AuditRows):
    """Rows of a database that is away for a while."""

    problem: Exception | None = None

    async def append(self, rows):
        if self.problem is not None:
            raise self.problem
        await super().append(rows)


@pytest.fixture
async def rows():
    async with Database.memory() as database:
        yield Faulty(database)


@pytest.fixture
async def audit(rows):
    audit = AuditLog(AuditSettings(), Clock())
    async with anyio.create_task_group() as tasks:
        await tasks.start(audit.run, rows)
        yield audit
        tasks.cancel_scope.cancel()


async def acts(rows) -> list[str]:
    return [row.act for row in await rows.page()]


async def test_an_act_is_a_row_and_a_line_of_the_log(audit, rows, caplog):
    caplog.set_level(logging.INFO)
    await audit.record(ADA, "key.create", "bob", details={"role": "user"})
    await audit.record(COMMAND_LINE, "backup.create", "/tmp/a.tar", outcome="failed")
    second, first = await rows.page()
    assert (first.name, first.user, first.key, first.address) == tuple(ADA)
    assert (first.at, first.target, first.outcome, first.details) == (
        400 * DAY_MS,
        "bob",
        "done",
        {"role": "user"},
    )
    assert (second.name, second.user, second.outcome) == ("command line", "", "failed")
    assert '"act":"key.create"' in caplog.text


async def test_what_the_database_does_not_take_is_logged_loudly_and_written_later(audit, rows, caplog):
    rows.problem = Unavailable("The database is away.")
    await audit.record(ADA, "key.create", "bob")
    assert [record.levelname for record in caplog.records if record.levelno >= logging.ERROR] == ["ERROR"]
    assert '"target":"bob"' in caplog.text
    rows.problem = None
    await audit.record(ADA, "key.revoke")
    assert await acts(rows) == ["key.revoke", "key.create"]


async def test_a_row_that_cannot_be_written_at_all_keeps_no_other_out(audit, rows, caplog):
    rows.problem = ValueError("broken")
    await audit.record(ADA, "key.create", "bob")
    assert '"target":"bob"' in caplog.text
    rows.problem = None
    await audit.record(ADA, "key.revoke")
    assert await acts(rows) == ["key.revoke"]


async def test_rows_for_a_database_that_stays_away_are_bounded(audit, rows, monkeypatch):
    rows.problem = Unavailable("The database is away.")
    for number in range(audit_log.MOST_UNWRITTEN + 5):
        await audit.record(ADA, f"act.{number}")
    rows.problem = None
    await audit.record(ADA, "last")
    page = await rows.page(limit=2000)
    assert len(page) == audit_log.MOST_UNWRITTEN + 1
    assert page[-1].act == "act.5"


async def test_acts_of_before_the_database_is_open_are_written_then(rows):
    audit = AuditLog(AuditSettings(), Clock())
    await audit.record(ADA, "model.load")
    with pytest.raises(Unavailable):
        await audit.page(before=0, limit=1, actor="", act="")
    async with anyio.create_task_group() as tasks:
        await tasks.start(audit.run, rows)
        assert [row.act for row in await audit.page(before=0, limit=5, actor="", act="")] == ["model.load"]
        tasks.cancel_scope.cancel()


async def test_what_is_too_old_is_forgotten_when_the_server_starts(rows):
    old, young = (AuditRow(days * DAY_MS, "ada", f"day.{days}") for days in (34, 36))
    await rows.append([old, young])
    audit = AuditLog(AuditSettings(keep_days=365), Clock())
    async with anyio.create_task_group() as tasks:
        await tasks.start(audit.run, rows)
        await anyio.wait_all_tasks_blocked()
        assert await acts(rows) == ["day.36"]
        tasks.cancel_scope.cancel()

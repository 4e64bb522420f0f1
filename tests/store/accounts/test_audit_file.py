"""The audit log in a file that is not opened as a database."""

import pytest

from duologue.store.accounts.audit_file import append_to_file, carry_over
from duologue.store.accounts.audit_rows import AuditRow, AuditRows
from duologue.store.database import FILE, Database

pytestmark = pytest.mark.anyio


async def rows(folder) -> list[AuditRow]:
    async with Database.opened(None, folder, now=lambda: 0) as database:
        return await AuditRows(database).page()


async def test_a_row_is_added_while_the_database_is_open(tmp_path):
    async with Database.opened(None, tmp_path, now=lambda: 0) as database:
        await AuditRows(database).append([AuditRow(1, "ada", "key.create")])
        assert append_to_file(tmp_path / FILE, AuditRow(2, "command line", "backup.create", "x" * 999))
        newest, _ = await AuditRows(database).page()
    assert (newest.act, len(newest.target), newest.number) == ("backup.create", 300, 2)


async def test_without_a_file_none_is_made(tmp_path):
    assert not append_to_file(tmp_path / FILE, AuditRow(2, "ada", "x"))
    assert not carry_over(tmp_path / "old.db", tmp_path / FILE)
    assert not (tmp_path / FILE).exists()


async def test_a_restored_database_knows_what_was_done_since_its_copy(tmp_path):
    for folder, acts in (("old", (1, 2, 3, 4)), ("new", (1, 2))):
        async with Database.opened(None, tmp_path / folder, now=lambda: 0) as database:
            await AuditRows(database).append([AuditRow(at, "ada", f"act.{at}") for at in acts])
    assert carry_over(tmp_path / "old" / FILE, tmp_path / "new" / FILE)
    assert [row.act for row in await rows(tmp_path / "new")] == ["act.4", "act.3", "act.2", "act.1"]
    assert carry_over(tmp_path / "old" / FILE, tmp_path / "new" / FILE)
    assert len(await rows(tmp_path / "new")) == 4

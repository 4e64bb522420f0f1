"""From whatever a database is to this version: made, migrated with a copy kept, or refused."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest
from sqlalchemy import text
from tests.support.store_fixtures import conversation, drop_schema, make_schema

from duologue.errors import StartFailed
from duologue.store.database import FILE, Database
from duologue.store.schema import migrate, tables
from duologue.store.stores import Store

pytestmark = pytest.mark.anyio

AFTER = "0090"
"""A revision that no program knows yet."""
NEXT = '''"""A revision for the test."""

import sqlalchemy as sa
from alembic import op

revision = "{after}"
down_revision = "{head}"


def upgrade() -> None:
    with op.batch_alter_table("messages", recreate="{recreate}") as batch:
        batch.add_column(sa.Column("mood", sa.Text(), nullable=False, server_default="calm"))
    {then}
'''


@pytest.fixture
def next_revision(tmp_path, monkeypatch):
    """Give the program one more revision, as text to fill in."""

    def give(*, recreate: str = "auto", then: str = "pass") -> None:
        folder = tmp_path / "100% migrations"
        (folder / "versions").mkdir(parents=True, exist_ok=True)
        own = migrate.MIGRATIONS
        for file in (own / "env.py", *(own / "versions").glob("revision_*.py")):
            (folder / file.relative_to(own)).write_text(file.read_text())
        source = NEXT.format(recreate=recreate, then=then, after=AFTER, head=tables.HEAD)
        (folder / "versions" / f"revision_{AFTER}.py").write_text(source)
        monkeypatch.setattr(migrate, "MIGRATIONS", folder)

    return give


def versions(folder) -> list[str]:
    with closing(sqlite3.connect(folder)) as connection:
        return [version for (version,) in connection.execute("SELECT version_num FROM alembic_version")]


async def test_an_empty_folder_gets_a_database_of_this_version(tmp_path):
    async with Database.opened(None, tmp_path / "new" / "data", now=lambda: 0):
        pass
    assert versions(tmp_path / "new" / "data" / FILE) == [tables.HEAD]
    assert not (tmp_path / "new" / "data" / "backups").exists()


def test_alembic_is_not_even_imported_when_there_is_nothing_to_migrate(tmp_path):
    code = (
        "import sys, anyio; from pathlib import Path; from duologue.store.database import Database\n"
        "async def main():\n"
        "    for _ in range(2):\n"
        "        async with Database.opened(None, Path(sys.argv[1]), now=lambda: 0): pass\n"
        "anyio.run(main); print('alembic' in sys.modules)"
    )
    ended = subprocess.run([sys.executable, "-c", code, tmp_path], capture_output=True, text=True, check=True)
    assert ended.stdout == "False\n"


async def test_a_newer_database_is_refused_with_a_sentence_and_left_alone(tmp_path):
    async with Database.opened(None, tmp_path, now=lambda: 0) as database, database.writing() as connection:
        await connection.execute(text("UPDATE alembic_version SET version_num = '0099'"))
    with pytest.raises(StartFailed, match=r"newer Duologue \(version 0099.*Install the newer program"):
        async with Database.opened(None, tmp_path, now=lambda: 0):
            pass
    assert versions(tmp_path / FILE) == ["0099"]


async def test_tables_of_another_program_are_refused(tmp_path):
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        connection.execute("CREATE TABLE messages (id)")
    with pytest.raises(StartFailed, match="tables of another program"):
        async with Database.opened(None, tmp_path, now=lambda: 0):
            pass


async def test_an_sqlite_that_cannot_search_is_named(tmp_path, monkeypatch):
    without = tuple(statement.replace("fts5", "fts5_missing") for statement in tables.SQLITE_SEARCH)
    monkeypatch.setattr(tables, "SQLITE_SEARCH", without)
    with pytest.raises(StartFailed, match=r"has no FTS5.*PostgreSQL"):
        async with Database.opened(None, tmp_path, now=lambda: 0):
            pass


@pytest.mark.parametrize("recreate", ["auto", "always"])
async def test_an_older_file_is_copied_and_migrated_with_everything_in_it(
    tmp_path, clock, next_revision, recreate
):
    async with Database.opened(None, tmp_path, now=clock) as database:
        made = await conversation(Store(database, clock), "hello", "hi", "how are you")
    next_revision(recreate=recreate)
    async with Database.opened(None, tmp_path, now=clock) as database:
        await migrate.bring_up(database, tmp_path / "backups", clock, head=AFTER)
        store = Store(database, clock)
        assert [one.text for one in await store.messages.all(made.id)] == ["hello", "hi", "how are you"]
        async with database.reading() as connection:
            assert (await connection.scalars(text("SELECT DISTINCT mood FROM messages"))).all() == ["calm"]
    assert versions(tmp_path / FILE) == [AFTER]
    (copy,) = (tmp_path / "backups").iterdir()
    assert copy.name == f"duologue-{tables.HEAD}-20270115-080000.db"
    assert versions(copy) == [tables.HEAD]
    assert copy.stat().st_mode & 0o777 == 0o600
    with closing(sqlite3.connect(copy)) as connection:
        assert connection.execute("SELECT count(*) FROM messages").fetchone() == (3,)


async def test_a_migration_that_fails_leaves_the_file_as_it_was(tmp_path, clock, next_revision):
    async with Database.opened(None, tmp_path, now=clock) as database:
        await conversation(Store(database, clock), "hello", id="a")
        next_revision(then="op.execute('DELETE FROM conversations')")
        with pytest.raises(StartFailed, match=r"was not migrated and is as it was: a row of `message"):
            await migrate.bring_up(database, tmp_path / "backups", clock, head=AFTER)
        next_revision(then="raise RuntimeError('broken')")
        with pytest.raises(RuntimeError, match="broken"):
            await migrate.bring_up(database, tmp_path / "backups", clock, head=AFTER)
        assert len(await Store(database, clock).messages.all("a")) == 1
    assert versions(tmp_path / FILE) == [tables.HEAD]
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        assert "mood" not in {row[1] for row in connection.execute("PRAGMA table_info(messages)")}


async def test_the_last_three_copies_are_kept(tmp_path, clock):
    async with Database.opened(None, tmp_path, now=clock) as database:
        for _ in range(5):
            clock.forward(1000)
            await migrate._copy(database, tmp_path / "backups", f"duologue-0001-{clock()}.db")
    assert sorted(path.name for path in (tmp_path / "backups").iterdir()) == [
        f"duologue-0001-{clock() - back}.db" for back in (2000, 1000, 0)
    ]


async def test_postgresql_is_migrated_too(tmp_path, clock, next_revision, anyio_backend):
    url = await make_schema("duologue_migrating")
    try:
        async with Database.opened(url, tmp_path, now=clock) as database:
            await conversation(Store(database, clock), "hello")
            next_revision()
            await migrate.bring_up(database, tmp_path / "backups", clock, head=AFTER)
            async with database.reading() as connection:
                assert await migrate.version_of(connection) == AFTER
                assert (await connection.scalars(text("SELECT mood FROM messages"))).all() == ["calm"]
    finally:
        await drop_schema("duologue_migrating")
    assert not (tmp_path / "backups").exists()

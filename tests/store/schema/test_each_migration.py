"""Each migration, one after the other, on both databases: from the revision before, with rows in every table of that time.

The rows survive; and unless a migration says `kind = "contract"`, a program of the revision before can go on writing beside it.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Table, create_engine, event, insert, text
from tests.support.filled_tables import contents, fill, filled_row, tables_of
from tests.support.store_fixtures import drop_schema, make_schema

from duologue.store.database import Database
from duologue.store.schema import migrate, tables

pytestmark = pytest.mark.anyio

FIRST = "0001"
VERSIONS = migrate.MIGRATIONS / "versions"
REVISIONS = sorted(path.stem.removeprefix("revision_") for path in VERSIONS.glob("revision_*.py"))


def kind_of(revision: str) -> str:
    """What a migration says of itself."""
    spec = importlib.util.spec_from_file_location(
        f"revision_{revision}", VERSIONS / f"revision_{revision}.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return str(getattr(module, "kind", "expand"))


def walk(connection: Connection) -> None:
    """From the first revision to the last, a step at a time."""
    scripts = ScriptDirectory(str(migrate.MIGRATIONS))
    # As `env.py` configures it.
    migrations = MigrationContext.configure(
        connection, opts={"target_metadata": tables.metadata, "render_as_batch": True}
    )
    with Operations.context(migrations):
        scripts.get_revision(FIRST).module.upgrade()
        walk_on(connection, scripts)


def walk_on(connection: Connection, scripts: ScriptDirectory) -> None:
    known = tables_of(connection)
    for number, revision in enumerate(REVISIONS[1:], 1):
        fill(connection, known)
        check_constraints(connection)
        before, former = contents(connection, known), known
        scripts.get_revision(revision).module.upgrade()
        known = tables_of(connection)
        after = contents(connection, known)
        is_expanding = kind_of(revision) == "expand"
        for table, rows in before.items():
            if is_expanding or table in after:
                assert_kept(revision, table, rows, after.get(table, []))
        if is_expanding:
            write_as_before(connection, former, 100 * number)


def assert_kept(revision: str, table: str, before: list[dict[str, Any]], after: list[dict[str, Any]]) -> None:
    assert len(after) == len(before), f"revision {revision} lost rows of {table}"
    for old, new in zip(before, after, strict=True):
        assert {name: new.get(name) for name in old} == old, f"revision {revision} changed a row of {table}"


def check_constraints(connection: Connection) -> None:
    """Check now what is checked at the end of a transaction: PostgreSQL alters no table while it has that to do."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SET CONSTRAINTS ALL IMMEDIATE"))
        connection.execute(text("SET CONSTRAINTS ALL DEFERRED"))


def write_as_before(connection: Connection, before: list[Table], number: int) -> None:
    """Add a row to each table that names only the columns of the revision before."""
    made: dict[str, dict[str, Any]] = {}
    for table in before:
        made[table.name] = filled_row(table, number, {name: [row] for name, row in made.items()})
        connection.execute(insert(table), [made[table.name]])


def test_every_revision_follows_the_one_before() -> None:
    assert REVISIONS[-1] == tables.HEAD
    assert {kind_of(revision) for revision in REVISIONS} <= {"expand", "contract"}


async def test_each_step_keeps_the_rows_on_sqlite() -> None:
    engine = create_engine("sqlite://")
    event.listen(engine, "connect", lambda driver, _: driver.execute("PRAGMA foreign_keys = OFF"))
    with engine.begin() as connection:
        walk(connection)
        assert connection.execute(text("PRAGMA foreign_key_check")).all() == []


async def test_each_step_keeps_the_rows_on_postgresql(tmp_path: Path, anyio_backend: str) -> None:
    schema = "duologue_each_migration"
    url = await make_schema(schema)
    try:
        async with Database.unmigrated(url) as database, database.writing() as connection:
            await connection.run_sync(walk)
    finally:
        await drop_schema(schema)


NEXT = '''"""A revision for the test."""

import sqlalchemy as sa
from alembic import op

revision = "9000"
down_revision = "{head}"
kind = "contract"


def upgrade() -> None:
    op.drop_column("runs", "turns")
'''


@contextmanager
def one_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Give the program a revision under which older gateways cannot go on."""
    folder = tmp_path / "migrations"
    (folder / "versions").mkdir(parents=True)
    for file in (migrate.MIGRATIONS / "env.py", *VERSIONS.glob("revision_*.py")):
        (folder / file.relative_to(migrate.MIGRATIONS)).write_text(file.read_text())
    (folder / "versions" / "revision_9000.py").write_text(NEXT.format(head=tables.HEAD))
    with monkeypatch.context() as patched:
        patched.setattr(migrate, "MIGRATIONS", folder)
        yield


async def test_a_contracting_migration_waits_until_older_gateways_have_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, anyio_backend: str
) -> None:
    from duologue.errors import StartFailed
    from duologue.store.cluster.gateway_rows import GatewayRows
    from duologue.values.cluster.gateway_entry import GatewayEntry

    schema = "duologue_contracting"
    url = await make_schema(schema)
    entry = GatewayEntry("one", "i", "http://10.0.0.2:8006", "1", 7, 0, 0)
    up: Callable[[Database], Any] = lambda database: migrate.bring_up(database, None, lambda: 0, head="9000")  # noqa: E731
    try:
        async with Database.opened(url, tmp_path, now=lambda: 0) as database:
            await GatewayRows(database).join(entry, 60_000)
            with one_more(tmp_path, monkeypatch):
                with pytest.raises(StartFailed, match=r"1 older gateways.*revision 9000.*Stop all gateways"):
                    await up(database)
                await GatewayRows(database).leave("one")
                await up(database)
            async with database.reading() as connection:
                assert await migrate.version_of(connection) == "9000"
    finally:
        await drop_schema(schema)


async def test_gateways_that_start_at_once_make_the_tables_once(tmp_path: Path, anyio_backend: str) -> None:
    import anyio

    schema = "duologue_at_once"
    url = await make_schema(schema)

    async def start(number: int) -> None:
        async with Database.opened(url, tmp_path / str(number), now=lambda: 0):
            pass

    try:
        async with anyio.create_task_group() as tasks:
            for number in range(3):
                tasks.start_soon(start, number)
    finally:
        await drop_schema(schema)

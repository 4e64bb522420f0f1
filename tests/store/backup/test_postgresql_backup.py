"""Backup and restore of PostgreSQL: one snapshot, and nothing while a gateway runs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import text
from tests.support.store_fixtures import conversation, drop_schema, make_schema

from duologue.errors import StartFailed
from duologue.store.backup.postgresql_backup import (
    back_up_to_file,
    copy_to_file,
    refuse_while_serving,
    restore_from_file,
)
from duologue.store.cluster.gateway_rows import GatewayRows
from duologue.store.database import FILE, Database
from duologue.store.stores import Store
from duologue.values.cluster.gateway_entry import GatewayEntry

pytestmark = pytest.mark.anyio

SCHEMA = "duologue_postgresql_backup"
GATEWAY = GatewayEntry("one", "i", "http://10.0.0.2:8006", "1", 7, 0, 0)


@pytest.fixture
async def url(anyio_backend: str) -> AsyncIterator[str]:
    yield await make_schema(SCHEMA)
    await drop_schema(SCHEMA)


def place(tmp_path: Path, name: str) -> Path:
    """A file in a folder of its own."""
    (tmp_path / name).mkdir()
    return tmp_path / name / FILE


async def titles(database: Database) -> list[str]:
    async with database.reading() as connection:
        return list((await connection.scalars(text("SELECT id FROM conversations ORDER BY id"))).all())


async def test_what_is_written_meanwhile_is_not_in_the_copy(tmp_path: Path, url: str) -> None:
    async with Database.opened(url, tmp_path, now=lambda: 0) as database:
        await conversation(Store(database, lambda: 1), "hello", id="a")
        file = place(tmp_path, "copy")
        async with database.writing() as connection:
            await connection.execute(
                text("UPDATE conversations SET id = id || '-not committed' WHERE id = 'none'")
            )
            await copy_to_file(database, file)
    async with Database.opened(None, file.parent, now=lambda: 0) as copy:
        assert await titles(copy) == ["a"]
        assert [row.text for row in await Store(copy, lambda: 1).messages.all("a")] == ["hello"]
    assert file.stat().st_mode & 0o777 == 0o600


async def test_nothing_is_restored_while_a_gateway_runs(tmp_path: Path, url: str) -> None:
    file = place(tmp_path, "copy")
    async with Database.opened(None, file.parent, now=lambda: 0) as copy:
        await conversation(Store(copy, lambda: 1), "hello", id="from-the-copy")
    await refuse_while_serving(url)
    async with Database.opened(url, tmp_path, now=lambda: 0) as database:
        await conversation(Store(database, lambda: 1), "hello", id="former")
        await GatewayRows(database).join(GATEWAY, 60_000)
        for refused in (
            refuse_while_serving(url),
            restore_from_file(url, file, place(tmp_path, "aside"), lambda: 0),
        ):
            with pytest.raises(StartFailed, match=r"running \(http://10\.0\.0\.2:8006\)\. Stop all gateways"):
                await refused
        assert await titles(database) == ["former"]
        await GatewayRows(database).leave("one")
        aside = place(tmp_path, "replaced")
        await restore_from_file(url, file, aside, lambda: 0)
        assert await titles(database) == ["from-the-copy"]
    async with Database.opened(None, aside.parent, now=lambda: 0) as replaced:
        assert await titles(replaced) == ["former"]


async def test_tables_of_another_version_are_not_touched(tmp_path: Path, url: str) -> None:
    with pytest.raises(StartFailed, match="nothing to back up"):
        await back_up_to_file(url, place(tmp_path, "none"))
    async with Database.opened(url, tmp_path, now=lambda: 0) as database, database.writing() as connection:
        await connection.execute(text("UPDATE alembic_version SET version_num = '0016'"))
    with pytest.raises(StartFailed, match=r"has version 0016 of the tables.*or with pg_dump"):
        await back_up_to_file(url, place(tmp_path, "older"))

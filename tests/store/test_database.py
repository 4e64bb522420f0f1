"""Transactions, and what becomes of them when things go wrong."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from itertools import count
from pathlib import Path

import anyio
import pytest
from sqlalchemy import insert, select, text
from sqlalchemy.exc import IntegrityError
from tests.support.ports import free_port

from duologue.errors import StartFailed, Unavailable
from duologue.store.database import FILE, Database
from duologue.store.schema.tables import users

pytestmark = pytest.mark.anyio


def user(id: str) -> dict[str, object]:
    return {"id": id, "name": id, "role": "user", "created": 0, "disabled": 0}


async def names(database: Database) -> list[str]:
    async with database.reading() as connection:
        return list((await connection.scalars(select(users.c.id).order_by(users.c.id))).all())


@pytest.fixture
async def file(tmp_path, anyio_backend):
    async with Database.opened(None, tmp_path, now=lambda: 0) as opened:
        yield opened


async def test_what_was_written_is_read_and_an_error_takes_all_of_it_back(database):
    async with database.writing() as connection:
        await connection.execute(insert(users).values(user("a")))

    async def twice() -> None:
        async with database.writing() as connection:
            await connection.execute(insert(users).values(user("b")))
            await connection.execute(insert(users).values(user("b")))

    with pytest.raises(IntegrityError):
        await twice()
    assert await names(database) == ["a"]


async def test_a_part_of_a_transaction_is_kept_or_lost_with_it(database):
    async def broken_off() -> None:
        async with database.writing() as whole:
            async with database.writing(within=whole) as part:
                await part.execute(insert(users).values(user("a")))
            async with database.reading(within=whole) as part:
                assert (await part.scalars(select(users.c.id))).all() == ["a"]
            raise KeyError

    with pytest.raises(KeyError):
        await broken_off()
    assert await names(database) == []


async def test_writers_wait_for_each_other_and_readers_do_not(database):
    async def add(number: int) -> None:
        async with database.writing() as connection:
            count = len((await connection.scalars(select(users.c.id))).all())
            await connection.execute(insert(users).values(user(f"{count:03} {number}")))

    async with anyio.create_task_group() as tasks:
        for number in range(30):
            tasks.start_soon(add, number)
            tasks.start_soon(names, database)
    assert [name.split()[0] for name in await names(database)] == [f"{number:03}" for number in range(30)]


async def test_a_transaction_that_began_is_finished_even_if_nobody_waits_any_more(database):
    with anyio.CancelScope() as scope:
        async with database.writing() as connection:
            scope.cancel()
            await connection.execute(insert(users).values(user("a")))
        await anyio.lowlevel.checkpoint()
    assert scope.cancelled_caught
    assert await names(database) == ["a"]


@pytest.mark.parametrize("database", ["file", "postgresql"], indirect=True)
async def test_reading_sees_one_state_of_things(database):
    async with database.reading() as connection:
        assert (await connection.scalars(select(users.c.id))).all() == []
        async with database.writing() as writer:
            await writer.execute(insert(users).values(user("a")))
        assert (await connection.scalars(select(users.c.id))).all() == []
    assert await names(database) == ["a"]


@pytest.mark.parametrize("database", ["file", "postgresql"], indirect=True)
async def test_reading_cannot_write(database):
    async def write() -> None:
        async with database.reading() as connection:
            await connection.execute(insert(users).values(user("a")))

    with pytest.raises(Unavailable):
        await write()


async def test_nobody_else_can_read_the_files(file, tmp_path):
    async with file.writing() as connection:
        await connection.execute(insert(users).values(user("a")))
    made = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    assert made == dict.fromkeys((FILE, f"{FILE}-wal", f"{FILE}-shm"), 0o600)


async def test_a_full_disk_fails_the_command_with_a_sentence_and_nothing_else(file):
    async with file.writing() as connection:
        pages = await connection.scalar(text("PRAGMA page_count"))
        await connection.execute(text(f"PRAGMA max_page_count = {pages + 2}"))

    async def fill() -> None:
        async with file.writing() as connection:
            for number in range(1000):
                await connection.execute(insert(users).values(user(f"{number}" * 200)))

    with pytest.raises(Unavailable, match=rf"The disk that holds .*{FILE} is full") as raised:
        await fill()
    assert raised.value.code == "storage_unavailable"
    assert await names(file) == []
    async with file.writing() as connection:
        await connection.execute(insert(users).values(user("a")))
    assert await names(file) == ["a"]


async def test_a_locked_file_fails_the_command_with_a_sentence(file, tmp_path):
    async with file.writing() as connection:
        await connection.execute(text("PRAGMA busy_timeout = 1"))
    with closing(sqlite3.connect(tmp_path / FILE, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(Unavailable, match=r"Another program holds .* locked"):
            async with file.writing():
                pass
        assert await names(file) == []
    async with file.writing():
        pass


async def test_a_file_that_is_no_database_stops_the_start_with_a_sentence(tmp_path):
    (tmp_path / FILE).write_bytes(b"not a database at all, whatever its name says" * 100)
    with pytest.raises(StartFailed, match="is not a database"):
        async with Database.opened(None, tmp_path, now=lambda: 0):
            pass


async def test_a_folder_that_cannot_be_made_stops_the_start_with_a_sentence(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StartFailed, match="cannot be used"):
        async with Database.opened(None, tmp_path / "file" / "data", now=lambda: 0):
            pass


@pytest.mark.parametrize("url", ["mysql://x/y", "nonsense", "sqlite:///x"])
async def test_an_address_that_is_none_stops_the_start_with_a_sentence(tmp_path, url):
    with pytest.raises(StartFailed, match="postgresql://user:password@host/database"):
        async with Database.opened(url, tmp_path, now=lambda: 0):
            pass


async def test_a_server_that_does_not_answer_stops_the_start_without_telling_the_password(tmp_path):
    url = f"postgresql://anna:secret@127.0.0.1:{free_port()}/test"
    with pytest.raises(StartFailed, match=r"The PostgreSQL server 127\.0\.0\.1 cannot be reached") as raised:
        async with Database.opened(url, tmp_path, now=lambda: 0):
            pass
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
async def test_a_lost_connection_fails_one_command_and_the_next_one_works(database):
    async def lose() -> None:
        async with database.writing() as connection:
            process = await connection.scalar(text("SELECT pg_backend_pid()"))
            async with database.reading() as other:
                await other.execute(text("SELECT pg_terminate_backend(:process)"), {"process": process})
            await connection.execute(insert(users).values(user("a")))

    with pytest.raises(Unavailable, match="cannot be reached"):
        await lose()
    assert await names(database) == []
    async with database.writing() as connection:
        await connection.execute(insert(users).values(user("b")))
    assert await names(database) == ["b"]


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
async def test_what_a_gateway_that_stands_still_holds_is_free_again(database):
    async def stand_still() -> None:
        async with database.writing() as connection:
            await connection.execute(insert(users).values(user("a")))
            assert await connection.scalar(text("SHOW idle_in_transaction_session_timeout")) == "1min"
            assert await connection.scalar(text("SHOW tcp_keepalives_idle")) in ("15", "0"), (
                "0 is a socket of this machine"
            )
            process = await connection.scalar(text("SELECT pg_backend_pid()"))
            await connection.execute(text("SET idle_in_transaction_session_timeout = 1"))
            running = text("SELECT count(*) FROM pg_stat_activity WHERE pid = :process")
            for _ in count():
                async with database.reading() as other:
                    if not await other.scalar(running, {"process": process}):
                        break
            await connection.execute(insert(users).values(user("b")))

    with pytest.raises(Unavailable, match=r"stood still|cannot be reached"):
        await stand_still()
    assert await names(database) == []


WRITER = """
import sys, anyio
from pathlib import Path
from duologue.store.stores import Stores
from duologue.values.conversations import Conversation, StoredMessage, TextContent

async def main():
    async with Stores.opened(None, Path(sys.argv[1]), now=lambda: 1) as stores:
        store = stores.durable
        await store.conversations.create("local", Conversation(id="a"))
        rows = await store.messages.all("a")
        at = len(rows)
        while True:
            parent = f"m{at - 1}" if at else None
            row = StoredMessage(f"m{at}", "a", parent, "user", (TextContent(f"word{at} " * 50),))
            await store.messages.add([row], leaf=row.id)
            print(at, flush=True)
            at += 1

anyio.run(main)
"""


@pytest.mark.system
def test_a_process_that_is_killed_leaves_everything_it_said_it_had_kept(tmp_path):
    said = -1
    for round_ in range(4):
        process = subprocess.Popen(
            [sys.executable, "-c", WRITER, tmp_path], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        for _ in range(5 + 7 * round_):
            said = int(process.stdout.readline())
        os.kill(process.pid, signal.SIGKILL)
        said = max([said, *map(int, process.stdout.read().split())])
        process.wait()
        check(tmp_path / FILE, said)


def check(file: Path, said: int) -> None:
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        kept = [id for (id,) in connection.execute("SELECT id FROM messages ORDER BY sequence")]
        assert kept in ([f"m{at}" for at in range(said + extra)] for extra in (1, 2))
        assert connection.execute("SELECT leaf FROM conversations").fetchone() == (kept[-1],)
        found = connection.execute("SELECT count(*) FROM message_words").fetchone()
        assert found == (len(kept),)

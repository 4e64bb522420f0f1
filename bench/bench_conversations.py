"""Measure listing, opening and searching with many conversations: 10,000 of 100 messages each, in SQLite.

    python bench/bench_conversations.py [--conversations N] [--folder FOLDER] [--rounds N]

The database is created once (a few minutes) in a temporary folder and reused. Prints for each of the server's queries the
median and the 95th percentile in milliseconds, the CPU time of one query and the budget; and, as the floor, the cost of an
empty transaction, measured in the same run.
"""

from __future__ import annotations

import argparse
import itertools
import random
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing
from pathlib import Path

import anyio

from duologue.store.schema import rows
from duologue.store.search.index import owner_token
from duologue.store.search.tokenizer import folded
from duologue.store.stores import Stores
from duologue.values.conversations import Conversation, StoredMessage, TextContent
from duologue.values.events import Timings, Usage

MESSAGES = 100
LONG = 1000
OPEN_MS, LONG_MS = 50, 100
START = 1_700_000_000_000
USER = "local"
SYLLABLES = (
    "ka",
    "lo",
    "mi",
    "ren",
    "tas",
    "vu",
    "bel",
    "dor",
    "sin",
    "pa",
    "gre",
    "hol",
    "ni",
    "que",
    "st",
    "or",
)
COMMON = (
    "the",
    "of",
    "and",
    "to",
    "in",
    "is",
    "that",
    "it",
    "was",
    "for",
    "on",
    "are",
    "with",
    "as",
    "they",
    "at",
)


def words() -> tuple[list[str], list[float]]:
    """A vocabulary of 30,000 words, with frequencies: a few are very common, most are rare."""
    chance = random.Random(4)
    made = {"".join(chance.choices(SYLLABLES, k=chance.randint(2, 5))): None for _ in range(40_000)}
    vocabulary = [*COMMON, *list(made)[: 30_000 - len(COMMON)]]
    return vocabulary, list(itertools.accumulate(1 / (rank + 10) for rank in range(len(vocabulary))))


def texts() -> Iterator[str]:
    vocabulary, weights = words()
    chance = random.Random(5)
    for number in itertools.count():
        length = chance.randint(5, 40) if number % 2 == 0 else chance.randint(20, 180)
        said = chance.choices(vocabulary, cum_weights=weights, k=length)
        if number % 50_000 == 49_999:
            said.insert(length // 2, "walrus")
        yield " ".join(said).capitalize() + "."


def make(file: Path, count: int) -> None:
    """Fill the tables of an empty database, in the words of the store but with one statement for many rows."""
    said = texts()
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("BEGIN")
        for number in range(count):
            size = LONG if number == count - 1 else MESSAGES
            fill(connection, f"c{number:06}", START + number * 60_000, size, said)
            if number % 100 == 99:
                connection.execute("COMMIT")
                connection.execute("BEGIN")
                print(f"\r{number + 1:,} of {count:,} conversations", end="", flush=True)
        connection.execute("COMMIT")
    print()


def fill(connection: sqlite3.Connection, id: str, at: int, size: int, said: Iterator[str]) -> None:
    made = []
    for number in range(size):
        assistant = number % 2 == 1
        made.append(
            StoredMessage(
                id=f"{id}_m{number:04}",
                conversation=id,
                parent=f"{id}_m{number - 1:04}" if number else None,
                role="assistant" if assistant else "user",
                content=(TextContent(next(said)),),
                created=at + number,
                model="duologue-mini" if assistant else "",
                finish="stop" if assistant else None,
                usage=Usage(100 * number, 80) if assistant else None,
                timings=Timings(0.2, 30.5, 812.25, 31.0) if assistant else None,
            )
        )
    conversation = Conversation(id=id, title=made[0].text[:40], created=at, updated=at, leaf=made[-1].id)
    values: dict[str, object] = {
        **{name: getattr(conversation, name) for name in Conversation.__struct_fields__},
        "user": USER,
        "tags": "[]",
        "options": "{}",
        "title_words": f" {folded(conversation.title)} ",
    }
    insert(connection, "conversations", [values])
    inserted = [
        {**rows.columns(row), "id": row.id, "conversation": id, "parent": row.parent, "created": row.created}
        for row in made
    ]
    insert(connection, "messages", inserted)
    (last,) = connection.execute("SELECT max(sequence) FROM messages").fetchone()
    connection.executemany(
        "INSERT INTO message_words (rowid, owner, words) VALUES (?, ?, ?)",
        [(last - size + 1 + at, owner_token(USER), folded(row.text)) for at, row in enumerate(made)],
    )


def insert(connection: sqlite3.Connection, table: str, values: list[dict[str, object]]) -> None:
    names = ", ".join(f'"{name}"' for name in values[0])
    places = ", ".join("?" * len(values[0]))
    connection.executemany(
        f"INSERT INTO {table} ({names}) VALUES ({places})", [tuple(row.values()) for row in values]
    )


async def measure(stores: Stores, count: int, rounds: int) -> None:
    store = stores.durable
    chance = random.Random(6)
    first = await store.conversations.listed(USER)
    after = (first[-1].updated, first[-1].id)

    async def floor() -> int:
        async with store.reading():
            return 0

    async def listed() -> int:
        return len(await store.conversations.listed(USER))

    async def next_page() -> int:
        return len(await store.conversations.listed(USER, before=after))

    async def opened() -> int:
        id = f"c{chance.randrange(count - 1):06}"
        await store.conversations.get(USER, id)
        return len(await store.messages.all(id))

    async def path() -> int:
        id = f"c{count - 1:06}"
        await store.conversations.get(USER, id)
        return len(await store.messages.path(id, f"{id}_m{LONG - 1:04}"))

    async def long() -> int:
        return len(await store.messages.all(f"c{count - 1:06}"))

    def search(query: str, limit: int = 50) -> Callable[[], Awaitable[int]]:
        async def find() -> int:
            return len(await store.search.find(USER, query, limit=limit))

        return find

    vocabulary, _ = words()
    questions: list[tuple[str, Callable[[], Awaitable[int]], int]] = [
        ("floor: an empty transaction", floor, 0),
        ("list, the first page", listed, OPEN_MS),
        ("list, the next page", next_page, OPEN_MS),
        ("open, any conversation of 100", opened, OPEN_MS),
        ("path of 1,000", path, LONG_MS),
        ("all of 1,000", long, LONG_MS),
        ("search: the commonest word", search("the"), OPEN_MS),
        ("search: the same, 1,000 hits", search("the", 1000), OPEN_MS),
        ("search: a common word", search(vocabulary[40]), OPEN_MS),
        ("search: a word of medium rank", search(vocabulary[2000]), OPEN_MS),
        ("search: a rare word", search("walrus"), OPEN_MS),
        ("search: no such word", search("unheardofword"), OPEN_MS),
        ("search: two common words", search("the of"), OPEN_MS),
        ("search: a common and a rare one", search("walrus the"), OPEN_MS),
        ("search: two of medium rank", search(f"{vocabulary[200]} {vocabulary[300]}"), OPEN_MS),
        ("search: a phrase", search('"of the"'), OPEN_MS),
        ("search: prefix of 1", search("k"), OPEN_MS),
        ("search: prefix of 2", search("ka"), OPEN_MS),
        ("search: prefix of 3", search("kal"), OPEN_MS),
        ("search: prefix of 4", search("kalo"), OPEN_MS),
        ("search: prefix of 5", search("belka"), OPEN_MS),
        ("search: prefix of 6", search("dorsin"), OPEN_MS),
    ]
    print(f"{'question':<34}{'median ms':>10}{'p95 ms':>9}{'CPU ms':>8}{'budget':>8}{'rows':>7}")
    for name, ask, budget in questions:
        times, worked, found = await timed(ask, rounds)
        median = statistics.median(times)
        worst = sorted(times)[int(len(times) * 0.95)]
        late = "  over" if budget and median > budget else ""
        print(f"{name:<34}{median:>10.2f}{worst:>9.2f}{worked:>8.2f}{budget or '':>8}{found:>7,}{late}")


async def timed(ask: Callable[[], Awaitable[int]], rounds: int) -> tuple[list[float], float, int]:
    """Milliseconds of each round, after one that does not count; the mean of what the process worked in them, which a
    busy machine does not stretch; and the rows of the last answer."""
    found = await ask()
    times = []
    worked = time.process_time()
    for _ in range(rounds):
        began = time.perf_counter()
        found = await ask()
        times.append((time.perf_counter() - began) * 1000)
    return times, (time.process_time() - worked) * 1000 / rounds, found


def now() -> int:
    return time.time_ns() // 1_000_000


def clear(folder: Path) -> None:
    for old in folder.glob("duologue.db*"):
        old.unlink()


async def run(folder: Path, count: int, rounds: int) -> None:
    finished = folder / "finished"
    if not finished.exists():
        clear(folder)
        async with Stores.opened(None, folder, now=now):
            pass
        began = time.perf_counter()
        make(folder / "duologue.db", count)
        print(f"made in {time.perf_counter() - began:.0f} s")
        finished.touch()
    size = (folder / "duologue.db").stat().st_size
    began = time.perf_counter()
    async with Stores.opened(None, folder, now=now) as stores:
        print(f"{size / 1e9:.2f} GB, opened in {(time.perf_counter() - began) * 1000:.0f} ms")
        await measure(stores, count, rounds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--conversations", type=int, default=10_000, help="how many conversations")
    parser.add_argument("--folder", type=Path, help="where the database is, or is made")
    parser.add_argument("--rounds", type=int, default=50, help="how often each question is asked")
    given = parser.parse_args()
    name = f"duologue-bench-{given.conversations}"
    folder = given.folder or Path(tempfile.gettempdir()) / name
    folder.mkdir(parents=True, exist_ok=True)
    anyio.run(run, folder, given.conversations, given.rounds)


if __name__ == "__main__":
    main()

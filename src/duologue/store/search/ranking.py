"""Search in a user's conversations: the newest matches of the index, ranked, with an excerpt around the match.

The index returns the newest REACH messages at most; BM25 ranks these by how often they contain the terms, how rare the terms
are among them, and how long they are. The ranking is done here because a database's own ranking reads every message with a
matching word, and differs between databases.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import islice
from math import log
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Row, select
from sqlalchemy.ext.asyncio import AsyncConnection

from duologue.store.database import Database
from duologue.store.schema.tables import conversations, messages
from duologue.store.search import index
from duologue.store.search.tokenizer import Term, places_of, terms_of
from duologue.values.conversations import Content, Hit, TextContent
from duologue.values.messages import Role

REACH = 1000
"""Matches that are ranked: the newest."""
_LOOKED_AT = 8000
"""Characters of a message's words that the ranking reads."""
_TITLES = 20
_BEFORE, _SNIPPET = 30, 240
"""Characters of a snippet before the match, few enough for it to be visible where a snippet has one line, and in all."""
_BLANK = re.compile(r"\s")
_content = msgspec.json.Decoder(tuple[Content, ...]).decode


class Found(NamedTuple):
    sequence: int
    words: str


class Search:
    """Raises Unavailable as the database does."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(self, user: str, query: str, *, limit: int = 50, archived: bool = True) -> list[Hit]:
        """The best hits first, at most `limit`. All terms must be in one message (its text, or the names of its files). A
        conversation that matches only by its title is a hit on its last message, and comes first."""
        if not (terms := terms_of(query)) or limit < 1:
            return []
        async with self._database.reading() as connection:
            candidates = await self._newest(connection, user, terms, archived)
            best = ranked(candidates, terms)[:limit]
            rows = await _details(connection, [one.sequence for one in best])
            titled = await _titled(connection, user, terms, archived)
        hits = [_hit(rows[one.sequence], terms) for one in best if one.sequence in rows]
        known = {hit.conversation for hit in hits}
        titles = [_title_hit(row, terms) for row in titled if row.conversation not in known]
        return (titles + hits)[:limit]

    async def _newest(
        self, connection: AsyncConnection, user: str, terms: Sequence[Term], archived: bool
    ) -> list[Found]:
        dialect = connection.dialect.name
        values = {
            "query": index.match_query(dialect, user, terms),
            "user": user,
            "archived": archived,
            "most": REACH,
            "reach": _LOOKED_AT,
        }
        rows = await connection.execute(index.newest(dialect), values)
        return [Found(sequence, words) for sequence, words in rows]


def ranked(candidates: Sequence[Found], terms: Sequence[Term]) -> list[Found]:
    """The best first, by BM25; equally good ones stay in their order."""
    if not candidates:
        return []
    sought = [f" {' '.join(term.words)}" + ("" if term.prefix else " ") for term in terms]
    counts = [[f" {one.words} ".count(words) for words in sought] for one in candidates]
    size = sum(len(one.words) for one in candidates) or 1
    # Every hit holds every term, so how many hold it says nothing; how often they do says how common it is.
    weights = [log(1 + size / (1 + sum(column))) for column in zip(*counts, strict=True)]
    average = size / len(candidates)

    def score(at: int) -> float:
        damped = 1.2 * (0.25 + 0.75 * len(candidates[at].words) / average)
        return sum(
            weight * count * 2.2 / (count + damped) for weight, count in zip(weights, counts[at], strict=True)
        )

    return [candidates[at] for at in sorted(range(len(candidates)), key=score, reverse=True)]


async def _details(connection: AsyncConnection, sequences: Sequence[int]) -> Mapping[int, Any]:
    if not sequences:
        return {}
    these = (
        select(
            messages.c.sequence,
            messages.c.id,
            messages.c.conversation,
            messages.c.role,
            messages.c.created,
            messages.c.content,
            conversations.c.title,
            conversations.c.archived,
        )
        .join(conversations, conversations.c.id == messages.c.conversation)
        .where(messages.c.sequence.in_(sequences))
    )
    return {row.sequence: row for row in await connection.execute(these)}


async def _titled(
    connection: AsyncConnection, user: str, terms: Sequence[Term], archived: bool
) -> Sequence[Any]:
    c = conversations.c
    these = select(c.id, c.title, c.updated, c.leaf, c.archived).where(c.user == user, c.deleted == 0)
    if not archived:
        these = these.where(c.archived.is_(False))
    for term in terms:
        these = these.where(c.title_words.like(f"% {' '.join(term.words)}{'%' if term.prefix else ' %'}"))
    # Those that are shown are found first: only they are worth a look at their last message.
    newest = these.order_by(c.updated.desc()).limit(_TITLES).subquery()
    titled = (
        select(
            newest.c.id.label("conversation"),
            newest.c.title,
            newest.c.updated,
            newest.c.archived,
            messages.c.id,
            messages.c.role,
        )
        .outerjoin(messages, (messages.c.conversation == newest.c.id) & (messages.c.id == newest.c.leaf))
        .order_by(newest.c.updated.desc())
    )
    return (await connection.execute(titled)).all()


def _hit(row: Row[Any], terms: Sequence[Term]) -> Hit:
    parts = _content(row.content)
    text = "".join(part.text for part in parts if isinstance(part, TextContent))
    first = first_place(text, terms)
    if first is None:
        names = [part.name for part in parts if not isinstance(part, TextContent) and part.name]
        text = next((name for name in names if first_place(name, terms) is not None), text)
    snippet, marks = snippet_of(text, terms, first)
    return Hit(row.conversation, row.title, row.id, row.role, row.created, snippet, marks, row.archived)


def _title_hit(row: Row[Any], terms: Sequence[Term]) -> Hit:
    snippet, marks = snippet_of(row.title, terms)
    # An empty conversation has no message to name.
    role: Role = row.role if row.id else "user"
    return Hit(row.conversation, row.title, row.id or "", role, row.updated, snippet, marks, row.archived)


def snippet_of(
    text: str, terms: Sequence[Term], first: tuple[int, int] | None = None
) -> tuple[str, tuple[tuple[int, int], ...]]:
    """A piece of a text around the first match (looked for, unless it is given), in one line, and the (start, end) of
    what matches in it."""
    first = first or first_place(text, terms) or (0, 0)
    start = _word_start(text, first[0])
    end = max(first[1], _word_end(text, start + _SNIPPET))
    piece = text[start:end]
    before = "…" if start > 0 else ""
    marks = sorted({place for term in terms for place in places_of(piece, term)})
    line = before + _BLANK.sub(" ", piece) + ("…" if end < len(text) else "")
    return line, tuple((at + len(before), to + len(before)) for at, to in marks)


def _word_start(text: str, match: int) -> int:
    """Where a snippet begins: at a word, or amid one that is longer than all that may stand before the match."""
    at = match - _BEFORE
    if at <= 0:
        return 0
    space = _BLANK.search(text, at, match)
    return space.end() if space else at


def _word_end(text: str, at: int) -> int:
    """Where a snippet ends: after a word, or amid a very long one. A match that is cut off would be marked as another word."""
    if at >= len(text):
        return len(text)
    spaces = [space.start() for space in _BLANK.finditer(text, at - _BEFORE, at + 1)]
    return spaces[-1] if spaces else at


def first_place(text: str, terms: Sequence[Term]) -> tuple[int, int] | None:
    """Where the first match stands, the terms' order aside."""
    return min((place for term in terms for place in islice(places_of(text, term), 1)), default=None)

"""The search index: the words of each message with their owner, in SQLite's FTS5 or PostgreSQL's tsvector.

Used by `ranking.py` and `messages.py`. Words are folded first (`tokenizer.py`), so that both databases index the same words and
neither parses text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b

from sqlalchemy import TextClause, text
from sqlalchemy.ext.asyncio import AsyncConnection

from duologue.store.search.tokenizer import Term

_POSITIONS = 16_383
"""The highest word position that PostgreSQL stores."""
_PLACES = 255
"""The most positions of one word that it stores."""
_VECTOR_BYTES = 900_000
"""PostgreSQL refuses a vector of a megabyte."""


def owner_token(user: str) -> str:
    """A user's id as a single word of the index."""
    return blake2b(user.encode(), digest_size=8).hexdigest()


async def index(connection: AsyncConnection, user: str, words: Iterable[tuple[int, str]]) -> None:
    """Write or replace the folded words of messages of one user, by their sequence."""
    rows = [{"message": sequence, "owner": owner_token(user), "words": folded} for sequence, folded in words]
    if not rows:
        return
    if connection.dialect.name == "postgresql":
        for row in rows:
            row["vector"] = _vector(str(row["owner"]), str(row["words"]))
        await connection.execute(_POSTGRESQL_WRITE, rows)
    else:
        await connection.execute(_SQLITE_WRITE, rows)


def newest(dialect: str) -> TextClause:
    """The statement for the newest messages that match, newest first: (sequence, the first `reach` characters of their
    words). Takes query (of `match_query`), user and most; `archived` also finds in archived conversations."""
    return _POSTGRESQL_NEWEST if dialect == "postgresql" else _SQLITE_NEWEST


def match_query(dialect: str, user: str, terms: Sequence[Term]) -> str:
    """A query in the syntax of the database's index."""
    if dialect == "postgresql":
        return " & ".join((_lexeme(f"={owner_token(user)}"), *(_postgresql_term(term) for term in terms)))
    every = " AND ".join(_sqlite_term(term) for term in terms)
    return f'owner : "{owner_token(user)}" AND words : ({every})'


def _sqlite_term(term: Term) -> str:
    return f'"{" ".join(term.words)}"' + (" *" if term.prefix else "")


def _postgresql_term(term: Term) -> str:
    lexemes = [_lexeme(word) for word in term.words]
    if term.prefix:
        lexemes[-1] += ":*"
    return f"({' <-> '.join(lexemes)})"


def _lexeme(word: str) -> str:
    # A word is letters and digits only; the quotes keep the parser of the literal from looking into it.
    return f"'{word}'"


def _vector(owner: str, words: str) -> str:
    """The literal of a tsvector. The owner's lexeme begins with a sign that no word has."""
    places: dict[str, list[int]] = {}
    room = _VECTOR_BYTES
    for place, word in enumerate(words.split(), 1):
        positions = places.get(word)
        if positions is None:
            positions = places[word] = []
            room -= 4 * len(word) + 4
        if len(positions) < _PLACES:
            positions.append(min(place, _POSITIONS))
            room -= 2
        if room < 0:
            break
    lexemes = (f"'{word}':{','.join(map(str, positions))}" for word, positions in places.items())
    return " ".join((f"'={owner}'", *lexemes))


_SQLITE_WRITE = text(
    "INSERT OR REPLACE INTO message_words (rowid, owner, words) VALUES (:message, :owner, :words)"
)
_POSTGRESQL_WRITE = text(
    "INSERT INTO message_words (message, words, vector) VALUES (:message, :words, CAST(:vector AS tsvector)) "
    "ON CONFLICT (message) DO UPDATE SET words = excluded.words, vector = excluded.vector"
)
# The row numbers of FTS5 are the sequences, and it reads them backwards: the newest hits cost no sorting.
_SQLITE_NEWEST = text(
    "SELECT f.rowid, substr(f.words, 1, :reach) FROM message_words AS f "
    "CROSS JOIN messages AS m ON m.sequence = f.rowid CROSS JOIN conversations AS c ON c.id = m.conversation "
    "WHERE f.message_words MATCH :query AND c.user = :user AND c.deleted = 0 AND (:archived OR NOT c.archived) "
    "ORDER BY f.rowid DESC LIMIT :most"
)
_POSTGRESQL_NEWEST = text(
    "SELECT f.message, substr(f.words, 1, :reach) FROM message_words AS f "
    "JOIN messages AS m ON m.sequence = f.message JOIN conversations AS c ON c.id = m.conversation "
    'WHERE f.vector @@ CAST(:query AS tsquery) AND c."user" = :user AND c.deleted = 0 '
    "AND (:archived OR NOT c.archived) ORDER BY f.message DESC LIMIT :most"
)

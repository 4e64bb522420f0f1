"""Database errors as Problems: a full disk, a locked file, a server that does not answer.

Owns the sentences. An error that is neither an outage nor a text the database cannot store is a bug and propagates.
"""

from __future__ import annotations

import sqlite3

from sqlalchemy import exc

from duologue.errors import BadRequest, Problem, Unavailable
from duologue.store.schema.repeating import RolledBack

CODE = "storage_unavailable"

_SQLITE = {
    sqlite3.SQLITE_FULL: "The disk that holds {place} is full. Free some space and try again.",
    sqlite3.SQLITE_BUSY: "Another program holds {place} locked. Close what has it open and try again.",
    sqlite3.SQLITE_LOCKED: "Another program holds {place} locked. Close what has it open and try again.",
    sqlite3.SQLITE_READONLY: (
        "{place} cannot be written. Give this server's user the right to write the file and its folder."
    ),
    sqlite3.SQLITE_PERM: "{place} may not be used. Give this server's user the right to write it.",
    sqlite3.SQLITE_CANTOPEN: "{place} cannot be opened. Look whether its folder is there and may be written.",
    sqlite3.SQLITE_IOERR: "The disk that holds {place} gives errors. Look at its health and its free space.",
    sqlite3.SQLITE_CORRUPT: (
        "{place} is damaged. Stop the server and put a copy back with `duologue backup --restore FILE`."
    ),
    sqlite3.SQLITE_NOTADB: (
        "{place} is not a database. Move it away, or put a copy back with `duologue backup --restore FILE`."
    ),
}
_POSTGRESQL = {
    "53100": "The disk of {place} is full. Free some space and try again.",
    "53300": "{place} takes no more connections. Raise its max_connections or close other clients.",
    "25P03": "{place} has undone this because this server stood still in the middle of it. Try again.",
    "25006": "{place} is read-only. Point `database` to a server that can be written.",
    "55P03": "Another program holds {place} locked. Try again.",
    "28000": "{place} does not let this user in. Correct the user and the password in `database`.",
    "28P01": "{place} does not let this user in. Correct the user and the password in `database`.",
    "3D000": "{place} has no such database. Create it, or correct its name in `database`.",
}
_ROLLED_BACK = ("40P01", "40001")
"""A deadlock, and a row that another transaction has changed: PostgreSQL has undone this one so that the other goes on."""
_NOT_TEXT = "22021"
"""PostgreSQL takes no NUL in its texts; an id, a name or a filter that holds one is what nobody can have."""
_GONE = "{place} cannot be reached. Look whether it runs and whether the address in `database` is right."
_BROKEN = ("connection was closed", "connection is closed", "cannot switch to state")
"""What asyncpg says of a connection that broke, without a code of the server; the last when it broke in the middle."""
_OVERLOADED = "{place} has too much to do: no connection came free. Try again in a moment."

_CONTENDED = (
    "{place} did not store this because other changes were made at the same time. Try again in a moment."
)


def outage(error: BaseException, place: str) -> Problem | None:
    """The Problem to say instead of `error`, `place` being the file or the server; None when it is no outage."""
    state = _state(error)
    if state == _NOT_TEXT:
        return BadRequest("There is a NUL character where none can be. Leave it out.")
    if state in _ROLLED_BACK:
        return RolledBack(_CONTENDED.format(place=place), code=CODE, retry_after=1)
    sentence = _sentence(error)
    return Unavailable(sentence.format(place=place), code=CODE) if sentence else None


def _sentence(error: BaseException) -> str | None:
    if isinstance(error, exc.TimeoutError):
        return _OVERLOADED
    if isinstance(error, exc.DBAPIError):
        error = error.orig or error
    if isinstance(error, sqlite3.Error):
        # The low byte is the kind; the rest says which of its cases.
        return _SQLITE.get(getattr(error, "sqlite_errorcode", 0) & 0xFF)
    if state := _state(error):
        if state[:2] in ("08", "57"):
            return _GONE
        return _POSTGRESQL.get(state)
    if isinstance(error, OSError) or any(words in str(error) for words in _BROKEN):
        return _GONE
    return None


def _state(error: BaseException) -> str:
    """The SQLSTATE of an error of PostgreSQL, or nothing."""
    if isinstance(error, exc.DBAPIError):
        error = error.orig or error
    state = getattr(error, "sqlstate", None) or getattr(error, "pgcode", None)
    return state if isinstance(state, str) else ""

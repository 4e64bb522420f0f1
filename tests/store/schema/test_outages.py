"""What is an outage, and what it is called."""

from __future__ import annotations

import sqlite3

import pytest
from sqlalchemy import exc

from duologue.store.schema.outages import outage
from duologue.store.schema.repeating import RolledBack


def sqlite_error(code: int) -> exc.OperationalError:
    error = sqlite3.OperationalError("as SQLite says it")
    error.sqlite_errorcode = code
    return exc.OperationalError("SELECT", {}, error)


class PostgresqlError(Exception):
    def __init__(self, state: str) -> None:
        super().__init__("as the server says it")
        self.sqlstate = state


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (sqlite_error(sqlite3.SQLITE_FULL), "The disk that holds DB is full. Free some space"),
        (sqlite_error(sqlite3.SQLITE_BUSY), "Another program holds DB locked."),
        (sqlite_error(sqlite3.SQLITE_BUSY | 5 << 8), "Another program holds DB locked."),
        (
            sqlite_error(sqlite3.SQLITE_READONLY | 3 << 8),
            "DB cannot be written. Give this server's user the right",
        ),
        (sqlite_error(sqlite3.SQLITE_CANTOPEN), "DB cannot be opened. Look whether its folder is there"),
        (sqlite_error(sqlite3.SQLITE_IOERR | 4 << 8), "The disk that holds DB gives errors."),
        (sqlite_error(sqlite3.SQLITE_CORRUPT), "DB is damaged. Stop the server and put a copy back"),
        (sqlite_error(sqlite3.SQLITE_NOTADB), "DB is not a database. Move it away"),
        (exc.TimeoutError(), "DB has too much to do"),
        (exc.DBAPIError("SELECT", {}, PostgresqlError("53100")), "The disk of DB is full."),
        (exc.DBAPIError("SELECT", {}, PostgresqlError("57P01")), "DB cannot be reached."),
        (PostgresqlError("25P03"), "DB has undone this because this server stood still"),
        (PostgresqlError("28P01"), "DB does not let this user in."),
        (PostgresqlError("3D000"), "DB has no such database."),
        (ConnectionRefusedError(), "DB cannot be reached. Look whether it runs"),
        (Exception("the underlying connection is closed"), "DB cannot be reached."),
        (
            Exception("cannot switch to state 11; another operation (2) is in progress"),
            "DB cannot be reached.",
        ),
    ],
)
def test_an_outage_is_a_sentence_that_says_what_to_do(error, words):
    problem = outage(error, "DB")
    assert problem is not None
    assert problem.message.startswith(words)
    assert (problem.code, problem.status) == ("storage_unavailable", 503)


@pytest.mark.parametrize("state", ["40P01", "40001"])
def test_a_transaction_that_was_undone_for_another_one_may_be_tried_again_soon(state):
    problem = outage(exc.DBAPIError("UPDATE", {}, PostgresqlError(state)), "DB")
    assert isinstance(problem, RolledBack)
    assert (problem.code, problem.status, problem.retry_after) == ("storage_unavailable", 503, 1)
    assert "Try again" in problem.message


@pytest.mark.parametrize(
    "error",
    [
        sqlite_error(sqlite3.SQLITE_ERROR),
        exc.IntegrityError("INSERT", {}, sqlite3.IntegrityError("x")),
        exc.DBAPIError("SELECT", {}, PostgresqlError("42601")),
        ValueError("x"),
    ],
)
def test_a_mistake_of_ours_is_no_outage(error):
    assert outage(error, "DB") is None


def test_a_text_that_cannot_be_held_is_the_fault_of_who_sent_it():
    problem = outage(exc.DBAPIError("SELECT", {}, PostgresqlError("22021")), "DB")
    assert problem is not None
    assert (problem.status, problem.code) == (400, "invalid_request")
    assert "NUL" in problem.message

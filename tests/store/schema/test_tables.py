"""The tables, as the databases see them."""

from __future__ import annotations

import pytest
from sqlalchemy import create_engine
from sqlalchemy.dialects import postgresql
from sqlalchemy.exc import IntegrityError
from sqlalchemy.schema import CreateTable

from duologue.store.schema import migrate, tables


def test_text_keeps_everything_but_nul():
    bind = tables.Plain().process_bind_param
    assert bind("a\0b\n", postgresql.dialect()) == "ab\n"
    assert bind("", postgresql.dialect()) == ""
    assert bind(None, postgresql.dialect()) is None


def test_postgresql_keeps_words_as_its_own_vector():
    made = str(CreateTable(tables.message_words).compile(dialect=postgresql.dialect()))
    assert "vector tsvector NOT NULL" in made


def test_a_parent_in_another_conversation_is_impossible():
    engine = create_engine("sqlite://")

    def add() -> None:
        with engine.begin() as connection:
            connection.exec_driver_sql("PRAGMA foreign_keys = ON")
            migrate.create(connection)
            nothing = {column.name: "" for column in tables.messages.columns} | {"active": True}
            for id in ("a", "b"):
                empty = {
                    column.name: None if column.nullable else 0 for column in tables.conversations.columns
                }
                empty |= {"pinned": False, "archived": False, "temporary": False}
                connection.execute(tables.conversations.insert().values({**empty, "id": id, "title": ""}))
            for number, (id, conversation, parent) in enumerate((("m0", "a", None), ("m1", "b", "m0")), 1):
                place = {"id": id, "conversation": conversation, "parent": parent, "sequence": number}
                connection.execute(
                    tables.messages.insert().values({**nothing, **place, "created": 0, "edited": 0})
                )

    with pytest.raises(IntegrityError, match="FOREIGN KEY"):
        add()

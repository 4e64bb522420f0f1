"""What the tables share: the collection they are in, with the rules for names, and the type of text that people or models wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import BigInteger, Integer, MetaData, Text
from sqlalchemy.types import TypeDecorator

if TYPE_CHECKING:
    from sqlalchemy import Dialect

metadata = MetaData(
    naming_convention={
        "ix": "%(table_name)s_by_%(column_0_N_name)s",
        "uq": "%(table_name)s_%(column_0_N_name)s_key",
        "fk": "%(table_name)s_%(column_0_N_name)s_fkey",
        "pk": "%(table_name)s_pkey",
    }
)


class Plain(TypeDecorator[str]):
    """Text written by people or models. PostgreSQL cannot store NUL, so it is removed on every database."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return value.replace("\0", "") if value else value


# SQLite counts a row's number only in a column that is exactly INTEGER.
Number = BigInteger().with_variant(Integer, "sqlite")

"""The address of the database, with its password in a file."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr
from sqlalchemy import make_url

from duologue.config import load
from duologue.config.database_url import database_url
from duologue.errors import StartFailed

ADDRESS = "postgresql://ada@db:5432/chats?sslmode=require"


def a_file(folder: Path, content: bytes) -> Path:
    file = folder / "password"
    file.write_bytes(content)
    return file


def test_without_a_file_the_address_is_what_was_set() -> None:
    assert (
        database_url(SecretStr("postgresql://ada:secret@db/chats"), None)
        == "postgresql://ada:secret@db/chats"
    )
    assert database_url(None, None) is None


@pytest.mark.parametrize("password", ["secret", "with space", "a@b:c/d?e#f%20", "größer"])
@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_the_password_comes_out_as_it_is_in_the_file(tmp_path: Path, password: str, end: str) -> None:
    url = database_url(SecretStr(ADDRESS), a_file(tmp_path, (password + end).encode()))
    assert url is not None
    read = make_url(url)
    assert (read.username, read.password, read.host, read.port) == ("ada", password, "db", 5432)
    assert (read.database, dict(read.query)) == ("chats", {"sslmode": "require"})


@pytest.mark.parametrize(
    ("address", "content", "sentence"),
    [
        (None, b"secret", "database is not"),
        ("postgresql://db/chats", b"secret", "a user and no password"),
        ("postgresql://ada:other@db/chats", b"secret", "a user and no password"),
        (ADDRESS, b"\n", "is empty"),
        (ADDRESS, b"\xff\xfe", "it is not text"),
    ],
)
def test_what_cannot_be_put_together_is_said(
    tmp_path: Path, address: str | None, content: bytes, sentence: str
) -> None:
    with pytest.raises(StartFailed, match=sentence):
        database_url(SecretStr(address) if address else None, a_file(tmp_path, content))


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(StartFailed, match=rf"{tmp_path / 'none'} cannot be read: No such file"):
        database_url(SecretStr(ADDRESS), tmp_path / "none")


def test_the_setting_is_read_when_the_address_is_asked_for(tmp_path: Path) -> None:
    file = a_file(tmp_path, b"xyzzy\n")
    settings = load(None, {"DUOLOGUE_DATABASE": ADDRESS, "DUOLOGUE_DATABASE_PASSWORD_FILE": str(file)}, {})
    assert settings.database_url == "postgresql://ada:xyzzy@db:5432/chats?sslmode=require"
    assert "xyzzy" not in repr(settings)

"""Stored keys can be read with the key file, for the server they were entered for, and not otherwise."""

import logging
import os
import stat
from pathlib import Path

import pytest

from duologue.gateway.upstreams.key_file import KeyFile, KeyUnreadable

ORIGIN = "https://api.example.com"


def test_a_key_is_read_again_by_another_start_of_the_server(tmp_path: Path) -> None:
    sealed = KeyFile(tmp_path).encrypt("sk-secret", ORIGIN)
    assert b"sk-secret" not in sealed
    assert KeyFile(tmp_path).decrypt(sealed, ORIGIN) == "sk-secret"


def test_the_file_is_for_this_user_alone_whatever_the_umask_is(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        keys = KeyFile(tmp_path)
        keys.encrypt("sk-secret", ORIGIN)
    finally:
        os.umask(before)
    assert stat.S_IMODE(keys.path.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["upstreams.key"]


def test_a_file_that_others_can_read_is_closed_to_them(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    keys = KeyFile(tmp_path)
    sealed = keys.encrypt("sk-secret", ORIGIN)
    keys.path.chmod(0o644)
    with caplog.at_level(logging.WARNING):
        assert keys.decrypt(sealed, ORIGIN) == "sk-secret"
    assert stat.S_IMODE(keys.path.stat().st_mode) == 0o600
    assert "could be read by others" in caplog.text


def test_the_same_key_never_looks_the_same_twice(tmp_path: Path) -> None:
    keys = KeyFile(tmp_path)
    assert keys.encrypt("sk-secret", ORIGIN) != keys.encrypt("sk-secret", ORIGIN)


def test_a_key_cannot_be_read_for_another_server(tmp_path: Path) -> None:
    keys = KeyFile(tmp_path)
    sealed = keys.encrypt("sk-secret", ORIGIN)
    with pytest.raises(KeyUnreadable):
        keys.decrypt(sealed, "https://evil.example")


@pytest.mark.parametrize("damage", ["gone", "short", "another", "changed"])
def test_without_the_right_file_a_key_is_unreadable_and_a_new_one_can_be_stored(
    tmp_path: Path, damage: str
) -> None:
    keys = KeyFile(tmp_path)
    sealed = keys.encrypt("sk-secret", ORIGIN)
    if damage == "gone":
        keys.path.unlink()
    elif damage == "short":
        keys.path.write_bytes(b"short")
    elif damage == "another":
        keys.path.write_bytes(bytes(32))
    else:
        sealed = sealed[:-1] + bytes([sealed[-1] ^ 1])
    with pytest.raises(KeyUnreadable):
        keys.decrypt(sealed, ORIGIN)
    assert keys.decrypt(keys.encrypt("sk-new", ORIGIN), ORIGIN) == "sk-new"

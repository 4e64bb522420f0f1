"""A hub that attacks who downloads from it, byte by byte. Whatever it answers, the person gets a sentence."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from duologue.errors import Problem
from duologue.models.fit import Hardware
from duologue.models.hub import pull
from duologue.models.hub.download import Source, download
from duologue.models.hub.http import HubConnection
from duologue.models.hub.pull import describe, plan_download
from duologue.models.hub.reference import HubReference
from duologue.models.hub.repository import parse_repository, variants
from duologue.models.hub.resume import Content

MB = 1024 * 1024
HARDWARE = Hardware(cores=2, memory=8 << 30, disk=8 << 30)
NAME = "Model-Q4_K_M.gguf"


@contextmanager
def answering(head: str, body: bytes = b"", times: int = 1) -> Iterator[str]:
    """The address of a server that answers everything so: `body` is sent `times` times."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                with connection, suppress(OSError):
                    connection.recv(65536)
                    connection.sendall(f"HTTP/1.1 {head}\r\nconnection: close\r\n\r\n".encode("latin-1"))
                    for _ in range(times):
                        connection.sendall(body)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(timeout=10)


def refused(head: str, body: bytes, times: int, folder: Path, watch, content: Content) -> Problem:
    """Why a download of such an answer fails; nothing is left under the model's name."""
    with (
        answering(head, body, times) as address,
        HubConnection(address, sleep=lambda seconds: None) as connection,
        pytest.raises(Problem) as failed,
    ):
        download(connection, Source(f"{address}/{NAME}", NAME, content), folder / NAME, watch)
    assert not (folder / NAME).exists()
    assert sum(path.stat().st_size for path in folder.iterdir()) <= 2 * MB
    return failed.value


ANSWERS = {
    "more than declared": ("200 x\r\ncontent-length: 100", b"x" * MB, 1),
    "less than declared": ("200 x\r\ncontent-length: 1000", b"x", 1),
    "chunks without end": ("200 x\r\ntransfer-encoding: chunked", b"100000\r\n" + b"x" * MB + b"\r\n", 64),
    "no end and no length": ("200 x", b"x" * MB, 64),
    "a negative length": ("200 x\r\ncontent-length: -5", b"x" * 100, 1),
    "a length beyond numbers": ("200 x\r\ncontent-length: " + "9" * 5000, b"x" * 100, 1),
    "a length that is no number": ("200 x\r\ncontent-length: \xb2", b"x" * 100, 1),
    "two lengths": ("200 x\r\ncontent-length: 1000\r\ncontent-length: 5", b"x" * 100, 1),
    "another range": ("206 x\r\ncontent-range: bytes 7-9/1000", b"x" * 100, 1),
    "a range beyond numbers": ("206 x\r\ncontent-range: bytes 0-9/" + "9" * 5000, b"x" * 100, 1),
    "a range that lies": ("206 x\r\ncontent-range: bytes 0-999/1000", b"x" * MB, 1),
    "the wrong bytes": ("200 x\r\ncontent-length: 1000", b"x" * 1000, 1),
    "compressed": ("200 x\r\ncontent-encoding: gzip\r\ncontent-length: 1000", b"x" * 1000, 1),
    "a redirect to a file": ("302 x\r\nlocation: file:///etc/passwd", b"", 1),
    "a redirect without encryption": ("302 x\r\nlocation: http://10.0.0.1/x", b"", 1),
    "a redirect with a password": ("302 x\r\nlocation: https://a:b@c.example/x", b"", 1),
    "a redirect to nowhere": ("302 x\r\nlocation: https://[", b"", 1),
    "a redirect in circles": (f"302 x\r\nlocation: /{NAME}", b"", 1),
    "a wait that is no number": ("503 x\r\nretry-after: \xb2", b"", 1),
    "a wait for ever": ("503 x\r\nretry-after: " + "9" * 400, b"", 1),
    "headers without end": ("200 x\r\n" + "\r\n".join(f"x{number}: y" for number in range(60_000)), b"", 1),
    "no HTTP": ("banana", b"x" * 100, 1),
}


@pytest.mark.parametrize("known", [True, False], ids=["announced", "by its address alone"])
@pytest.mark.parametrize("what", ANSWERS)
def test_a_download_from_a_hostile_hub_ends_with_a_sentence(what, known, tmp_path, watch) -> None:
    content = Content(1000, "0" * 64) if known else Content()
    if not known and what in (
        "more than declared",
        "the wrong bytes",
        "a range that lies",
        "no end and no length",
        "chunks without end",
    ):
        content = Content(1000)
    if content == Content(1000) and what == "the wrong bytes":
        pytest.skip("without a checksum, nothing tells them from the right ones")
    assert len(refused(*ANSWERS[what], tmp_path, watch, content).message) > 20


NAMES = [
    *("../../evil.gguf", "/etc/evil.gguf", "..\\..\\evil.gguf", "C:\\evil.gguf", "\\\\host\\evil.gguf"),
    *("con.gguf:stream.gguf", "a\0.gguf", "a\n.gguf", ".evil.gguf", "~/evil.gguf", "-rf.gguf"),
    *("x" * 5000 + ".gguf", "e\u202evil.gguf", "%2e%2e%2fevil.gguf", "a/../../evil.gguf", "con .gguf"),
]


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_no_name_of_a_listing_leads_out_of_the_folder(name) -> None:
    body = json.dumps({"sha": "a" * 40, "siblings": [{"rfilename": name, "size": 100}]}).encode()
    with answering("200 x", body) as address, HubConnection(address) as connection:
        try:
            plan = plan_download(connection, HubReference("a/b"), HARDWARE)
        except Problem:
            return
        assert [os.path.basename(file) for file, _ in plan.files] == ["evil.gguf"]


def test_a_link_in_the_folder_is_replaced_and_not_followed(tmp_path, watch) -> None:
    secret = tmp_path / "secret"
    secret.write_text("mine")
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / NAME).symlink_to(tmp_path / "nothing")
    with answering("200 x\r\ncontent-length: 4", b"GGUF") as address, HubConnection(address) as connection:
        download(connection, Source(f"{address}/{NAME}", NAME), folder / NAME, watch)
    assert not (folder / NAME).is_symlink()
    assert secret.read_text() == "mine"
    assert not (tmp_path / "nothing").exists()


LISTINGS = {
    "no JSON": b"<html>",
    "another JSON": b"[1]",
    "deep": b'{"siblings":' + b"[" * 500_000,
    "numbers": b'{"siblings":[{"rfilename":"a.gguf","size":' + b"9" * 5000 + b"}]}",
    "negative": b'{"siblings":[{"rfilename":"a.gguf","size":-1}]}',
    "no text": b'{"siblings":[{"rfilename":"\xff.gguf"}]}',
}


@pytest.mark.parametrize("what", LISTINGS)
def test_a_hostile_listing_ends_with_a_sentence_or_a_plan(what) -> None:
    with (
        answering("200 x", LISTINGS[what]) as address,
        HubConnection(address) as connection,
        suppress(Problem),
    ):
        assert plan_download(connection, HubReference("a/b"), HARDWARE).size >= 0


def test_a_listing_that_takes_too_long_is_given_up(monkeypatch) -> None:
    monkeypatch.setattr(pull, "LISTING_SECONDS", -1.0)
    with (
        answering("200 x", b"{") as address,
        HubConnection(address) as connection,
        pytest.raises(Problem, match="has no end"),
    ):
        describe(connection, HubReference("a/b"))


def test_parts_that_are_claimed_cost_nothing() -> None:
    siblings = [{"rfilename": f"m{number}-00001-of-99999.gguf"} for number in range(10_000)]
    assert variants(parse_repository("a/b", json.dumps({"siblings": siblings}).encode()).files) == []

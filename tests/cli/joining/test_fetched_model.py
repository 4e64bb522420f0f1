"""A model that a gateway offers, downloaded once by its hash."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import StringIO
from pathlib import Path

import pytest
from msgspec import structs

from duologue.cli.joining.fetched_model import FetchedModel, fetch_model
from duologue.cli.progress import Lines
from duologue.errors import ModelNotFound, Problem, Unauthorized, Unavailable
from duologue.wire.machines.model_offer import ModelOffer, OfferedAdapter, OfferedFile, encode_offer
from duologue.worker.joined.gateway_address import GatewayAddress, parse_gateway

FILES = {"model": [("m-1.gguf", b"one" * 1000), ("m-2.gguf", b"two")], "mmproj": [("eyes.gguf", b"eyes")]}
OFFER = ModelOffer(
    "big/model",
    "llama",
    files=tuple(
        OfferedFile(option, name, len(data), hashlib.sha256(data).hexdigest())
        for option, files in FILES.items()
        for name, data in files
    ),
)
ADAPTERS = [("style.gguf", b"one"), ("tone.gguf", b"two")]
BODIES = {
    hashlib.sha256(data).hexdigest(): data for files in (*FILES.values(), ADAPTERS) for _, data in files
}


class Server(ThreadingHTTPServer):
    """Answers as a gateway does; `damaged` files have other bytes."""

    asked: list[str]
    damaged = False
    body = encode_offer(OFFER)


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        if self.headers["Authorization"] != "Bearer k":
            self._answer(401, b"")
        elif self.path == "/talk/join/models/big%2Fmodel":
            self._answer(200, self.server.body)
        elif (body := BODIES.get(self.path.removeprefix("/talk/join/files/"))) is not None:
            self._answer(200, body[::-1] if self.server.damaged else body)
        else:
            self._answer(404, b"")

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        """Nothing."""


@pytest.fixture
def server() -> Iterator[Server]:
    with Server(("127.0.0.1", 0), Handler) as server:
        server.asked = []
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def address(server: Server) -> GatewayAddress:
    return parse_gateway(f"http://127.0.0.1:{server.server_address[1]}/talk")


def fetch(server: Server, folder: Path, key: str = "k", name: str = "big/model") -> FetchedModel:
    return fetch_model(address(server), key, None, name, folder, Lines(StringIO()))


def test_the_files_are_downloaded_once_and_those_of_one_option_are_together(
    server: Server, tmp_path: Path
) -> None:
    served = fetch(server, tmp_path)
    assert served.offer == OFFER
    assert served.paths["model"].read_bytes() == b"one" * 1000
    assert served.paths["model"].with_name("m-2.gguf").read_bytes() == b"two"
    assert served.paths["mmproj"].name == "eyes.gguf"
    server.asked.clear()
    assert fetch(server, tmp_path).paths == served.paths
    assert server.asked == ["/talk/join/models/big%2Fmodel"]


def test_adapters_come_with_the_model_in_their_order(server: Server, tmp_path: Path) -> None:
    files = [OfferedFile("loras", name, 3, hashlib.sha256(data).hexdigest()) for name, data in ADAPTERS]
    offer = structs.replace(OFFER, adapters=(OfferedAdapter(files[0], 0.5), OfferedAdapter(files[1], 0.0)))
    server.body = encode_offer(offer)
    served = fetch(server, tmp_path)
    assert [(path.name, path.read_bytes()) for path in served.adapters] == ADAPTERS
    assert served.paths.keys() == FILES.keys()


def test_a_file_that_is_not_what_was_offered_is_not_used(server: Server, tmp_path: Path) -> None:
    server.damaged = True
    with pytest.raises(Problem) as caught:
        fetch(server, tmp_path)
    assert caught.value.code == "checksum_mismatch"
    assert not list(tmp_path.rglob("*.gguf"))


def test_what_goes_wrong_is_told_in_the_words_of_a_gateway(server: Server, tmp_path: Path) -> None:
    with pytest.raises(Unauthorized, match="role worker"):
        fetch(server, tmp_path, key="x")
    with pytest.raises(ModelNotFound, match="'other'"):
        fetch(server, tmp_path, name="other")
    server.body = b"{}"
    with pytest.raises(Problem, match="describes the model"):
        fetch(server, tmp_path)


def test_a_gateway_that_cannot_be_reached_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("duologue.models.hub.http.pause", lambda *arguments: None)
    with pytest.raises(Unavailable, match=r"127\.0\.0\.1"):
        fetch_model(parse_gateway("http://127.0.0.1:9"), "k", None, "m", tmp_path, Lines(StringIO()))

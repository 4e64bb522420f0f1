"""A gateway that offers one model to workers, and its files by their hashes."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

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


def offered_adapters() -> tuple[OfferedAdapter, ...]:
    files = [OfferedFile("loras", name, 3, hashlib.sha256(data).hexdigest()) for name, data in ADAPTERS]
    return (OfferedAdapter(files[0], 0.5), OfferedAdapter(files[1], 0.0))


class OfferingGateway(ThreadingHTTPServer):
    """Answers as a gateway does; `damaged` files have other bytes."""

    asked: list[str]
    damaged = False
    body = encode_offer(OFFER)


class Handler(BaseHTTPRequestHandler):
    server: OfferingGateway

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


@contextmanager
def offering() -> Iterator[OfferingGateway]:
    with OfferingGateway(("127.0.0.1", 0), Handler) as server:
        server.asked = []
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def address(server: OfferingGateway) -> GatewayAddress:
    return parse_gateway(f"http://127.0.0.1:{server.server_address[1]}/talk")

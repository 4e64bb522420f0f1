"""The client of the engine's HTTP server: a kept connection that survives being hung up on."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator

import pytest

from duologue.engines.llama.http_client import LlamaHttpClient
from duologue.errors import EngineFailed


class Engine:
    """A server that answers each connection `answers` times and hangs up; remembers what it was asked."""

    def __init__(self, answers: int = 1, status: str = "200 OK") -> None:
        self.answers, self.status = answers, status
        self.requests: list[bytes] = []
        self.connections = 0
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.connections += 1
            with connection:
                for _ in range(self.answers):
                    if not self._answer(connection):
                        break

    def _answer(self, connection: socket.socket) -> bool:
        request = b""
        while b"\r\n\r\n" not in request or not self._whole(request):
            piece = connection.recv(65536)
            if not piece:
                return False
            request += piece
        self.requests.append(request)
        settings = {"n_ctx": 512, "params": {"temperature": 0.5}}
        answer = {"tokens": [1, 2], "default_generation_settings": settings, "text": "hello"}
        body = json.dumps(answer).encode()
        head = f"HTTP/1.1 {self.status}\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        connection.sendall(head + body)
        return True

    @staticmethod
    def _whole(request: bytes) -> bool:
        head, _, body = request.partition(b"\r\n\r\n")
        length = next(
            (int(x.split(b":")[1]) for x in head.split(b"\r\n") if x.lower().startswith(b"content-length")), 0
        )
        return len(body) >= length

    def close(self) -> None:
        if self._socket.fileno() < 0:
            return
        # Closing alone would not wake the thread that waits for a connection.
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


@pytest.fixture
def engine() -> Iterator[Engine]:
    engine = Engine()
    yield engine
    engine.close()


def test_it_asks_with_the_key(engine: Engine) -> None:
    assert LlamaHttpClient(engine.address, "secret").tokenize("hé") == (1, 2)
    head, _, body = engine.requests[0].partition(b"\r\n\r\n")
    assert b"Authorization: Bearer secret" in head
    assert json.loads(body) == {"content": "hé", "add_special": False, "parse_special": True}


def test_it_reads_what_the_engine_says_of_itself(engine: Engine) -> None:
    settings = LlamaHttpClient(engine.address, "secret").properties()["default_generation_settings"]
    assert settings == {"n_ctx": 512, "params": {"temperature": 0.5}}


def test_one_connection_serves_many_questions() -> None:
    engine = Engine(answers=5)
    client = LlamaHttpClient(engine.address, "secret")
    for _ in range(5):
        client.tokenize("x")
    assert engine.connections == 1
    engine.close()


def test_a_connection_the_engine_closed_is_opened_again(engine: Engine) -> None:
    client = LlamaHttpClient(engine.address, "secret")
    for _ in range(3):
        assert client.tokenize("x") == (1, 2)
    assert engine.connections == 3


def test_an_engine_that_is_gone_is_a_sentence(engine: Engine) -> None:
    client = LlamaHttpClient(engine.address, "secret")
    client.tokenize("x")
    engine.close()
    with pytest.raises(EngineFailed, match="does not answer") as caught:
        client.tokenize("x")
    assert "secret" not in caught.value.message


def test_a_refusal_is_a_sentence() -> None:
    engine = Engine(status="401 Unauthorized")
    with pytest.raises(EngineFailed, match="status 401"):
        LlamaHttpClient(engine.address, "wrong").tokenize("x")
    engine.close()


def test_a_recording_is_sent_as_a_form(engine: Engine) -> None:
    client = LlamaHttpClient(engine.address, "secret")
    assert client.transcribe(b"RIFF\r\n--", {"language": "German"}) == "hello"
    head, _, body = engine.requests[0].partition(b"\r\n\r\n")
    boundary = head.split(b"boundary=")[1].split(b"\r\n")[0]
    parts = body.split(b"--" + boundary)
    assert b'name="language"\r\n\r\nGerman\r\n' in parts[1]
    assert b'name="file"; filename="speech.wav"' in parts[2]
    assert parts[2].endswith(b"\r\n\r\nRIFF\r\n--\r\n")
    assert parts[3] == b"--\r\n"


def test_a_recording_that_is_refused_is_a_sentence() -> None:
    engine = Engine(status="400 Bad Request")
    with pytest.raises(EngineFailed, match="status 400"):
        LlamaHttpClient(engine.address, "secret").transcribe(b"", {})
    engine.close()

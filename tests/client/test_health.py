"""`duologue health`: whether a server answers, by its address or that of the settings."""

from __future__ import annotations

import json
import os
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from duologue.cli import main
from duologue.client.health import check
from duologue.config import Settings
from duologue.errors import Unavailable
from duologue.gateway.tls import tls_files

LOADING = {"error": {"message": "The model is loading: 40 %.", "code": "model_loading"}}
ANSWERS: dict[str, tuple[int, bytes]] = {
    "/health": (200, b"{}"),
    "/talk/health": (200, b"{}"),
    "/ready": (503, json.dumps(LOADING).encode()),
    "/talk/ready": (200, b"{}"),
    "/odd/health": (502, b"<html>Bad gateway</html>"),
    "/list/health": (500, b"[]"),
}
SECONDS = 30.0


class Answerer(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        status, body = ANSWERS.get(self.path, (404, b"{}"))
        self.send_response(status)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@pytest.fixture(scope="module", params=["http", "https"])
def server(request, tmp_path_factory) -> Iterator[str]:
    """The address of a server that answers as a test says, over HTTPS with a certificate that nobody vouches for."""
    with HTTPServer(("127.0.0.1", 0), Answerer) as answering:
        if request.param == "https":
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            folder: Path = tmp_path_factory.mktemp("data")
            chain, key = tls_files(Settings.model_validate({"data": folder, "tls": {"enabled": True}}))
            context.load_cert_chain(chain, key)
            answering.socket = context.wrap_socket(answering.socket, server_side=True)
        thread = threading.Thread(target=answering.serve_forever, args=(0.05,))
        thread.start()
        yield f"{request.param}://127.0.0.1:{answering.server_address[1]}"
        answering.shutdown()
        thread.join()


@pytest.fixture
def run(monkeypatch, capsys, tmp_path) -> Callable[..., tuple[int, str]]:
    """Run the program with these arguments and variables: exit code, and what it prints."""

    def call(*arguments: str, **environment: str) -> tuple[int, str]:
        for name in list(os.environ):
            if name.startswith("DUOLOGUE_"):
                monkeypatch.delenv(name)
        for name, value in environment.items():
            monkeypatch.setenv(f"DUOLOGUE_{name}", value)
        monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr("sys.argv", ["duologue", "health", *arguments])
        code = 0
        try:
            main.main()
        except SystemExit as ended:
            code = int(ended.code or 0)
        output = capsys.readouterr()
        return code, output.out + output.err

    return call


def test_a_server_that_answers_is_healthy_before_it_is_ready(server: str) -> None:
    check(server, ready=False, seconds=SECONDS)
    with pytest.raises(Unavailable, match=r"^The model is loading: 40 %\.$"):
        check(server, ready=True, seconds=SECONDS)


def test_a_base_path_counts(server: str) -> None:
    check(f"{server}/talk/", ready=True, seconds=SECONDS)


@pytest.mark.parametrize(("path", "status"), [("odd", 502), ("list", 500), ("none", 404)])
def test_an_answer_of_something_else_is_told_by_its_status(server: str, path: str, status: int) -> None:
    with pytest.raises(Unavailable, match=f"status {status}"):
        check(f"{server}/{path}", ready=False, seconds=SECONDS)


def test_no_server_is_told_with_its_address() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(Unavailable, match=address) as caught:
            check(address, ready=False, seconds=SECONDS)
    assert caught.value.code == "unreachable"


def test_a_server_that_never_answers_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        with pytest.raises(Unavailable, match="timed out"):
            check(f"http://127.0.0.1:{port}", ready=False, seconds=0.1)


def test_the_command_finds_the_server_of_the_settings(server: str, run) -> None:
    scheme, _, port = server.rpartition(":")
    environment = {"PORT": port, "HOST": "0.0.0.0", "TLS__ENABLED": str(scheme.startswith("https")).lower()}
    assert run(**environment) == (0, f"The server at {server} answers.\n")
    assert run("--ready", **environment) == (1, "duologue: The model is loading: 40 %.\n")
    code, said = run("--ready", **environment, BASE_PATH="/talk")
    assert (code, said) == (0, f"The server at {server}/talk is ready.\n")


def test_the_command_asks_another_server_by_its_address(server: str, run) -> None:
    assert run("--server", f"{server}/talk", "--ready") == (0, f"The server at {server}/talk is ready.\n")


def test_the_environments_proxy_is_not_asked(server: str, monkeypatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:1")
    check(server, ready=False, seconds=SECONDS)

"""A small reverse proxy for the tests: `with ReverseProxy(port, "/talk", keeps=True) as proxy`.

Passes requests and sockets on under a prefix, which it keeps or takes away, and says for whom it asks. One request a
connection, bytes as they come. Other addresses get its own 404, and a server that is gone a 502.
"""

from __future__ import annotations

import contextlib
import re
import socket
import socketserver
import threading
from types import TracebackType
from typing import Self

HEAD = 64 * 1024


class ReverseProxy:
    """`tells`: it adds the X-Forwarded headers, for a client at `client` that came by `scheme`.
    `behind` is the server's port, and may become another one."""

    def __init__(
        self,
        port: int,
        prefix: str = "",
        *,
        keeps: bool = False,
        tells: bool = True,
        client: str = "203.0.113.7",
        scheme: str = "http",
    ) -> None:
        proxy = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                with contextlib.suppress(OSError):
                    proxy._pass_on(self.request)

        self.behind = port
        self._prefix, self._keeps, self._tells = prefix, keeps, tells
        self._client, self._scheme = client, scheme
        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port: int = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}{prefix}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    def _pass_on(self, client: socket.socket) -> None:
        head, rest = _head_of(client)
        lines = head.split(b"\r\n")
        method, target, version = lines[0].split(b" ", 2)
        if not target.startswith(self._prefix.encode()):
            client.sendall(_answer(404, b"nothing of the proxy's"))
            return
        if not self._keeps:
            target = target[len(self._prefix) :] or b"/"
        said = [line for line in lines[1:] if not re.match(rb"connection:", line, re.I) or b"pgrade" in line]
        if not any(re.match(rb"upgrade:", line, re.I) for line in lines[1:]):
            said.append(b"Connection: close")
        try:
            server = socket.create_connection(("127.0.0.1", self.behind))
        except OSError:
            client.sendall(_answer(502, b"the server is gone"))
            return
        with server:
            whole = [b" ".join((method, target, version)), *self._words(lines), *said]
            server.sendall(b"\r\n".join(whole) + b"\r\n\r\n" + rest)
            up = threading.Thread(target=_pump, args=(client, server), daemon=True)
            up.start()
            _pump(server, client)
            up.join(5)

    def _words(self, lines: list[bytes]) -> list[bytes]:
        if not self._tells:
            return []
        host = (
            next(line for line in lines[1:] if line.lower().startswith(b"host:")).partition(b":")[2].strip()
        )
        words = [f"X-Forwarded-For: {self._client}", f"X-Forwarded-Proto: {self._scheme}"]
        if self._prefix and not self._keeps:
            words.append(f"X-Forwarded-Prefix: {self._prefix}")
        return [*(word.encode() for word in words), b"X-Forwarded-Host: " + host]


def _head_of(client: socket.socket) -> tuple[bytes, bytes]:
    data = b""
    while b"\r\n\r\n" not in data and len(data) < HEAD:
        piece = client.recv(HEAD)
        if not piece:
            raise OSError("the client left")
        data += piece
    head, _, rest = data.partition(b"\r\n\r\n")
    return head, rest


def _pump(source: socket.socket, target: socket.socket) -> None:
    """Bytes as they come, until the source ends."""
    with contextlib.suppress(OSError):
        while piece := source.recv(HEAD):
            target.sendall(piece)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)


def _answer(status: int, body: bytes) -> bytes:
    head = f"HTTP/1.1 {status} Proxy\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    return head.encode() + body

"""A proxy of bytes whose connections a test may cut: what is between two machines."""

from __future__ import annotations

import contextlib
import socket
import socketserver
import threading
from types import TracebackType
from typing import Self


class CuttingProxy:
    """Passes every connection on to a port of 127.0.0.1, unless it is `closed`."""

    def __init__(self, port: int, host: str = "127.0.0.3") -> None:
        proxy = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                with contextlib.suppress(OSError):
                    proxy._pass_on(self.request)

        self.closed = False
        self._behind = port
        self._open: set[socket.socket] = set()
        self._server = socketserver.ThreadingTCPServer((host, 0), Handler)
        self._server.daemon_threads = True
        self.address = f"{host}:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cut()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    @property
    def connections(self) -> int:
        return len(self._open) // 2

    def cut(self) -> None:
        """Break every connection."""
        for end in tuple(self._open):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _pass_on(self, client: socket.socket) -> None:
        if self.closed:
            return
        with socket.create_connection(("127.0.0.1", self._behind)) as server:
            self._open |= {client, server}
            try:
                back = threading.Thread(target=_pump, args=(server, client), daemon=True)
                back.start()
                _pump(client, server)
                back.join()
            finally:
                self._open -= {client, server}


def _pump(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    for end in (source, target):
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)

"""The server's end of a call on the page, played message by message by a test, so that each state can be looked at."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Callable
from typing import Any

from playwright.sync_api import WebSocketRoute
from tests.support.tabs import Tab

FRAME = 480
"""Samples at 24 kHz in 20 ms."""


class Line:
    """The server's end of a call, as the test plays it."""

    def __init__(self, tab: Tab) -> None:
        self.tab = tab
        self.sockets: list[WebSocketRoute] = []
        self.told: list[dict[str, Any]] = []
        self.heard = 0
        tab.page.route_web_socket(re.compile(r"/ws/voice$"), self._answer)

    def _answer(self, socket: WebSocketRoute) -> None:
        self.sockets.append(socket)
        socket.on_message(self._hear)

    def _hear(self, message: str | bytes) -> None:
        if isinstance(message, bytes):
            self.heard += len(message) // 2
            return
        self.told.append(json.loads(message))
        if self.told[-1]["type"] == "start":
            self.says("status", state="listening")

    def says(self, kind: str, epoch: int = 0, **fields: Any) -> None:
        self.sockets[-1].send(json.dumps({"type": kind, "epoch": epoch} | fields))

    def speaks(self, reply: int, text: str, *, seconds: float = 3.0, ends: bool = True) -> None:
        """Text, captions and sound of a reply, all at once."""
        self.says("status", state="speaking")
        self.says("response_text", reply_id=reply, text=text, final=True)
        self.says("audio_start", reply_id=reply, chunk_id=0)
        words = text.split()
        each = seconds * 1000 / len(words)
        said = [
            {"text": word, "start_ms": at * each, "end_ms": (at + 1) * each} for at, word in enumerate(words)
        ]
        self.says("caption", reply_id=reply, words=said)
        tone = struct.pack(f"<{FRAME}h", *(8000 if at // 20 % 2 else -8000 for at in range(FRAME)))
        for _ in range(round(seconds * 24_000 / FRAME)):
            self.sockets[-1].send(tone)
        if ends:
            self.says("audio_end", reply_id=reply, samples=round(seconds * 24_000))

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [message for message in self.told if message["type"] == kind]

    def until(self, true: Callable[[], bool]) -> None:
        """Let the page go on until it is so."""
        for _ in range(3000):
            if true():
                return
            self.tab.page.wait_for_timeout(20)
        raise AssertionError(f"it never became true: {self.told[-5:]}")

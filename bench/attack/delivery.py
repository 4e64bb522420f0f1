"""How a hostile file is sent: through every door of the server that reads files of its kind.

A `Sender` is one attacker with a key; what it is answered goes into its `AnswerCounts`. `doors` chooses by what the file is meant to be.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from random import Random
from typing import Any

from attack.answer_counts import AnswerCounts
from attack.exchange import Answer, Line, NoAnswer, request

SECONDS = 300.0
"""How long an attacker waits for an answer: longer than any file may be read. An import of 20,000 conversations takes about
150 s on two cores."""
DOCUMENTS = ("pdf",)
PICTURES = ("png", "jpeg", "gif", "webp", "avif", "heic", "svg", "bmp", "tiff", "ico")
SOUNDS = ("wav", "mp3", "ogg", "flac", "aac", "m4a", "mp4", "webm")
ARCHIVES = ("zip", "json", "jsonl")
DATA_URL_BYTES = 2 * 2**20
"""Files up to this size are also sent inside a chat completion."""


def doors(kind: str, dice: Random) -> Sequence[str]:
    """The ways one file of this kind is sent, in order; a message needs its upload."""
    if kind in ARCHIVES:
        return ("import",) if dice.random() < 0.8 else ("upload", "message")
    if kind in SOUNDS:
        return dice.choice((("transcription",), ("upload", "message"), ("completion",)))
    if kind in PICTURES:
        return dice.choice((("upload", "thumbnail"), ("upload", "thumbnail", "message"), ("completion",)))
    if kind in DOCUMENTS:
        return dice.choice((("upload", "thumbnail"), ("upload", "message"), ("upload", "pages")))
    return dice.choice((("upload", "message"), ("upload", "thumbnail"), ("import",)))


class Sender:
    """One attacker. The connection is kept between requests; `close` ends it."""

    def __init__(self, port: int, key: str, answers: AnswerCounts, *, source: str = "127.0.0.1") -> None:
        self.key, self.answers = key, answers
        self._line = Line(port, seconds=SECONDS, source=source)
        self._conversation = ""
        self._number = 0

    def close(self) -> None:
        self._line.close()

    async def deliver(self, data: bytes, name: str, kind: str, ways: Sequence[str]) -> None:
        """Send one file through these doors."""
        hash = ""
        for way in ways:
            match way:
                case "upload":
                    hash = await self.upload(data, name)
                case "thumbnail" if hash:
                    await self.thumbnail(hash, name)
                case "message" | "pages" if hash:
                    await self.message(hash, name, pages=way == "pages")
                case "import":
                    await self.import_file(data, name)
                case "transcription":
                    await self.transcription(data, name)
                case "completion" if len(data) <= DATA_URL_BYTES:
                    await self.completion(data, name, kind)

    async def upload(self, data: bytes, name: str) -> str:
        """The hash of the stored file; empty if it was refused."""
        answer = await self.send(
            "POST", f"/api/blobs?name={name.replace(' ', '_')}", data, "application/octet-stream", name
        )
        body = answer.json() if answer is not None and answer.status < 400 else None
        return str(body.get("hash", "")) if isinstance(body, dict) else ""

    async def thumbnail(self, hash: str, name: str, side: int = 1024) -> None:
        await self.send("GET", f"/api/blobs/{hash}/thumbnail?side={side}", None, "", f"{name} thumbnail")

    async def message(self, hash: str, name: str, *, pages: bool = False) -> None:
        """Attach the file to a message of a conversation."""
        if not self._conversation:
            answer = await self.send("POST", "/api/conversations", b"{}", "application/json", "conversation")
            body = answer.json() if answer is not None else None
            self._conversation = str(body.get("id", "")) if isinstance(body, dict) else ""
        self._number += 1
        part: dict[str, Any] = {"type": "file", "blob": hash} | ({"given": "pages"} if pages else {})
        message = {"content": [{"type": "text", "text": "/say ok"}, part]}
        body = {"verb": "send", "run": f"r{id(self):x}{self._number}", "message": message, "busy": "queue"}
        body["message"] |= {"id": f"m{id(self):x}{self._number}"}
        path = f"/api/conversations/{self._conversation}/runs"
        await self.send("POST", path, json.dumps(body).encode(), "application/json", f"{name} message")

    async def import_file(self, data: bytes, name: str) -> None:
        await self.send("POST", "/api/import", data, "application/octet-stream", f"{name} import")

    async def transcription(self, data: bytes, name: str) -> None:
        boundary = "x-boundary-of-the-form-x"
        head = (
            f'--{boundary}\r\nContent-Disposition: form-data; name="model"\r\n\r\nwhisper-1\r\n'
            f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
        )
        body = head.encode() + data + f"\r\n--{boundary}--\r\n".encode()
        kind = f"multipart/form-data; boundary={boundary}"
        await self.send("POST", "/v1/audio/transcriptions", body, kind, f"{name} transcription")

    async def completion(self, data: bytes, name: str, kind: str) -> None:
        """The file inside a chat completion, as a data URL or as audio."""
        text = base64.b64encode(data).decode()
        part: dict[str, Any] = {"type": "image_url", "image_url": {"url": f"data:image/{kind};base64,{text}"}}
        if kind in SOUNDS:
            part = {"type": "input_audio", "input_audio": {"data": text, "format": kind}}
        body = {"messages": [{"role": "user", "content": [{"type": "text", "text": "/say ok"}, part]}]}
        await self.send(
            "POST",
            "/v1/chat/completions",
            json.dumps(body).encode(),
            "application/json",
            f"{name} completion",
        )

    async def send(self, method: str, path: str, body: bytes | None, kind: str, what: str) -> Answer | None:
        """The answer, counted; None if there was none, counted as well."""
        headers = {"Content-Type": kind} if kind else {}
        try:
            answer = await self._line.send(request(method, path, key=self.key, body=body, headers=headers))
        except NoAnswer as error:
            self.answers.fault(f"no answer: {error}", what)
            self.answers.note(f"no answer: {error}")
            return None
        self.answers.answer(answer, what)
        return answer

"""A client of the engine's own HTTP server on loopback, for what the library has no function for: tokens,
settings and transcriptions.

Called by `engine`, `generation` and `sound_recogniser`, in a lane's thread: it blocks, and keeps one connection. The server takes no
request without the key that was made when the model was loaded.
"""

from __future__ import annotations

import http.client
import json
import secrets
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import msgspec

from duologue.errors import BadRequest, EngineFailed

TIMEOUT = 60.0
"""Seconds for one response; between two batches of a large model the engine may be silent for some."""


class LlamaHttpClient:
    """A client of the engine at `address` ("http://127.0.0.1:PORT")."""

    def __init__(self, address: str, key: str, *, timeout: float = TIMEOUT) -> None:
        self.address, self.key = address, key
        parts = urlsplit(address)
        self._connection = http.client.HTTPConnection(
            parts.hostname or "127.0.0.1", parts.port, timeout=timeout
        )
        self._headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}

    def tokenize(self, text: str, *, add_special: bool = False, control: bool = True) -> tuple[int, ...]:
        """Token ids of `text`, control tokens parsed where `control` says so. `add_special`: with the tokens the tokenizer itself
        adds."""
        answer = self._request(
            "POST",
            "/tokenize",
            {"content": _valid(text), "add_special": add_special, "parse_special": control},
        )
        return tuple(answer["tokens"])

    def pieces(self, text: str, *, control: bool = True) -> tuple[tuple[int, bytes], ...]:
        """The tokens of `text`, each with its bytes."""
        body = {"content": _valid(text), "add_special": False, "parse_special": control, "with_pieces": True}
        found = self._request("POST", "/tokenize", body)["tokens"]
        return tuple(
            (each["id"], each["piece"].encode() if isinstance(each["piece"], str) else bytes(each["piece"]))
            for each in found
        )

    def detokenize(self, tokens: Sequence[int]) -> str:
        """The text of `tokens`, control tokens too. All of them must be in the vocabulary."""
        return str(self._request("POST", "/detokenize", {"tokens": list(tokens)})["content"])

    def properties(self) -> dict[str, Any]:
        """What the engine says of itself: its default sampling in its own names, the context of a slot, what it takes."""
        return self._request("GET", "/props")

    def count(self, content: list[dict[str, object]]) -> int:
        """The tokens of a user's message with this content, in the engine's own template. Raises BadRequest for media that it
        cannot read."""
        body = {"messages": [{"role": "user", "content": content}]}
        status, data = self._sent("POST", "/v1/chat/completions/input_tokens", json.dumps(body).encode())
        if status != http.client.OK and b"Failed to load image or audio" in data:
            raise BadRequest("The engine cannot read this.")
        if status != http.client.OK:
            raise EngineFailed(f"The engine answered a count with status {status}.")
        return int(msgspec.json.decode(data)["input_tokens"])

    def transcribe(self, wav: bytes, fields: Mapping[str, str]) -> str:
        """What the model writes about this recording; `fields` are those of the form besides the file."""
        boundary = secrets.token_hex(16)
        parts = [
            f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
            for name, value in fields.items()
        ]
        parts += [
            f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="speech.wav"\r\n'
            "Content-Type: audio/wav\r\n\r\n".encode(),
            wav,
            f"\r\n--{boundary}--\r\n".encode(),
        ]
        self._headers["Content-Type"] = f"multipart/form-data; boundary={boundary}"
        status, data = self._sent("POST", "/v1/audio/transcriptions", b"".join(parts))
        if status != http.client.OK:
            raise EngineFailed(f"The engine answered a transcription with status {status}.")
        return str(msgspec.json.decode(data)["text"])

    def close(self) -> None:
        """Close the connection: the engine waits for open ones when it ends."""
        self._connection.close()

    def _request(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        content = None if body is None else json.dumps(body).encode()
        status, data = self._sent(method, path, content)
        if status != http.client.OK:
            raise EngineFailed(f"The engine answered {path} with status {status}.")
        result: dict[str, Any] = msgspec.json.decode(data)
        return result

    def _sent(self, method: str, path: str, content: bytes | None) -> tuple[int, bytes]:
        try:
            return self._exchange(method, path, content)
        except (http.client.HTTPException, ConnectionError):
            # The engine closes a connection that was idle or had many requests; try once more on a new one.
            return self._exchange_again(method, path, content)
        except OSError as error:
            raise _no_answer(error) from error

    def _exchange_again(self, method: str, path: str, content: bytes | None) -> tuple[int, bytes]:
        self._connection.close()
        try:
            return self._exchange(method, path, content)
        except (http.client.HTTPException, OSError) as error:
            raise _no_answer(error) from error

    def _exchange(self, method: str, path: str, content: bytes | None) -> tuple[int, bytes]:
        self._connection.request(method, path, content, self._headers)
        response = self._connection.getresponse()
        return response.status, response.read()


def _valid(text: str) -> str:
    """JSON can carry half a surrogate pair into a string; the engine would refuse it."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _no_answer(error: Exception) -> EngineFailed:
    reason = str(error) or type(error).__name__
    return EngineFailed(f"The engine does not answer ({reason}); its worker must be restarted.")

"""A client of the engine's own HTTP server on loopback, for what the library has no function for: tokens and settings.

Called by `engine` and `generation`, in a lane of one thread: it blocks, and keeps one connection. The server takes no
request without the key that was made when the model was loaded.
"""

from __future__ import annotations

import http.client
import json
from typing import Any
from urllib.parse import urlsplit

from duologue.errors import EngineFailed

TIMEOUT = 60.0
"""Seconds for one response; between two batches of a large model the engine may be silent for some."""


class LlamaHttpClient:
    """A client of the engine at `address` ("http://127.0.0.1:PORT")."""

    def __init__(self, address: str, key: str) -> None:
        parts = urlsplit(address)
        self._connection = http.client.HTTPConnection(
            parts.hostname or "127.0.0.1", parts.port, timeout=TIMEOUT
        )
        self._headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}

    def tokenize(self, text: str, *, add_special: bool = False) -> tuple[int, ...]:
        """Token ids of `text`, control tokens parsed. `add_special`: with the tokens the tokenizer itself adds."""
        # JSON can carry half a surrogate pair into a string; the engine would refuse it.
        valid = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        answer = self._request(
            "POST", "/tokenize", {"content": valid, "add_special": add_special, "parse_special": True}
        )
        return tuple(answer["tokens"])

    def settings(self) -> tuple[int, dict[str, Any]]:
        """The context of one slot in tokens, and its default sampling, in the engine's names."""
        settings = self._request("GET", "/props")["default_generation_settings"]
        return int(settings["n_ctx"]), settings["params"]

    def close(self) -> None:
        """Close the connection: the engine waits for open ones when it ends."""
        self._connection.close()

    def _request(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        content = None if body is None else json.dumps(body).encode()
        try:
            status, data = self._exchange(method, path, content)
        except (http.client.HTTPException, ConnectionError):
            # The engine closes a connection that was idle or had many requests; try once more on a new one.
            status, data = self._exchange_again(method, path, content)
        except OSError as error:
            raise _no_answer(error) from error
        if status != http.client.OK:
            raise EngineFailed(f"The engine answered {path} with status {status}.")
        result: dict[str, Any] = json.loads(data)
        return result

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


def _no_answer(error: Exception) -> EngineFailed:
    reason = str(error) or type(error).__name__
    return EngineFailed(f"The engine does not answer ({reason}); its worker must be restarted.")

"""The engine's own HTTP door on loopback, for the few things that have no call in process: tokens and sizes.

Blocking, one kept connection, used from one lane thread at a time. The door is locked with a key made at load.
"""

from __future__ import annotations

import http.client
import json
from typing import Any
from urllib.parse import urlsplit

from duologue.errors import EngineFailed

PATIENCE = 60.0
"""Seconds for one answer; between two batches of a large model the engine may be silent for some."""


class LlamaHttpClient:
    """A client of the engine at `address` ("http://127.0.0.1:PORT")."""

    def __init__(self, address: str, key: str) -> None:
        parts = urlsplit(address)
        self._connection = http.client.HTTPConnection(
            parts.hostname or "127.0.0.1", parts.port, timeout=PATIENCE
        )
        self._headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}

    def tokenize(self, text: str, *, add_special: bool = False) -> tuple[int, ...]:
        """Token ids of `text`, control tokens recognised; with what the tokenizer itself adds when asked for."""
        # Half a surrogate pair, which JSON can carry into a string, is no character and would be refused.
        whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        answer = self._ask(
            "POST", "/tokenize", {"content": whole, "add_special": add_special, "parse_special": True}
        )
        return tuple(answer["tokens"])

    def settings(self) -> tuple[int, dict[str, Any]]:
        """Tokens one slot really has, and how it generates where nothing is asked, in the engine's names."""
        settings = self._ask("GET", "/props")["default_generation_settings"]
        return int(settings["n_ctx"]), settings["params"]

    def close(self) -> None:
        """Hang up: the engine's end waits for connections that are kept."""
        self._connection.close()

    def _ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        content = None if body is None else json.dumps(body).encode()
        try:
            status, answer = self._exchange(method, path, content)
        except (http.client.HTTPException, ConnectionError):
            # The engine hangs up on a connection that was idle or had many requests; the next use opens a new one.
            status, answer = self._exchange_anew(method, path, content)
        except OSError as error:
            raise _silence(error) from error
        if status != http.client.OK:
            raise EngineFailed(f"The engine answered {path} with status {status}.")
        found: dict[str, Any] = json.loads(answer)
        return found

    def _exchange_anew(self, method: str, path: str, content: bytes | None) -> tuple[int, bytes]:
        self._connection.close()
        try:
            return self._exchange(method, path, content)
        except (http.client.HTTPException, OSError) as error:
            raise _silence(error) from error

    def _exchange(self, method: str, path: str, content: bytes | None) -> tuple[int, bytes]:
        self._connection.request(method, path, content, self._headers)
        response = self._connection.getresponse()
        return response.status, response.read()


def _silence(error: Exception) -> EngineFailed:
    reason = str(error) or type(error).__name__
    return EngineFailed(f"The engine does not answer ({reason}); its worker must be restarted.")

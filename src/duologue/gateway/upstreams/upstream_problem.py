"""What is wrong with a connected server, as data: the page says it in its own language. Raised by `upstream_client`."""

from __future__ import annotations

from typing import Literal

from duologue.errors import EngineFailed

Reason = Literal[
    "unknown_host",
    "no_answer",
    "not_listening",
    "disconnected",
    "no_tls",
    "certificate",
    "key_missing",
    "key_refused",
    "redirected",
    "not_a_model_server",
    "rate_limited",
    "error",
    "no_words",
]


class UpstreamProblem(EngineFailed):
    """`reason` is finer than the code. `detail`: the server's own message, the address it redirects to, what is wrong with the
    certificate, or the model that wrote nothing; "" otherwise."""

    status = 502

    def __init__(self, message: str, *, code: str, reason: Reason, detail: str = "") -> None:
        super().__init__(message, code=code)
        self.reason: Reason = reason
        self.detail = detail

"""The exceptions that are reported to users.

    Problem                    the root: code, HTTP status, a message, the field at fault
    ├── BadRequest             400, the client can correct it
    │   ├── ContextExceeded    400 context_length_exceeded
    │   └── Unsupported        400, this model or engine cannot do it
    ├── Unauthorized           401 a key is needed or wrong
    ├── Forbidden              403 host, origin or role
    ├── NotFound               404
    │   └── ModelNotFound      404 model_not_found
    ├── TooLarge               413
    ├── Busy                   429, or a socket that is already running a request
    │   └── QueueFull          503 queue_full
    ├── Unavailable            503 no worker, still loading, shutting down
    │   └── WorkerLost         503 worker_lost, the worker exited during the request
    ├── EngineFailed           502 or 500, the engine or the upstream failed
    │   └── DeviceLost         503 device_lost, the graphics card of the model failed; its worker is restarted
    └── StartFailed            the server or a model could not start: a sentence on the terminal, exit code 1

Each has a wire code, an HTTP status and a message. Any other exception is a bug: it is logged with its traceback and
reported to the client as `internal_error` with the request's id, without the traceback.
"""

from __future__ import annotations

from collections.abc import Mapping


class Problem(Exception):
    """An error with a stable code and a message that a user can act on.

    `retry_after`: seconds after which another try is worth it, where that is known. `values`: the numbers and names in the
    message, for a client that tells it in another language; few codes have them.
    """

    code = "internal_error"
    status = 500

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        status: int | None = None,
        param: str | None = None,
        retry_after: float | None = None,
        values: Mapping[str, int | str] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.param = param
        self.retry_after = retry_after
        self.values: Mapping[str, int | str] = values or {}
        if code is not None:
            self.code = code
        if status is not None:
            self.status = status


class BadRequest(Problem):
    code, status = "invalid_request", 400


class ContextExceeded(BadRequest):
    """Its sentence has the words "this model's maximum context length is", as OpenAI's has: LiteLLM, and with it the agents on top
    of it, know the error by them and shorten the conversation."""

    code = "context_length_exceeded"


class Unsupported(BadRequest):
    code = "unsupported"


class Unauthorized(Problem):
    code, status = "unauthorized", 401


class Forbidden(Problem):
    code, status = "forbidden", 403


class AccessRevoked(Forbidden):
    """Work that went on after its request was ended, because its user may not ask for it any more."""

    code = "access_revoked"

    def __init__(self) -> None:
        super().__init__(
            "The key that began this was revoked, or its user was disabled, so it was ended. Begin it again with a valid key."
        )


class NotFound(Problem):
    code, status = "not_found", 404


class ModelNotFound(NotFound):
    code = "model_not_found"


class TooLarge(Problem):
    code, status = "too_large", 413


class Busy(Problem):
    code, status = "busy", 429


class QueueFull(Busy):
    code, status = "queue_full", 503


class Unavailable(Problem):
    code, status = "unavailable", 503


class WorkerLost(Unavailable):
    code = "worker_lost"


class EngineFailed(Problem):
    code, status = "engine_failed", 503


class DeviceLost(EngineFailed):
    """The worker that an engine raises this in sends it, ends, and is started again: nothing on the card is of use any more."""

    code, status = "device_lost", 503


class StartFailed(Problem):
    code = "start_failed"

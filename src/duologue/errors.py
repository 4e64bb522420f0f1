"""The tree of errors a person can meet.

    Problem                    the root: code, HTTP status, a sentence, the field at fault
    ├── BadRequest             400, the caller can mend it
    │   ├── ContextExceeded    400 context_length_exceeded
    │   └── Unsupported        400, this model or engine cannot do it
    ├── Unauthorized           401 a key is needed or wrong
    ├── Forbidden              403 host, origin or role
    ├── NotFound               404
    │   └── ModelNotFound      404 model_not_found
    ├── TooLarge               413
    ├── Busy                   429 or a socket that already runs a request
    │   └── QueueFull          503 queue_full
    ├── Unavailable            503 no worker, still loading, going down
    │   └── WorkerLost         503 worker_lost, the worker ended in the middle
    ├── EngineFailed           502 or 500, the engine or the upstream broke
    └── StartFailed            the server or a model could not start: a sentence on the terminal, exit code 1

Each knows its wire code, its HTTP status and its sentence. Whatever is not a Problem is a bug of ours: it is logged
with its trace and leaves the process as `internal_error` with the request's id, never with the trace.
"""

from __future__ import annotations


class Problem(Exception):
    """An error with a stable code and a sentence a person can act on."""

    code = "internal_error"
    status = 500

    def __init__(
        self, message: str, *, code: str | None = None, status: int | None = None, param: str | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.param = param
        if code is not None:
            self.code = code
        if status is not None:
            self.status = status


class BadRequest(Problem):
    code, status = "invalid_request", 400


class ContextExceeded(BadRequest):
    code = "context_length_exceeded"


class Unsupported(BadRequest):
    code = "unsupported"


class Unauthorized(Problem):
    code, status = "unauthorized", 401


class Forbidden(Problem):
    code, status = "forbidden", 403


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
    code, status = "engine_failed", 500


class StartFailed(Problem):
    code = "start_failed"

"""Failures that more than one part of the gateway gives or recognises: the worker connection, the pool, the calls, the loader.

A reply ends with one of these when its worker or the server goes away. Compare by `code`.
"""

from __future__ import annotations

from duologue.values.events import Failed

WORKER_LOST = Failed(
    "worker_lost",
    "The worker that was writing this reply ended unexpectedly. It is being restarted; please try again.",
    503,
)
RESTARTED = Failed(
    "worker_restarted",
    "An admin restarted the worker of this reply. Please try again in a moment.",
    503,
)
STOPPING = Failed("server_stopping", "The server is shutting down. Please try again once it is back.", 503)

"""What a server is asked every few seconds: how it is, whether it has the model, and how much it has to do.

Used by `replica_set`. vLLM, SGLang, llama.cpp and TGI have `/health`, which says no while a model is loaded or when an engine died. Others,
such as Ollama, have none; then their list of models decides alone.
"""

from __future__ import annotations

import anyio
import httpx

from duologue.engines.openai_remote.replicas.queue_metrics import QueueLengths, queue_lengths
from duologue.engines.openai_remote.replicas.replica_health import Answer
from duologue.engines.openai_remote.upstream_connection import UNREACHABLE, Upstream
from duologue.errors import Problem

SECONDS = 5.0
"""For each question."""
ABSENT = frozenset({401, 403, 404, 405, 501})
"""What a server answers that has no such address, or not for us."""


async def how_it_is(upstream: Upstream, model: str) -> tuple[Answer, str]:
    """Whether it serves this model ("": any), and the reason if not."""
    try:
        with anyio.fail_after(SECONDS):
            status, _ = await upstream.beside("/health")
            if not (200 <= status < 300 or status in ABSENT):
                return "unready", f"it says that it is not ready ({status})"
            models = await upstream.models()
    except TimeoutError:
        return "silent", f"no answer within {SECONDS:g} seconds"
    except (httpx.HTTPError, OSError):
        return "unreachable", "it cannot be reached"
    except Problem as problem:
        return "unreachable" if problem.code == UNREACHABLE else "unready", problem.message
    if model and models and model not in models:
        return "unready", f"it does not list the model {model!r}"
    return "good", ""


async def how_busy_it_is(upstream: Upstream) -> QueueLengths | None:
    """The requests that it has, by its metrics; None where it does not say."""
    try:
        with anyio.fail_after(SECONDS):
            status, content = await upstream.beside("/metrics")
    except (TimeoutError, httpx.HTTPError, OSError):
        return None
    return queue_lengths(content.decode("utf-8", "replace")) if status == httpx.codes.OK else None

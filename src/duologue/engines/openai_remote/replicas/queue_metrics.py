"""How many requests a server has, by its own metrics: vLLM, SGLang, llama.cpp and TGI say it at `/metrics`. Pure.

Used by `replica_set`. It matters where several gateways share the servers: each knows its own requests only. A server with data-parallel
engines says it for each, and they are added up.
"""

from __future__ import annotations

import re

from msgspec import Struct

RUNNING = (
    *("vllm:num_requests_running", "sglang:num_running_reqs"),
    *("llamacpp:requests_processing", "tgi_batch_current_size"),
)
WAITING = (
    *("vllm:num_requests_waiting", "sglang:num_queue_reqs"),
    *("llamacpp:requests_deferred", "tgi_queue_size"),
)
_SAMPLE = re.compile(
    rf"^({'|'.join(map(re.escape, (*RUNNING, *WAITING)))})(?:\{{[^\n]*\}})?[ \t]+([0-9.eE+]+)", re.MULTILINE
)


class QueueLengths(Struct, frozen=True):
    """Requests that a server works on, and those that wait there."""

    running: int = 0
    waiting: int = 0


def queue_lengths(metrics: str) -> QueueLengths | None:
    """The numbers in a page of metrics; None where it has none that are known."""
    sums: dict[str, float] = {}
    for name, number in _SAMPLE.findall(metrics):
        try:
            sums[name] = sums.get(name, 0.0) + float(number)
        except ValueError:
            continue
    if not sums:
        return None
    return QueueLengths(_of(sums, RUNNING), _of(sums, WAITING))


def _of(sums: dict[str, float], known: tuple[str, ...]) -> int:
    return int(min(1e6, max((sums.get(name, 0.0) for name in known), default=0.0)))

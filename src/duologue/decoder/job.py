"""What runs in a decoder process: functions marked with `@decoder_job`, and the limits of each.

The functions are in the rooms that know the formats (`media`, `conversations.importing`, `tools`). Such a function takes the
bytes of one file first, then plain values, and returns a plain value or an iterator of them. One that takes a `BinaryIO`
first gets the open file instead, which may then be larger than memory. Both ends read its types from its annotations: the
gateway to decode what comes back, the child to decode the arguments. Pure.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from functools import cache
from types import GenericAlias
from typing import Any, BinaryIO, TypeVar, get_args, get_origin, get_type_hints

from msgspec import Struct

MEGABYTE = 2**20
NAME_BYTES = 128
"""Bytes of a job's longest name."""
_CARD = "__decoder_job__"

F = TypeVar("F", bound=Callable[..., Any])


class JobLimits(Struct, frozen=True):
    """What one job may use. `seconds`: until each of its results, on the clock. `preload`: modules that the fork server
    imports once, so that not every child has to."""

    seconds: float = 30.0
    cpu_seconds: int = 15
    memory_mb: int = 1024
    """Address space beyond what the process has before the job begins."""
    result_mb: int = 64
    preload: tuple[str, ...] = ()


class JobTypes(Struct, frozen=True):
    """The types of a job's arguments after the file, and of a result or an item. `opens`: it takes the open file."""

    arguments: Any
    result: Any
    streams: bool
    opens: bool = False


def decoder_job(
    *,
    seconds: float = 30.0,
    cpu_seconds: int = 15,
    memory_mb: int = 1024,
    result_mb: int = 64,
    preload: tuple[str, ...] = (),
) -> Callable[[F], F]:
    """Mark a function as a job with these limits. It can still be called directly."""

    def mark(function: F) -> F:
        setattr(function, _CARD, JobLimits(seconds, cpu_seconds, memory_mb, result_mb, preload))
        return function

    return mark


def name_of(job: Callable[..., Any]) -> str:
    """The name by which the child finds a job. Raises TypeError for a function that is none."""
    name = f"{job.__module__}:{job.__qualname__}"
    if getattr(job, _CARD, None) is None or len(name) > NAME_BYTES:
        raise TypeError(f"{name} is no decoder job")
    return name


def limits_of(job: Callable[..., Any]) -> JobLimits:
    limits: JobLimits = getattr(job, _CARD)
    return limits


def find_job(name: str) -> Callable[..., Any]:
    """The job of this name. Raises LookupError, also for a function that is not marked as one."""
    module, _, function = name.partition(":")
    job = getattr(importlib.import_module(module), function, None)
    if not callable(job) or getattr(job, _CARD, None) is None:
        raise LookupError(name)
    found: Callable[..., Any] = job
    return found


@cache
def types_of(job: Callable[..., Any]) -> JobTypes:
    """The types of a job, from its annotations."""
    hints = get_type_hints(job)
    result = hints.pop("return")
    source, *arguments = hints.values()
    streams = get_origin(result) is Iterator
    return JobTypes(
        GenericAlias(tuple, tuple(arguments)),
        get_args(result)[0] if streams else result,
        streams,
        source is BinaryIO,
    )

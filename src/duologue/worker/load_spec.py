"""Loading what a worker was told to load, and saying how it went.

Owns the order of loading and the turning of whatever goes wrong into a sentence. Knows no socket.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

import anyio

from duologue.engines.contracts import LanguageEngine
from duologue.engines.load_progress import LoadProgress, track
from duologue.engines.registry import LANGUAGE_ENGINES, load_language_engine
from duologue.errors import Problem
from duologue.wire.worker_protocol import LoadSpec
from duologue.worker.state import Standing

log = logging.getLogger(__name__)

TOLD_EVERY = 0.25
"""Seconds between two words to the gateway about how far the loading is."""


async def load(loadout: LoadSpec, standing: Standing, changed: Callable[[], None]) -> LanguageEngine | None:
    """Load the loadout's engine; `standing` ends ready or failed and `changed` is called, and before that whenever
    more of it is there."""
    if loadout.engine not in LANGUAGE_ENGINES:
        known = ", ".join(sorted(LANGUAGE_ENGINES))
        standing.failed("unknown_engine", f"There is no engine {loadout.engine!r}. Known engines: {known}.")
        changed()
        return None
    options = {**loadout.options, "name": loadout.model}
    try:
        engine = await _engine(loadout.engine, options, standing, changed)
    except Problem as problem:
        standing.failed(problem.code, problem.message)
    except ImportError as error:
        log.exception("engine %s cannot be imported", loadout.engine)
        standing.failed(
            "engine_missing", f"The engine {loadout.engine!r} is not installed completely: {error.name}."
        )
    except Exception:
        # A library's own failure has no sentence of ours; the trace belongs in the log and nowhere else.
        log.exception("engine %s failed to load", loadout.engine)
        standing.failed(
            "engine_failed",
            f"The engine {loadout.engine!r} failed to load. The server's log has the reason.",
        )
    else:
        standing.ready(engine.card)
        changed()
        return engine
    changed()
    return None


async def _engine(
    name: str, options: dict[str, object], standing: Standing, changed: Callable[[], None]
) -> LanguageEngine:
    """The loaded engine. What it raises comes as it is, not in a group."""
    failure: Exception | None = None
    engine: LanguageEngine | None = None
    with track() as loading:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_tell, loading, standing, changed)
            try:
                engine = await load_language_engine(name, options)
            except Exception as error:  # noqa: BLE001 (raised below)
                failure = error
            tasks.cancel_scope.cancel()
    if failure is not None:
        raise failure
    assert engine is not None
    return engine


async def _tell(loading: LoadProgress, standing: Standing, changed: Callable[[], None]) -> None:
    while True:
        await anyio.sleep(TOLD_EVERY)
        if standing.loaded(loading.share):
            changed()

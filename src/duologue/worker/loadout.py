"""Loading what a worker was told to load, and saying how it went.

Owns the order of loading and the turning of whatever goes wrong into a sentence. Knows no socket.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from duologue.engines import LANGUAGE_ENGINES, LanguageEngine, load_language_engine
from duologue.errors import Problem
from duologue.wire.internal import Loadout
from duologue.worker.state import Standing

log = logging.getLogger(__name__)


async def load(loadout: Loadout, standing: Standing, changed: Callable[[], None]) -> LanguageEngine | None:
    """Load the loadout's engine; `standing` ends ready or failed and `changed` is called."""
    if loadout.engine not in LANGUAGE_ENGINES:
        known = ", ".join(sorted(LANGUAGE_ENGINES))
        standing.failed("unknown_engine", f"There is no engine {loadout.engine!r}. Known engines: {known}.")
        changed()
        return None
    options = {**loadout.options, "name": loadout.model}
    try:
        engine = await load_language_engine(loadout.engine, options)
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

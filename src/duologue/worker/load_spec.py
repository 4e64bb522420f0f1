"""Loads the language engine of a load spec, and turns every failure into a sentence.

`LanguageService` calls it at the worker's start; the status and its reports tell the gateway how far it is.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import anyio
import msgspec

from duologue.engines.choice_contracts import TemplateChooser
from duologue.engines.embedding_contracts import ModelEngine
from duologue.engines.load_progress import LoadProgress, track
from duologue.engines.registry import LANGUAGE_ENGINES, load_language_engine
from duologue.errors import Problem
from duologue.threads import disk_io
from duologue.wire.worker_protocol import LoadSpec
from duologue.worker.state import WorkerLifecycle

log = logging.getLogger(__name__)

REPORT_EVERY = 0.25
"""Seconds between two reports of progress."""


async def load(
    load_spec: LoadSpec, status: WorkerLifecycle, report: Callable[[], None]
) -> ModelEngine | None:
    """Load the engine. `status` ends ready or failed; `report` is called then, and on progress before."""
    if load_spec.engine not in LANGUAGE_ENGINES:
        known = ", ".join(sorted(LANGUAGE_ENGINES))
        status.failed("unknown_engine", f"There is no engine {load_spec.engine!r}. Known engines: {known}.")
        report()
        return None
    options = {**load_spec.options, "name": load_spec.model}
    try:
        engine = await _load_engine(load_spec.engine, options, status, report)
    except Problem as problem:
        status.failed(problem.code, problem.message)
    except ImportError as error:
        log.exception("engine %s cannot be imported", load_spec.engine)
        status.failed(
            "engine_missing", f"The engine {load_spec.engine!r} is not installed completely: {error.name}."
        )
    except Exception:
        # An unexpected failure of a library: its text may reveal paths or data, so it goes to the log only.
        log.exception("engine %s failed to load", load_spec.engine)
        status.failed(
            "engine_failed",
            f"The engine {load_spec.engine!r} failed to load. The server's log has the reason.",
        )
    else:
        warnings = await _use_template(engine, load_spec.template)
        card = engine.card.with_defaults(load_spec.preset)
        status.ready(msgspec.structs.replace(card, warnings=(*card.warnings, *warnings)))
        report()
        return engine
    report()
    return None


async def _use_template(engine: ModelEngine, path: str) -> tuple[str, ...]:
    """Use the chat template of a file, "" for the model's own; a warning where that cannot be done: the model is of more use without it."""
    if not path:
        return ()
    try:
        source = await disk_io(Path(path).read_text, "utf-8")
        if isinstance(engine, TemplateChooser):
            await engine.use_template(source)
            return ()
        reason = "the engine cannot change its chat template."
    except (OSError, UnicodeError) as error:
        reason = f"it cannot be read ({getattr(error, 'strerror', None) or 'it is not UTF-8 text'})."
    except Problem as problem:
        reason = problem.message
    log.warning("the chosen chat template %s is not used: %s", path, reason)
    return (f"The chosen chat template {Path(path).name} is not used: {reason}",)


async def _load_engine(
    name: str, options: dict[str, object], status: WorkerLifecycle, report: Callable[[], None]
) -> ModelEngine:
    """The loaded engine. Raises what loading raises."""
    # Kept and raised outside of the task group, which would wrap it.
    failure: Exception | None = None
    engine: ModelEngine | None = None
    with track() as loading:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_report_progress, loading, status, report)
            try:
                engine = await load_language_engine(name, options)
            except Exception as error:  # noqa: BLE001 (raised below)
                failure = error
            tasks.cancel_scope.cancel()
    if failure is not None:
        raise failure
    assert engine is not None
    return engine


async def _report_progress(
    loading: LoadProgress, status: WorkerLifecycle, report: Callable[[], None]
) -> None:
    while True:
        await anyio.sleep(REPORT_EVERY)
        if status.set_progress(loading.share):
            report()

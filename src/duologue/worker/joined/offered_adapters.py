"""The LoRA adapters that a gateway offers with its model, read whenever the worker starts: an adapter that an admin adds there is loaded at the next start.

The library takes adapters only with a model, so the gateway has the worker started again; `joined_worker` asks this before it loads. Without an answer of the
gateway the worker loads what it has.
"""

from __future__ import annotations

import logging
from pathlib import Path

from msgspec import structs

from duologue.errors import Problem
from duologue.worker.joined.fetched_model import ADAPTERS
from duologue.worker.joined.join_spec import JoinSpec
from duologue.worker.joined.placed_model import fetched

log = logging.getLogger(__name__)


def with_offered_adapters(spec: JoinSpec) -> JoinSpec:
    """The spec with the adapters that its gateway's model has now, downloaded by their hashes. Blocks for as long as that takes."""
    if not spec.serve:
        return spec
    try:
        served = fetched(spec, spec.serve, Path(spec.folder))
    except (Problem, OSError) as error:
        reason = error.message if isinstance(error, Problem) else str(error)
        log.warning("%s is loaded with the adapters it had: %s", spec.serve, reason)
        return spec
    options = dict(spec.load_spec.options)
    if options.get("model") != str(served.paths.get("model")):
        log.warning("the files of %s have changed at the gateway; this worker keeps its own", spec.serve)
        return spec
    options.pop(ADAPTERS, None)
    if served.loras:
        options[ADAPTERS] = served.loras
    return structs.replace(spec, load_spec=structs.replace(spec.load_spec, options=options))

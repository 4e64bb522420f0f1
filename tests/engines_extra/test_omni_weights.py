"""An omni engine on the weights that `make test-omni MODEL=FOLDER` names: what it must do whatever the model says."""

import json
import os

import pytest
from tests.support.omni_suite import CHECKS, run

from duologue.engines.registry import load_language_engine

MODEL = os.environ.get("DUOLOGUE_OMNI_MODEL", "")
pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(not MODEL, reason="weights of an omni model are tried by make test-omni MODEL=FOLDER"),
]
_loaded: dict[str, object] = {}


async def engine():
    """The engine, loaded once for all checks."""
    if "engine" not in _loaded:
        options = json.loads(os.environ.get("DUOLOGUE_OMNI_OPTIONS") or "{}")
        name = os.environ.get("DUOLOGUE_OMNI_ENGINE") or "minicpmo"
        _loaded["engine"] = await load_language_engine(name, {"model": MODEL, **options})
    return _loaded["engine"]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
async def test_on_these_weights_it(check):
    await run(check, await engine())

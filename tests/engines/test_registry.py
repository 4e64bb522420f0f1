from importlib.util import find_spec
from pathlib import Path

import pytest

from duologue.engines.registry import (
    DETECTOR_ENGINES,
    LANGUAGE_ENGINES,
    RECOGNISER_ENGINES,
    SPEAKER_ENGINES,
    load_language_engine,
)

pytestmark = pytest.mark.anyio


async def test_an_engine_is_loaded_by_its_name():
    engine = await load_language_engine("scripted", {"name": "m"})
    assert engine.card.name == "m"


async def test_a_name_nobody_knows_is_a_key_error():
    with pytest.raises(KeyError):
        await load_language_engine("magic", {})


def test_the_table_names_files_of_this_room():
    tables = (LANGUAGE_ENGINES, DETECTOR_ENGINES, RECOGNISER_ENGINES, SPEAKER_ENGINES)
    for module, function in (place for table in tables for place in table.values()):
        spec = find_spec(module)
        assert spec, f"there is no {module}"
        assert f"def {function}(" in Path(str(spec.origin)).read_text("utf-8"), f"{module} has no {function}"

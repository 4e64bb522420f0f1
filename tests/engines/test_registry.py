import pytest

from duologue.engines.registry import LANGUAGE_ENGINES, load_language_engine

pytestmark = pytest.mark.anyio


async def test_an_engine_is_loaded_by_its_name():
    engine = await load_language_engine("scripted", {"name": "m"})
    assert engine.card.name == "m"


async def test_a_name_nobody_knows_is_a_key_error():
    with pytest.raises(KeyError):
        await load_language_engine("magic", {})


def test_the_table_names_files_of_this_room():
    assert {module for module, _ in LANGUAGE_ENGINES.values()} == {
        f"duologue.engines.{name}" for name in LANGUAGE_ENGINES
    }

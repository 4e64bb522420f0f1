import anyio
import pytest

from duologue.engines import load_progress, registry
from duologue.errors import StartFailed
from duologue.wire.worker_protocol import LoadSpec
from duologue.worker.load_spec import load
from duologue.worker.state import Standing

pytestmark = pytest.mark.anyio


async def outcome(loadout: LoadSpec) -> tuple[Standing, list[str]]:
    standing = Standing(loadout.worker)
    told: list[str] = []
    await load(loadout, standing, lambda: told.append(standing.state))
    return standing, told


async def test_a_loaded_engine_is_reported_ready_with_its_card():
    standing, told = await outcome(LoadSpec("w", "scripted", "parrot"))
    assert told == ["ready"]
    assert standing.card is not None
    assert standing.card.name == "parrot"


async def test_an_engine_nobody_knows_is_a_sentence_with_the_known_ones():
    standing, told = await outcome(LoadSpec("w", "magic"))
    assert told == ["failed"]
    assert "scripted" in standing.detail


async def test_a_problem_keeps_its_own_sentence(monkeypatch):
    async def broken(name, options):
        raise StartFailed("The file is broken.", code="model_broken")

    monkeypatch.setattr("duologue.worker.load_spec.load_language_engine", broken)
    standing, _ = await outcome(LoadSpec("w", "scripted"))
    assert (standing.code, standing.detail) == ("model_broken", "The file is broken.")


async def test_a_library_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setitem(registry.LANGUAGE_ENGINES, "scripted", ("no_such_library", "load"))
    standing, _ = await outcome(LoadSpec("w", "scripted"))
    assert standing.code == "engine_missing"
    assert "no_such_library" in standing.detail


async def test_a_bug_is_logged_and_not_shown(monkeypatch, caplog):
    async def broken(name, options):
        raise RuntimeError("secret detail")

    monkeypatch.setattr("duologue.worker.load_spec.load_language_engine", broken)
    standing, told = await outcome(LoadSpec("w", "scripted"))
    assert told == ["failed"]
    assert "secret" not in standing.detail
    assert "secret detail" in caplog.text


async def test_how_far_the_loading_is_is_told_on_the_way(monkeypatch):
    standing = Standing("w")
    told: list[tuple[str, float | None]] = []
    monkeypatch.setattr("duologue.worker.load_spec.TOLD_EVERY", 0.001)
    halfway = anyio.Event()

    async def slow(name, options):
        load_progress.report(0.5)
        await halfway.wait()
        raise StartFailed("The file is broken.")

    def changed() -> None:
        told.append((standing.state, standing.progress))
        halfway.set()

    monkeypatch.setattr("duologue.worker.load_spec.load_language_engine", slow)
    with anyio.fail_after(5):
        assert await load(LoadSpec("w", "scripted"), standing, changed) is None
    assert told == [("loading", 0.5), ("failed", None)]

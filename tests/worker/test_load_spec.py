import anyio
import pytest

from duologue.engines import load_progress, registry
from duologue.errors import StartFailed
from duologue.wire.worker_protocol import LoadSpec
from duologue.worker.load_spec import load
from duologue.worker.state import WorkerLifecycle

pytestmark = pytest.mark.anyio


async def outcome(load_spec: LoadSpec) -> tuple[WorkerLifecycle, list[str]]:
    status = WorkerLifecycle(load_spec.worker)
    reports: list[str] = []
    await load(load_spec, status, lambda: reports.append(status.state))
    return status, reports


async def test_a_loaded_engine_is_reported_ready_with_its_card():
    status, reports = await outcome(LoadSpec("w", "scripted", "parrot"))
    assert reports == ["ready"]
    assert status.card is not None
    assert status.card.name == "parrot"


async def test_an_engine_nobody_knows_is_a_sentence_with_the_known_ones():
    status, reports = await outcome(LoadSpec("w", "magic"))
    assert reports == ["failed"]
    assert "scripted" in status.detail


async def test_a_problem_keeps_its_own_sentence(monkeypatch):
    async def broken(name, options):
        raise StartFailed("The file is broken.", code="model_broken")

    monkeypatch.setattr("duologue.worker.load_spec.load_language_engine", broken)
    status, _ = await outcome(LoadSpec("w", "scripted"))
    assert (status.code, status.detail) == ("model_broken", "The file is broken.")


async def test_a_library_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setitem(registry.LANGUAGE_ENGINES, "scripted", ("no_such_library", "load"))
    status, _ = await outcome(LoadSpec("w", "scripted"))
    assert status.code == "engine_missing"
    assert "no_such_library" in status.detail


async def test_a_bug_is_logged_and_not_shown(monkeypatch, caplog):
    async def broken(name, options):
        raise RuntimeError("secret detail")

    monkeypatch.setattr("duologue.worker.load_spec.load_language_engine", broken)
    status, reports = await outcome(LoadSpec("w", "scripted"))
    assert reports == ["failed"]
    assert "secret" not in status.detail
    assert "secret detail" in caplog.text


async def test_how_far_the_loading_is_is_told_on_the_way(monkeypatch):
    status = WorkerLifecycle("w")
    reports: list[tuple[str, float | None]] = []
    monkeypatch.setattr("duologue.worker.load_spec.REPORT_EVERY", 0.001)
    halfway = anyio.Event()

    async def slow(name, options):
        load_progress.report(0.5)
        await halfway.wait()
        raise StartFailed("The file is broken.")

    def changed() -> None:
        reports.append((status.state, status.progress))
        halfway.set()

    monkeypatch.setattr("duologue.worker.load_spec.load_language_engine", slow)
    with anyio.fail_after(60):
        assert await load(LoadSpec("w", "scripted"), status, changed) is None
    assert reports == [("loading", 0.5), ("failed", None)]

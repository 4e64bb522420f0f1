import anyio
import anyio.lowlevel
import pytest

from duologue.errors import Unavailable, Unsupported
from duologue.values.call_events import CallSetup
from duologue.values.events import Done, Failed, TextDelta
from duologue.values.messages import user
from duologue.values.requests import ChatRequest, ModelCard
from duologue.wire import worker_protocol
from duologue.worker.inbox import ControlInbox
from duologue.worker.language import LanguageService
from duologue.worker.state import WorkerLifecycle

pytestmark = pytest.mark.anyio

REQUEST = ChatRequest((user("/say hi"),))


def service(engine="scripted"):
    return LanguageService(worker_protocol.LoadSpec("w", engine, "m"), WorkerLifecycle("w"), lambda: None)


async def served(one):
    events = []

    async def emit(event):
        events.append(event)

    await one.generate(worker_protocol.Begin(1, 0, REQUEST), emit)
    return events


async def test_a_loaded_model_writes_and_counts():
    one = service()
    await one.load()
    events = await served(one)
    assert TextDelta("hi") in events
    assert isinstance(events[-1], Done)
    assert (await one.count(worker_protocol.Count(3, REQUEST))).ask == 3
    await one.close()


async def test_without_its_model_it_says_so():
    one = service("nothing")
    await one.load()
    [failed] = await served(one)
    assert isinstance(failed, Failed)
    assert failed.code == "unavailable"
    with pytest.raises(Unavailable):
        await one.count(worker_protocol.Count(1, REQUEST))
    await one.close()


async def test_a_call_is_for_another_worker():
    with pytest.raises(Unsupported):
        await service().run_session(
            worker_protocol.Open(1, 0, CallSetup()), ControlInbox(), lambda event: anyio.lowlevel.checkpoint()
        )


class _Changing:
    """An engine whose model turns out to be another one."""

    card = ModelCard("m", "remote", 100)

    async def watch(self, changed):
        changed(ModelCard("m", "remote", 200))


async def test_what_changes_about_its_model_is_reported():
    reports = []
    status = WorkerLifecycle("w")
    one = LanguageService(
        worker_protocol.LoadSpec("w", "remote", "m"), status, lambda: reports.append(status.report())
    )
    await one.watch()
    assert reports == [], "there is no engine yet"
    one.engine = _Changing()  # type: ignore[assignment]
    status.ready(one.engine.card)
    await one.watch()
    assert [report.card.context for report in reports] == [200]

import anyio
import anyio.lowlevel
import pytest
from msgspec.structs import replace
from tests.support.call_parts import silence, speech

from duologue.engines.vad import energy
from duologue.errors import EngineFailed, StartFailed, Unavailable, Unsupported
from duologue.sessions.chat.reply_controls import ReplyControls
from duologue.values.call_events import CallChunk, CallSetup, OmniSetup, UnitAnswered
from duologue.values.embeddings.vectors import EmbeddingRequest, RerankRequest
from duologue.values.events import Done, Embedded, Failed, Ranked, Started, TextDelta
from duologue.values.messages import user
from duologue.values.questions.worker_answers import Counted
from duologue.values.questions.worker_questions import CountPrompt
from duologue.values.requests import ChatRequest, ModelCard, ModelPreset, PresetEntry
from duologue.wire import worker_protocol
from duologue.worker.inbox import ControlInbox
from duologue.worker.language import LanguageService
from duologue.worker.state import WorkerLifecycle

pytestmark = pytest.mark.anyio

REQUEST = ChatRequest((user("/say hi"),))


def service(engine="scripted", options=None):
    load_spec = worker_protocol.LoadSpec("w", engine, "m", options=options or {})
    return LanguageService(load_spec, WorkerLifecycle("w"), lambda: None, lambda lost: None)


async def served(one, request=REQUEST):
    events = []

    async def emit(event):
        events.append(event)

    await one.generate(worker_protocol.Begin(1, 0, request), emit, ReplyControls())
    return events


async def test_a_loaded_model_writes_and_counts():
    one = service()
    await one.load()
    events = await served(one)
    assert TextDelta("hi") in events
    assert isinstance(events[-1], Done)
    counted = await one.answer(CountPrompt(REQUEST))
    assert isinstance(counted, Counted)
    assert counted.tokens > 0
    await one.close()


async def test_the_preset_that_comes_with_a_request_takes_the_place_of_the_workers():
    own = ModelPreset({"max_tokens": PresetEntry(1)})
    load_spec = worker_protocol.LoadSpec("w", "scripted", "m", preset=own)
    one = LanguageService(load_spec, WorkerLifecycle("w"), lambda: None, lambda lost: None)
    await one.load()
    asked = ChatRequest((user("/say one two three four"),))
    of_its_model = replace(asked, upstream_preset=ModelPreset({"max_tokens": PresetEntry(3)}))
    texts = []
    for request in (asked, of_its_model):
        events = await served(one, request)
        texts.append("".join(event.text for event in events if isinstance(event, TextDelta)))
    assert texts == ["one ", "one two three "]
    await one.close()


async def test_without_its_model_it_says_so():
    one = service("nothing")
    await one.load()
    [failed] = await served(one)
    assert isinstance(failed, Failed)
    assert failed.code == "unavailable"
    with pytest.raises(Unavailable):
        await one.answer(CountPrompt(REQUEST))
    await one.close()


@pytest.mark.parametrize(
    ("options", "setup"),
    [({}, CallSetup()), ({}, CallSetup(omni=OmniSetup())), ({"duplex": True}, CallSetup())],
)
async def test_a_call_that_the_model_does_not_hold_by_itself_is_for_another_worker(options, setup):
    one = service(options=options)
    await one.load()
    with pytest.raises(Unsupported) as caught:
        await one.run_session(
            worker_protocol.Open(1, 0, setup), ControlInbox(), lambda event: anyio.lowlevel.checkpoint()
        )
    assert caught.value.code == "voice_unavailable"
    await one.close()


@pytest.mark.parametrize("missing", [None, ImportError("no library"), StartFailed("no model")])
async def test_an_omni_model_holds_a_call_and_writes_again_afterwards(monkeypatch, missing):
    loaded = []

    async def load_detector(name, options):
        loaded.append(name)
        if missing is not None and name == "silero":
            raise missing
        return await energy.load(options)

    monkeypatch.setattr("duologue.worker.language.load_detector", load_detector)
    one = service(options={"duplex": True})
    await one.load()
    inbox, events = ControlInbox(), []

    async def send(event):
        events.append(event)
        if isinstance(event, UnitAnswered):
            calls.cancel()

    inbox.put([CallChunk(speech(0.5) + silence(0.5))])
    setup = CallSetup(marks=True, fills=False, omni=OmniSetup())
    with anyio.CancelScope() as calls:
        await one.run_session(worker_protocol.Open(1, 0, setup), inbox, send)
    answer = events[-1]
    assert isinstance(answer, UnitAnswered)
    assert not answer.listens
    assert loaded == (["silero"] if missing is None else ["silero", "energy"])
    assert isinstance((await served(one))[-1], Done)
    await one.close()


async def test_a_model_that_fails_ends_the_call_with_its_code():
    one = service(options={"duplex": True, "fails_at": 1})
    await one.load()
    inbox = ControlInbox()
    inbox.put([CallChunk(silence(1))])
    setup = CallSetup(fills=False, omni=OmniSetup())
    with pytest.raises(EngineFailed) as caught:
        await one.run_session(
            worker_protocol.Open(1, 0, setup), inbox, lambda event: anyio.lowlevel.checkpoint()
        )
    assert caught.value.code == "scripted_failure"
    assert isinstance((await served(one))[-1], Done)


class _Changing:
    """An engine whose model turns out to be another one."""

    card = ModelCard("m", "remote", 100)

    async def watch(self, changed):
        changed(ModelCard("m", "remote", 200))


async def test_what_changes_about_its_model_is_reported():
    reports = []
    status = WorkerLifecycle("w")
    one = LanguageService(
        worker_protocol.LoadSpec("w", "remote", "m"),
        status,
        lambda: reports.append(status.report()),
        lambda lost: None,
    )
    await one.watch()
    assert reports == [], "there is no engine yet"
    one.engine = _Changing()  # type: ignore[assignment]
    status.ready(one.engine.card)
    await one.watch()
    assert [report.card.context for report in reports] == [200]


async def test_a_preset_chosen_at_run_time_counts_before_the_models_own():
    load_spec = worker_protocol.LoadSpec(
        "w", "scripted", "m", preset=ModelPreset({"max_tokens": PresetEntry(1)})
    )
    one = LanguageService(load_spec, WorkerLifecycle("w"), lambda: None, lambda lost: None)
    await one.load()
    chosen = ModelPreset({"max_tokens": PresetEntry(2)})
    events = await served(one, ChatRequest((user("/say one two three"),), chosen_preset=chosen))
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == "one two "
    await one.close()


async def test_a_chosen_template_that_cannot_be_used_is_a_warning_and_the_model_serves(tmp_path):
    (tmp_path / "plain.jinja").write_text("{{ messages }}")
    for path, reason in (
        ("missing.jinja", "cannot be read"),
        ("plain.jinja", "cannot change its chat template"),
    ):
        load_spec = worker_protocol.LoadSpec("w", "scripted", "m", template=str(tmp_path / path))
        status = WorkerLifecycle("w")
        one = LanguageService(load_spec, status, lambda: None, lambda lost: None)
        await one.load()
        assert status.state == "ready"
        assert status.card is not None
        [warning] = status.card.warnings
        assert path in warning
        assert reason in warning
        await one.close()


async def test_an_embedding_model_makes_vectors_and_writes_and_counts_nothing():
    one = service(options={"kind": "embedding"})
    await one.load()
    events = await served(one, EmbeddingRequest(("a cat", "a dog")))
    assert [type(event) for event in events] == [Started, Embedded, Embedded, Done]
    [failed] = await served(one)
    assert (failed.code, failed.status, failed.param) == ("unsupported", 400, "model")
    with pytest.raises(Unsupported):
        await one.answer(CountPrompt(REQUEST))
    await one.close()


async def test_a_reranker_scores_documents():
    one = service(options={"kind": "reranker"})
    await one.load()
    events = await served(one, RerankRequest("a cat", ("a cat sat", "a dog")))
    assert [type(event) for event in events] == [Started, Ranked, Ranked, Done]
    await one.close()


async def test_a_chat_model_makes_no_vectors():
    one = service()
    await one.load()
    *_, failed = await served(one, EmbeddingRequest(("a",)))
    assert (failed.code, failed.status) == ("unsupported", 400)
    await one.close()

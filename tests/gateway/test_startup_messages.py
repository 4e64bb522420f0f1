"""What the terminal is told, and when."""

import pytest

from duologue.config import load
from duologue.gateway.scheduling.pool import Pool
from duologue.gateway.scheduling.scheduler import Scheduler
from duologue.gateway.startup_messages import StartupMessages, server_url
from duologue.values.requests import ModelCard
from duologue.values.speech import SpeechCard, SpeechEngineStatus
from duologue.wire.worker_protocol import LoadSpec

pytestmark = pytest.mark.anyio


def herald(tmp_path, announce):
    """Whoever tells the terminal, and what it looks at: a state and a sentence."""
    settings = load(None, {}, {"data": str(tmp_path), "engine": "scripted"})
    messages = StartupMessages(settings, announce)
    pool = Pool([LoadSpec("w", "scripted", "m")], Scheduler())
    messages.start(pool)

    def become(state: str, detail: str = "") -> None:
        view = pool.workers["w"]
        view.state, view.detail, view.card = state, detail, ModelCard("m", "scripted", 100)
        messages.update(pool)

    return become


async def test_the_terminal_is_told_nothing_before_requests_are_answered(tmp_path):
    lines: list[str] = []
    messages = StartupMessages(load(None, {}, {"data": str(tmp_path), "engine": "scripted"}), lines.append)
    pool = Pool([LoadSpec("w", "scripted", "m")], Scheduler())
    view = pool.workers["w"]
    view.state, view.card = "ready", ModelCard("m", "scripted", 100)
    messages.update(pool)
    assert lines == []
    messages.start(pool)
    assert len(lines) == 1


async def test_the_terminal_is_told_once_that_the_server_is_ready_also_after_a_restart(tmp_path):
    lines: list[str] = []
    become = herald(tmp_path, lines.append)
    for state in ("loading", "offline", "loading", "ready", "offline", "loading", "ready"):
        become(state)
    assert len(lines) == 1
    assert "Duologue is ready at http://127.0.0.1:" in lines[0]


async def test_the_terminal_is_told_each_reason_why_a_model_cannot_be_used_once(tmp_path):
    lines: list[str] = []
    become = herald(tmp_path, lines.append)
    for sentence in ("Too little memory.", "Too little memory.", "No such file."):
        become("failed", sentence)
    assert [line.partition(": ")[2] for line in lines] == ["Too little memory.", "No such file."]


async def test_the_terminal_is_told_once_what_of_the_voice_cannot_be_used(tmp_path):
    lines: list[str] = []
    messages = StartupMessages(load(None, {}, {"data": str(tmp_path), "engine": "scripted"}), lines.append)
    pool = Pool([LoadSpec("w", "scripted", "m")], Scheduler())
    voice = Pool([LoadSpec("voice", "voice", "voice")], Scheduler())
    messages.start(pool, voice)
    view = voice.workers["voice"]
    view.speech = SpeechCard(
        detector=SpeechEngineStatus("ready", "silero"),
        recogniser=SpeechEngineStatus("failed", "whisper", detail="Its package is missing."),
        speaker=SpeechEngineStatus("failed", "kokoro", detail="Its weights are missing."),
        turn_end=SpeechEngineStatus("failed", "smart_turn", detail="Its file is damaged."),
        video=SpeechEngineStatus("failed", "musetalk", detail="It needs a graphics card."),
    )
    for state in ("loading", "ready", "ready"):
        view.state = state
        messages.update(pool, voice)
    assert lines == [
        "Speech recognition is unavailable: Its package is missing.",
        "Speech output is unavailable: Its weights are missing.",
        "Turns end by their words alone: Its file is damaged.",
        "Video of avatars is unavailable: It needs a graphics card.",
    ]
    view.state, view.detail = "failed", "There is no memory."
    messages.update(pool, voice)
    assert lines[4:] == ["The voice cannot be used: There is no memory."]


async def test_a_terminal_that_has_gone_ends_nothing(tmp_path):
    def gone(line: str) -> None:
        raise BrokenPipeError

    herald(tmp_path, gone)("ready")


def test_the_address_is_one_that_a_browser_here_can_open(tmp_path):
    def where(**flags):
        return server_url(load(None, {}, {"data": str(tmp_path), **flags}), 8006)

    assert where() == "http://127.0.0.1:8006"
    assert where(host="0.0.0.0") == "http://127.0.0.1:8006"
    assert where(host="::1") == "http://[::1]:8006"
    assert where(base_path="/talk") == "http://127.0.0.1:8006/talk/"
    assert where(**{"tls.enabled": True}) == "https://127.0.0.1:8006"

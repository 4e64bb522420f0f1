"""Hearing and speaking by another server, against a small one on loopback: real sockets, real cancellation."""

from __future__ import annotations

import socket
from array import array
from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest
from tests.support.speech_stand_in import SpeechStandIn, saying, sounding

from duologue.engines.contracts import SpeechChunk
from duologue.engines.openai_remote.speech import transcript_of, voices_in
from duologue.engines.registry import load_recogniser, load_speaker
from duologue.errors import BadRequest, EngineFailed, NotFound, Problem, StartFailed, TooLarge
from duologue.values.audio import HEARD_RATE, wav_header
from duologue.values.speech import TimedWord, Transcript

pytestmark = pytest.mark.anyio
PATIENCE = 60.0
KEY = "sk-very-secret"
SECOND = bytes(2 * HEARD_RATE)


@pytest.fixture
async def server() -> AsyncIterator[SpeechStandIn]:
    async with SpeechStandIn().running() as running:
        yield running


@pytest.fixture
async def recogniser(server):
    engine = await load_recogniser("remote", {"url": server.url, "key": KEY})
    yield engine
    await engine.close()


@pytest.fixture
async def speaker(server):
    engine = await load_speaker("remote", {"url": server.url, "key": KEY})
    yield engine
    await engine.close()


async def said(engine, text: str, **how) -> list[SpeechChunk]:
    async with engine.speak(text, **how) as pieces:
        return [piece async for piece in pieces]


# ---- hearing


async def test_a_recording_is_sent_as_a_wav_file_with_key_model_language_and_hint(server, recogniser):
    transcript = await recogniser.transcribe(SECOND, language="de-AT", prompt="Duologue")
    assert transcript == Transcript("hello")
    assert server.sounds[0] == wav_header(HEARD_RATE, len(SECOND)) + SECOND
    assert server.forms[0] == {
        "model": ["whisper-1"],
        "response_format": ["json"],
        "language": ["de"],
        "prompt": ["Duologue"],
    }
    assert server.keys == [f"Bearer {KEY}"]


async def test_an_utterance_is_sent_once_when_it_is_over(server, recogniser):
    async with recogniser.stream(language="en") as listener:
        for _ in range(4):
            assert await listener.feed(SECOND[:8000]) == ""
        assert server.forms == []
        assert (await listener.finish()).text == "hello"
    assert len(server.sounds[0]) == 44 + 32_000


async def test_words_come_with_times_language_and_confidence(server, recogniser):
    server.answer = saying(
        {
            "text": " Hello there. ",
            "language": "english",
            "words": [
                {"word": "Hello", "start": 0.1, "end": 0.4},
                {"word": " there", "start": 0.5, "end": 0.8},
            ],
            "segments": [{"avg_logprob": 0.0}, {"avg_logprob": -0.6931}],
        }
    )
    transcript = await recogniser.transcribe(SECOND, word_timestamps=True)
    assert transcript.words == (TimedWord("Hello", 0.1, 0.4), TimedWord("there", 0.5, 0.8))
    assert (transcript.text, transcript.language) == ("Hello there.", "en")
    assert transcript.confidence == pytest.approx(0.75, abs=0.001)
    assert server.forms[0]["timestamp_granularities[]"] == ["word"]


async def test_a_model_without_word_times_is_asked_without_from_then_on(server, recogniser):
    async def answer(request):
        refused = {"error": {"message": "response_format 'verbose_json' is not compatible with this model"}}
        plain = server.forms[-1]["response_format"] == ["json"]
        return await saying({"text": "plain"} if plain else refused, 200 if plain else 400)(request)

    server.answer = answer
    assert recogniser.word_timestamps
    assert (await recogniser.transcribe(SECOND, word_timestamps=True)).text == "plain"
    assert not recogniser.word_timestamps
    await recogniser.transcribe(SECOND, word_timestamps=True)
    assert [form["response_format"] for form in server.forms] == [["verbose_json"], ["json"], ["json"]]


async def test_silence_is_nothing_that_was_understood_and_asks_nobody(server, recogniser):
    assert not (await recogniser.transcribe(b"")).understood
    assert server.forms == []
    server.answer = saying({"text": "  "})
    assert not (await recogniser.transcribe(SECOND)).understood


async def test_who_leaves_hangs_up(server, recogniser):
    server.answer = server.silent
    with anyio.move_on_after(0.2):
        await recogniser.transcribe(SECOND)
    with anyio.fail_after(PATIENCE):
        await server.hung_up.wait()


# ---- what goes wrong


@pytest.mark.parametrize(
    ("status", "body", "kind", "words"),
    [
        (401, {"error": {"message": f"wrong key {KEY}"}}, EngineFailed, "refused the key (401)"),
        (404, {"detail": "no such model"}, NotFound, "no such model"),
        (400, {"error": {"message": "too loud"}}, BadRequest, "too loud"),
        (500, "a long page of somebody's trouble", EngineFailed, "failed (500)"),
        (429, {"message": "later"}, Problem, "is busy"),
    ],
)
async def test_a_refusal_is_told_with_the_servers_own_words_and_without_the_key(
    server, recogniser, speaker, status, body, kind, words
):
    server.answer = saying(body, status)
    for attempt in (recogniser.transcribe(SECOND), said(speaker, "hello")):
        with pytest.raises(kind) as caught:
            await attempt
        assert words in caught.value.message
        assert KEY not in caught.value.message


async def test_a_wrong_key_says_which_setting_holds_it(server, recogniser, speaker):
    server.answer = saying({}, 403)
    with pytest.raises(EngineFailed, match=r"voice\.recogniser\.key"):
        await recogniser.transcribe(SECOND)
    with pytest.raises(EngineFailed, match=r"voice\.speaker\.key"):
        await said(speaker, "hello")


async def test_a_server_that_is_not_there_is_no_hindrance_at_the_start_and_a_sentence_later():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
    recogniser = await load_recogniser("remote", {"url": url})
    speaker = await load_speaker("remote", {"url": url})
    for attempt in (recogniser.transcribe(SECOND), said(speaker, "hello")):
        with pytest.raises(EngineFailed, match="cannot be reached") as caught:
            await attempt
        assert caught.value.code == "upstream_unreachable"


@pytest.mark.parametrize("url", ["", "ftp://somewhere", "http://"])
async def test_an_impossible_address_is_refused_at_the_start(url):
    with pytest.raises(StartFailed, match=r"voice\.recogniser\.url"):
        await load_recogniser("remote", {"url": url})


async def test_an_answer_that_is_no_transcript_is_said_to_be_none(server, recogniser):
    bodies: tuple[Any, ...] = ("hello", ["text"], {"words": []}, {"text": "x", "words": [{"word": "x"}]})
    for body in bodies:
        server.answer = saying(body)
        with pytest.raises(EngineFailed, match="not a transcript"):
            await recogniser.transcribe(SECOND)


async def test_a_server_that_breaks_off_is_said_to_have(server, speaker):
    server.answer = server.broken
    with pytest.raises(EngineFailed, match="broke"):
        await said(speaker, "hello")


# ---- speaking


async def test_a_clause_is_spoken_as_it_comes(server, speaker):
    sound = array("h", range(1000)).tobytes()
    server.answer = sounding(sound[:7], sound[7:900], sound[900:])
    pieces = await said(speaker, "Hello there.", voice="nova", speed=1.5)
    assert b"".join(piece.pcm for piece in pieces) == sound
    assert server.bodies == [
        {"model": "tts-1", "input": "Hello there.", "voice": "nova", "response_format": "pcm", "speed": 1.5}
    ]


async def test_sound_with_a_header_and_at_another_rate_is_brought_to_ours(server, speaker):
    pytest.importorskip("av", reason="this test needs PyAV: pip install 'duologue[voice]'")
    server.answer = sounding(wav_header(48_000) + bytes(9600), kind="audio/wav")
    assert sum(len(piece.pcm) for piece in await said(speaker, "hello")) == 4800
    server.answer = sounding(bytes(9600), kind="audio/pcm;rate=12000")
    assert sum(len(piece.pcm) for piece in await said(speaker, "hello")) == 19_200


async def test_sound_of_another_format_is_refused(server, speaker):
    server.answer = sounding(b"ID3", kind="audio/mpeg")
    with pytest.raises(EngineFailed, match="audio/mpeg where samples"):
        await said(speaker, "hello")


async def test_leaving_in_the_middle_hangs_up(server, speaker):
    server.answer = server.endless
    async with speaker.speak("hello") as pieces:
        async for _ in pieces:
            break
    with anyio.fail_after(PATIENCE):
        await server.hung_up.wait()


async def test_being_cancelled_in_the_middle_hangs_up(server, speaker):
    server.answer = server.endless
    with anyio.move_on_after(0.3):
        await said(speaker, "hello")
    with anyio.fail_after(PATIENCE):
        await server.hung_up.wait()


async def test_what_has_no_sound_asks_nobody_and_too_much_is_refused(server, speaker):
    assert await said(speaker, "...") == []
    with pytest.raises(TooLarge):
        await said(speaker, "a " * 3000)
    assert server.bodies == []


async def test_the_servers_voices_are_offered_and_the_default_is_the_first(server):
    server.voices = {"voices": ["af_heart", {"id": "anna", "language": "de"}, "bm_george", 7]}
    engine = await load_speaker("remote", {"url": f"{server.url}/v1/", "voice": "anna"})
    assert [(voice.name, voice.language) for voice in engine.voices] == [
        ("anna", "de"),
        ("af_heart", "en-US"),
        ("bm_george", "en-GB"),
    ]
    with pytest.raises(NotFound, match="anna, af_heart"):
        await said(engine, "hello", voice="nova")


async def test_without_a_list_there_are_the_usual_voices_or_those_of_the_settings(server):
    assert (await load_speaker("remote", {"url": server.url})).voices[0].name == "alloy"
    engine = await load_speaker("remote", {"url": server.url, "voices": ["mine", "yours"], "language": "de"})
    assert [(voice.name, voice.language) for voice in engine.voices] == [("mine", "de"), ("yours", "de")]


def test_lists_of_all_shapes_are_read():
    assert voices_in([{"voice_id": "x", "name": "Xaver"}, {}, None, "x"], "en")[0].name == "x"
    assert voices_in([], "en") == ()


def test_an_answer_with_more_than_was_asked_is_read():
    assert transcript_of({"text": "x", "words": None, "language": None}) == Transcript("x")

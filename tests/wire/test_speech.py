"""OpenAI's speech endpoint and the names that stand for what is loaded."""

import base64
import json
from typing import Any

import pytest

from duologue.config.settings import LimitSettings
from duologue.errors import BadRequest, EngineFailed, ModelNotFound, NotFound, TooLarge
from duologue.values.mouth import MouthKey
from duologue.values.requests import ModelCard
from duologue.values.speech import SpeechCard, SpeechEngineStatus, SpeechRequest, Voice
from duologue.wire.speech import (
    VOICES,
    SpeechBody,
    SpeechFinished,
    SpeechPiece,
    SpeechStream,
    check_model,
    model_list,
    model_names,
    resolve_voice,
    voice_list,
)
from duologue.wire.validation import validate

CARD = SpeechCard(
    recogniser=SpeechEngineStatus("ready", "pocketsphinx", "small-en"),
    speaker=SpeechEngineStatus("ready", "espeak", "espeak-ng"),
    voices=(Voice("en-us", "en-US"), Voice("de", "de"), Voice("en-gb", "en-GB", "British")),
    default_voice="en-us",
)


def body(**fields: Any) -> SpeechBody:
    return validate(SpeechBody, {"input": "Hello."} | fields)


def test_the_shortest_request():
    asked = body()
    assert (asked.response_format, asked.stream_format) == ("mp3", "audio")
    assert asked.request("en-us", LimitSettings()) == SpeechRequest("Hello.", "en-us")


def test_a_voice_is_a_name_or_an_object_with_its_id():
    assert body(voice="nova").voice == body(voice={"id": "nova"}).voice == "nova"
    with pytest.raises(BadRequest, match="voice must be a name"):
        body(voice=7)


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"input": None}, "input"),
        ({"speed": 5}, "speed"),
        ({"response_format": "midi"}, "response_format"),
        ({"stream_format": "film"}, "stream_format"),
    ],
)
def test_a_wrong_field_is_named(fields, param):
    with pytest.raises(BadRequest) as caught:
        body(**fields)
    assert caught.value.param == param


def test_nothing_to_say_and_too_much_of_it_are_refused():
    with pytest.raises(BadRequest, match="contains no text"):
        body(input=" \n").request("", LimitSettings())
    with pytest.raises(TooLarge, match=r"limits\.text_mb"):
        body(input="é" * 600_000).request("", LimitSettings())


def test_fields_that_change_nothing_are_named():
    assert body(instructions="Whisper!", mood="good").ignored() == ("instructions", "mood")


def test_openais_names_and_our_own_stand_for_what_is_loaded():
    names = ("tts-1", "gpt-4o-mini-tts-2025-12-15", "tts", "default", "espeak", "espeak-ng", "")
    for name in names:
        check_model(name, "speaker", CARD)
    for name in ("whisper-1", "gpt-4o-transcribe", "asr", "small-en", "pocketsphinx"):
        check_model(name, "recogniser", CARD)
    with pytest.raises(ModelNotFound, match="Available: espeak-ng, espeak, tts-1"):
        check_model("whisper-1", "speaker", CARD)
    check_model("whatever", "speaker", None)


def test_an_engine_that_is_not_ready_is_no_name():
    card = SpeechCard(speaker=SpeechEngineStatus("failed", "espeak", "espeak-ng"))
    assert "espeak" not in model_names("speaker", card)


def test_openais_voices_are_spread_over_those_of_the_default_voices_language():
    assert [resolve_voice(name, CARD) for name in VOICES[:4]] == ["en-us", "en-gb", "en-us", "en-gb"]
    assert [resolve_voice(name, CARD, "de") for name in VOICES[:2]] == ["de", "de"]


def test_a_loaded_voice_goes_before_openais_name_and_case_does_not_matter():
    card = SpeechCard(voices=(Voice("low"), Voice("Nova")), default_voice="low")
    assert resolve_voice("Nova", card) == "Nova"
    assert resolve_voice("NOVA", card) == "Nova"
    assert resolve_voice("low", card) == "low"


def test_no_voice_is_the_default_one():
    assert resolve_voice("", CARD) == ""
    assert resolve_voice("default", CARD, "de") == "de"


def test_a_voice_there_is_not_is_refused_with_those_there_are():
    with pytest.raises(NotFound, match="en-us, de, en-gb") as caught:
        resolve_voice("hal", CARD)
    assert (caught.value.code, caught.value.param) == ("voice_not_found", "voice")


def test_before_the_voices_are_known_a_name_is_passed_on():
    assert resolve_voice("hal", None) == "hal"
    assert resolve_voice("nova", None) == ""


def test_the_voices_are_listed_with_the_default_and_openais_names():
    listed = json.loads(voice_list(CARD))
    assert listed["voices"][2] == {
        "id": "en-gb",
        "name": "en-gb",
        "language": "en-GB",
        "description": "British",
    }
    assert listed["default"] == "en-us"
    assert listed["aliases"]["alloy"] == "en-us"
    assert json.loads(voice_list(CARD, "de"))["default"] == "de"
    assert json.loads(voice_list(None)) == {
        "voices": [],
        "custom": [],
        "models": [],
        "default": "",
        "aliases": {},
    }
    singer = ModelCard("singer", "scripted", 9, outputs=("text", "audio"), voices=("clear",), clones=True)
    assert json.loads(voice_list(None, models=[ModelCard("mini", "scripted", 9), singer]))["models"] == [
        {"model": "singer", "voices": ["clear"], "clones": True}
    ]


def test_the_models_are_listed_under_all_their_names():
    listed = json.loads(model_list(CARD, 7))
    assert listed["data"] == listed["models"]
    roots = {entry["id"]: (entry["root"], entry["task"]) for entry in listed["data"]}
    assert roots["tts-1"] == ("espeak-ng", "speech")
    assert roots["whisper-1"] == ("small-en", "transcription")
    assert len(roots) == len(listed["data"])
    assert json.loads(model_list(None, 7))["data"] == []


def test_the_keys_of_a_mouth_are_in_the_events_and_only_there():
    body = SpeechBody(input="Hello.", mouth=True, stream_format="sse")
    assert body.request("", LimitSettings()).mouth
    assert body.ignored() == ()
    whole = SpeechBody(input="Hello.", mouth=True)
    assert not whole.request("", LimitSettings()).mouth
    assert whole.ignored() == ("mouth",)
    piece = SpeechPiece(b"", (MouthKey(240, 50, -20),))
    event = json.loads(SpeechStream("Hello.").encode(piece).removeprefix(b"data: "))
    assert event == {"type": "speech.audio.delta", "audio": "", "mouth": [[240, 50, -20, 0, 0, 0]]}


def test_a_stream_is_pieces_and_an_end_with_the_usage():
    stream = SpeechStream("Hello.")
    first = json.loads(stream.encode(SpeechPiece(b"abc")).removeprefix(b"data: "))
    assert first == {"type": "speech.audio.delta", "audio": base64.b64encode(b"abc").decode()}
    assert stream.encode(SpeechPiece(b"")) == b""
    with pytest.raises(EngineFailed, match="broke off"):
        stream.close()
    last = json.loads(stream.encode(SpeechFinished(1.5)).removeprefix(b"data: "))
    assert last["type"] == "speech.audio.done"
    assert last["usage"] == {"input_tokens": 2, "output_tokens": 30, "total_tokens": 32, "estimated": True}
    assert stream.ended
    stream.close()

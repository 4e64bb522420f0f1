"""What comes in at the chat socket: frames to requests."""

import base64
import json
from array import array
from typing import Any

import pytest

from duologue.config.settings import LimitSettings
from duologue.errors import BadRequest, TooLarge
from duologue.values.messages import AudioPart, ImagePart, Message, TextPart, Tool, ToolCall, VideoPart
from duologue.values.requests import ChatRequest, MediaOptions
from duologue.values.speech import SpeechRequest
from duologue.wire.chat import ChatFrame, begins_call, decode, open_frame

HELLO = [{"role": "user", "content": "Hello"}]
PNG = b"\x89PNG\r\n\x1a\n."


def frame(**fields: Any) -> ChatFrame:
    envelope = open_frame(json.dumps({"messages": HELLO} | fields))
    assert envelope.kind == "chat"
    return decode(envelope.body, LimitSettings())


def request(**fields: Any) -> ChatRequest:
    return frame(**fields).request


def said(content: object, role: str = "user") -> Message:
    return request(messages=[{"role": role, "content": content}]).messages[0]


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


# Frames


def test_a_frame_with_messages_is_a_chat_request_with_the_callers_id() -> None:
    envelope = open_frame('{"messages": [], "id": "r-1"}')
    assert (envelope.kind, envelope.id, envelope.body) == ("chat", "r-1", {"messages": []})
    assert open_frame(b'{"messages": [], "id": 7}').id == 7


def test_cancel_and_the_voice_messages_are_told_by_their_type() -> None:
    assert open_frame('{"type": "cancel", "id": 7}').kind == "cancel"
    assert open_frame('{"type": "start"}').kind == "voice"
    assert open_frame('{"type": "interrupt"}').kind == "voice"
    assert open_frame('{"type": "start", "messages": []}').kind == "chat"


@pytest.mark.parametrize("id", [True, 1.5, {}, [], "x" * 257, 10**300])
def test_an_id_is_a_short_text_or_a_whole_number(id: object) -> None:
    with pytest.raises(BadRequest, match="id must be"):
        open_frame(json.dumps({"id": id}))


def test_a_frame_that_is_no_json_object_is_refused() -> None:
    for text in ("nope", "[]", ""):
        with pytest.raises(BadRequest):
            open_frame(text)


def test_a_type_nobody_knows_is_named() -> None:
    with pytest.raises(BadRequest, match="Unknown message type 'shout'"):
        decode({"type": "shout"}, LimitSettings())
    with pytest.raises(BadRequest, match="messages is missing"):
        decode({"type": "chat"}, LimitSettings())
    with pytest.raises(BadRequest, match="messages is missing"):
        decode({"type": None}, LimitSettings())


# Requests


def test_the_shortest_request_streams_and_does_not_think() -> None:
    asked = frame()
    assert (asked.streaming, asked.progress, asked.names) == (True, False, {})
    assert asked.request == ChatRequest((Message("user", (TextPart("Hello"),)),))
    assert asked.request.thinking is None, "nobody asked: the model's template decides"


def test_an_effort_has_the_model_think_unless_it_is_told_not_to() -> None:
    asked = frame(reasoning_effort="low").request
    assert (asked.thinking, asked.effort) == (True, "low")
    asked = frame(reasoning_effort="minimal", enable_thinking=False).request
    assert (asked.thinking, asked.effort) == (False, "low")
    asked = frame(reasoning_effort="none").request
    assert (asked.thinking, asked.effort) == (False, None)
    with pytest.raises(BadRequest, match="reasoning_effort must be one of"):
        frame(reasoning_effort="lots")


def test_the_whole_request_of_the_dialects_documents_is_taken() -> None:
    asked = frame(
        messages=[
            {"role": "system", "content": [{"type": "text", "text": "Be kind."}]},
            {"role": "user", "content": "Hello"},
        ],
        streaming=False,
        generation={"max_new_tokens": 256, "length_penalty": 1.1},
        tts={"enabled": False, "ref_audio_data": "AAAA", "mode": "omni"},
        image={"max_slice_nums": None},
        omni_mode=False,
        use_tts_template=False,
        enable_thinking=True,
    )
    assert asked.streaming is False
    assert asked.request.thinking is True
    assert asked.request.sampling.asked() == ("max_tokens", "length_penalty")
    assert asked.names == {
        "max_tokens": "generation.max_new_tokens",
        "length_penalty": "generation.length_penalty",
    }
    assert (asked.request.unknown, asked.request.unapplied) == ((), ())


def test_known_fields_without_effect_and_unknown_ones_are_collected_by_their_dotted_names() -> None:
    asked = request(
        image={"max_slice_nums": 2, "dpi": 3},
        omni_mode=True,
        use_tts_template=True,
        generation={"num_beams": 4},
        tts={"enabled": False, "speed": 2, "pitch": 3},
        colour="red",
        nothing=None,
    )
    assert asked.unapplied == ("use_tts_template",)
    assert asked.media == MediaOptions(2, None, interleave=True)
    assert request(tts={"enabled": True, "mode": "omni"}).unapplied == ("tts.mode",)
    assert set(asked.unknown) == {"image.dpi", "generation.num_beams", "tts.pitch", "colour"}


def test_a_video_says_how_it_is_looked_at() -> None:
    part = {"type": "video", "data": "AAAA", "stack_frames": 5, "frame_rate": 2.0}
    [message] = request(messages=[{"role": "user", "content": [part]}]).messages
    assert message.parts == (VideoPart(b"\0\0\0", "video/mp4", 5, 2.0),)


def test_sound_that_is_no_numbers_is_refused() -> None:
    data = base64.b64encode(array("f", [0.5, float("nan")]).tobytes()).decode()
    with pytest.raises(BadRequest) as info:
        frame(messages=[{"role": "user", "content": [{"type": "audio", "data": data}]}])
    assert (info.value.code, info.value.param) == ("sound_unreadable", "messages[0].content[0].data")


def test_not_sampling_is_temperature_zero() -> None:
    asked = frame(generation={"do_sample": False, "temperature": 0.9})
    assert asked.request.sampling.temperature == 0
    assert asked.names["temperature"] == "generation.do_sample"
    assert request(generation={"do_sample": True, "temperature": 0.5}).sampling.temperature == 0.5


def test_both_names_of_the_token_limit_and_of_thinking_are_known() -> None:
    assert request(generation={"max_tokens": 5}).sampling.max_tokens == 5
    assert frame(generation={"max_tokens": 5}).names == {"max_tokens": "generation.max_tokens"}
    assert request(thinking=True).thinking is True


def test_stops_model_tools_and_progress_are_taken() -> None:
    tool = {"type": "function", "function": {"name": "f", "description": "d", "parameters": {}}}
    asked = frame(
        model="m", generation={"stop": "END"}, tools=[tool], tool_choice="none",
        parallel_tool_calls=False, progress=True,
    )  # fmt: skip
    assert asked.progress
    assert (asked.request.model, asked.request.stop) == ("m", ("END",))
    assert (asked.request.tools, asked.request.tool_choice) == ((Tool("f", "d"),), "none")
    assert asked.request.parallel_tool_calls is False


def test_every_kind_of_part_is_decoded() -> None:
    sound = array("f", [0.5, -0.5]).tobytes()
    message = said(
        [
            {"type": "text", "text": "Look"},
            {"type": "image", "data": b64(PNG)},
            {"type": "audio", "data": b64(sound), "sample_rate": 16000},
            {"type": "video", "data": b64(b"film"), "stack_frames": 2},
        ]
    )
    assert message.parts == (
        TextPart("Look"),
        ImagePart(PNG, "image/png"),
        AudioPart(sound),
        VideoPart(b"film", stack_frames=2),
    )


def test_a_picture_says_how_closely_it_is_to_be_looked_at() -> None:
    pictures = [{"type": "image", "data": b64(PNG), "detail": detail} for detail in ("low", "high", "auto")]
    parts = [part for part in said(pictures).parts if isinstance(part, ImagePart)]
    assert [part.detail for part in parts] == ["low", "high", ""]


def test_the_assistants_calls_and_a_tools_answer_are_history() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    asked = request(
        messages=[
            *HELLO,
            {"role": "assistant", "tool_calls": [call], "reasoning": "hm"},
            {"role": "tool", "tool_call_id": "c", "content": "5"},
        ]
    )
    assert asked.messages[1] == Message("assistant", (), "hm", (ToolCall("c", "f", "{}"),))
    assert asked.messages[2] == Message("tool", (TextPart("5"),), tool_call_id="c")


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"messages": None}, "messages is missing."),
        ({"messages": []}, "messages must not be empty."),
        ({"messages": "hi"}, "messages must be a list."),
        ({"messages": [{"role": "wizard", "content": "x"}]}, r"messages\[0\].role must be one of"),
        ({"messages": [{"role": "user"}]}, r"messages\[0\].content is missing."),
        ({"messages": [{"role": "user", "content": 5}]}, r"messages\[0\].content must be a string or a list"),
        (
            {"messages": [{"role": "user", "content": [{"type": "smell"}]}]},
            r"content\[0\].type must be one of text, image, audio, video.",
        ),
        (
            {"messages": [{"role": "user", "content": [{"type": "image", "data": "%"}]}]},
            r"content\[0\].data is not valid base64",
        ),
        (
            {
                "messages": [
                    {"role": "user", "content": [{"type": "audio", "data": "AAAA", "sample_rate": 8000}]}
                ]
            },
            r"content\[0\].sample_rate must be 16000",
        ),
        (
            {"generation": {"max_new_tokens": 0}},
            "generation.max_new_tokens must be a whole number from 1 to 1,000,000.",
        ),
        ({"generation": {"temperature": "hot"}}, "generation.temperature must be a number from 0 to 100."),
        ({"generation": {"stop": 5}}, "generation.stop must be a string or a list of strings."),
        ({"generation": []}, "generation must be an object."),
        ({"streaming": "yes"}, "streaming must be true or false."),
        ({"enable_thinking": 1}, "enable_thinking must be true or false."),
        ({"tool_choice": "required"}, "tool_choice is required, but tools is empty."),
        ({"tool_choice": "perhaps"}, 'tool_choice must be "auto"'),
    ],
)
def test_a_wrong_field_is_named(fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadRequest, match=sentence) as caught:
        frame(**fields)
    assert caught.value.param


def test_a_voice_response_is_how_the_reply_is_spoken() -> None:
    asked = frame(tts={"enabled": True, "voice": {"id": "nova"}, "speed": 1.5, "audio_format": "wav"})
    assert asked.speech == SpeechRequest(voice="nova", speed=1.5, open=True)
    assert (asked.sound, asked.request.spoken) == ("wav", True)
    assert frame(tts={"enabled": True}, audio_format="s16").sound == "s16"
    silent = frame()
    assert (silent.speech, silent.sound, silent.request.spoken) == (None, "f32", False)


def test_a_recording_to_speak_like_is_read_where_something_is_spoken() -> None:
    asked = frame(tts={"enabled": True, "ref_audio_data": "AAAAAA=="})
    assert asked.recording == AudioPart(bytes(4), 16_000)
    assert asked.request.unapplied == ()
    assert frame(tts={"enabled": False, "ref_audio_data": "AAAAAA=="}).recording is None
    for wrong in ("AAAA", "%%%"):
        with pytest.raises(BadRequest) as caught:
            frame(tts={"enabled": True, "ref_audio_data": wrong})
        assert caught.value.param == "tts.ref_audio_data"


@pytest.mark.parametrize(
    ("first", "is_call"),
    [
        (b"\0\0", True),
        ('{"type": "start"}', True),
        ('{"type": "played", "reply_id": 1, "samples": 2}', True),
        ('{"type": "text", "text": "hi"}', True),
        ('{"type": "start", "messages": []}', False),
        ('{"type": "cancel"}', False),
        ('{"messages": []}', False),
        ("nope", False),
    ],
)
def test_the_first_frame_tells_a_call_from_a_chat(first: str | bytes, is_call: bool) -> None:
    assert begins_call(first) is is_call


def test_the_limits_hold() -> None:
    tool = {"type": "function", "function": {"name": "f"}}
    with pytest.raises(TooLarge, match=r"limits\.text_mb"):
        said("x" * (2**20 + 1))
    with pytest.raises(BadRequest, match=r"limits\.tools"):
        frame(tools=[tool] * 129)

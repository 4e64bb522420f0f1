"""OpenAI's request body becomes the request every engine knows."""

import base64
from typing import Any

import pytest

from duologue.config.settings import LimitSettings
from duologue.errors import BadRequest, TooLarge, Unsupported
from duologue.values.messages import AudioPart, ImagePart, Message, TextPart, Tool, ToolCall, VideoPart
from duologue.values.requests import ChatRequest, OutputFormat
from duologue.values.speech import SpeechRequest
from duologue.wire.media_parts import MediaReference
from duologue.wire.openai import ChatCompletionBody
from duologue.wire.validation import validate

HELLO = [{"role": "user", "content": "Hello"}]
PNG = b"\x89PNG\r\n\x1a\n."
WAV = b"RIFF\x2a\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x80\x3e\0\0\0\x7d\0\0\2\0\x10\0data\2\0\0\0\0\x40"
TOOL = {"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object"}}}


def body(**fields: Any) -> ChatCompletionBody:
    return validate(ChatCompletionBody, {"messages": HELLO} | fields)


def request(**fields: Any) -> ChatRequest:
    return body(**fields).request(LimitSettings())


def data_url(mime: str, data: bytes) -> str:
    return f"data:{mime};base64,{base64.b64encode(data).decode()}"


def test_the_shortest_request() -> None:
    asked = body()
    assert (asked.stream, asked.n, asked.stream_options.include_usage) == (False, 1, False)
    assert request() == ChatRequest((Message("user", (TextPart("Hello"),)),))


def test_null_means_not_given() -> None:
    assert request(
        temperature=None, stop=None, tools=None, tool_choice=None, n=None, stream=None, stream_options=None,
        response_format=None, seed=None, logit_bias=None, max_tokens=None, chat_template_kwargs=None, model=None,
    ) == request()  # fmt: skip


def test_parameters_reach_the_request() -> None:
    asked = request(
        model="mini", temperature=2.5, top_p=0.5, frequency_penalty=-2, presence_penalty=-0.5, seed=7, stop="END",
        max_tokens=5, logit_bias={"15": -100}, repeat_penalty=1.5, top_k=4, min_p=0.25,
    )  # fmt: skip
    assert (asked.model, asked.stop) == ("mini", ("END",))
    assert {name: getattr(asked.sampling, name) for name in asked.sampling.asked()} == {
        "max_tokens": 5, "temperature": 2.5, "top_k": 4, "top_p": 0.5, "min_p": 0.25, "repetition_penalty": 1.5,
        "presence_penalty": -0.5, "frequency_penalty": -2, "seed": 7, "logit_bias": {"15": -100},
    }  # fmt: skip


def test_the_newer_name_of_the_token_limit_wins_and_minus_one_is_no_limit() -> None:
    assert request(max_tokens=5, max_completion_tokens=9).sampling.max_tokens == 9
    assert request(max_tokens=-1).sampling.max_tokens is None
    for wrong in (0, -2, 1_000_001):
        with pytest.raises(BadRequest, match=r"max_tokens must be a whole number from 1 to 1,000,000, or -1"):
            body(max_tokens=wrong)


def test_logprobs_count_their_alternatives() -> None:
    assert request().sampling.logprobs is None
    assert request(logprobs=False).sampling.logprobs is None
    assert request(logprobs=True).sampling.logprobs == 0
    assert request(logprobs=True, top_logprobs=20).sampling.logprobs == 20
    with pytest.raises(BadRequest, match="top_logprobs requires logprobs"):
        request(top_logprobs=2)


def test_every_kind_of_content_part_is_decoded() -> None:
    asked = request(
        messages=[
            {"role": "developer", "content": "Be kind."},
            {
                "role": "user",
                "name": "ada",
                "content": [
                    {"type": "text", "text": "Look"},
                    {"type": "image_url", "image_url": {"url": data_url("image/png", PNG), "detail": "low"}},
                    {"type": "image_url", "image_url": data_url("image/jpeg", PNG)},
                    {"type": "input_audio", "input_audio": {"data": data_of(WAV), "format": "wav"}},
                    {"type": "video_url", "video_url": {"url": data_url("video/webm", b"film")}},
                ],
            },
            {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]},
        ]
    )
    assert asked.messages == (
        Message("system", (TextPart("Be kind."),)),
        Message(
            "user",
            (
                TextPart("Look"),
                ImagePart(PNG, "image/png", "low"),
                ImagePart(PNG, "image/png"),
                AudioPart(b"\0\0\0\x3f", 16_000),
                VideoPart(b"film", "video/webm"),
            ),
            name="ada",
        ),
        Message("assistant", (TextPart("No."),)),
    )


def pictures(*image_urls: object) -> list[dict[str, Any]]:
    return [{"role": "user", "content": [{"type": "image_url", "image_url": each} for each in image_urls]}]


def test_how_closely_a_picture_is_looked_at_is_part_of_it() -> None:
    url = data_url("image/png", PNG)
    details = ("low", "high", "auto", None)
    asked = request(messages=pictures(*({"url": url, "detail": detail} for detail in details)))
    looks = [part.detail for part in asked.messages[0].parts if isinstance(part, ImagePart)]
    assert looks == ["low", "high", "", ""]
    far = body(messages=pictures({"url": "https://example.org/a.png", "detail": "low"}))
    assert [reference.detail for reference in far.references()] == ["low"]


def test_the_pieces_of_pictures_are_one_number_for_a_request() -> None:
    url = data_url("image/png", PNG)
    asked = request(
        messages=pictures({"url": url, "max_slice_nums": 2}, url, {"url": url, "max_slice_nums": 9})
    )
    assert asked.media.max_slices == 9
    assert request(messages=pictures(url)).media.max_slices is None


def data_of(data: bytes) -> str:
    return base64.b64encode(data).decode()


def test_a_conversation_with_calls_and_reasoning_is_carried() -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": '{"a":  1}'}}
    asked = request(
        messages=[
            *HELLO,
            {"role": "assistant", "content": None, "tool_calls": [call], "reasoning_content": "hm"},
            {"role": "tool", "tool_call_id": "call_1", "content": "5"},
        ]
    )
    assert asked.messages[1:] == (
        Message("assistant", (), "hm", (ToolCall("call_1", "f", '{"a":  1}'),)),
        Message("tool", (TextPart("5"),), tool_call_id="call_1"),
    )


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (None, "auto"),
        ("none", "none"),
        ("required", "required"),
        ({"type": "function", "function": {"name": "f"}}, "function:f"),
        ({"type": "function", "name": "f"}, "function:f"),
    ],
)
def test_tools_and_every_form_of_their_choice(given: object, meant: str) -> None:
    asked = request(tools=[TOOL], tool_choice=given, parallel_tool_calls=False)
    assert (asked.tools, asked.tool_choice) == ((Tool("f", "d", {"type": "object"}),), meant)
    assert asked.parallel_tool_calls is False


def test_each_spelling_of_thinking() -> None:
    assert request().thinking is None
    assert request(reasoning_effort="none").thinking is False
    assert request(enable_thinking=False, reasoning_effort="high").thinking is False
    kwargs = request(chat_template_kwargs={"enable_thinking": False, "style": "terse"})
    assert (kwargs.thinking, kwargs.template_variables) == (False, {"style": "terse"})
    assert request(chat_template_kwargs={"thinking": True}).thinking is True
    effort = request(reasoning_effort="high")
    assert (effort.thinking, effort.effort, effort.template_variables) == (True, "high", {})


@pytest.mark.parametrize(
    ("word", "thinking", "effort"),
    [
        ("none", False, None),
        ("minimal", True, "low"),
        ("low", True, "low"),
        ("medium", True, "medium"),
        ("high", True, "high"),
        ("xhigh", True, None),
    ],
)
def test_the_words_for_how_long_to_think(word: str, thinking: bool, effort: str | None) -> None:
    asked = request(reasoning_effort=word)
    assert (asked.thinking, asked.effort) == (thinking, effort)
    own = {"reasoning_effort": word} if word == "xhigh" else {}
    assert asked.template_variables == own, "a word of some model's own is for its template"


def test_response_formats() -> None:
    schema: dict[str, object] = {"type": "object", "properties": {"a": {"type": "integer"}}}
    assert request(response_format={"type": "text"}).format is None
    assert request(response_format={"type": "json_object"}).format == OutputFormat("json_object")
    wrapped = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema, "strict": True}}
    assert request(response_format=wrapped).format == OutputFormat("json_schema", schema, strict=True)
    bare = {"type": "json_object", "schema": schema}
    assert request(response_format=bare).format == OutputFormat("json_schema", schema)
    held = OutputFormat("grammar", grammar='root ::= "a"', param="grammar")
    assert request(grammar='root ::= "a"').format == held
    with pytest.raises(BadRequest, match=r"response_format\.json_schema\.schema is missing"):
        request(response_format={"type": "json_schema"})
    with pytest.raises(BadRequest, match="are mutually exclusive"):
        request(response_format={"type": "json_object"}, grammar='root ::= "x"')


def test_continuing_needs_an_assistants_message_and_no_generation_prompt() -> None:
    begun = [*HELLO, {"role": "assistant", "content": "Once"}]
    assert request(messages=begun, continue_final_message=True).continue_final
    assert request(messages=begun, continue_final_message=True, add_generation_prompt=False).continue_final
    with pytest.raises(BadRequest, match="the assistant's"):
        request(continue_final_message=True)
    with pytest.raises(BadRequest, match="are mutually exclusive"):
        request(messages=begun, continue_final_message=True, add_generation_prompt=True)


def test_a_prompt_without_a_generation_prompt_and_one_with_the_beginning_of_the_reply() -> None:
    assert request().generation_prompt
    assert not request(add_generation_prompt=False).generation_prompt
    assert request(response_prefix="Once ").prefix == "Once "
    begun = [*HELLO, {"role": "assistant", "content": "Once"}]
    for other in ({"add_generation_prompt": False}, {"messages": begun, "continue_final_message": True}):
        with pytest.raises(BadRequest, match="response_prefix needs the generation prompt") as caught:
            request(response_prefix="Once ", **other)
        assert caught.value.param == "response_prefix"


def test_unknown_fields_are_tolerated_and_known_to_the_request() -> None:
    assert request(user="ada", store=True, metadata={}).unknown == ("user", "store", "metadata")


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"web_search_options": {"x": 1}}, "unsupported"),
    ],
)
def test_what_this_version_cannot_do_is_refused_by_name(fields: dict[str, Any], code: str) -> None:
    with pytest.raises(Unsupported) as caught:
        request(**fields)
    assert (caught.value.code, caught.value.param) == (code, next(iter(fields)))
    assert request(modalities=["text"]) == request()


def test_a_reply_can_be_spoken() -> None:
    asked = body(modalities=["text", "audio"], audio={"voice": "nova", "format": "mp3"})
    assert asked.speech() == SpeechRequest(voice="nova", open=True)
    assert (asked.audio_format, asked.request(LimitSettings()).spoken) == ("mp3", True)
    assert (body().speech(), body(modalities=["text"]).speech(), request().spoken) == (None, None, False)
    assert (
        body(modalities=["audio"]).audio_format,
        body(modalities=["audio"], stream=True).audio_format,
    ) == (
        "wav",
        "pcm16",
    )


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"n": 2}, "n"),
        ({"stream": True, "audio": {"format": "mp3"}}, "audio.format"),
        ({"modalities": ["smell"]}, "modalities[0]"),
        ({"modalities": [1] * 17}, "modalities"),
        ({"audio": {"format": "midi"}}, "audio.format"),
    ],
)
def test_what_a_spoken_reply_cannot_be_is_refused_by_name(fields: dict[str, Any], param: str) -> None:
    with pytest.raises(BadRequest) as caught:
        request(**({"modalities": ["text", "audio"]} | fields))
    assert caught.value.param == param


def test_sound_that_is_no_wav_file_is_decoded_elsewhere() -> None:
    asked = body(
        messages=[
            {
                "role": "user",
                "content": [
                    {"type": "input_audio", "input_audio": {"data": data_of(WAV), "format": "wav"}},
                    {"type": "input_audio", "input_audio": {"data": data_of(b"ID3"), "format": "mp3"}},
                ],
            }
        ]
    )
    where = "messages[0].content[1]"
    assert list(asked.references()) == [MediaReference(where, "audio", b"ID3")]
    part = AudioPart(b"\0\0\0\0")
    heard = asked.request(LimitSettings(), {where: [part]})
    assert heard.messages[0].parts == (AudioPart(b"\0\0\0\x3f"), part)


def test_files_and_what_is_at_addresses_is_read_elsewhere() -> None:
    url = "https://example.org/a"
    parts: list[Any] = [
        {"type": "image_url", "image_url": {"url": url}},
        {"type": "video_url", "video_url": url},
        {"type": "input_audio", "input_audio": {"data": url, "format": "wav"}},
        {"type": "file", "file": {"file_url": url, "filename": "a.pdf"}},
        {"type": "file", "file": {"file_data": f"data:application/pdf;base64,{data_of(b'%PDF')}"}},
        {"type": "file", "file": {"file_data": data_of(b"words")}},
        {"type": "file", "file": {"file_id": "file-1", "filename": "b.pdf"}},
    ]
    asked = body(messages=[{"role": "user", "content": parts}])
    places = [f"messages[0].content[{index}]" for index in range(7)]
    assert list(asked.references()) == [
        MediaReference(places[0], "image", url=url),
        MediaReference(places[1], "video", url=url),
        MediaReference(places[2], "audio", url=url),
        MediaReference(places[3], "file", url=url, name="a.pdf"),
        MediaReference(places[4], "file", b"%PDF"),
        MediaReference(places[5], "file", b"words"),
        MediaReference(places[6], "file", name="b.pdf", stored="file-1"),
    ]
    read = {place: [TextPart(place), TextPart("!")] for place in places}
    assert len(asked.request(LimitSettings(), read).messages[0].parts) == 14
    with pytest.raises(BadRequest, match="file_id") as caught:
        list(
            body(
                messages=[{"role": "user", "content": [{"type": "file", "file": {"filename": "a"}}]}]
            ).references()
        )
    assert caught.value.param == "messages[0].content[0].file"


def test_a_reply_before_is_known_by_the_id_of_its_sound() -> None:
    asked = body(messages=[*HELLO, {"role": "assistant", "audio": {"id": "audio_1"}}, *HELLO])
    said = asked.request(LimitSettings(), audio_texts={"audio_1": "Hi."}).messages[1]
    assert said == Message("assistant", (TextPart("Hi."),))
    with pytest.raises(BadRequest, match="send its transcript") as caught:
        asked.request(LimitSettings())
    assert (caught.value.code, caught.value.param) == ("audio_expired", "messages[1].audio.id")


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"messages": None}, "messages"),
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "user", "content": None}]}, "messages[0].content"),
        ({"temperature": -0.1}, "temperature"),
        ({"temperature": "1"}, "temperature"),
        ({"n": 0}, "n"),
        ({"n": 17}, "n"),
        ({"top_logprobs": 21, "logprobs": True}, "top_logprobs"),
        ({"stop": ["x"] * 17}, "stop"),
        ({"stream": 1}, "stream"),
        ({"tools": [{"type": "function"}]}, "tools[0].function"),
        ({"tools": [TOOL], "tool_choice": {"type": "function", "function": {"name": "g"}}}, "tool_choice"),
        ({"tool_choice": "required"}, "tool_choice"),
        ({"response_format": {"type": "yaml"}}, "response_format.type"),
        (
            {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]},
            "messages[0].content[0].image_url.url",
        ),
        (
            {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x", "detail": "ultra"}}]}]},
            "messages[0].content[0].image_url.detail",
        ),
        (
            {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x", "max_slice_nums": 0}}]}]},
            "messages[0].content[0].image_url.max_slice_nums",
        ),
        (
            {
                "messages": [
                    {"role": "user", "content": [{"type": "input_audio", "input_audio": {"data": "", "format": "mp3"}}]}
                ]
            },
            "messages[0].content[0].input_audio.data",
        ),
    ],
)  # fmt: skip
def test_a_wrong_field_is_named(fields: dict[str, Any], param: str) -> None:
    with pytest.raises(BadRequest) as caught:
        request(**fields)
    assert caught.value.param == param


def test_too_much_text_is_refused() -> None:
    with pytest.raises(TooLarge, match=r"limits\.text_mb"):
        request(messages=[{"role": "user", "content": "x" * (2**20 + 1)}])


def test_some_of_the_tools_may_be_allowed() -> None:
    tools = [{"type": "function", "function": {"name": name, "parameters": {}}} for name in "fgh"]
    some = [{"type": "function", "function": {"name": name}} for name in "fh"]
    for mode in ("auto", "required"):
        choice = {"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": some}}
        asked = request(tools=tools, tool_choice=choice)
        assert ([tool.name for tool in asked.tools], asked.tool_choice) == (["f", "h"], mode)
    with pytest.raises(BadRequest, match="allows 'x', which is not in tools"):
        request(tools=tools, tool_choice={"type": "allowed_tools", "mode": "auto", "tools": [{"name": "x"}]})
    for wrong in (
        {"mode": "none", "tools": some},
        {"mode": "auto", "tools": []},
        {"mode": "auto", "tools": [1]},
        3,
    ):
        with pytest.raises(BadRequest, match="must have a mode"):
            request(tools=tools, tool_choice={"type": "allowed_tools", "allowed_tools": wrong})


def test_banned_tokens_are_biases() -> None:
    assert request(banned_tokens=[7, 9], logit_bias={"3": 1}).sampling.logit_bias == {
        "3": 1,
        "7": -100,
        "9": -100,
    }

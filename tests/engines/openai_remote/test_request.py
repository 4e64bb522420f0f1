"""A chat request as the body an OpenAI-compatible server takes."""

from __future__ import annotations

import base64
import struct
from typing import Any

import pytest

from duologue.engines.openai_remote.request import (
    ELSEWHERE,
    chat_body,
    check,
    estimate_tokens,
    media_size,
    unapplied,
)
from duologue.engines.openai_remote.server_kinds import FIELDS, server_kind
from duologue.errors import Unsupported
from duologue.values.audio import wav_header
from duologue.values.messages import (
    AudioPart,
    ImagePart,
    Message,
    TextPart,
    Tool,
    ToolCall,
    VideoPart,
    assistant,
    system,
    user,
)
from duologue.values.requests import ChatRequest, OutputFormat, Sampling

HELLO = (user("hello"),)


def body(**fields: Any) -> dict[str, object]:
    return chat_body(ChatRequest(**{"messages": HELLO, **fields}), "m")


def test_the_least_is_the_model_the_messages_and_a_stream_with_usage() -> None:
    assert body() == {
        "model": "m",
        "messages": [{"role": "user", "content": "hello"}],
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_text_parts_are_one_text() -> None:
    message = Message("user", (TextPart("a"), TextPart("b")))
    assert body(messages=(system("s"), message, assistant("c")))["messages"] == [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "ab"},
        {"role": "assistant", "content": "c"},
    ]


def test_an_image_travels_as_a_data_url() -> None:
    message = Message("user", (TextPart("what is it?"), ImagePart(b"\x89PNG", "image/png")))
    assert body(messages=(message,))["messages"] == [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "what is it?"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}},
            ],
        }
    ]


def test_how_closely_to_look_at_a_picture_is_passed_on_where_that_was_asked() -> None:
    pictures = [ImagePart(b"\x89PNG", "image/png", detail) for detail in ("low", "high", "")]
    sent: Any = body(messages=(Message("user", tuple(pictures)),))["messages"]
    assert [part["image_url"].get("detail") for part in sent[0]["content"]] == ["low", "high", None]


def test_sound_travels_as_a_wav_file_and_video_as_it_is() -> None:
    sound = struct.pack("<2f", 0.5, -1.0)
    message = Message("user", (AudioPart(sound, 16_000), VideoPart(b"\0\0ftyp", "video/webm")))
    sent: Any = body(messages=(message,))["messages"]
    audio, video = sent[0]["content"]
    assert (audio["type"], audio["input_audio"]["format"]) == ("input_audio", "wav")
    wav = base64.b64decode(audio["input_audio"]["data"])
    assert wav == wav_header(16_000, 4) + struct.pack("<2h", 16384, -32768)
    assert video == {"type": "video_url", "video_url": {"url": "data:video/webm;base64,AABmdHlw"}}


def test_a_sample_of_a_voice_goes_only_to_a_model_that_speaks() -> None:
    sample = Message("system", (TextPart("Speak like this."), AudioPart(b"\0\0\0\0")))
    assert body(messages=(sample,))["messages"] == [{"role": "system", "content": "Speak like this."}]
    spoken: Any = body(messages=(sample,), speak_as="")["messages"]
    assert [part["type"] for part in spoken[0]["content"]] == ["text", "input_audio"]


def test_a_reply_is_spoken_in_the_voice_asked_for_or_the_one_that_the_server_must_be_told() -> None:
    spoken = ChatRequest(HELLO, speak_as="echo")
    assert chat_body(spoken, "m")["audio"] == {"format": "pcm16", "voice": "echo"}
    assert chat_body(spoken, "m")["modalities"] == ["text", "audio"]
    anything = ChatRequest(HELLO, speak_as="")
    assert chat_body(anything, "m")["audio"] == {"format": "pcm16", "voice": "alloy"}
    assert chat_body(anything, "m", voice="Cherry")["audio"] == {"format": "pcm16", "voice": "Cherry"}
    assert chat_body(anything, "m", server_kind("duologue"))["audio"] == {"format": "pcm16"}


def test_the_size_of_what_is_not_text() -> None:
    message = Message("user", (TextPart("x" * 99), ImagePart(b"123"), AudioPart(b"1234"), VideoPart(b"12")))
    assert media_size(ChatRequest((message, user("y")))) == 9


def test_texts_in_a_bias_are_refused_where_a_server_takes_token_ids_alone() -> None:
    request = ChatRequest(HELLO, sampling=Sampling(logit_bias={"15": 1.0, "*": -100.0}))
    llama = server_kind("llamacpp")
    check(request, llama)
    assert chat_body(request, "m", llama)["logit_bias"] == {"*": -100.0, "15": 1.0}
    for name in ("openai", "openrouter", ""):
        with pytest.raises(Unsupported, match=r"'\*' is a text, and this upstream takes token ids") as caught:
            check(request, server_kind(name))
        assert caught.value.param == "logit_bias"
    check(request, server_kind("vllm"))  # its tokenizer is asked, in `upstream_tokens.py`
    check(request, server_kind("ollama"))
    assert "logit_bias" not in chat_body(request, "m", server_kind("ollama")), "it knows no biases at all"
    tokens = ChatRequest(HELLO, sampling=Sampling(logit_bias={"15": 1.0}))
    check(tokens, server_kind("vllm"))
    assert chat_body(tokens, "m", server_kind("vllm"))["logit_bias"] == {"15": 1.0}


def test_a_message_is_continued_as_servers_expect_it() -> None:
    made = body(messages=(*HELLO, assistant("Well")), continue_final=True)
    assert (made["continue_final_message"], made["add_generation_prompt"]) == (True, False)
    request = ChatRequest((*HELLO, assistant("Well")), continue_final=True)
    bare, marked = (chat_body(request, "m", server_kind(name)) for name in ("llamacpp", "mistral"))
    assert bare.keys() == {"model", "messages", "stream", "stream_options"}
    assert bare["messages"][-1] == {"role": "assistant", "content": "Well"}
    assert marked["messages"][-1] == {"role": "assistant", "content": "Well", "prefix": True}
    assert "continue_final_message" not in marked


def test_calls_and_their_results_keep_their_ids_and_words() -> None:
    call = Message("assistant", reasoning="hm", tool_calls=(ToolCall("c1", "add", '{"a": 1.0}'),))
    result = Message("tool", (TextPart("3"),), tool_call_id="c1", name="add")
    assert body(messages=(call, result))["messages"] == [
        {
            "role": "assistant",
            "content": None,
            "reasoning_content": "hm",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1.0}'}}
            ],
        },
        {"role": "tool", "content": "3", "name": "add", "tool_call_id": "c1"},
    ]


def test_what_tools_show_follows_their_results_as_the_users_since_no_other_role_may_have_pictures() -> None:
    picture = ImagePart(b"\x89PNG", "image/png")
    sent = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}}
    calls = Message(
        "assistant", tool_calls=(ToolCall("c1", "look", "{}"), ToolCall("c2", "photograph", "{}"))
    )
    looked = Message("tool", (TextPart("a cat"), picture), tool_call_id="c1", name="look")
    photographed = Message("tool", (picture,), tool_call_id="c2", name="photograph")
    made = body(messages=(*HELLO, calls, looked, photographed, assistant("A cat.")))["messages"]
    assert isinstance(made, list)
    assert made[2:] == [
        {"role": "tool", "content": "a cat", "name": "look", "tool_call_id": "c1"},
        {"role": "tool", "content": ELSEWHERE, "name": "photograph", "tool_call_id": "c2"},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "What look shows:"},
                sent,
                {"type": "text", "text": "What photograph shows:"},
                sent,
            ],
        },
        {"role": "assistant", "content": "A cat."},
    ]
    unanswered = body(messages=(*HELLO, calls, looked, photographed))["messages"]
    assert unanswered == made[:-1]


def test_tools_are_offered_with_the_choice() -> None:
    tool = Tool("add", "Adds.", {"type": "object"})
    made = body(tools=(tool,), tool_choice="function:add", parallel_tool_calls=False)
    assert made["tools"] == [
        {
            "type": "function",
            "function": {"name": "add", "description": "Adds.", "parameters": {"type": "object"}},
        }
    ]
    assert made["tool_choice"] == {"type": "function", "function": {"name": "add"}}
    assert made["parallel_tool_calls"] is False
    assert "tool_choice" not in body(tools=(tool,)), "nobody asked for one"
    assert body(tools=(tool,), tool_choice="required")["tool_choice"] == "required"


@pytest.mark.parametrize("name", ["llamacpp", "lmstudio"])
def test_where_a_choice_is_a_word_the_function_named_is_the_only_one_offered(name: str) -> None:
    request = ChatRequest(HELLO, tools=(Tool("add"), Tool("sub")), tool_choice="function:sub")
    made = chat_body(request, "m", server_kind(name))
    assert [tool["function"]["name"] for tool in made["tools"]] == ["sub"]
    assert made["tool_choice"] == "required"


@pytest.mark.parametrize("name", sorted(FIELDS))
def test_a_sampling_field_that_is_asked_is_sent(name: str) -> None:
    value: Any = {"5": 1.0} if name == "logit_bias" else 2
    assert body(sampling=Sampling(**{name: value}))[FIELDS[name]] == value


def test_logprobs_are_asked_for_together_with_their_number() -> None:
    made = body(sampling=Sampling(logprobs=0))
    assert (made["logprobs"], made["top_logprobs"]) == (True, 0)


def test_what_the_dialect_has_no_name_for_is_not_sent() -> None:
    assert body(sampling=Sampling(mirostat=2, length_penalty=1.0)) == body()


def test_stops_and_formats() -> None:
    schema: dict[str, object] = {"type": "object"}
    assert body(stop=("a", "b"))["stop"] == ["a", "b"]
    assert body(format=OutputFormat("json_object"))["response_format"] == {"type": "json_object"}
    made = body(format=OutputFormat("json_schema", schema=schema))["response_format"]
    assert made == {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema}}
    strict: Any = body(format=OutputFormat("json_schema", schema=schema, strict=True))["response_format"]
    assert strict["json_schema"]["strict"] is True, "as the client sent it"
    any_object = ChatRequest(HELLO, format=OutputFormat("json_object"))
    assert chat_body(any_object, "m", server_kind("lmstudio"))["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "reply", "schema": {"type": "object"}},
    }


def test_a_grammar_goes_only_where_it_is_kept() -> None:
    request = ChatRequest(HELLO, format=OutputFormat("grammar", grammar="root ::= x"))
    for name in ("", "openai", "vllm", "ollama"):
        with pytest.raises(Unsupported) as caught:
            check(request, server_kind(name))
        assert caught.value.param == "response_format"
    for name, field in (("llamacpp", "grammar"), ("sglang", "ebnf"), ("duologue", "grammar")):
        check(request, server_kind(name))
        assert chat_body(request, "m", server_kind(name))[field] == "root ::= x"
    check(ChatRequest(HELLO, format=OutputFormat("json_object")))


def test_a_switch_that_a_service_would_refuse_is_left_out_and_told() -> None:
    request = ChatRequest(HELLO, thinking=False, template_variables={"x": 1})
    strict = server_kind("openai")
    assert chat_body(request, "m", strict).keys() == {"model", "messages", "stream", "stream_options"}
    assert unapplied(request, strict) == ("enable_thinking", "chat_template_kwargs")
    assert unapplied(request, server_kind("vllm")) == ()
    ollama = chat_body(ChatRequest(HELLO, thinking=False), "m", server_kind("ollama"))
    assert (ollama["reasoning_effort"], "chat_template_kwargs" in ollama) == ("none", False)


def test_names_and_fields_are_those_of_the_service() -> None:
    request = ChatRequest(HELLO, sampling=Sampling(max_tokens=9, seed=4, top_k=5, temperature=0.0))
    openai, mistral = (chat_body(request, "m", server_kind(name)) for name in ("openai", "mistral"))
    assert openai["max_completion_tokens"] == 9
    assert {"max_tokens", "top_k"}.isdisjoint(openai)
    assert mistral["random_seed"] == 4
    assert {"seed", "stream_options", "top_k"}.isdisjoint(mistral)


def test_template_variables_are_sent_only_when_there_are_some() -> None:
    assert body(thinking=False)["chat_template_kwargs"] == {"enable_thinking": False}
    assert body(template_variables={"x": 1}, thinking=True)["chat_template_kwargs"] == {
        "x": 1,
        "enable_thinking": True,
    }


def test_how_long_to_think_is_said_unless_nothing_is_to_be_thought() -> None:
    assert body(effort="low")["reasoning_effort"] == "low"
    assert body(effort="high", thinking=True)["reasoning_effort"] == "high"
    assert "reasoning_effort" not in body(effort="low", thinking=False)
    assert "reasoning_effort" not in body(thinking=True)


def test_the_estimate_grows_with_the_text() -> None:
    assert estimate_tokens(ChatRequest((user("x" * 400),))) == 104
    assert estimate_tokens(ChatRequest((user(""),))) > 0


def test_thoughts_go_back_under_the_name_that_a_server_reads() -> None:
    history = (*HELLO, Message("assistant", (TextPart("Hi"),), reasoning="hm"), user("and?"))
    for name, field in (("vllm", "reasoning_content"), ("ollama", "reasoning")):
        sent = chat_body(ChatRequest(history), "m", server_kind(name))["messages"][1]
        assert sent[field] == "hm"
        assert len({"reasoning", "reasoning_content"} & sent.keys()) == 1


def test_sound_goes_to_sglang_as_an_address() -> None:
    heard = ChatRequest((Message("user", (AudioPart(b"\0\0\0\0"),)),))
    part = chat_body(heard, "m", server_kind("sglang"))["messages"][0]["content"][0]
    assert part["type"] == "audio_url"
    assert part["audio_url"]["url"].startswith("data:audio/wav;base64,UklGR")
    assert chat_body(heard, "m")["messages"][0]["content"][0]["type"] == "input_audio"


def test_groq_refuses_names_of_messages_so_they_stay_here() -> None:
    result = Message("tool", (TextPart("4"),), name="add", tool_call_id="c1")
    assert "name" not in chat_body(ChatRequest((*HELLO, result)), "m", server_kind("groq"))["messages"][1]
    assert chat_body(ChatRequest((*HELLO, result)), "m")["messages"][1]["name"] == "add"


def test_a_schema_is_refused_where_a_server_takes_any_object_alone() -> None:
    deepseek = server_kind("deepseek")
    with pytest.raises(Unsupported, match="no schema"):
        check(ChatRequest(HELLO, format=OutputFormat("json_schema", {"type": "object"})), deepseek)
    check(ChatRequest(HELLO, format=OutputFormat("json_object")), deepseek)


def test_a_strict_tool_is_passed_on_as_such() -> None:
    tools = (Tool("add", strict=True), Tool("clock"))
    sent = chat_body(ChatRequest(HELLO, tools=tools), "m")["tools"]
    assert [tool["function"].get("strict") for tool in sent] == [True, None]


def test_tools_are_offered_to_a_vllm_without_a_parser_by_forbidding_calls() -> None:
    asked = ChatRequest(HELLO, tools=(Tool("add"),))
    assert chat_body(asked, "m", server_kind("vllm"), reads_calls=True)["tool_choice"] == "none"
    assert "tool_choice" not in chat_body(asked, "m", server_kind("vllm"))
    assert "tool_choice" not in chat_body(asked, "m", server_kind("sglang"), reads_calls=True)


def test_logprobs_beside_tools_come_from_llama_server_in_one_piece() -> None:
    asked = ChatRequest(HELLO, tools=(Tool("add"),), sampling=Sampling(logprobs=1))
    sent = chat_body(asked, "m", server_kind("llamacpp"))
    assert (sent["stream"], "stream_options" in sent) == (False, False)
    assert chat_body(asked, "m", server_kind("vllm"))["stream"]
    assert chat_body(ChatRequest(HELLO, tools=(Tool("add"),)), "m", server_kind("llamacpp"))["stream"]

"""The bundled model behind every door: shapes and properties of its replies, for its words are its own."""

import json
import os
import re
import signal
from pathlib import Path

import httpx
import openai
import pytest
from websockets.sync.client import connect

pytestmark = pytest.mark.system

HELLO = [{"role": "user", "content": "Hello! Who are you?"}]
CLOCK = {
    "type": "function",
    "function": {
        "name": "get_time",
        "description": "Tells the current time.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
}


@pytest.fixture
def client(bundled):
    with openai.OpenAI(base_url=f"{bundled.url}/v1", api_key="unused") as client:
        yield client


@pytest.fixture
def socket(bundled):
    with connect(f"ws://127.0.0.1:{bundled.port}/ws/chat") as socket:
        yield socket


def say(socket, **request) -> list[dict]:
    """Send one request and hear it out."""
    socket.send(json.dumps(request))
    heard: list[dict] = []
    while not heard or heard[-1]["type"] not in ("done", "error"):
        heard.append(json.loads(socket.recv(timeout=60)))
    return heard


def ask(client, text: str, **more):
    more = {"temperature": 0, "max_tokens": 60} | more
    return client.chat.completions.create(
        model="", messages=[{"role": "user", "content": text}], **more
    ).choices[0]


def test_the_bundled_model_is_the_default_and_tells_its_size(bundled, client):
    [model] = client.models.list().data
    assert model.id == "duologue-mini"
    card = httpx.get(f"{bundled.url}/api/capabilities").json()["models"][0]
    assert card["bundled"] is True
    assert card["context"] == 4096
    assert card["parameters"] > 1_000_000


@pytest.mark.parametrize("text", ["Hello", "Who are you?", "What is 2 + 3?", "Goodbye!"])
def test_it_answers_and_ends_its_turn(client, text):
    choice = ask(client, text, max_tokens=200)
    assert choice.finish_reason == "stop"
    assert choice.message.content.strip()
    assert "<|im_" not in choice.message.content
    assert "<think>" not in choice.message.content


def test_streamed_and_whole_are_the_same_text(client):
    whole = ask(client, "Who are you?").message.content
    stream = client.chat.completions.create(
        model="duologue-mini",
        messages=[{"role": "user", "content": "Who are you?"}],
        temperature=0,
        max_tokens=60,
        stream=True,
        stream_options={"include_usage": True},
    )
    chunks = list(stream)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == whole
    assert chunks[-1].usage.completion_tokens > 1


def test_thinking_comes_apart_from_the_answer_when_it_is_asked_for(socket):
    messages = [{"role": "user", "content": "What is 2 + 3?"}]
    thinking = say(socket, messages=messages, enable_thinking=True, generation={"temperature": 0})[-1]
    plain = say(socket, messages=messages, enable_thinking=False, generation={"temperature": 0})[-1]
    assert thinking["type"] == plain["type"] == "done"
    assert thinking["reasoning"]
    assert not plain["reasoning"]
    assert "think>" not in thinking["text"] + plain["text"]


def test_the_same_seed_says_the_same_and_other_seeds_say_other_things(client):
    said = [
        ask(client, "Tell me a short story", temperature=1.5, seed=seed).message.content
        for seed in (1, 1, 2, 3, 4)
    ]
    assert said[0] == said[1]
    assert len(set(said)) > 1


def test_the_token_limit_and_stop_strings_are_kept(client):
    assert ask(client, "Tell me a short story", max_tokens=3).finish_reason == "length"
    whole = ask(client, "Who are you?").message.content
    word = whole.split()[2]
    cut = ask(client, "Who are you?", stop=[word])
    assert cut.finish_reason == "stop"
    assert cut.message.content == whole[: whole.index(word)]


def test_logprobs_are_those_of_the_visible_text(client):
    choice = ask(client, "Hello", logprobs=True, top_logprobs=2, max_tokens=5)
    entries = choice.logprobs.content
    assert b"".join(bytes(entry.bytes) for entry in entries).decode() == choice.message.content
    assert all(entry.logprob <= 0 and len(entry.top_logprobs) == 2 for entry in entries)


def test_choices_have_seeds_of_their_own_and_one_usage(client):
    answer = client.chat.completions.create(
        model="",
        messages=[{"role": "user", "content": "Tell me a story about a fox."}],
        n=6,
        seed=7,
        temperature=1.5,
        max_tokens=20,
    )
    assert [choice.index for choice in answer.choices] == list(range(6))
    assert len({choice.message.content for choice in answer.choices}) > 1
    assert answer.usage.completion_tokens > 6


def test_json_mode_gives_json(client):
    choice = ask(
        client, "Hello", response_format={"type": "json_object"}, max_tokens=80, temperature=0.8, seed=3
    )
    if choice.finish_reason == "stop":
        assert isinstance(json.loads(choice.message.content), dict)
    else:
        assert choice.message.content.lstrip().startswith("{")


ORDER = {
    "type": "function",
    "function": {
        "name": "order_tea",
        "parameters": {
            "type": "object",
            "properties": {
                "kind": {"enum": ["green", "black"]},
                "cups": {"type": "integer"},
                "iced": {"type": "boolean"},
            },
            "required": ["kind", "cups"],
        },
    },
}


def test_a_schema_is_followed_to_its_end(client):
    schema = {"type": "object", "properties": {"rain": {"enum": ["yes", "no"]}}, "required": ["rain"]}
    wanted = {
        "type": "json_schema",
        "json_schema": {"name": "weather", "schema": schema | {"additionalProperties": False}},
    }
    choice = ask(client, "Will it rain?", response_format=wanted, max_tokens=60, temperature=0)
    assert choice.finish_reason == "stop"
    assert json.loads(choice.message.content)["rain"] in ("yes", "no")


def test_a_schema_goes_together_with_thinking_and_tools(client):
    schema = {"type": "object", "properties": {"rain": {"enum": ["yes", "no"]}}, "required": ["rain"]}
    wanted = {"type": "json_schema", "json_schema": {"name": "weather", "schema": schema}}
    thinking = {"chat_template_kwargs": {"enable_thinking": True}}
    for seed in range(3):
        message = ask(
            client,
            "Will it rain?",
            response_format=wanted,
            tools=[ORDER],
            extra_body=thinking,
            max_tokens=400,
            seed=seed,
        ).message
        if message.tool_calls:
            assert message.tool_calls[0].function.name == "order_tea"
        else:
            assert json.loads(message.content)["rain"] in ("yes", "no")


def test_a_wrong_schema_is_refused_not_ignored(client):
    schema = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "no such type"}}}
    with pytest.raises(openai.BadRequestError, match=r"response_format|schema"):
        ask(client, "Hello", response_format=schema)


def test_tools_reach_the_model_and_calls_come_back_well_formed(client):
    choice = ask(client, "What time is it?", tools=[CLOCK], max_tokens=120)
    for call in choice.message.tool_calls or []:
        assert call.id.startswith("call_")
        assert isinstance(json.loads(call.function.arguments), dict)
    assert (choice.finish_reason == "tool_calls") == bool(choice.message.tool_calls)


@pytest.mark.parametrize("choice", ["required", {"type": "function", "function": {"name": "order_tea"}}])
def test_a_call_can_be_forced_and_has_the_shape_of_its_tool(client, choice):
    for seed in range(3):
        answer = ask(
            client, "Two cups of tea, please", tools=[ORDER], tool_choice=choice, temperature=0.8, seed=seed
        )
        [call, *_] = answer.message.tool_calls
        arguments = json.loads(call.function.arguments)
        assert (call.function.name, answer.message.content) == ("order_tea", None)
        assert arguments["kind"] in ("green", "black")
        assert isinstance(arguments["cups"], int)
        assert set(arguments) <= {"kind", "cups", "iced"}


def test_the_second_turn_reuses_the_first_ones_cache(socket):
    system = {"role": "system", "content": "You are a helpful assistant. " * 30}
    first = say(socket, messages=[system, *HELLO], generation={"temperature": 0, "max_new_tokens": 20})
    history = [*HELLO, {"role": "assistant", "content": first[-1]["text"]}]
    second = say(socket, messages=[system, *history, {"role": "user", "content": "And what can you do?"}])
    prefill = next(message for message in second if message["type"] == "prefill_done")
    assert prefill["cached_tokens"] > 0.8 * first[-1]["input_tokens"]


def test_input_tokens_agree_and_what_cannot_be_applied_is_listed(socket):
    heard = say(socket, messages=HELLO, generation={"length_penalty": 1.1, "max_new_tokens": 5}, colour="red")
    prefill = next(message for message in heard if message["type"] == "prefill_done")
    assert prefill["input_tokens"] == heard[-1]["input_tokens"] > 0
    assert set(prefill["ignored"]) == {"generation.length_penalty", "colour"}
    assert heard[-1]["generated_tokens"] == 5


def test_not_streaming_comes_in_one_piece(socket):
    heard = say(socket, messages=HELLO, streaming=False, generation={"max_new_tokens": 8})
    assert [message["type"] for message in heard] == ["prefill_done", "done"]
    assert heard[-1]["text"]


def test_a_cancel_ends_it_with_what_was_said(socket):
    socket.send(json.dumps({"messages": HELLO, "generation": {"ignore_eos": True}, "id": "a"}))
    said = ""
    while True:
        message = json.loads(socket.recv(timeout=30))
        said += message.get("text_delta", "")
        if message["type"] == "chunk" and len(said) > 10:
            break
    socket.send(json.dumps({"type": "cancel"}))
    while message["type"] != "done":
        message = json.loads(socket.recv(timeout=30))
        said += message.get("text_delta", "")
    assert (message["finish_reason"], message["id"]) == ("cancelled", "a")
    assert message["text"] == said


def test_a_conversation_that_does_not_fit_is_refused_with_both_numbers(client):
    with pytest.raises(openai.BadRequestError) as refusal:
        ask(client, "word " * 5000)
    assert refusal.value.code == "context_length_exceeded"
    assert "4096" in str(refusal.value).replace(",", "")


def test_a_picture_is_refused_by_name(client):
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    with pytest.raises(openai.BadRequestError) as refusal:
        client.chat.completions.create(model="", messages=[{"role": "user", "content": [picture]}])
    assert refusal.value.param == "messages[0].content[0]"


def test_a_vanished_client_stops_the_model(bundled):
    body = {"stream": True, "ignore_eos": True, "messages": HELLO}
    with httpx.stream("POST", f"{bundled.url}/v1/chat/completions", json=body, timeout=30) as response:
        lines = response.iter_lines()
        while "content" not in next(lines):
            pass
        assert bundled.status()["slots_busy"] >= 1
    bundled.until(lambda: bundled.status()["slots_busy"] == 0)


def test_the_model_answers_again_after_its_worker_was_killed(bundled, client):
    before = bundled.status()["restarts"]
    os.kill(bundled.worker()["process"], signal.SIGKILL)
    bundled.until(lambda: bundled.status()["restarts"] == before + 1)
    assert ask(client, "Hello").message.content


EXAMPLES = {
    "Hello! Who are you?": r"duologue-mini",
    "What is 6 times 7?": r"\b42\b",
    "Which is larger, 12 or 21?": r"^21 is larger",
    # A riddle with its answer, or a play on words in one sentence.
    "Tell me a joke": r"^(?!.*(sorry|cannot|can't|do not know|don't know)).{20,}[.!]$",
}
"""What the first screen offers, and what every answer must contain."""


def test_the_examples_of_the_first_screen_are_answered_rightly_ten_times_of_ten(bundled):
    words = (Path(__file__).parents[2] / "web/src/language/en/chat/welcome.ts").read_text()
    (listed,) = re.findall(r"bundledExamples: (\[.*\])", words)
    assert json.loads(listed) == list(EXAMPLES)
    for question, expected in EXAMPLES.items():
        for seed in range(10):
            body = {"messages": [{"role": "user", "content": question}], "max_tokens": 100, "seed": seed}
            answer = httpx.post(f"{bundled.url}/v1/chat/completions", json=body, timeout=60).json()
            text = answer["choices"][0]["message"]["content"].strip()
            assert re.search(expected, text, re.DOTALL), (question, text)

"""Completions of a text, by the official client and by llama-server's own shape, on the bundled model behind a real server."""

import json
import math
from typing import Any

import anyio
import httpx
import openai
import pytest
from tests.support.tiny_model import TinyModel, write_tiny_model

pytestmark = pytest.mark.system

MODEL = "duologue-mini"
PROMPT = "<|im_start|>user\nHello! Who are you?<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"


@pytest.fixture
def client(bundled):
    with openai.OpenAI(base_url=f"{bundled.url}/v1", api_key="unused", max_retries=0) as client:
        yield client


def complete(client, prompt=PROMPT, **more):
    return client.completions.create(
        model=MODEL, prompt=prompt, **({"temperature": 0, "max_tokens": 12} | more)
    )


def test_a_text_is_continued(client):
    answer = complete(client)
    [choice] = answer.choices
    assert answer.object == "text_completion"
    assert answer.id.startswith("cmpl-")
    assert choice.text.strip()
    assert choice.finish_reason == "length"
    assert answer.usage.completion_tokens == 12
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + 12


def test_the_text_goes_on_where_the_chat_template_would_have_gone_on(client):
    chat = client.chat.completions.create(
        model=MODEL,
        messages=[{"role": "user", "content": "Hello! Who are you?"}],
        temperature=0,
        max_tokens=200,
    )
    answer = complete(client, max_tokens=200)
    assert answer.usage.prompt_tokens == chat.usage.prompt_tokens
    assert answer.choices[0].text == chat.choices[0].message.content
    assert answer.choices[0].finish_reason == "stop"


def test_streamed_and_whole_are_the_same_text(client):
    whole = complete(client).choices[0].text
    chunks = list(complete(client, stream=True, stream_options={"include_usage": True}))
    *texts, last = chunks
    assert {chunk.object for chunk in chunks} == {"text_completion"}
    assert "".join(chunk.choices[0].text for chunk in texts) == whole
    assert [chunk.choices[0].finish_reason for chunk in texts][-2:] == [None, "length"]
    assert last.choices == []
    assert last.usage.completion_tokens == 12
    assert last.usage.prompt_tokens_details.cached_tokens > 0


def test_the_async_client_streams_too(bundled):
    async def talk() -> list[str]:
        async with openai.AsyncOpenAI(base_url=f"{bundled.url}/v1", api_key="unused") as client:
            stream = await client.completions.create(
                model=MODEL, prompt=PROMPT, max_tokens=5, temperature=0, stream=True
            )
            return [chunk.choices[0].text async for chunk in stream]

    assert "".join(anyio.run(talk)).strip()


def test_several_prompts_and_several_completions_of_each(client):
    answer = complete(client, [PROMPT, "One, two, three,"], n=2, seed=1, temperature=1, echo=True)
    assert [choice.index for choice in answer.choices] == [0, 1, 2, 3]
    begins = [PROMPT, PROMPT, "One, two, three,", "One, two, three,"]
    assert all(choice.text.startswith(begin) for choice, begin in zip(answer.choices, begins, strict=True))
    assert answer.usage.completion_tokens <= 4 * 12


def test_token_ids_are_a_prompt_as_well(bundled, client):
    text = complete(client, "a", logprobs=1, max_tokens=3)
    tokens = complete(client, [[5, 6, 7], [5, 6, 7]], max_tokens=3)
    assert text.usage.prompt_tokens >= 1
    assert tokens.usage.prompt_tokens == 6
    assert tokens.choices[0].text == tokens.choices[1].text
    with pytest.raises(openai.BadRequestError) as refusal:
        complete(client, [5, 10_000_000])
    assert refusal.value.param == "prompt"


def test_logprobs_have_the_older_shape(client):
    [choice] = complete(client, logprobs=3).choices
    found = choice.logprobs
    assert "".join(found.tokens) == choice.text
    assert len(found.tokens) == len(found.token_logprobs) == len(found.top_logprobs) == len(found.text_offset)
    assert all(value <= 0 for value in found.token_logprobs)
    for token, value, top, at in zip(
        found.tokens, found.token_logprobs, found.top_logprobs, found.text_offset, strict=True
    ):
        assert math.isclose(top[token], value)
        assert 3 <= len(top) <= 4
        assert choice.text[at:].startswith(token)


def test_the_likeliest_of_several_is_sent(client):
    answer = complete(client, best_of=4, seed=3, temperature=1)
    assert len(answer.choices) == 1
    assert answer.choices[0].logprobs is None
    assert answer.usage.completion_tokens > 12


def test_a_stop_and_a_format_are_kept(bundled, client):
    whole = complete(client).choices[0].text
    stop = whole.split()[2]
    [stopped] = complete(client, stop=[stop]).choices
    assert stopped.text == whole.partition(stop)[0]
    assert stopped.finish_reason == "stop"
    assert stopped.stop_str == stop
    chosen = complete(client, "Yes or no? ", extra_body={"guided_choice": ["yes", "no"]})
    assert chosen.choices[0].text in ("yes", "no")
    schema = {"type": "object", "properties": {"a": {"type": "boolean"}}, "required": ["a"]}
    made = complete(client, "JSON: ", max_tokens=100, extra_body={"json_schema": schema})
    assert json.loads(made.choices[0].text)["a"] in (True, False)


def test_what_this_model_cannot_do_is_refused_by_name(client):
    cases: dict[str, dict[str, Any]] = {
        "suffix": {"suffix": "the end"},
        "echo": {"echo": True, "logprobs": 1},
        "n": {"n": 17},
        "best_of": {"best_of": 2, "stream": True},
        "min_tokens": {"extra_body": {"min_tokens": 5}},
    }
    for field, more in cases.items():
        with pytest.raises(openai.BadRequestError) as refusal:
            complete(client, **more)
        assert refusal.value.param == field


def test_the_second_prompt_finds_the_first_in_the_cache(client):
    long = "Once upon a time there was a small server in a large house. " * 30
    first = complete(client, long, max_tokens=1)
    second = complete(client, long + "It", max_tokens=1)
    assert second.usage.prompt_tokens_details.cached_tokens > first.usage.prompt_tokens * 0.9


def test_a_client_that_leaves_frees_the_slot(bundled, client):
    stream = complete(client, max_tokens=-1, stream=True, extra_body={"ignore_eos": True})
    next(iter(stream))
    assert bundled.status()["slots_busy"] == 1
    stream.close()
    bundled.until(lambda: bundled.status()["slots_busy"] == 0)


def test_another_server_continues_the_text_by_its_own_endpoint(serve, bundled, client):
    front = serve("--upstream", bundled.url).ready()
    here = complete(client, logprobs=1)
    with openai.OpenAI(base_url=f"{front.url}/v1", api_key="unused", max_retries=0) as far:
        there = complete(far, logprobs=1)
        assert there.choices[0].text == here.choices[0].text
        assert there.choices[0].logprobs.tokens == here.choices[0].logprobs.tokens
        assert there.usage.prompt_tokens == here.usage.prompt_tokens
        assert "".join(chunk.choices[0].text for chunk in complete(far, stream=True)) == here.choices[0].text
        with pytest.raises(openai.BadRequestError) as refusal:
            complete(far, suffix="the end")
        assert "suffix" in str(refusal.value)
        stream = complete(far, max_tokens=-1, stream=True, extra_body={"ignore_eos": True})
        next(iter(stream))
        stream.close()
        bundled.until(lambda: bundled.status()["slots_busy"] == 0)


def test_llama_servers_own_shape(bundled, client):
    here = complete(client).choices[0].text
    body = {
        "prompt": PROMPT,
        "n_predict": 12,
        "temperature": 0,
        "n_probs": 2,
        "cache_prompt": True,
        "id_slot": 0,
    }
    answer = httpx.post(f"{bundled.url}/completion", json=body, timeout=60).json()
    assert answer["content"] == here
    assert (answer["stop"], answer["stop_type"], answer["tokens_predicted"]) == (True, "limit", 12)
    assert len(answer["completion_probabilities"][0]["top_logprobs"]) == 2
    assert answer["timings"]["predicted_per_second"] > 0
    assert answer["ignored"] == ["id_slot"]
    with httpx.stream(
        "POST", f"{bundled.url}/completion", json=body | {"stream": True}, timeout=60
    ) as response:
        events = [json.loads(line.removeprefix("data: ")) for line in response.iter_lines() if line]
    assert "".join(event["content"] for event in events) == here
    assert [event["stop"] for event in events] == [False] * (len(events) - 1) + [True]


def test_a_gap_is_filled_by_a_model_whose_vocabulary_can(serve, tmp_path, bundled):
    """A tiny random model: what it writes is noise, where it writes is not."""
    markers = ("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>")
    model = write_tiny_model(tmp_path / "coder.gguf", TinyModel(more_control=markers))
    server = serve("--model", str(model)).ready()
    assert "infill" in httpx.get(f"{server.url}/v1/models").json()["data"][0]["capabilities"]
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="unused", max_retries=0) as client:
        answer = client.completions.create(
            model="", prompt="def f(", suffix="): pass", max_tokens=4, temperature=0
        )
        assert answer.usage.prompt_tokens == 3 + len("def f(): pass")
        written_out = client.completions.create(
            model="",
            prompt="<|fim_prefix|>def f(<|fim_suffix|>): pass<|fim_middle|>",
            max_tokens=4,
            temperature=0,
        )
        assert written_out.usage.prompt_tokens == answer.usage.prompt_tokens
        assert written_out.choices[0].text == answer.choices[0].text
    body = {"input_prefix": "def f(", "input_suffix": "): pass", "n_predict": 4, "temperature": 0}
    filled = httpx.post(f"{server.url}/infill", json=body, timeout=60).json()
    assert filled["content"] == answer.choices[0].text
    # What a plugin of an editor sends while somebody types.
    body |= {
        "input_extra": [{"filename": "x.py", "text": "x = 1"}],
        "prompt": "    ",
        "samplers": ["top_k", "top_p", "infill"],
        "stop": [],
        "stream": False,
        "t_max_predict_ms": 500,
        "response_fields": ["content", "timings/predicted_n"],
    }
    assert httpx.post(f"{server.url}/infill", json=body, timeout=60).json().keys() == {
        "content",
        "timings/predicted_n",
    }
    warm = body | {"n_predict": 0, "samplers": []}
    assert httpx.post(f"{server.url}/infill", json=warm, timeout=60).json()["content"] == ""
    refused = httpx.post(f"{bundled.url}/infill", json=body, timeout=60)
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, "input_suffix")

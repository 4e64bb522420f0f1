"""The OpenAI endpoints, with the official client over real sockets and with plain HTTP."""

import base64
import gzip
import json
import logging
from collections.abc import AsyncIterator, Callable, MutableMapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Any

import anyio
import httpx
import openai
import pytest
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from openai import AsyncOpenAI, OpenAI
from pydantic import BaseModel
from tests.gateway.fake_voice_worker import WORD, Seats
from tests.support.sample_files import drawing, encoded

from duologue.config.settings import LimitSettings
from duologue.errors import Problem
from duologue.gateway.dialects.chat_completions import router
from duologue.gateway.media.fitted_generate import FittedGenerate
from duologue.gateway.media.fitter import FittedRequest, MediaFitter
from duologue.gateway.media.references import MediaReferences
from duologue.gateway.models.registry import ModelRegistry
from duologue.gateway.speech.service import SpeechService
from duologue.http.error_responses import problem_body, problem_status
from duologue.media import wav
from duologue.media.encoder import encode_file
from duologue.values.events import (
    Done,
    Failed,
    Prefilled,
    Queued,
    ReasoningDelta,
    Started,
    TextDelta,
    TokenLogprob,
    ToolCallDelta,
    Usage,
)
from duologue.values.messages import ImagePart, Part
from duologue.values.requests import ModelCard, OutputFormat

pytestmark = pytest.mark.anyio

VERBS = ("tools", "tool_choice", "format", "logprobs", "continue")
MINI = ModelCard("mini", "scripted", 2048, verbs=VERBS)
PLAIN = ModelCard("plain", "scripted", 1024)
SEES = ModelCard("seer", "scripted", 4096, modalities=("text", "image"))
HELLO: list[Any] = [{"role": "user", "content": "Hello"}]
PATH = "/v1/chat/completions"
USAGE = Usage(input=7, output=3, cached=2, reasoning=1)


def application(script: Any, fitter: MediaFitter | None = None, **options: Any) -> FastAPI:
    app = FastAPI()
    models = ModelRegistry(lambda: (MINI, PLAIN, SEES), {"gpt-4o": "mini"})
    fitter = fitter or MediaFitter(options.get("speech") or SpeechService(None))
    generate = FittedGenerate(script, models.resolve, fitter)
    app.include_router(router(generate, models, clock=lambda: 1700000000.5, **options))

    async def answer(request: Request, problem: Exception) -> JSONResponse:
        return JSONResponse(problem_body(problem, request.url.path), problem_status(problem))

    app.add_exception_handler(Problem, answer)
    return app


Connect = Callable[..., AbstractAsyncContextManager[AsyncOpenAI]]


@pytest.fixture
def connect(script: Any, serve: Any) -> Connect:
    """The official client, connected to a real server."""

    @asynccontextmanager
    async def connected(**options: Any) -> AsyncIterator[AsyncOpenAI]:
        async with serve(application(script, **options)) as address:
            url = f"http://{address}/v1"
            async with AsyncOpenAI(base_url=url, api_key="any", max_retries=0, timeout=60) as client:
                yield client

    return connected


@asynccontextmanager
async def plain_http(script: Any, **options: Any) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(application(script, **options))
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        yield client


# The official client


async def test_a_whole_reply(script: Any, connect: Connect) -> None:
    script.plays(Started("mini"), Prefilled(7, 2), TextDelta("Hel"), TextDelta("lo"), Done("stop", USAGE))
    async with connect() as client:
        reply = await client.chat.completions.create(model="mini", messages=HELLO)
    assert reply.id.startswith("chatcmpl-")
    assert (reply.object, reply.model, reply.created) == ("chat.completion", "mini", 1700000000)
    assert (reply.choices[0].message.role, reply.choices[0].message.content) == ("assistant", "Hello")
    assert reply.choices[0].finish_reason == "stop"
    assert reply.usage is not None
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens, reply.usage.total_tokens) == (7, 3, 10)
    assert reply.usage.prompt_tokens_details is not None
    assert reply.usage.prompt_tokens_details.cached_tokens == 2
    assert reply.usage.completion_tokens_details is not None
    assert reply.usage.completion_tokens_details.reasoning_tokens == 1
    assert script.running == 0


async def test_a_streamed_reply(script: Any, connect: Connect) -> None:
    script.plays(Prefilled(7), TextDelta("Hel"), TextDelta("lo"), Done("length", USAGE))
    async with connect() as client:
        stream = await client.chat.completions.create(
            model="mini", messages=HELLO, stream=True, stream_options={"include_usage": True}
        )
        chunks = [chunk async for chunk in stream]
    *content, last = chunks
    assert [chunk.choices[0].delta.role for chunk in content] == ["assistant", None, None, None]
    assert "".join(chunk.choices[0].delta.content or "" for chunk in content) == "Hello"
    assert content[-1].choices[0].finish_reason == "length"
    assert last.choices == []
    assert last.usage is not None
    assert last.usage.total_tokens == 10
    assert len({chunk.id for chunk in chunks}) == 1


async def test_without_asking_a_stream_has_no_usage(script: Any, connect: Connect) -> None:
    script.plays(TextDelta("Hi"), Done("stop", USAGE))
    async with connect() as client:
        stream = await client.chat.completions.create(model="mini", messages=HELLO, stream=True)
        chunks = [chunk async for chunk in stream]
    assert [chunk.usage for chunk in chunks] == [None] * 3


async def test_the_synchronous_client_in_a_thread_of_its_own(script: Any, serve: Any) -> None:
    script.plays(TextDelta("Hello"), Done("stop"))

    def talk(address: str) -> tuple[str | None, str]:
        with OpenAI(base_url=f"http://{address}/v1", api_key="any", max_retries=0, timeout=60) as client:
            whole = client.chat.completions.create(model="mini", messages=HELLO)
            stream = client.chat.completions.create(model="mini", messages=HELLO, stream=True)
            streamed = "".join(chunk.choices[0].delta.content or "" for chunk in stream)
            return whole.choices[0].message.content, streamed

    async with serve(application(script)) as address:
        assert await anyio.to_thread.run_sync(talk, address) == ("Hello", "Hello")


async def test_the_stream_helper_gathers_text_and_calls(script: Any, connect: Connect) -> None:
    script.plays(
        Prefilled(7),
        TextDelta("Let me see."),
        ToolCallDelta(0, "", "call_1", "weather"),
        ToolCallDelta(0, '{"city": '),
        ToolCallDelta(0, '"Rome"}'),
        ToolCallDelta(1, "{}", "call_2", "time"),
        Done("tool_calls", USAGE),
    )
    tool: Any = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}
    async with (
        connect() as client,
        client.chat.completions.stream(model="mini", messages=HELLO, tools=[tool]) as stream,
    ):
        kinds = [event.type async for event in stream]
        reply = await stream.get_final_completion()
    assert "content.delta" in kinds
    assert kinds.count("tool_calls.function.arguments.done") == 2
    message = reply.choices[0].message
    assert message.content == "Let me see."
    assert message.tool_calls is not None
    calls = [(call.id, call.function.name, call.function.arguments) for call in message.tool_calls]
    assert calls == [("call_1", "weather", '{"city": "Rome"}'), ("call_2", "time", "{}")]
    assert script.requests[0].tools[0].name == "weather"


async def test_calls_in_a_whole_reply(script: Any, connect: Connect) -> None:
    script.plays(ToolCallDelta(0, "{}", "call_1", "time"), Done("tool_calls", USAGE))
    async with connect() as client:
        reply = await client.chat.completions.create(
            model="mini",
            messages=HELLO,
            tools=[{"type": "function", "function": {"name": "time"}}],
            tool_choice={"type": "function", "function": {"name": "time"}},
        )
    choice = reply.choices[0]
    assert (choice.finish_reason, choice.message.content) == ("tool_calls", None)
    assert choice.message.tool_calls is not None
    assert choice.message.tool_calls[0].type == "function"
    assert choice.message.tool_calls[0].function.name == "time"
    assert script.requests[0].tool_choice == "function:time"


async def test_structured_output_is_parsed(script: Any, connect: Connect) -> None:
    class Sum(BaseModel):
        total: int

    script.plays(TextDelta('{"total": 5}'), Done("stop"))
    async with connect() as client:
        reply = await client.chat.completions.parse(model="mini", messages=HELLO, response_format=Sum)
    assert reply.choices[0].message.parsed == Sum(total=5)
    constraint = script.requests[0].format
    assert isinstance(constraint, OutputFormat)
    assert constraint.schema is not None
    assert constraint.schema["title"] == "Sum"


async def test_reasoning_is_beside_the_content(script: Any, connect: Connect) -> None:
    script.plays(Prefilled(7), ReasoningDelta("h"), ReasoningDelta("m"), TextDelta("5"), Done("stop"))
    async with connect() as client:
        whole = await client.chat.completions.create(
            model="mini", messages=HELLO, reasoning_effort="none", extra_body={"top_k": 3}
        )
        stream = await client.chat.completions.create(model="mini", messages=HELLO, stream=True)
        deltas = [chunk.choices[0].delta async for chunk in stream]
    message: Any = whole.choices[0].message
    assert (message.content, message.reasoning_content, message.reasoning) == ("5", "hm", "hm")
    assert "".join(getattr(delta, "reasoning_content", None) or "" for delta in deltas) == "hm"
    assert "".join(delta.content or "" for delta in deltas) == "5"
    assert (script.requests[0].thinking, script.requests[0].sampling.top_k) == (False, 3)


async def test_two_choices_interleave_and_share_one_usage(script: Any, connect: Connect) -> None:
    script.plays(
        [(0, Prefilled(7)), (1, Prefilled(7))],
        [(0, TextDelta("a")), (1, TextDelta("x"))],
        [(1, TextDelta("y")), (1, Done("stop", USAGE))],
        [(0, TextDelta("b")), (0, Done("length", USAGE))],
    )
    async with connect() as client:
        whole = await client.chat.completions.create(model="mini", messages=HELLO, n=2)
        stream = await client.chat.completions.create(
            model="mini", messages=HELLO, n=2, stream=True, stream_options={"include_usage": True}
        )
        chunks = [chunk async for chunk in stream]
    said = [(choice.index, choice.message.content, choice.finish_reason) for choice in whole.choices]
    assert said == [(0, "ab", "length"), (1, "xy", "stop")]
    texts = ["", ""]
    for chunk in chunks:
        for choice in chunk.choices:
            texts[choice.index] += choice.delta.content or ""
    assert texts == ["ab", "xy"]
    counts = [chunk.usage for chunk in chunks if chunk.usage is not None]
    assert [(usage.prompt_tokens, usage.completion_tokens) for usage in counts] == [(7, 6)]
    assert whole.usage is not None
    assert whole.usage.completion_tokens == 6
    assert script.asked[0]["count"] == 2


async def test_logprobs_have_their_bytes(script: Any, connect: Connect) -> None:
    token = TokenLogprob("Hi", -0.25, b"Hi", (TokenLogprob("Ho", -2.0, b"Ho"),))
    script.plays(TextDelta("Hi", (token,)), Done("stop"))
    async with connect() as client:
        reply = await client.chat.completions.create(
            model="mini", messages=HELLO, logprobs=True, top_logprobs=1
        )
    told = reply.choices[0].logprobs
    assert told is not None
    assert told.content is not None
    assert (told.content[0].bytes, told.content[0].top_logprobs[0].token) == ([72, 105], "Ho")


async def test_the_models_are_listed_with_the_default_first_and_found_by_alias(connect: Connect) -> None:
    async with connect() as client:
        listed = [model async for model in client.models.list()]
        one = await client.models.retrieve("gpt-4o")
        with pytest.raises(openai.NotFoundError, match="There is no model 'nope'"):
            await client.models.retrieve("nope")
    assert [model.id for model in listed] == ["mini", "plain", "seer", "gpt-4o"]
    assert all((model.owned_by, model.created) == ("duologue", 1700000000) for model in listed)
    extra: Any = one
    assert (one.id, extra.root, extra.context_length) == ("gpt-4o", "mini", 2048)


async def test_no_name_is_the_default_model_and_an_alias_is_its_model(script: Any, connect: Connect) -> None:
    script.plays(Done("stop"))
    async with connect() as client:
        await client.chat.completions.create(model="", messages=HELLO)
        reply = await client.chat.completions.create(model="gpt-4o", messages=HELLO)
    assert [request.model for request in script.requests] == ["mini", "mini"]
    assert reply.model == "mini"


# Errors


@pytest.mark.parametrize(
    ("fields", "kind", "code", "param"),
    [
        ({"model": "gpt-9"}, openai.NotFoundError, "model_not_found", "model"),
        ({"temperature": -1}, openai.BadRequestError, "invalid_request", "temperature"),
        ({"messages": []}, openai.BadRequestError, "invalid_request", "messages"),
        ({"model": "plain", "logprobs": True}, openai.BadRequestError, "unsupported", "logprobs"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
async def test_a_wrong_request_is_the_clients_own_exception(
    script: Any, connect: Connect, fields: dict[str, Any], kind: type[openai.APIStatusError],
    code: str, param: str, stream: bool,
) -> None:  # fmt: skip
    async with connect() as client:
        with pytest.raises(kind) as caught:
            await client.chat.completions.create(
                **{"model": "", "messages": HELLO, "stream": stream, **fields}
            )
    assert (caught.value.code, caught.value.param) == (code, param)
    assert script.requests == []


@pytest.mark.parametrize("stream", [False, True])
async def test_a_failure_before_the_first_byte_has_its_status(
    script: Any, connect: Connect, stream: bool
) -> None:
    script.plays(Started("mini"), Failed("context_length_exceeded", "Too long.", 400, "messages"))
    async with connect() as client:
        with pytest.raises(openai.BadRequestError) as caught:
            await client.chat.completions.create(model="mini", messages=HELLO, stream=stream)
    assert (caught.value.code, caught.value.param) == ("context_length_exceeded", "messages")
    assert script.running == 0


async def test_a_failure_in_the_middle_ends_the_stream_as_an_error(script: Any, connect: Connect) -> None:
    script.plays(TextDelta("Hel"), Failed("worker_lost", "The worker ended.", 503))
    heard: list[str] = []

    async def listen(stream: Any) -> None:
        async for chunk in stream:
            heard.append(chunk.choices[0].delta.content)

    async with connect() as client:
        stream = await client.chat.completions.create(model="mini", messages=HELLO, stream=True)
        with pytest.raises(openai.APIError, match="The worker ended"):
            await listen(stream)
        with pytest.raises(openai.InternalServerError, match="The worker ended"):
            await client.chat.completions.create(model="mini", messages=HELLO)
    assert heard == ["", "Hel"]


async def test_events_that_break_off_are_never_passed_off_as_a_reply(script: Any, connect: Connect) -> None:
    script.plays(TextDelta("Hel"))
    async with connect() as client:
        with pytest.raises(openai.InternalServerError, match="broke off"):
            await client.chat.completions.create(model="mini", messages=HELLO)
        stream = await client.chat.completions.create(model="mini", messages=HELLO, stream=True)
        with pytest.raises(openai.APIError, match="broke off"):
            [chunk async for chunk in stream]


async def test_a_bug_is_told_without_its_trace(
    script: Any, connect: Connect, caplog: pytest.LogCaptureFixture
) -> None:
    script.plays(ValueError("secret"))
    async with connect() as client:
        with caplog.at_level(logging.ERROR), pytest.raises(openai.InternalServerError) as caught:
            await client.chat.completions.create(model="mini", messages=HELLO)
    assert caught.value.code == "internal_error"
    assert "secret" not in str(caught.value)
    assert "secret" in caplog.text


@pytest.mark.parametrize(
    "content",
    [b"nope", b"[]", b"", b'{"messages": "hi"}', b'{"messages": [{"role": "user", "content": NaN}]}'],
)
async def test_every_wrong_body_is_400_in_openais_shape(script: Any, content: bytes) -> None:
    async with plain_http(script) as client:
        answer = await client.post(PATH, content=content)
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert error["type"] == "invalid_request_error"


async def test_the_limits_are_those_of_the_settings(script: Any) -> None:
    async with plain_http(script, limits=LimitSettings(choices=2)) as client:
        answer = await client.post(PATH, json={"messages": HELLO, "n": 3})
    assert answer.json()["error"]["message"] == (
        "n must be a whole number from 1 to 2 (setting limits.choices)."
    )


async def test_too_much_is_refused_before_it_is_read(script: Any) -> None:
    async with plain_http(script, limits=LimitSettings(messages=2, tools=1)) as client:
        many = await client.post(PATH, json={"messages": [{"nonsense": 1}] * 3})
        tools = await client.post(PATH, json={"messages": HELLO, "tools": [{"nonsense": 1}] * 2})
    assert (many.status_code, many.json()["error"]["code"]) == (413, "too_large")
    assert "limits.messages" in many.json()["error"]["message"]
    assert (tools.status_code, tools.json()["error"]["param"]) == (400, "tools")
    assert "limits.tools" in tools.json()["error"]["message"]


async def test_a_compressed_body_is_refused_by_name(script: Any) -> None:
    body = gzip.compress(json.dumps({"messages": HELLO}).encode())
    async with plain_http(script) as client:
        answer = await client.post(PATH, content=body, headers={"Content-Encoding": "gzip"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (415, "unsupported")
    assert "Content-Encoding gzip" in answer.json()["error"]["message"]


async def test_a_body_without_a_content_type_is_read_all_the_same(script: Any) -> None:
    script.plays(TextDelta("Hi"), Done("stop"))
    async with plain_http(script) as client:
        answer = await client.post(PATH, content=json.dumps({"messages": HELLO}))
    assert answer.json()["choices"][0]["message"]["content"] == "Hi"
    assert answer.headers["cache-control"] == "no-store"


async def test_the_docs_show_every_field_and_no_broken_reference(script: Any) -> None:
    async with plain_http(script) as client:
        described = (await client.get("/openapi.json")).json()
    body = described["paths"][PATH]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert {"messages", "temperature", "tools", "stream_options", "repetition_penalty"} <= set(
        body["properties"]
    )
    assert "$ref" not in json.dumps(body)


async def test_the_list_of_models_stands_a_final_slash_and_a_look_at_its_head(script: Any) -> None:
    async with plain_http(script) as client:
        assert (await client.get("/v1/models/")).json()["object"] == "list"
        head = await client.head("/v1/models")
    assert (head.status_code, head.headers["content-type"]) == (200, "application/json")


# Waiting and leaving


async def test_the_request_id_and_the_user_are_handed_on(script: Any) -> None:
    script.plays(Done("stop"))
    app = application(script)

    async def with_state(scope: Any, receive: Any, send: Any) -> None:
        scope["state"] = {"request_id": "r-1", "user": "ada"}
        await app(scope, receive, send)

    async with httpx.AsyncClient(transport=httpx.ASGITransport(with_state), base_url="http://test") as client:
        await client.post(PATH, json={"messages": HELLO})
    assert script.asked == [{"kind": "chat", "count": 1, "request_id": "r-1", "user": "ada"}]


async def test_a_stream_that_waits_in_the_queue_is_kept_alive(
    script: Any, serve: Any, connect: Connect
) -> None:
    gate = anyio.Event()
    script.plays(Queued("t", 3, 9.0, 4), gate, Prefilled(7), TextDelta("Hi"), Done("stop"))
    seen: list[str] = []
    async with (
        serve(application(script, patience=0.0, keep_alive=60)) as address,
        httpx.AsyncClient(timeout=60) as client,
        client.stream("POST", f"http://{address}{PATH}", json={"messages": HELLO, "stream": True}) as answer,
    ):
        async for line in answer.aiter_lines():
            seen.append(line)
            gate.set()
    assert seen[0] == ": waiting", "the place in the queue is told by the stream itself"
    assert seen[-2] == "data: [DONE]"
    gate = anyio.Event()
    script.plays(Queued("t", 1, 9.0, 1), gate, TextDelta("Hi"), Done("stop"))
    async with connect(patience=0.0, keep_alive=60) as sdk:
        stream = await sdk.chat.completions.create(model="", messages=HELLO, stream=True)
        gate.set()
        text = "".join([chunk.choices[0].delta.content or "" async for chunk in stream])
    assert text == "Hi"


class SlowFitter(MediaFitter):
    """Takes until `gate` to read what a request has."""

    def __init__(self, gate: anyio.Event) -> None:
        super().__init__(SpeechService(None))
        self._gate = gate

    async def fit(self, *arguments: Any, **options: Any) -> FittedRequest:
        await self._gate.wait()
        return await super().fit(*arguments, **options)


class SlowReferences(MediaReferences):
    """Takes until `gate` to fetch what a request names: this picture."""

    def __init__(self, gate: anyio.Event) -> None:
        super().__init__(LimitSettings())
        self._gate = gate

    async def read(self, references: Any, *arguments: Any) -> dict[str, Sequence[Part]]:
        await self._gate.wait()
        return {reference.where: [ImagePart(PNG, "image/png")] for reference in references}


PNG = encoded(drawing())
INLINE = f"data:image/png;base64,{base64.b64encode(PNG).decode()}"


@pytest.mark.parametrize(
    ("option", "slow", "url"),
    [("fitter", SlowFitter, INLINE), ("references", SlowReferences, "https://example.org/cat.png")],
)
async def test_a_stream_is_kept_alive_while_media_are_fetched_and_read(
    script: Any, serve: Any, option: str, slow: Callable[[anyio.Event], Any], url: str
) -> None:
    gate = anyio.Event()
    script.plays(Prefilled(7), TextDelta("A cat."), Done("stop"))
    content = [{"type": "image_url", "image_url": {"url": url}}]
    body = {"messages": [{"role": "user", "content": content}], "model": "seer", "stream": True}
    seen: list[str] = []
    options = {option: slow(gate), "patience": 0.0, "keep_alive": 60}
    async with (
        serve(application(script, **options)) as address,
        httpx.AsyncClient(timeout=60) as client,
        client.stream("POST", f"http://{address}{PATH}", json=body) as answer,
    ):
        async for line in answer.aiter_lines():
            seen.append(line)
            gate.set()
    assert seen[0] == ": waiting"
    assert seen[-2] == "data: [DONE]"
    assert script.requests[0].messages[0].parts == (ImagePart(PNG, "image/png"),)


async def test_a_client_that_leaves_ends_what_is_fetched_for_it(script: Any, serve: Any) -> None:
    class Fetching(SlowReferences):
        begun, ended = anyio.Event(), anyio.Event()

        async def read(self, references: Any, *arguments: Any) -> dict[str, Sequence[Part]]:
            self.begun.set()
            try:
                return await super().read(references, *arguments)
            finally:
                self.ended.set()

    fetching = Fetching(anyio.Event())
    content = [{"type": "image_url", "image_url": "https://example.org/cat.png"}]
    body = {"messages": [{"role": "user", "content": content}], "model": "seer"}
    async with serve(application(script, references=fetching)) as address:
        with anyio.fail_after(60):
            async with httpx.AsyncClient() as client, anyio.create_task_group() as tasks:
                tasks.start_soon(partial(client.post, f"http://{address}{PATH}", json=body))
                await fetching.begun.wait()
                tasks.cancel_scope.cancel()
            await fetching.ended.wait()
    assert script.requests == []


async def test_a_failure_after_the_wait_began_is_an_error_of_the_stream(
    script: Any, connect: Connect
) -> None:
    gate = anyio.Event()
    script.plays(Queued("t", 3, 9.0, 4), gate, Failed("queue_timeout", "Waited too long.", 503))
    async with connect(patience=0.0, keep_alive=60) as sdk:
        stream = await sdk.chat.completions.create(model="", messages=HELLO, stream=True)
        gate.set()
        with pytest.raises(openai.APIError, match="Waited too long"):
            [chunk async for chunk in stream]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("waits", [[Queued("t", 3, 9.0, 4), None], [TextDelta("Hi"), None]])
async def test_a_client_that_leaves_ends_the_generation(
    script: Any, serve: Any, stream: bool, waits: list[Any]
) -> None:
    script.plays(*waits)
    async with serve(application(script)) as address:
        name, _, port = address.partition(":")
        body = json.dumps({"messages": HELLO, "stream": stream}).encode()
        head = f"POST {PATH} HTTP/1.1\r\nHost: {address}\r\nContent-Length: {len(body)}\r\n\r\n"
        with anyio.fail_after(60):
            async with await anyio.connect_tcp(name, int(port)) as socket:
                await socket.send(head.encode() + body)
                while not script.yielded:
                    await anyio.lowlevel.checkpoint()
                assert script.running == 1
            await script.left.wait()
    assert script.running == 0


async def test_the_official_clients_close_ends_the_generation(script: Any, connect: Connect) -> None:
    script.plays(TextDelta("Hi"), None)
    async with connect() as client:
        stream = await client.chat.completions.create(model="mini", messages=HELLO, stream=True)
        async for chunk in stream:
            if chunk.choices[0].delta.content:
                break
        await stream.close()
        with anyio.fail_after(60):
            await script.left.wait()
    assert script.running == 0


async def test_a_batch_of_events_is_one_write(script: Any) -> None:
    script.plays(Prefilled(7), [(0, TextDelta(str(n))) for n in range(9)], Done("stop"))
    sent: list[MutableMapping[str, Any]] = []
    app = application(script)
    body = json.dumps({"messages": HELLO, "stream": True}).encode()
    asked = [{"type": "http.request", "body": body}]

    async def receive() -> dict[str, Any]:
        if asked:
            return asked.pop()
        await anyio.sleep_forever()
        raise AssertionError

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    scope = {
        "type": "http", "method": "POST", "path": PATH, "headers": [], "query_string": b"",
        "scheme": "http", "server": ("test", 80), "http_version": "1.1",
    }  # fmt: skip
    with anyio.fail_after(60):
        await app(scope, receive, send)
    assert len([message for message in sent if message.get("body")]) == 3


# Sound in and out


SPOKEN: dict[str, Any] = {"modalities": ["text", "audio"], "audio": {"voice": "alloy", "format": "wav"}}


async def test_a_reply_has_its_sound(script: Any, connect: Connect) -> None:
    script.plays(Prefilled(7), TextDelta("one two"), Done("stop", USAGE))
    seats = Seats()
    async with connect(speech=SpeechService(seats)) as client:
        reply = await client.chat.completions.create(model="mini", messages=HELLO, **SPOKEN)
        message = reply.choices[0].message
        assert message.content is None
        assert message.audio is not None
        assert (message.audio.transcript, message.audio.expires_at) == ("one two", 1700003600)
        file = base64.b64decode(message.audio.data)
        assert wav.read_wav(file).duration == 2000 * 2 * WORD // 48_000
        assert script.requests[0].spoken
        history: list[Any] = [*HELLO, {"role": "assistant", "audio": {"id": message.audio.id}}, *HELLO]
        await client.chat.completions.create(model="mini", messages=history)
        assert script.requests[1].messages[1].text == "one two"
        with pytest.raises(openai.BadRequestError, match="send its transcript"):
            await client.chat.completions.create(
                model="mini", messages=[*HELLO, {"role": "assistant", "audio": {"id": "audio_x"}}, *HELLO]
            )
    assert (seats.lent, script.running) == (0, 0)


async def test_a_streamed_reply_has_its_sound_in_pieces(script: Any, connect: Connect) -> None:
    script.plays(Prefilled(7), TextDelta("one "), TextDelta("two"), Done("stop", USAGE))
    async with connect(speech=SpeechService(Seats())) as client:
        stream = await client.chat.completions.create(
            model="mini",
            messages=HELLO,
            stream=True,
            modalities=["text", "audio"],
            audio={"voice": "alloy", "format": "pcm16"},
        )
        deltas: list[Any] = [chunk.choices[0].delta async for chunk in stream]
    pieces = [dict(delta.audio) for delta in deltas if getattr(delta, "audio", None)]
    assert "".join(piece.get("transcript") or "" for piece in pieces) == "one two"
    pcm = b"".join(base64.b64decode(piece.get("data") or "") for piece in pieces)
    assert len(pcm) == 2 * 2 * WORD
    assert pieces[-1]["expires_at"] == 1700003600
    assert not any(delta.content for delta in deltas)


async def test_a_voice_that_fails_fails_the_reply_that_was_to_be_spoken(
    script: Any, connect: Connect
) -> None:
    script.plays(TextDelta("one two"), Done("stop", USAGE))
    seats = Seats(fails=Problem("It broke.", code="engine_failed", status=500))
    async with connect(speech=SpeechService(seats)) as client:
        with pytest.raises(openai.InternalServerError, match="It broke"):
            await client.chat.completions.create(model="mini", messages=HELLO, **SPOKEN)
    assert (seats.lent, script.running) == (0, 0)


async def test_without_a_voice_a_spoken_reply_is_refused(script: Any, connect: Connect) -> None:
    async with connect() as client:
        with pytest.raises(openai.BadRequestError, match=r"duologue\[voice\]") as caught:
            await client.chat.completions.create(model="mini", messages=HELLO, **SPOKEN)
    assert caught.value.code == "voice_unavailable"
    assert script.requests == []


def sent(form: str = "wav") -> list[Any]:
    data = base64.b64encode(encode_file(form, b"\1\0" * 12_000, 24_000)).decode()  # type: ignore[arg-type]
    part = {"type": "input_audio", "input_audio": {"data": data, "format": form}}
    return [{"role": "user", "content": [{"type": "text", "text": "Listen:"}, part]}]


@pytest.mark.parametrize("form", ["wav", "mp3"])
async def test_sound_is_written_down_for_a_model_without_ears(
    script: Any, connect: Connect, form: str
) -> None:
    if form == "mp3":
        pytest.importorskip("av", reason="PyAV is not installed: compressed sound is not tested")
    script.plays(Prefilled(7), TextDelta("Hi"), Done("stop", USAGE))
    async with connect(speech=SpeechService(Seats("hello", "hello"))) as client:
        whole_reply: Any = await client.chat.completions.create(model="mini", messages=sent(form))
        stream = await client.chat.completions.create(model="mini", messages=sent(form), stream=True)
        chunks: list[Any] = [chunk async for chunk in stream]
    said = [{"message": 0, "part": 1, "text": "hello"}]
    assert whole_reply.transcripts == chunks[0].transcripts == said
    assert [request.messages[0].text for request in script.requests] == ["Listen:\nhello"] * 2


async def test_sound_that_is_none_is_refused_by_its_place(script: Any, connect: Connect) -> None:
    part = {"type": "input_audio", "input_audio": {"data": "aGVsbG8=", "format": "mp3"}}
    messages: list[Any] = [{"role": "user", "content": [part]}]
    async with connect(speech=SpeechService(Seats())) as client:
        with pytest.raises(openai.BadRequestError) as caught:
            await client.chat.completions.create(model="mini", messages=messages)
    assert caught.value.param == "messages[0].content[0]"

"""Anthropic's endpoints, with the official client over real sockets and with plain HTTP."""

import base64
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import anthropic
import anyio
import httpx
import pytest
from anthropic import AsyncAnthropic
from fastapi import FastAPI
from pydantic import BaseModel
from tests.support.sample_files import drawing, encoded, pdf

from duologue.config.settings import LimitSettings
from duologue.errors import Unavailable
from duologue.gateway.anthropic import anthropic_messages, anthropic_models
from duologue.gateway.dialects import chat_completions
from duologue.gateway.media.fitted_generate import FittedGenerate
from duologue.gateway.media.fitter import MediaFitter
from duologue.gateway.models.registry import ModelRegistry
from duologue.gateway.models.requested_models import RequestedModels
from duologue.gateway.speech.service import SpeechService
from duologue.http.error_responses import exception_handlers
from duologue.values.events import (
    Done,
    Failed,
    Prefilled,
    ReasoningDelta,
    Started,
    TextDelta,
    ToolCallDelta,
    Usage,
)
from duologue.values.messages import ImagePart, TextPart
from duologue.values.questions.worker_answers import Counted
from duologue.values.requests import ChatRequest, ModelCard

pytestmark = pytest.mark.anyio

MINI = ModelCard("mini", "scripted", 2048, verbs=("tools", "tool_choice", "format", "continue", "thinking"))
PLAIN = ModelCard("plain", "scripted", 1024, verbs=("tools",))
SEES = ModelCard("seer", "scripted", 4096, modalities=("text", "image"))
HELLO: list[Any] = [{"role": "user", "content": "Hello"}]
PATH = "/v1/messages"
USAGE = Usage(input=7, output=3, cached=2, reasoning=1)
TOOL: Any = {
    "name": "weather",
    "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}},
}


async def count(request: ChatRequest, user: str) -> Counted:
    """A token for each message and tool, of the model that is asked for."""
    if request.model == "plain":
        raise Unavailable("No worker of the model is ready.")
    return Counted(tokens=len(request.messages) + len(request.tools), estimated=request.model == "seer")


def application(script: Any, **options: Any) -> FastAPI:
    app = FastAPI(exception_handlers=exception_handlers())
    models = ModelRegistry(lambda: (MINI, PLAIN, SEES), {"claude-sonnet-5-5": "mini"})
    generate = FittedGenerate(script, models.resolve, MediaFitter(SpeechService(None)))
    app.include_router(anthropic_messages.router(generate, RequestedModels(models), count, **options))
    app.include_router(anthropic_models.router(models, clock=lambda: 1700000000.5))
    app.include_router(chat_completions.router(generate, models))
    return app


Connect = Callable[..., AbstractAsyncContextManager[Any]]


@pytest.fixture
def connect(script: Any, serve: Any) -> Connect:
    """The official client, connected to a real server."""

    @asynccontextmanager
    async def connected(**options: Any) -> AsyncIterator[Any]:
        async with (
            serve(application(script, **options)) as address,
            AsyncAnthropic(
                base_url=f"http://{address}",
                api_key="any",
                max_retries=0,
                timeout=60,
                # It loads no certificates of authorities, which takes a quarter of a second.
                http_client=anthropic.DefaultAsyncHttpxClient(verify=False),
            ) as client,
        ):
            yield client

    return connected


@asynccontextmanager
async def plain_http(script: Any, **options: Any) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(application(script, **options))
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        yield client


async def test_a_whole_message(script: Any, connect: Connect) -> None:
    script.plays(Started("mini"), Prefilled(7, 2), TextDelta("Hel"), TextDelta("lo"), Done("stop", USAGE))
    async with connect() as client:
        message = await client.messages.create(
            model="claude-sonnet-5-5", max_tokens=9, messages=HELLO, system="Be nice.", stop_sequences=["END"]
        )
    assert message.id.startswith("msg_")
    assert (message.type, message.role, message.model) == ("message", "assistant", "mini")
    assert [block.to_dict() for block in message.content] == [{"type": "text", "text": "Hello"}]
    assert (message.stop_reason, message.stop_sequence) == ("end_turn", None)
    usage = message.usage
    assert (usage.input_tokens, usage.cache_read_input_tokens, usage.output_tokens) == (5, 2, 3)
    asked = script.requests[0]
    assert ([one.role for one in asked.messages], asked.stop) == (["system", "user"], ("END",))
    assert (asked.model, asked.sampling.max_tokens, asked.thinking) == ("mini", 9, False)
    assert script.running == 0


async def test_the_stream_helper_gathers_thoughts_text_and_calls(script: Any, connect: Connect) -> None:
    script.plays(
        Prefilled(7, 2),
        ReasoningDelta("hm"),
        TextDelta("I look."),
        ToolCallDelta(0, "", "call_1", "weather"),
        ToolCallDelta(0, '{"city": '),
        ToolCallDelta(0, '"Rome"}'),
        Done("tool_calls", USAGE),
    )
    async with (
        connect() as client,
        client.messages.stream(
            model="mini",
            max_tokens=2000,
            messages=HELLO,
            tools=[TOOL],
            thinking={"type": "enabled", "budget_tokens": 1024},
        ) as stream,
    ):
        kinds = [event.type async for event in stream]
        message = await stream.get_final_message()
    assert {"thinking", "signature", "text", "input_json", "message_stop"} <= set(kinds)
    thought, text, call = message.content
    assert (thought.type, thought.thinking, bool(thought.signature)) == ("thinking", "hm", True)
    assert (text.type, text.text) == ("text", "I look.")
    assert (call.type, call.id, call.name, call.input) == (
        "tool_use",
        "toolu_call_1",
        "weather",
        {"city": "Rome"},
    )
    assert (message.stop_reason, message.usage.input_tokens, message.usage.output_tokens) == (
        "tool_use",
        5,
        3,
    )
    asked = script.requests[0]
    assert (asked.thinking, asked.thinking_tokens, asked.tools[0].name) == (True, 1024, "weather")


async def test_a_reply_goes_back_as_it_came(script: Any, connect: Connect) -> None:
    script.plays(ReasoningDelta("hm"), ToolCallDelta(0, "{}", "call_1", "weather"), Done("tool_calls"))
    thinking: Any = {"type": "adaptive", "display": "omitted"}
    async with connect() as client:
        first = await client.messages.create(
            model="mini", max_tokens=9, messages=HELLO, tools=[TOOL], thinking=thinking
        )
        result: Any = {"type": "tool_result", "tool_use_id": "toolu_call_1", "content": "25"}
        await client.messages.create(
            model="mini",
            max_tokens=9,
            messages=[*HELLO, first.to_param(), {"role": "user", "content": [result]}],
            tools=[TOOL],
            thinking=thinking,
        )
    assert first.content[0].thinking == ""
    _, said, told = script.requests[1].messages
    assert (said.reasoning, said.tool_calls[0].id, told.tool_call_id) == ("hm", "call_1", "call_1")


async def test_structured_output_is_parsed(script: Any, connect: Connect) -> None:
    class Sum(BaseModel):
        total: int

    script.plays(TextDelta('{"total": 5}'), Done("stop"))
    async with connect() as client:
        reply = await client.messages.parse(model="mini", max_tokens=9, messages=HELLO, output_format=Sum)
    assert reply.parsed_output == Sum(total=5)
    assert script.requests[0].format.schema["title"] == "Sum"


async def test_pictures_and_documents_reach_the_model(script: Any, connect: Connect) -> None:
    script.plays(TextDelta("Blue."), Done("stop"))
    png, document = encoded(drawing()), pdf("Of May.")
    picture: Any = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": of(png)}}
    paper: Any = {
        "type": "document",
        "title": "plan.pdf",
        "source": {"type": "base64", "media_type": "application/pdf", "data": of(document)},
    }
    result: Any = {"type": "tool_result", "tool_use_id": "toolu_1", "content": [picture]}
    async with connect() as client:
        await client.messages.create(
            model="seer", max_tokens=9, messages=[{"role": "user", "content": [picture, paper, result]}]
        )
    user, tool = script.requests[0].messages
    assert (user.parts[0], tool.parts) == (ImagePart(png, "image/png"), (ImagePart(png, "image/png"),))
    assert isinstance(user.parts[1], TextPart)
    assert "Of May." in user.parts[1].text


async def test_an_address_is_not_fetched_where_none_may_be(script: Any, connect: Connect) -> None:
    picture: Any = {"type": "image", "source": {"type": "url", "url": "http://127.0.0.1/a.png"}}
    async with connect() as client:
        with pytest.raises(anthropic.BadRequestError, match=r"messages\[0\].content\[0\]: Web addresses"):
            await client.messages.create(
                model="seer", max_tokens=9, messages=[{"role": "user", "content": [picture]}]
            )


async def test_a_picture_for_a_blind_model_names_its_block(script: Any, connect: Connect) -> None:
    source: Any = {"type": "base64", "media_type": "image/png", "data": of(encoded(drawing()))}
    result: Any = {
        "type": "tool_result",
        "tool_use_id": "t",
        "content": [{"type": "image", "source": source}],
    }
    talk: Any = [*HELLO, {"role": "user", "content": [result]}]
    async with connect() as client:
        for ask in (client.messages.create, client.messages.count_tokens):
            more: Any = {} if ask == client.messages.count_tokens else {"max_tokens": 9}
            with pytest.raises(
                anthropic.BadRequestError, match=r"messages\[1\].content\[0\].content\[0\] is image"
            ):
                await ask(model="plain", messages=talk, system="s", **more)


async def test_what_was_made_of_a_picture_names_its_block(script: Any, connect: Connect) -> None:
    script.plays(TextDelta("Small."), Done("stop"))
    large = encoded(drawing(3000, 2000))
    source: Any = {"type": "base64", "media_type": "image/png", "data": of(large)}
    result: Any = {
        "type": "tool_result",
        "tool_use_id": "t",
        "content": [{"type": "image", "source": source}],
    }
    async with connect() as client:
        message = await client.messages.create(
            model="seer", max_tokens=9, system="s", messages=[*HELLO, {"role": "user", "content": [result]}]
        )
    [note] = message.fitted
    assert (note["where"], note["became"]) == ("messages[1].content[0].content[0]", "resized")


async def test_tokens_are_counted_without_a_reply(script: Any, connect: Connect) -> None:
    async with connect() as client:
        counted = await client.messages.count_tokens(
            model="mini", messages=HELLO, system="Be nice.", tools=[TOOL], thinking={"type": "adaptive"}
        )
        estimated: Any = await client.messages.count_tokens(model="seer", messages=HELLO)
        with pytest.raises(anthropic.ServiceUnavailableError) as caught:
            await client.messages.count_tokens(model="plain", messages=HELLO)
    assert (counted.input_tokens, estimated.estimated) == (3, True)
    assert caught.value.type == "overloaded_error"
    assert script.requests == []


async def test_models_for_this_client_and_for_others(connect: Connect) -> None:
    async with connect() as client:
        listed = [model async for model in client.models.list(limit=2)]
        one = await client.models.retrieve("claude-sonnet-5-5")
        with pytest.raises(anthropic.NotFoundError, match="There is no model 'nope'"):
            await client.models.retrieve("nope")
        with pytest.raises(anthropic.BadRequestError, match="limit must be a whole number"):
            await client.models.list(limit=0)
    assert [model.id for model in listed] == ["mini", "plain", "seer", "claude-sonnet-5-5"]
    assert (listed[0].type, listed[0].lifecycle, listed[0].max_input_tokens) == ("model", "active", 2048)
    assert (one.id, one.display_name) == ("claude-sonnet-5-5", "claude-sonnet-5-5 (mini)")


async def test_without_the_header_the_list_is_openais(script: Any) -> None:
    async with plain_http(script) as client:
        theirs = (await client.get("/v1/models")).json()
        ours = (await client.get("/v1/models", headers={"anthropic-version": "2023-06-01"})).json()
    assert theirs["object"] == "list"
    assert (ours["first_id"], ours["has_more"]) == ("mini", False)


@pytest.mark.parametrize(
    ("fields", "kind", "type", "code"),
    [
        ({"model": "gpt-9"}, anthropic.NotFoundError, "not_found_error", "model_not_found"),
        ({"max_tokens": -1}, anthropic.BadRequestError, "invalid_request_error", "invalid_request"),
        ({"messages": []}, anthropic.BadRequestError, "invalid_request_error", "invalid_request"),
        (
            {"tools": [{"type": "web_search_20250305", "name": "web_search"}]},
            anthropic.BadRequestError,
            "invalid_request_error",
            "unsupported",
        ),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
async def test_a_wrong_request_is_the_clients_own_exception(
    script: Any, connect: Connect, fields: dict[str, Any], kind: type[anthropic.APIStatusError],
    type: str, code: str, stream: bool,
) -> None:  # fmt: skip
    async with connect() as client:
        with pytest.raises(kind) as caught:
            await client.messages.create(
                **{"model": "mini", "max_tokens": 9, "messages": HELLO, "stream": stream, **fields}
            )
    assert (caught.value.type, caught.value.error_code) == (type, code)
    assert script.requests == []


@pytest.mark.parametrize("stream", [False, True])
async def test_a_failure_before_the_first_byte_has_its_status(
    script: Any, connect: Connect, stream: bool
) -> None:
    script.plays(Started("mini"), Failed("context_length_exceeded", "Too long.", 400, "messages"))
    async with connect() as client:
        with pytest.raises(anthropic.BadRequestError, match=r"prompt is too long: Too long\."):
            await client.messages.create(model="mini", max_tokens=9, messages=HELLO, stream=stream)
    assert script.running == 0


async def test_a_failure_in_the_middle_is_an_error_event(script: Any, connect: Connect) -> None:
    script.plays(TextDelta("Hel"), Failed("worker_lost", "The worker ended.", 503))
    heard: list[str] = []
    async with connect() as client:
        stream = await client.messages.create(model="mini", max_tokens=9, messages=HELLO, stream=True)

        async def listen() -> None:
            async for event in stream:
                heard.append(event.type)

        with pytest.raises(anthropic.APIStatusError, match="The worker ended") as caught:
            await listen()
    assert heard == ["message_start", "content_block_start", "content_block_delta"]
    assert (caught.value.type, caught.value.error_code) == ("overloaded_error", "worker_lost")


async def test_a_beginning_needs_a_model_that_continues(script: Any, connect: Connect) -> None:
    script.plays(TextDelta("B)"), Done("stop"))
    begun: Any = [*HELLO, {"role": "assistant", "content": "The answer is ("}]
    async with connect() as client:
        await client.messages.create(model="mini", max_tokens=9, messages=begun)
        with pytest.raises(anthropic.BadRequestError, match="the model plain cannot continue a message"):
            await client.messages.create(model="plain", max_tokens=9, messages=begun)
    assert script.requests[0].continue_final


async def test_a_client_that_leaves_ends_the_reply(script: Any, connect: Connect) -> None:
    script.plays(TextDelta("Hel"), None)
    async with connect() as client:
        stream = await client.messages.create(model="mini", max_tokens=9, messages=HELLO, stream=True)
        async for _ in stream:
            break
        await stream.close()
        with anyio.fail_after(60):
            await script.left.wait()
    assert script.running == 0


async def test_a_silence_is_broken(script: Any) -> None:
    go_on = anyio.Event()
    script.plays(TextDelta("Hel"), go_on, Done("stop"))
    async with (
        plain_http(script, patience=0.01, keep_alive=0.01) as client,
        anyio.create_task_group() as group,
    ):

        async def release() -> None:
            await anyio.sleep(0.1)
            go_on.set()

        group.start_soon(release)
        body = {"model": "mini", "max_tokens": 9, "messages": HELLO, "stream": True}
        answer = await client.post(PATH, json=body)
    assert "event: ping\n" in answer.text
    assert answer.headers["content-type"].startswith("text/event-stream")


async def test_large_and_compressed_bodies_are_refused_in_its_shape(script: Any) -> None:
    async with plain_http(script, limits=LimitSettings(messages=10)) as client:
        many = await client.post(PATH, json={"model": "mini", "max_tokens": 9, "messages": HELLO * 11})
        packed = await client.post(PATH, content=b"x", headers={"content-encoding": "gzip"})
        broken = await client.post(PATH, content=b"{")
    assert (many.status_code, many.json()["error"]["type"]) == (413, "request_too_large")
    assert (packed.status_code, packed.json()["error"]["code"]) == (415, "unsupported")
    assert (broken.status_code, broken.json()["error"]["code"]) == (400, "invalid_json")


def of(data: bytes) -> str:
    return base64.b64encode(data).decode()

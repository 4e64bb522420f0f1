"""Ollama's `/api/chat` and `/api/generate`, with the official client over a real socket and with plain HTTP."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx
import ollama
import pytest
from fastapi import APIRouter
from tests.gateway.ollama.conftest import Ask, application

from duologue.config import Settings
from duologue.config.settings import LimitSettings
from duologue.errors import ModelNotFound
from duologue.gateway.dialects.reply import ReplyPipeline
from duologue.gateway.models.available import AvailableModels
from duologue.gateway.models.registry import ModelRegistry
from duologue.gateway.models.requested_models import RequestedModels
from duologue.gateway.ollama.ollama_names import OllamaNames
from duologue.gateway.ollama.ollama_replies import router
from duologue.gateway.speech.service import SpeechService
from duologue.values.events import (
    Done,
    Failed,
    Prefilled,
    ReasoningDelta,
    Started,
    TextDelta,
    Timings,
    ToolCallDelta,
    Usage,
)
from duologue.values.messages import Message, TextPart
from duologue.values.requests import ModelCard, OutputFormat

pytestmark = pytest.mark.anyio

MINI = ModelCard("mini", "scripted", 2048, verbs=("tools", "format", "logprobs", "continue", "thinking"))
PLAIN = ModelCard("plain", "scripted", 1024, verbs=("prefill",))
HELLO = [{"role": "user", "content": "Hello"}]
DONE = Done("stop", Usage(input=7, output=3), Timings(queue=1, prefill=2, generate=3))
Routes = Callable[..., APIRouter]
Connect = Callable[..., AbstractAsyncContextManager[ollama.AsyncClient]]


class Unloading:
    def __init__(self) -> None:
        self.names: list[str] = []

    async def __call__(self, name: str) -> None:
        if name == "nobody":
            raise ModelNotFound("There is no model 'nobody' to load.")
        self.names.append(name)


@pytest.fixture
def unloading() -> Unloading:
    return Unloading()


@pytest.fixture
def routes(script: Any, unloading: Unloading, tmp_path: Path) -> Routes:
    models = ModelRegistry(lambda: (MINI, PLAIN), {"gpt-4o": "mini"})
    available = AvailableModels(Settings(engine="scripted", data=tmp_path), [])
    names = OllamaNames(models, RequestedModels(models), available)
    pipeline = ReplyPipeline(script, SpeechService(None))

    def made(**options: Any) -> APIRouter:
        return router(pipeline, names, unloading, clock=lambda: 1700000000.25, **options)

    return made


@pytest.fixture
def connect(routes: Routes, serve: Any) -> Connect:
    """The official client, connected to a real server."""

    @asynccontextmanager
    async def connected(**options: Any) -> AsyncIterator[ollama.AsyncClient]:
        async with serve(application(routes(**options))) as address:
            yield ollama.AsyncClient(f"http://{address}", timeout=60)

    return connected


async def test_a_stream_is_read_by_the_official_client(script: Any, connect: Connect) -> None:
    script.plays(Started("mini"), Prefilled(7), TextDelta("Hel"), TextDelta("lo"), DONE)
    async with connect() as client:
        parts = [part async for part in await client.chat("mini:latest", HELLO, stream=True)]
    assert "".join(part.message.content or "" for part in parts) == "Hello"
    last = parts[-1]
    assert (last.done, last.done_reason, last.model) == (True, "stop", "mini:latest")
    assert (last.prompt_eval_count, last.eval_count) == (7, 3)
    assert (last.prompt_eval_duration, last.eval_duration) == (2_000_000, 3_000_000)
    assert last.total_duration == 6_000_000 + (last.load_duration or 0)
    assert script.requests[0].model == "mini"
    assert script.asked[0]["user"] == "ann"


async def test_a_whole_reply_with_a_thought_and_a_tool_call(script: Any, connect: Connect) -> None:
    def weather(city: str) -> str:
        """Tells the weather.

        Args:
          city: Where.
        """
        return city

    script.plays(
        ReasoningDelta("Hm."),
        ToolCallDelta(0, '{"city": "Bern"}', "c1", "weather"),
        Done("tool_calls", Usage(5, 2)),
    )
    async with connect() as client:
        reply = await client.chat("mini", HELLO, tools=[weather], think=True)
    assert reply.message.thinking == "Hm."
    assert reply.message.tool_calls is not None
    assert reply.message.tool_calls[0].function.arguments == {"city": "Bern"}
    asked = script.requests[0]
    assert (asked.tools[0].name, asked.thinking) == ("weather", True)
    assert asked.tools[0].parameters["required"] == ["city"]


async def test_a_format_and_options_reach_the_model(script: Any, connect: Connect) -> None:
    schema: dict[str, object] = {"type": "object", "properties": {"a": {"type": "integer"}}}
    script.plays(TextDelta('{"a": 1}'), DONE)
    async with connect() as client:
        reply = await client.chat(
            "mini", HELLO, format=schema, options={"temperature": 0, "num_predict": 9, "stop": ["x"]}
        )
        generated = await client.generate("mini", "Hello", format="json", system="Be brief.")
    assert json.loads(reply.message.content or "") == {"a": 1}
    assert generated.response == '{"a": 1}'
    first, second = script.requests
    assert first.format == OutputFormat("json_schema", schema=schema, param="format")
    assert (first.sampling.temperature, first.sampling.max_tokens, first.stop) == (0, 9, ("x",))
    assert second.format == OutputFormat("json_object", param="format")
    assert second.messages == (
        Message("system", (TextPart("Be brief."),)),
        Message("user", (TextPart("Hello"),)),
    )


async def test_a_prompt_is_streamed_by_default(script: Any, routes: Routes, ask: Ask) -> None:
    script.plays(TextDelta("Hi"), DONE)
    async with ask(routes()) as client:
        answer = await client.post("/api/generate", json={"model": "mini", "prompt": "Hello"})
    assert answer.headers["content-type"] == "application/x-ndjson"
    assert [json.loads(line).get("response") for line in answer.text.splitlines()] == ["Hi", ""]


async def test_nothing_asked_loads_the_model(script: Any, routes: Routes, ask: Ask) -> None:
    async with ask(routes()) as client:
        chat = (await client.post("/api/chat", json={"model": "mini"})).json()
        prompt = (await client.post("/api/generate", json={"model": "mini", "keep_alive": "5m"})).json()
        unknown = await client.post("/api/generate", json={"model": "nobody"})
    assert (chat["done_reason"], chat["message"]["content"]) == ("load", "")
    assert (prompt["done_reason"], prompt["response"]) == ("load", "")
    assert unknown.status_code == 404
    assert script.requests == []


async def test_a_keep_alive_of_zero_unloads_for_admins(
    routes: Routes, unloading: Unloading, ask: Ask
) -> None:
    body = {"model": "mini:latest", "keep_alive": 0}
    async with ask(routes()) as client:
        answer = (await client.post("/api/generate", json=body)).json()
        missing = await client.post("/api/generate", json={"model": "nobody", "keep_alive": 0})
    assert answer["done_reason"] == "unload"
    assert unloading.names == ["mini"]
    assert missing.status_code == 404
    async with ask(routes(), role="user") as client:
        refused = await client.post("/api/chat", json=body)
    assert (refused.status_code, refused.json()) == (403, {"error": "Only an admin can do this."})


async def test_no_model_is_the_default_model(script: Any, routes: Routes, ask: Ask) -> None:
    script.plays(DONE)
    async with ask(routes()) as client:
        answer = await client.post("/api/chat", json={"messages": HELLO, "stream": False})
        alias = await client.post("/api/chat", json={"model": "gpt-4o", "messages": HELLO, "stream": False})
    assert answer.json()["model"] == "mini:latest"
    assert alias.json()["model"] == "gpt-4o"
    assert [request.model for request in script.requests] == ["mini", "mini"]


@pytest.mark.parametrize(
    ("path", "body", "status", "sentence"),
    [
        ("chat", {"model": "nobody", "messages": HELLO}, 404, "There is no model 'nobody'."),
        ("chat", {"messages": [{"role": "x"}]}, 400, "messages[0].role must be one of"),
        ("generate", {"prompt": "x", "suffix": "y"}, 400, "prompt: the model mini takes messages"),
        ("generate", {"prompt": "x", "raw": True}, 400, "prompt: the model mini takes messages"),
        (
            "generate",
            {"model": "plain", "prompt": "x", "think": True},
            400,
            "think: the model plain does not",
        ),
        ("chat", {"model": "plain", "messages": HELLO, "format": "json"}, 400, "format: the model plain"),
    ],
)
async def test_an_error_is_one_sentence(
    routes: Routes, ask: Ask, path: str, body: dict[str, Any], status: int, sentence: str
) -> None:
    async with ask(routes()) as client:
        answer = await client.post(f"/api/{path}", json=body)
    assert answer.status_code == status
    assert list(answer.json()) == ["error"]
    assert answer.json()["error"].startswith(sentence)


async def test_too_many_messages_and_broken_json_are_refused(routes: Routes, ask: Ask) -> None:
    async with ask(routes(limits=LimitSettings(messages=2))) as client:
        many = await client.post("/api/chat", json={"messages": [{**HELLO[0], "images": ["a", "b"]}]})
        broken = await client.post("/api/chat", content=b"{")
        packed = await client.post("/api/chat", content=b"{}", headers={"Content-Encoding": "gzip"})
    assert (many.status_code, broken.status_code, packed.status_code) == (413, 400, 415)
    assert broken.json()["error"].startswith("The request is not valid JSON")


async def test_an_early_failure_has_its_status_and_a_late_one_its_line(
    script: Any, routes: Routes, ask: Ask
) -> None:
    failed = Failed("worker_lost", "It is gone.", 503)
    body = {"model": "mini", "messages": HELLO}
    async with ask(routes()) as client:
        script.plays(failed)
        early = await client.post("/api/chat", json=body)
        whole = await client.post("/api/chat", json={**body, "stream": False})
        script.plays(TextDelta("Hi"), failed)
        late = await client.post("/api/chat", json=body)
    assert (early.status_code, early.json()) == (503, {"error": "It is gone."})
    assert (whole.status_code, whole.json()) == (503, {"error": "It is gone."})
    assert late.status_code == 200
    assert json.loads(late.text.splitlines()[-1]) == {"error": "It is gone."}


async def test_the_official_client_raises_a_late_failure(script: Any, connect: Connect) -> None:
    script.plays(TextDelta("Hi"), Failed("worker_lost", "It is gone.", 503))
    async with connect() as client:
        with pytest.raises(ollama.ResponseError, match="It is gone"):
            async for _ in await client.chat("mini", HELLO, stream=True):
                pass


async def test_a_long_silence_is_broken_by_lines_that_clients_read(script: Any, connect: Connect) -> None:
    script.plays(None)
    async with connect(patience=0.01, keep_alive=0.01) as client:
        with anyio.fail_after(60):
            async for part in await client.chat("mini", HELLO, stream=True):
                assert part.message.content == ""
                break


async def test_a_client_that_leaves_ends_the_reply(script: Any, routes: Routes, serve: Any) -> None:
    script.plays(TextDelta("Hi"), None)
    async with serve(application(routes())) as address, httpx.AsyncClient() as client:
        body = {"model": "mini", "prompt": "Hello"}
        async with client.stream("POST", f"http://{address}/api/generate", json=body) as answer:
            async for _ in answer.aiter_lines():
                break
        with anyio.fail_after(60):
            await script.left.wait()
    assert script.running == 0

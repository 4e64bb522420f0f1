"""/v1/completions, with the official client over real sockets and with plain HTTP."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx
import openai
import pytest
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from openai import AsyncOpenAI, OpenAI

from duologue.config.settings import LimitSettings
from duologue.errors import Problem
from duologue.gateway.dialects.text_completions import router
from duologue.gateway.models.registry import ModelRegistry
from duologue.gateway.models.requested_models import RequestedModels
from duologue.http.error_responses import problem_body, problem_status
from duologue.values.events import Done, Failed, Prefilled, TextDelta, TokenLogprob, Usage
from duologue.values.requests import ModelCard

pytestmark = pytest.mark.anyio

MINI = ModelCard("mini", "scripted", 2048, verbs=("raw", "logprobs"))
CHAT = ModelCard("chat", "remote", 2048, verbs=("logprobs",))
PATH = "/v1/completions"


def application(script: Any, **options: Any) -> FastAPI:
    app = FastAPI()
    models = ModelRegistry(lambda: (MINI, CHAT), {"davinci": "mini"})
    app.include_router(router(script, RequestedModels(models), clock=lambda: 1700000000.5, **options))

    async def answer(request: Request, problem: Exception) -> JSONResponse:
        return JSONResponse(problem_body(problem, request.url.path), problem_status(problem))

    app.add_exception_handler(Problem, answer)
    return app


@pytest.fixture
async def client(script: Any, serve: Any) -> AsyncIterator[AsyncOpenAI]:
    async with (
        serve(application(script)) as address,
        AsyncOpenAI(base_url=f"http://{address}/v1", api_key="any", max_retries=0, timeout=60) as client,
    ):
        yield client


@asynccontextmanager
async def plain_http(script: Any, **options: Any) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(application(script, **options))
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        yield client


async def test_a_whole_completion(script: Any, client: AsyncOpenAI) -> None:
    script.plays(Prefilled(7, 2), TextDelta("Hel"), TextDelta("lo"), Done("stop", Usage(7, 3, 2)))
    answer = await client.completions.create(model="davinci", prompt="Say hello: ", max_tokens=5)
    assert answer.id.startswith("cmpl-")
    assert (answer.object, answer.model, answer.created) == ("text_completion", "mini", 1700000000)
    assert (answer.choices[0].text, answer.choices[0].finish_reason) == ("Hello", "stop")
    assert answer.usage is not None
    assert answer.usage.total_tokens == 10
    [request] = script.requests
    assert (request.messages, request.prompt, request.model) == ((), "Say hello: ", "mini")
    assert request.sampling.max_tokens == 5
    assert script.running == 0


async def test_a_streamed_completion(script: Any, client: AsyncOpenAI) -> None:
    script.plays(Prefilled(7), TextDelta("Hel"), TextDelta("lo"), Done("length", Usage(7, 3)))
    stream = await client.completions.create(
        model="mini", prompt="Say hello: ", stream=True, stream_options={"include_usage": True}
    )
    *texts, last = [chunk async for chunk in stream]
    assert [chunk.choices[0].text for chunk in texts] == ["Hel", "lo", ""]
    assert texts[-1].choices[0].finish_reason == "length"
    assert last.usage is not None
    assert last.usage.completion_tokens == 3


async def test_the_synchronous_client_in_a_thread_of_its_own(script: Any, serve: Any) -> None:
    script.plays(TextDelta("Hello"), Done("stop"))

    def talk(address: str) -> tuple[str, str]:
        with OpenAI(base_url=f"http://{address}/v1", api_key="any", max_retries=0, timeout=60) as client:
            whole = client.completions.create(model="mini", prompt="a")
            stream = client.completions.create(model="mini", prompt="a", stream=True)
            return whole.choices[0].text, "".join(chunk.choices[0].text for chunk in stream)

    async with serve(application(script)) as address:
        assert await anyio.to_thread.run_sync(talk, address) == ("Hello", "Hello")


async def test_each_prompt_is_a_request_of_its_own(script: Any, client: AsyncOpenAI) -> None:
    script.steps = [[(0, TextDelta("x")), (1, TextDelta("y"))], [(0, Done("stop")), (1, Done("stop"))]]
    answer = await client.completions.create(model="mini", prompt=["a", "b"], n=2, echo=True)
    assert [choice.text for choice in answer.choices] == ["ax", "ay", "bx", "by"]
    assert sorted(request.prompt for request in script.requests) == ["a", "b"]
    assert [asked["count"] for asked in script.asked] == [2, 2]
    stream = await client.completions.create(model="mini", prompt=["a", "b"], n=2, stream=True)
    texts = {0: "", 1: "", 2: "", 3: ""}
    async for chunk in stream:
        texts[chunk.choices[0].index] += chunk.choices[0].text
    assert texts == {0: "x", 1: "y", 2: "x", 3: "y"}


async def test_tokens_are_prompts(script: Any, client: AsyncOpenAI) -> None:
    script.plays(TextDelta("x"), Done("stop"))
    await client.completions.create(model="mini", prompt=[[1, 2], [3]])
    assert sorted(request.prompt for request in script.requests) == [(1, 2), (3,)]


async def test_the_best_of_several(script: Any, client: AsyncOpenAI) -> None:
    script.steps = [
        [
            (0, TextDelta("bad", (TokenLogprob("bad", -5.0, b"bad"),))),
            (1, TextDelta("good", (TokenLogprob("good", -0.1, b"good"),))),
        ],
        [(0, Done("stop", Usage(2, 1))), (1, Done("stop", Usage(2, 1)))],
    ]
    answer = await client.completions.create(model="mini", prompt="a", best_of=2, logprobs=0)
    assert [choice.text for choice in answer.choices] == ["good"]
    assert answer.choices[0].logprobs is not None
    assert answer.choices[0].logprobs.tokens == ["good"]
    assert answer.usage is not None
    assert answer.usage.completion_tokens == 2


@pytest.mark.parametrize("prompts", ["a", ["a", "b"]], ids=["one prompt", "two prompts"])
async def test_a_client_that_leaves_ends_the_generation(
    script: Any, client: AsyncOpenAI, prompts: Any
) -> None:
    script.plays(TextDelta("x"), None)
    stream = await client.completions.create(model="mini", prompt=prompts, stream=True)
    await anext(aiter(stream))
    await stream.close()
    with anyio.fail_after(60):
        while script.running:
            await anyio.lowlevel.checkpoint()
    with pytest.raises(openai.APITimeoutError):
        await client.completions.create(model="mini", prompt=prompts, timeout=0.2)
    with anyio.fail_after(60):
        while script.running:
            await anyio.lowlevel.checkpoint()


async def test_a_failure_has_its_status_before_the_first_text_and_is_the_last_event_after_it(
    script: Any, client: AsyncOpenAI
) -> None:
    script.plays(Failed("busy", "Too much.", 503))
    for stream in (False, True):
        with pytest.raises(openai.InternalServerError) as early:
            await client.completions.create(model="mini", prompt=["a", "b"], stream=stream)
        assert early.value.code == "busy"
    script.plays(TextDelta("x"), Failed("busy", "Too much.", 503))
    events = await client.completions.create(model="mini", prompt="a", stream=True)
    with pytest.raises(openai.APIError, match="Too much"):
        async for _ in events:
            pass


async def test_a_model_that_takes_messages_refuses(script: Any, client: AsyncOpenAI) -> None:
    with pytest.raises(openai.BadRequestError) as refusal:
        await client.completions.create(model="chat", prompt="a")
    assert (refusal.value.code, refusal.value.param) == ("unsupported", "prompt")
    with pytest.raises(openai.BadRequestError) as refusal:
        await client.completions.create(model="mini", prompt="a", suffix="b")
    assert (refusal.value.code, refusal.value.param) == ("unsupported", "suffix")
    with pytest.raises(openai.NotFoundError):
        await client.completions.create(model="none", prompt="a")
    assert script.requests == []


async def test_damaged_bodies_are_refused(script: Any) -> None:
    async with plain_http(script) as http:
        for content in (b"", b"{", b"[]", b'{"prompt": 5}', b'{"messages": []}'):
            answer = await http.post(PATH, content=content)
            assert answer.status_code == 400
            assert answer.json()["error"]["type"] == "invalid_request_error"
        answer = await http.post(PATH, content=b"x", headers={"Content-Encoding": "gzip"})
        assert answer.status_code == 415


async def test_the_setting_bounds_the_completions(script: Any) -> None:
    async with plain_http(script, limits=LimitSettings(choices=2)) as http:
        answer = await http.post(PATH, json={"prompt": ["a", "b", "c"]})
    assert answer.status_code == 400
    assert "limits.choices" in answer.json()["error"]["message"]


async def test_the_description_shows_the_body(script: Any) -> None:
    async with plain_http(script) as http:
        paths = (await http.get("/openapi.json")).json()["paths"]
    body = paths[PATH]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert {"prompt", "suffix", "best_of", "echo", "logprobs", "guided_json"} <= set(body["properties"])
    assert body["required"] == ["prompt"]

"""The remote engine against a small upstream on loopback: real sockets, real cancellation."""

from __future__ import annotations

import base64
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

import anyio
import msgspec
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from duologue.engines.contracts import ChatEngine
from duologue.engines.openai_remote import engine as remote_module
from duologue.engines.openai_remote import known_model, upstream_connection
from duologue.engines.openai_remote.engine import RemoteEngine, load
from duologue.errors import StartFailed, Unsupported
from duologue.values.events import (
    AudioDelta,
    Done,
    Event,
    Failed,
    Prefilled,
    ReasoningDelta,
    Started,
    TextDelta,
    ToolCallDelta,
    Usage,
)
from duologue.values.messages import ImagePart, Message, TextPart, Tool, ToolCall, VideoPart, user
from duologue.values.requests import ChatRequest, ModelCard, OutputFormat, RawFormat, Sampling

pytestmark = pytest.mark.anyio
PATIENCE = 60.0
KEY = "sk-very-secret"
HELLO = ChatRequest((user("hello"),))
Answer = Callable[[Request], Awaitable[Response]]


def event(delta: Mapping[str, object] | None = None, finish: str | None = None, **more: object) -> str:
    choice = {"index": 0, "delta": delta or {}, "finish_reason": finish}
    return "data: " + json.dumps({"choices": [choice], **more}, ensure_ascii=False) + "\n\n"


USAGE = 'data: {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2}}\n\n'
END = event(finish="stop") + USAGE + "data: [DONE]\n\n"


def pieces(*parts: str | bytes) -> Answer:
    """An upstream that streams these parts, each in a packet of its own."""

    async def answer(request: Request) -> Response:
        async def body() -> AsyncIterator[bytes]:
            for part in parts:
                yield part if isinstance(part, bytes) else part.encode()

        return StreamingResponse(body(), media_type="text/event-stream")

    return answer


def refusal(status: int, body: object) -> Answer:
    async def answer(request: Request) -> Response:
        return (
            PlainTextResponse(body, status) if isinstance(body, str | bytes) else JSONResponse(body, status)
        )

    return answer


class Upstream:
    """An OpenAI-compatible server whose answer the test decides."""

    def __init__(self) -> None:
        self.answer: Answer = pieces(END)
        self.models: object = {
            "object": "list",
            "data": [{"id": "first", "max_model_len": 4096}, {"id": "second"}],
        }
        self.elsewhere: dict[str, object] = {}
        """Further answers, by path."""
        self.bodies: list[dict[str, object]] = []
        self.keys: list[str | None] = []
        self.asked = anyio.Event()
        self.hung_up = anyio.Event()
        self.app = Starlette(
            routes=[
                Route("/v1/models", self._models),
                Route("/v1/chat/completions", self._chat, methods=["POST"]),
                Route("/{path:path}", self._elsewhere, methods=["GET", "POST"]),
            ]
        )
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._server = uvicorn.Server(uvicorn.Config(self.app, log_level="critical", lifespan="off"))

    async def run(self) -> None:
        await self._server.serve(sockets=[self._socket])

    def stop(self) -> None:
        self._server.should_exit = True
        self._server.force_exit = True

    async def _models(self, request: Request) -> Response:
        self.keys.append(request.headers.get("authorization"))
        return self.models if isinstance(self.models, Response) else JSONResponse(self.models)

    async def _elsewhere(self, request: Request) -> Response:
        found = self.elsewhere.get(request.url.path)
        return PlainTextResponse("no", 404) if found is None else JSONResponse(found)

    async def _chat(self, request: Request) -> Response:
        self.keys.append(request.headers.get("authorization"))
        self.bodies.append(await request.json())
        self.asked.set()
        return await self.answer(request)

    async def endless(self, request: Request) -> Response:
        """Say one word, then nothing, until the other side hangs up."""

        async def body() -> AsyncIterator[str]:
            try:
                yield event({"content": "word "})
                await anyio.sleep_forever()
            finally:
                self.hung_up.set()

        return StreamingResponse(body(), media_type="text/event-stream")

    async def silent(self, request: Request) -> Response:
        """Not even headers: a long prompt is being read."""
        while (await request.receive())["type"] != "http.disconnect":
            pass
        self.hung_up.set()
        return Response()


@pytest.fixture
async def upstream() -> AsyncIterator[Upstream]:
    upstream = Upstream()
    async with anyio.create_task_group() as group:
        group.start_soon(upstream.run)
        yield upstream
        upstream.stop()


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that were waited between tries: none of them pass."""
    seconds: list[float] = []

    async def sleep(delay: float) -> None:
        seconds.append(delay)
        await anyio.lowlevel.checkpoint()

    monkeypatch.setattr(upstream_connection, "sleep", sleep)
    return seconds


@pytest.fixture
async def engine(upstream: Upstream) -> AsyncIterator[RemoteEngine]:
    engine = await load({"url": upstream.url, "key": KEY})
    yield engine
    await engine.close()


async def ask(engine: RemoteEngine, request: ChatRequest = HELLO) -> list[Event]:
    with anyio.fail_after(PATIENCE):
        async with engine.chat(0, request) as events:
            first, *rest = [event async for event in events]
    assert isinstance(first, Started)
    # Exactly one terminal event, and it is the last.
    assert [isinstance(event, Done | Failed) for event in rest] == [False] * (len(rest) - 1) + [True]
    assert KEY not in repr(rest)
    return rest


async def failure(engine: RemoteEngine, request: ChatRequest = HELLO) -> Failed:
    failed = (await ask(engine, request))[-1]
    assert isinstance(failed, Failed)
    return failed


def without_timings(events: list[Event]) -> list[Event]:
    return [Done(e.finish, e.usage, stop=e.stop) if isinstance(e, Done) else e for e in events]


class TestReplies:
    async def test_it_keeps_the_engines_contract(self, engine: RemoteEngine) -> None:
        assert isinstance(engine, ChatEngine)

    async def test_text_streams_and_ends_with_usage(self, upstream: Upstream, engine: RemoteEngine) -> None:
        upstream.answer = pieces(
            event({"role": "assistant"}), event({"content": "Hel"}), event({"content": "lo"}), END
        )
        assert without_timings(await ask(engine)) == [
            Prefilled(None),
            TextDelta("Hel"),
            TextDelta("lo"),
            Done("stop", Usage(5, 2)),
        ]

    async def test_the_request_carries_model_key_and_messages(
        self, upstream: Upstream, engine: RemoteEngine
    ) -> None:
        await ask(engine, ChatRequest((user("hi"),), sampling=Sampling(temperature=0.5)))
        body = upstream.bodies[-1]
        assert (body["model"], body["temperature"]) == ("first", 0.5)
        assert body["messages"] == [{"role": "user", "content": "hi"}]
        assert upstream.keys[-1] == f"Bearer {KEY}"

    async def test_one_engine_serves_every_model_that_requests_name(self, upstream: Upstream) -> None:
        engine = await load({"url": upstream.url, "key": KEY, "several": True})
        upstream.answer = pieces(event({"content": "hello"}), END)
        request = ChatRequest((user("hi"),), model="box/second", upstream_model="second")
        async with engine.chat(0, request) as events:
            started = await anext(events)
            async for _ in events:
                pass
        assert started == Started("box/second", 0)
        assert upstream.bodies[-1]["model"] == "second"
        await engine.close()

    async def test_where_requests_name_the_model_the_start_asks_nothing(self) -> None:
        engine = await load({"url": "http://127.0.0.1:9", "several": True})
        assert engine.card.warnings == ()
        await engine.close()

    @pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
    async def test_reasoning_is_told_apart(self, upstream: Upstream, engine: RemoteEngine, name: str) -> None:
        upstream.answer = pieces(event({name: "hm"}), event({"content": "so"}), END)
        assert (await ask(engine))[:3] == [Prefilled(None), ReasoningDelta("hm"), TextDelta("so")]

    async def test_tool_calls_stream(self, upstream: Upstream, engine: RemoteEngine) -> None:
        begin = {
            "tool_calls": [
                {"index": 0, "id": "c1", "type": "function", "function": {"name": "add", "arguments": ""}}
            ]
        }
        more = {"tool_calls": [{"index": 0, "function": {"arguments": '{"a":1}'}}]}
        upstream.answer = pieces(
            event(begin), event(more), event(finish="tool_calls"), USAGE, "data: [DONE]\n\n"
        )
        request = ChatRequest(
            (
                user("1+1"),
                Message("assistant", tool_calls=(ToolCall("c0", "add", "{}"),)),
                Message("tool", (TextPart("2"),), tool_call_id="c0"),
            ),
            tools=(Tool("add"),),
        )
        assert without_timings(await ask(engine, request)) == [
            Prefilled(None),
            ToolCallDelta(0, "", "c1", "add"),
            ToolCallDelta(0, '{"a":1}'),
            Done("tool_calls", Usage(5, 2)),
        ]
        assert upstream.bodies[-1]["tools"]

    async def test_the_network_may_cut_anywhere(self, upstream: Upstream, engine: RemoteEngine) -> None:
        stream = (": ping\r\n\r\n" + event({"content": "hé漢🎉\u2028"}) + "<b>garbage</b>\n" + END).replace(
            "\n", "\r\n"
        )
        content = stream.encode()
        upstream.answer = pieces(*(content[at : at + 1] for at in range(len(content))))
        assert (await ask(engine))[1] == TextDelta("hé漢🎉\u2028")

    async def test_a_server_that_does_not_stream_is_understood(
        self, upstream: Upstream, engine: RemoteEngine
    ) -> None:
        whole = {"choices": [{"message": {"content": "Hello"}, "finish_reason": "stop"}]}
        upstream.answer = refusal(200, whole)
        events = await ask(engine)
        assert events[1] == TextDelta("Hello")
        assert isinstance(events[-1], Done)
        assert events[-1].usage.estimated

    async def test_a_server_that_hangs_up_instead_of_saying_done_has_ended(
        self, upstream: Upstream, engine: RemoteEngine
    ) -> None:
        upstream.answer = pieces(event({"content": "a"}), event(finish="stop"))
        assert isinstance((await ask(engine))[-1], Done)

    async def test_replies_run_side_by_side(self, upstream: Upstream, engine: RemoteEngine) -> None:
        gathered = anyio.Event()
        waiting = 0

        async def answer(request: Request) -> Response:
            nonlocal waiting
            waiting += 1
            if waiting == 8:
                gathered.set()
            await gathered.wait()
            return await pieces(event({"content": "x"}), END)(request)

        upstream.answer = answer
        async with anyio.create_task_group() as group:
            for _ in range(8):
                group.start_soon(ask, engine)
        assert waiting == 8

    async def test_a_kept_connection_the_upstream_closed_does_no_harm(
        self, upstream: Upstream, engine: RemoteEngine
    ) -> None:
        async def answer(request: Request) -> Response:
            response = await pieces(event({"content": "x"}), END)(request)
            response.headers["connection"] = "close"
            return response

        upstream.answer = answer
        for _ in range(3):
            assert isinstance((await ask(engine))[-1], Done)


class TestLeaving:
    async def test_leaving_closes_the_upstreams_connection(
        self, upstream: Upstream, engine: RemoteEngine
    ) -> None:
        upstream.answer = upstream.endless
        with anyio.fail_after(PATIENCE):
            async with engine.chat(0, HELLO) as events:
                async for event in events:
                    if isinstance(event, TextDelta):
                        break
            await upstream.hung_up.wait()

    async def test_cancelling_a_wait_closes_it_too(self, upstream: Upstream, engine: RemoteEngine) -> None:
        upstream.answer = upstream.endless
        with anyio.fail_after(PATIENCE):
            with anyio.CancelScope() as scope:
                async with engine.chat(0, HELLO) as events:
                    async for event in events:
                        if isinstance(event, TextDelta):
                            # The next wait is for a word that never comes.
                            scope.cancel()
            assert scope.cancelled_caught
            await upstream.hung_up.wait()

    async def test_cancelled_before_the_first_word_it_is_closed(
        self, upstream: Upstream, engine: RemoteEngine
    ) -> None:
        upstream.answer = upstream.silent
        with anyio.fail_after(PATIENCE):
            async with anyio.create_task_group() as group:
                group.start_soon(ask, engine)
                await upstream.asked.wait()
                group.cancel_scope.cancel()
            await upstream.hung_up.wait()

    async def test_the_engine_works_on_after_many_that_left(
        self, upstream: Upstream, engine: RemoteEngine
    ) -> None:
        upstream.answer = upstream.endless
        for _ in range(15):
            async with engine.chat(0, HELLO) as events:
                await anext(events)
                await anext(events)
        upstream.answer = pieces(event({"content": "x"}), END)
        assert isinstance((await ask(engine))[-1], Done)

    async def test_left_before_it_was_begun_nothing_is_asked(
        self, upstream: Upstream, engine: RemoteEngine
    ) -> None:
        async with engine.chat(0, HELLO) as events:
            assert isinstance(await anext(events), Started)
        assert upstream.bodies == []


class TestFailures:
    async def test_an_end_in_the_middle_is_a_failure(self, upstream: Upstream, engine: RemoteEngine) -> None:
        upstream.answer = pieces(event({"content": "a"}))
        events = await ask(engine)
        assert events[1] == TextDelta("a")
        assert isinstance(events[-1], Failed)
        assert "ended the reply in the middle" in events[-1].message

    async def test_a_broken_connection_is_a_failure(self, upstream: Upstream, engine: RemoteEngine) -> None:
        async def answer(request: Request) -> Response:
            # Fewer bytes than promised.
            return StreamingResponse(
                iter([event({"content": "a"}).encode()]), headers={"content-length": "9999"}
            )

        upstream.answer = answer
        assert "broke" in (await failure(engine)).message

    async def test_an_error_event_speaks_in_the_upstreams_words(
        self, upstream: Upstream, engine: RemoteEngine
    ) -> None:
        said = {"error": {"message": f"out of memory (key {KEY})"}}
        upstream.answer = pieces(event({"content": "a"}), "data: " + json.dumps(said) + "\n\n")
        failed = await failure(engine)
        assert (failed.code, failed.status) == ("upstream_failed", 502)
        assert "out of memory (key ***)" in failed.message
        assert upstream.url in failed.message

    @pytest.mark.parametrize("sent", [b"{oops", b'{"choices": "\xff"}', b"[" * 100_000])
    async def test_what_is_not_json_is_a_failure(
        self, upstream: Upstream, engine: RemoteEngine, sent: bytes
    ) -> None:
        upstream.answer = pieces(b"data: " + sent + b"\n\n", END)
        assert "not JSON" in (await failure(engine)).message

    @pytest.mark.parametrize(
        ("status", "body", "code", "ours", "words"),
        [
            (401, {"error": {"message": f"bad key {KEY}"}}, "upstream_refused", 502, "bad key ***"),
            (403, {"detail": "no"}, "upstream_refused", 502, "--upstream-key"),
            (404, {"error": {"message": "model 'first' not found"}}, "model_not_found", 404, "not found"),
            (404, "no such page", "upstream_refused", 400, "no such page"),
            (413, {"error": "request entity too large"}, "context_length_exceeded", 400, "too large"),
            (
                400,
                {"error": {"message": "prompt is too long: 9 > 8"}},
                "context_length_exceeded",
                400,
                "9 > 8",
            ),
            (
                400,
                {"object": "error", "message": "top_k must be 1"},
                "upstream_refused",
                400,
                "top_k must be 1",
            ),
            (422, {"detail": [{"msg": "odd"}]}, "upstream_refused", 400, "odd"),
            (429, {"error": "slow down"}, "busy", 429, "slow down"),
            (500, "Internal\n Server Error", "upstream_failed", 502, "Internal Server Error"),
            (503, {}, "upstream_failed", 502, "503"),
            (500, "x" * 100_000, "upstream_failed", 502, "xxx ..."),
            (500, b'{"error": "caf\xe9"}', "upstream_failed", 502, "caf\ufffd"),
            (
                400,
                {"error": {"message": "This model's maximum context length is 4096 tokens"}},
                "context_length_exceeded",
                400,
                "4096",
            ),
        ],
    )
    async def test_a_refusal_names_the_upstream_and_its_reason(
        self,
        upstream: Upstream,
        engine: RemoteEngine,
        status: int,
        body: object,
        code: str,
        ours: int,
        words: str,
    ) -> None:
        upstream.answer = refusal(status, body)
        failed = await failure(engine)
        assert (failed.code, failed.status) == (code, ours)
        assert upstream.url in failed.message
        assert words in failed.message
        assert len(failed.message) < 700

    async def test_silence_in_the_middle_has_an_end(self, upstream: Upstream) -> None:
        engine = await load({"url": upstream.url, "idle_timeout": 0.05})
        upstream.answer = upstream.endless
        assert "sent nothing" in (await failure(engine)).message
        await engine.close()

    async def test_silence_before_the_first_word_has_another_end(self, upstream: Upstream) -> None:
        engine = await load({"url": upstream.url, "first_timeout": 0.05, "connect_timeout": 0.05})
        upstream.answer = upstream.silent
        assert "sent nothing for 0.05 seconds" in (await failure(engine)).message
        with anyio.fail_after(PATIENCE):
            await upstream.hung_up.wait()
        await engine.close()

    async def test_a_grammar_is_refused_before_anything_is_asked(
        self, upstream: Upstream, engine: RemoteEngine
    ) -> None:
        request = ChatRequest((user("a"),), format=OutputFormat("grammar", grammar="root ::= x"))
        with pytest.raises(Unsupported):
            await ask(engine, request)
        assert upstream.bodies == []


class TestTriedAgain:
    """What the upstream did not begin to answer is sent again, and nothing else."""

    def answers(self, upstream: Upstream, *answers: Answer) -> None:
        waiting = list(answers)

        async def answer(request: Request) -> Response:
            return await waiting.pop(0)(request)

        upstream.answer = answer

    @pytest.mark.parametrize("status", [429, 502, 503, 504])
    async def test_a_busy_upstream_is_asked_again_a_little_later_each_time(
        self, upstream: Upstream, engine: RemoteEngine, waits: list[float], status: int
    ) -> None:
        self.answers(upstream, refusal(status, "wait"), refusal(status, "wait"), pieces(END))
        assert isinstance((await ask(engine))[-1], Done)
        assert len(upstream.bodies) == 3
        first, second = waits
        assert 0.125 <= first <= 0.375
        assert 0.25 <= second <= 0.75

    async def test_in_the_end_its_own_words_are_told(self, upstream: Upstream, engine: RemoteEngine) -> None:
        upstream.answer = refusal(503, {"error": {"message": "Loading model"}})
        failed = await failure(engine)
        assert ("Loading model" in failed.message, len(upstream.bodies)) == (True, 3)

    async def test_it_says_itself_how_long_to_wait(
        self, upstream: Upstream, engine: RemoteEngine, waits: list[float]
    ) -> None:
        async def busy(request: Request) -> Response:
            return JSONResponse({"error": "slow down"}, 429, headers={"Retry-After": "7"})

        self.answers(upstream, busy, pieces(END))
        assert isinstance((await ask(engine))[-1], Done)
        assert waits == [7.0]

    async def test_a_wait_that_nobody_would_sit_through_is_told_instead(
        self, upstream: Upstream, engine: RemoteEngine, waits: list[float]
    ) -> None:
        async def busy(request: Request) -> Response:
            return JSONResponse({"error": "slow down"}, 429, headers={"Retry-After": "3600"})

        upstream.answer = busy
        failed = await failure(engine)
        assert (failed.code, failed.status, failed.retry_after, waits) == ("busy", 429, 3600.0, [])

    @pytest.mark.parametrize("status", [400, 401, 404, 422, 500])
    async def test_a_refusal_is_not_repeated(
        self, upstream: Upstream, engine: RemoteEngine, status: int
    ) -> None:
        upstream.answer = refusal(status, "no")
        await failure(engine)
        assert len(upstream.bodies) == 1

    async def test_a_reply_that_has_begun_is_not_repeated(
        self, upstream: Upstream, engine: RemoteEngine
    ) -> None:
        upstream.answer = pieces(event({"content": "a"}))
        await failure(engine)
        assert len(upstream.bodies) == 1

    async def test_without_retries_it_is_asked_once(self, upstream: Upstream, waits: list[float]) -> None:
        engine = await load({"url": upstream.url, "retries": 0})
        upstream.answer = refusal(503, "wait")
        await failure(engine)
        assert (len(upstream.bodies), waits) == (1, [])
        await engine.close()

    async def test_an_upstream_that_cannot_be_reached_is_tried_too(self, waits: list[float]) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
        engine = await load({"url": f"http://127.0.0.1:{port}", "model": "m"})
        assert (await failure(engine)).code == "upstream_unreachable"
        assert len(waits) == 2
        await engine.close()

    async def test_leaving_while_it_waits_ends_the_tries(
        self, upstream: Upstream, engine: RemoteEngine, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        waiting = anyio.Event()

        async def sleep(delay: float) -> None:
            waiting.set()
            await anyio.sleep_forever()

        monkeypatch.setattr(upstream_connection, "sleep", sleep)
        upstream.answer = refusal(503, "wait")
        with anyio.fail_after(PATIENCE):
            async with anyio.create_task_group() as group:
                group.start_soon(ask, engine)
                await waiting.wait()
                group.cancel_scope.cancel()
        assert len(upstream.bodies) == 1


class TestLoading:
    async def test_the_first_model_is_taken_and_its_context_told(self, engine: RemoteEngine) -> None:
        card = engine.card
        assert (card.name, card.engine, card.context, card.slots) == ("first", "remote", 4096, 8)
        assert card.warnings == ()
        assert "length_penalty" not in card.sampling

    @pytest.mark.parametrize("suffix", ["", "/", "/v1", "/v1/"])
    async def test_the_url_may_end_in_v1_or_not(self, upstream: Upstream, suffix: str) -> None:
        engine = await load(
            {"url": upstream.url + suffix, "model": "second", "slots": 2, "context": 999, "name": "far"}
        )
        assert isinstance((await ask(engine))[-1], Done)
        assert (engine.card.name, engine.card.context, engine.card.slots) == ("far", 999, 2)
        assert upstream.bodies[-1]["model"] == "second"
        await engine.close()

    async def test_a_url_without_a_scheme_is_http(self, upstream: Upstream) -> None:
        engine = await load({"url": upstream.url.removeprefix("http://")})
        assert engine.card.name == "first"
        await engine.close()

    async def test_a_model_the_upstream_does_not_name_is_a_warning(self, upstream: Upstream) -> None:
        engine = await load({"url": upstream.url, "model": "third"})
        assert "'third'" in engine.card.warnings[0]
        assert "first, second" in engine.card.warnings[0]
        await engine.close()

    async def test_an_upstream_that_is_down_is_a_warning_and_then_a_sentence(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
        url = f"http://user:{KEY}@127.0.0.1:{port}"
        engine = await load({"url": url, "key": "other-secret", "model": "m"})
        for sentence in (engine.card.warnings[0], (await failure(engine)).message):
            assert f"http://127.0.0.1:{port}/v1 cannot be reached" in sentence
            assert "Check that it runs" in sentence
            assert KEY not in sentence
        await engine.close()

    async def test_an_upstream_that_comes_up_later_is_asked_for_its_model_then(
        self, upstream: Upstream
    ) -> None:
        models, upstream.models = upstream.models, JSONResponse({"error": "starting"}, 503)
        engine = await load({"url": upstream.url})
        assert "starting" in engine.card.warnings[0]
        assert "starting" in (await failure(engine)).message
        upstream.models = models
        assert isinstance((await ask(engine))[-1], Done)
        assert upstream.bodies[-1]["model"] == "first"
        await engine.close()

    async def test_an_upstream_without_models_says_so(self, upstream: Upstream) -> None:
        upstream.models = {"data": []}
        engine = await load({"url": upstream.url})
        assert "lists no models" in engine.card.warnings[0]
        assert "no model loaded" in (await failure(engine)).message
        await engine.close()

    @pytest.mark.parametrize("sent", [b"<html>", b'{"data": [{"id": "\xff"}]}'])
    async def test_what_is_not_json_is_no_list_of_models(self, upstream: Upstream, sent: bytes) -> None:
        upstream.models = PlainTextResponse(sent)
        engine = await load({"url": upstream.url})
        assert "does not list its models" in engine.card.warnings[0]
        await engine.close()

    async def test_an_upstream_that_does_not_answer_does_not_hold_up_the_start(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(known_model, "MODELS_TIMEOUT", 0.05)
        with socket.create_server(("127.0.0.1", 0)) as deaf:
            engine = await load({"url": f"http://127.0.0.1:{deaf.getsockname()[1]}"})
            assert "does not answer" in engine.card.warnings[0]
            await engine.close()

    @pytest.mark.parametrize(
        ("options", "sentence"),
        [
            ({"url": "ftp://x"}, "not the URL of a server"),
            ({"url": ""}, "not the URL of a server"),
            ({}, "url"),
            ({"url": "http://x", "slots": 0}, "slots"),
            ({"url": "http://x", "modell": "m"}, "Did you mean 'model'"),
        ],
    )
    async def test_a_wrong_option_is_a_sentence(self, options: dict[str, object], sentence: str) -> None:
        with pytest.raises(StartFailed, match=sentence):
            await load(options)


class TestAskedAgain:
    """An upstream comes and goes while the server runs, and its model may change."""

    @staticmethod
    async def next_card(
        engine: RemoteEngine, act: Callable[[], Awaitable[object]] = anyio.lowlevel.checkpoint
    ) -> ModelCard:
        """The first card that watching reports, after `act`."""
        cards: list[ModelCard] = []
        with anyio.fail_after(PATIENCE):
            async with anyio.create_task_group() as tasks:

                def changed(card: ModelCard) -> None:
                    cards.append(card)
                    tasks.cancel_scope.cancel()

                tasks.start_soon(engine.watch, changed)
                # It waits after its first turn. `wait_all_tasks_blocked` looks every 0.1 s and uvicorn's own clock ticks every 0.1 s: once
                # a busy machine has put both into one turn of the loop, it never finds uvicorn asleep.
                await anyio.lowlevel.checkpoint()
                await act()
        return cards[0]

    async def test_its_model_is_known_and_named_once_it_answers(
        self, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(remote_module, "EVERY_WHILE_DOWN", 0.01)
        listed = {"data": [{"id": "m", "owned_by": "library"}]}
        upstream.models = JSONResponse({"error": "starting"}, 503)
        upstream.elsewhere["/api/show"] = {"capabilities": ["completion", "vision"]}
        engine = await load({"url": upstream.url})
        assert (engine.card.name, engine.card.untold) == ("127.0.0.1", ("image",))
        upstream.models = listed
        card = await self.next_card(engine)
        assert (card.name, card.modalities, card.warnings) == ("m", ("text", "image"), ())
        assert engine.card == card
        await engine.close()

    async def test_what_its_model_can_do_is_asked_at_intervals(
        self, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(remote_module, "EVERY", 0.01)
        engine = await load({"url": upstream.url})
        upstream.models = {"data": [{"id": "first", "max_model_len": 8192, "input_modalities": ["image"]}]}
        card = await self.next_card(engine)
        assert (card.context, card.modalities) == (8192, ("text", "image"))
        await engine.close()

    async def test_a_reply_that_finds_it_back_has_it_asked_at_once(self, upstream: Upstream) -> None:
        models, upstream.models = upstream.models, JSONResponse({"error": "starting"}, 503)
        engine = await load({"url": upstream.url, "model": "first"})
        assert engine.card.warnings
        upstream.models = models
        card = await self.next_card(engine, lambda: ask(engine))
        assert (card.warnings, card.context) == ((), 4096)
        await engine.close()

    async def test_a_reply_that_cannot_reach_it_has_it_asked_at_once(self) -> None:
        upstream = Upstream()
        async with anyio.create_task_group() as running:
            running.start_soon(upstream.run)
            engine = await load({"url": upstream.url})
            upstream.stop()
        card = await self.next_card(engine, lambda: failure(engine))
        assert "cannot be reached" in card.warnings[0]
        assert card.context == 4096, "what it said before holds"
        await engine.close()

    async def test_the_models_of_a_connected_server_are_the_gateways_to_ask(self, upstream: Upstream) -> None:
        engine = await load({"url": upstream.url, "several": True})
        await engine.watch(lambda card: None)
        assert upstream.keys == []
        await engine.close()


class TestWhatAModelTakes:
    """Nothing is claimed: the upstream says it, or the settings do."""

    async def card(self, upstream: Upstream, **options: object) -> ModelCard:
        engine = await load({"url": upstream.url, **options})
        await engine.close()
        return engine.card

    async def test_of_a_model_that_nobody_speaks_of_only_text_is_known_and_a_picture_is_tried(
        self, upstream: Upstream
    ) -> None:
        card = await self.card(upstream)
        assert (card.modalities, card.untold, card.outputs) == (("text",), ("image",), ("text",))

    async def test_a_list_that_says_it_is_believed(self, upstream: Upstream) -> None:
        architecture = {
            "input_modalities": ["text", "audio", "video"],
            "output_modalities": ["text", "audio"],
        }
        upstream.models = {"data": [{"id": "omni", "context_length": 9, "architecture": architecture}]}
        card = await self.card(upstream)
        assert (card.modalities, card.untold) == (("text", "audio", "video"), ())
        assert (card.outputs, card.context) == (("text", "audio"), 9)

    @pytest.mark.parametrize(
        ("owner", "path", "answer", "takes"),
        [
            ("library", "/api/show", {"capabilities": ["completion", "vision"]}, ("text", "image")),
            ("library", "/api/show", {"capabilities": ["completion"]}, ("text",)),
            (
                "organization_owner",
                "/api/v0/models",
                {"data": [{"id": "m", "type": "vlm"}]},
                ("text", "image"),
            ),
            ("organization_owner", "/api/v0/models", {"data": [{"id": "m", "type": "llm"}]}, ("text",)),
            (
                "llamacpp",
                "/props",
                {"modalities": {"vision": True, "audio": True}},
                ("text", "image", "audio"),
            ),
        ],
    )
    async def test_servers_that_say_it_elsewhere_are_asked_there(
        self, upstream: Upstream, owner: str, path: str, answer: object, takes: tuple[str, ...]
    ) -> None:
        upstream.models = {"data": [{"id": "m", "owned_by": owner}]}
        upstream.elsewhere[path] = answer
        card = await self.card(upstream)
        assert (card.modalities, card.untold) == (takes, ())

    async def test_the_settings_say_what_the_upstream_does_not(self, upstream: Upstream) -> None:
        card = await self.card(upstream, modalities=["audio", "text"], outputs=["audio"])
        assert (card.modalities, card.untold, card.outputs) == (("text", "audio"), (), ("text", "audio"))

    async def test_the_kind_of_server_decides_what_it_is_sent(self, upstream: Upstream) -> None:
        upstream.models = {"data": [{"id": "m", "owned_by": "vllm"}]}
        card = await self.card(upstream)
        assert {"tool_choice", "continue"} <= set(card.verbs)
        assert "mirostat" in (await self.card(upstream, kind="llamacpp")).sampling


class TestRawText:
    """An upstream that leaves thoughts and tool calls in its text; more in `test_raw_text.py`."""

    REQUEST = ChatRequest((user("1+1"),), tools=(Tool("add"),))
    CALL = '<tool_call>\n{"name": "add", "arguments": {"a": 1}}\n</tool_call>'

    async def test_they_become_fields(self, upstream: Upstream, engine: RemoteEngine) -> None:
        upstream.answer = pieces(
            *(event({"content": letter}) for letter in f"<think>Hm.</think>{self.CALL}"), END
        )
        events = await ask(engine, self.REQUEST)
        calls = [each for each in events if isinstance(each, ToolCallDelta)]
        assert "".join(each.text for each in events if isinstance(each, ReasoningDelta)) == "Hm."
        assert (calls[0].name, "".join(each.arguments for each in calls)) == ("add", '{"a": 1}')
        assert not [each for each in events if isinstance(each, TextDelta)]
        assert isinstance(events[-1], Done)
        assert events[-1].finish == "tool_calls"

    async def test_a_call_that_is_cut_off_ends_in_length(
        self, upstream: Upstream, engine: RemoteEngine
    ) -> None:
        upstream.answer = pieces(event({"content": self.CALL[:-30]}), END)
        done = (await ask(engine, self.REQUEST))[-1]
        assert isinstance(done, Done)
        assert done.finish == "length"

    async def test_calls_in_a_field_of_their_own_win_and_follow(
        self, upstream: Upstream, engine: RemoteEngine
    ) -> None:
        function = {"name": "add", "arguments": "{}"}
        native = {"tool_calls": [{"index": 0, "id": "c1", "function": function}]}
        upstream.answer = pieces(
            event({"content": self.CALL}), event(native), event({"content": self.CALL}), END
        )
        events = await ask(engine, self.REQUEST)
        begun = [(each.index, each.id) for each in events if isinstance(each, ToolCallDelta) if each.id]
        assert [index for index, _ in begun] == [0, 1]
        assert begun[1][1] == "c1"
        assert TextDelta(self.CALL) in events

    async def test_after_the_one_call_that_is_allowed_the_upstream_is_left(
        self, upstream: Upstream, engine: RemoteEngine
    ) -> None:
        hung_up = anyio.Event()

        async def answer(request: Request) -> Response:
            async def body() -> AsyncIterator[str]:
                try:
                    yield event({"content": self.CALL})
                    await anyio.sleep_forever()
                finally:
                    hung_up.set()

            return StreamingResponse(body(), media_type="text/event-stream")

        upstream.answer = answer
        done = (await ask(engine, msgspec.structs.replace(self.REQUEST, parallel_tool_calls=False)))[-1]
        assert isinstance(done, Done)
        assert done.finish == "tool_calls"
        with anyio.fail_after(PATIENCE):
            await hung_up.wait()

    async def test_the_settings_say_how_a_model_writes(self, upstream: Upstream) -> None:
        engine = await load({"url": upstream.url, "tool_format": "llama3_json", "kind": "vllm"})
        upstream.answer = pieces(event({"content": '{"name": "add", "parameters": {}}'}), END)
        events = await ask(engine, self.REQUEST)
        assert any(isinstance(each, ToolCallDelta) for each in events)
        # Without a parser of its own vLLM refuses `auto`, and offers the tools with `none`.
        assert upstream.bodies[-1]["tool_choice"] == "none"
        await engine.close()

    async def test_a_vllm_that_reads_no_calls_is_asked_to_leave_them_in_the_text(
        self, upstream: Upstream
    ) -> None:
        said = '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'

        async def answer(request: Request) -> Response:
            if upstream.bodies[-1].get("tool_choice") != "none":
                return JSONResponse({"error": {"message": said}}, 400)
            return await pieces(event({"content": self.CALL}), END)(request)

        upstream.answer = answer
        engine = await load({"url": upstream.url, "kind": "vllm"})
        for _ in range(2):
            assert any(isinstance(each, ToolCallDelta) for each in await ask(engine, self.REQUEST))
        assert [body.get("tool_choice") for body in upstream.bodies] == [None, "none", "none"]
        await engine.close()
        engine = await load({"url": upstream.url, "kind": "vllm", "tool_format": "none"})
        assert said in (await failure(engine, self.REQUEST)).message
        await engine.close()

    async def test_an_admin_says_it_for_each_model_of_a_connected_server(self, upstream: Upstream) -> None:
        engine = await load({"url": upstream.url, "several": True})
        upstream.answer = pieces(event({"content": "Hm.</think>Two."}), END)
        raw = RawFormat(opens_thoughts=True)
        request = ChatRequest((user("1+1"),), upstream_model="m", upstream_format=raw)
        assert (await ask(engine, request))[1:3] == [ReasoningDelta("Hm."), TextDelta("Two.")]
        await engine.close()

    async def test_a_format_that_nobody_knows_fails_at_the_start(self, upstream: Upstream) -> None:
        with pytest.raises(StartFailed, match="tool-call format called 'nobody'"):
            await load({"url": upstream.url, "tool_format": "nobody"})


async def test_texts_in_a_bias_reach_a_server_as_the_ids_that_it_tells(upstream: Upstream) -> None:
    upstream.elsewhere["/tokenize"] = {"tokens": [7]}
    engine = await load({"url": upstream.url, "kind": "vllm"})
    await ask(engine, ChatRequest((user("hi"),), sampling=Sampling(logit_bias={"*": -100.0, "3": 1.0})))
    assert upstream.bodies[-1]["logit_bias"] == {"3": 1.0, "7": -100.0}
    del upstream.elsewhere["/tokenize"]
    failed = await failure(engine, ChatRequest((user("hi"),), sampling=Sampling(logit_bias={"#": -1.0})))
    assert (failed.code, failed.param) == ("unsupported", "logit_bias")
    await engine.close()


class TestPartsAndSound:
    async def test_a_part_that_the_upstream_refuses_is_named(
        self, upstream: Upstream, engine: RemoteEngine
    ) -> None:
        upstream.answer = refusal(400, {"error": {"message": "m is not a multimodal model"}})
        request = ChatRequest((Message("user", (TextPart("look"), ImagePart(b"png"))),))
        failed = await failure(engine, request)
        assert (failed.code, failed.status) == ("modality_unsupported", 400)
        assert failed.param == "messages[0].content[1]"
        assert "m is not a multimodal model" in failed.message

    async def test_a_large_video_arrives_whole(self, upstream: Upstream, engine: RemoteEngine) -> None:
        video = bytes(range(256)) * 4096
        await ask(engine, ChatRequest((Message("user", (VideoPart(video),)),)))
        messages: Any = upstream.bodies[-1]["messages"]
        _, _, data = messages[0]["content"][0]["video_url"]["url"].partition(",")
        assert base64.b64decode(data) == video

    async def test_a_model_that_speaks_streams_its_sound(
        self, upstream: Upstream, engine: RemoteEngine
    ) -> None:
        pcm = bytes(range(240)) * 3
        parts = [
            event({"audio": {"id": "a", "transcript": "Hello"}}),
            event({"audio": {"data": base64.b64encode(pcm[:300]).decode()}}),
            event({"audio": {"data": base64.b64encode(pcm[300:]).decode()}}),
            event({"audio": {"id": "a", "expires_at": 1}}),
        ]
        upstream.answer = pieces(*parts, END)
        events = await ask(engine, ChatRequest((user("hi"),), speak_as="echo"))
        assert upstream.bodies[-1]["audio"] == {"format": "pcm16", "voice": "echo"}
        assert [each.text for each in events if isinstance(each, TextDelta)] == ["Hello"]
        assert b"".join(each.pcm for each in events if isinstance(each, AudioDelta)) == pcm

    async def test_sound_that_cannot_be_read_is_the_upstreams_fault(
        self, upstream: Upstream, engine: RemoteEngine
    ) -> None:
        upstream.answer = pieces(event({"audio": {"data": "!"}}), END)
        failed = await failure(engine, ChatRequest((user("hi"),), speak_as=""))
        assert (failed.code, failed.status) == ("upstream_failed", 502)
        assert "sound that is not base64" in failed.message

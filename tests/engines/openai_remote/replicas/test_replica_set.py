"""Several servers with one model behind the engine, over real sockets."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, aclosing
from typing import Literal

import anyio
import pytest
from tests.support.inference_server import CONTEXT, InferenceServer, Kind

from duologue.engines.openai_remote import engine as remote
from duologue.engines.openai_remote import upstream_connection
from duologue.engines.openai_remote.engine import RemoteEngine, load
from duologue.engines.openai_remote.replicas import replica_set
from duologue.errors import NotFound, StartFailed
from duologue.notifier import Notifier
from duologue.values.embeddings.vectors import EmbeddingRequest
from duologue.values.events import Done, Event, Failed, ReasoningDelta, TextDelta
from duologue.values.messages import Message, TextPart, user
from duologue.values.requests import ChatRequest, ModelCard, Replica

pytestmark = pytest.mark.anyio
LONG = 60.0


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    seconds: list[float] = []

    async def sleep(delay: float) -> None:
        seconds.append(delay)
        await anyio.lowlevel.checkpoint()

    monkeypatch.setattr(upstream_connection, "sleep", sleep)
    monkeypatch.setattr(replica_set, "POLL_SECONDS", 0.02)
    return seconds


@pytest.fixture
async def servers() -> AsyncIterator[list[InferenceServer]]:
    async with AsyncExitStack() as stack:
        made = [InferenceServer() for _ in range(3)]
        for server in made:
            await stack.enter_async_context(server.serving())
        yield made


async def engine_of(servers: list[InferenceServer], **options: object) -> RemoteEngine:
    first, *others = (server.url for server in servers)
    return await load({"url": first, "replicas": others, "slots": 4, **options})


def talk(*texts: str) -> ChatRequest:
    roles: tuple[Literal["user", "assistant"], ...] = ("user", "assistant")
    return ChatRequest(
        tuple(Message(roles[number % 2], (TextPart(text),)) for number, text in enumerate(texts))
    )


async def ask(engine: RemoteEngine, request: ChatRequest) -> list[Event]:
    with anyio.fail_after(LONG):
        async with engine.chat(0, request) as events:
            return [event async for event in events]


async def failure(engine: RemoteEngine, request: ChatRequest) -> Failed:
    last = (await ask(engine, request))[-1]
    assert isinstance(last, Failed)
    return last


def served(servers: list[InferenceServer]) -> list[int]:
    return [len(server.chats) for server in servers]


def states(card: ModelCard) -> list[str]:
    return [replica.state for replica in card.replicas]


class TestOneName:
    async def test_the_slots_of_all_servers_are_those_of_the_model(
        self, servers: list[InferenceServer]
    ) -> None:
        engine = await engine_of(servers)
        assert (engine.card.slots, engine.card.context, engine.card.name) == (12, CONTEXT, "qwen")
        assert engine.card.replicas == tuple(Replica(f"{server.url}/v1") for server in servers)
        await engine.close()

    async def test_one_server_is_asked_nothing_more_than_before(self, servers: list[InferenceServer]) -> None:
        engine = await engine_of(servers[:1])
        await ask(engine, talk("hello"))
        assert servers[0].paths == ["/v1/models"]
        assert (engine.card.slots, engine.card.replicas) == (4, ())
        await engine.close()

    async def test_an_address_that_is_there_twice_is_refused(self) -> None:
        with pytest.raises(StartFailed, match="same address"):
            await load({"url": "http://127.0.0.1:1", "replicas": ["http://127.0.0.1:1/v1"]})

    async def test_a_conversation_stays_where_its_beginning_was_read(
        self, servers: list[InferenceServer]
    ) -> None:
        engine = await engine_of(servers)
        texts = ["system and question"]
        cached = []
        for turn in range(5):
            done = (await ask(engine, talk(*texts)))[-1]
            assert isinstance(done, Done)
            cached.append(done.usage.cached)
            texts += ["Hello", f"question {turn}"]
        assert sorted(served(servers)) == [0, 0, 5]
        assert cached[0] == 0
        assert all(tokens > 0 for tokens in cached[1:])
        await engine.close()

    async def test_conversations_spread(self, servers: list[InferenceServer]) -> None:
        engine = await engine_of(servers)
        for number in range(60):
            await ask(engine, talk(f"question {number}"))
        assert min(served(servers)) >= 5
        await engine.close()

    async def test_running_replies_are_spread_even_if_all_ask_the_same(
        self, servers: list[InferenceServer]
    ) -> None:
        engine = await engine_of(servers)
        for server in servers:
            server.held = anyio.Event()
        with anyio.fail_after(LONG):
            async with anyio.create_task_group() as tasks:
                for _ in range(12):
                    tasks.start_soon(ask, engine, talk("the same"))
                for server in servers * 4:
                    await server.arrived.acquire()
                assert [server.running for server in servers] == [4, 4, 4]
                for server in servers:
                    assert server.held is not None
                    server.held.set()
        await engine.close()

    async def test_vectors_go_to_a_server_that_takes_them(self, servers: list[InferenceServer]) -> None:
        engine = await engine_of(servers)
        servers[0].status = servers[1].status = 503
        async with aclosing(engine.embed(0, EmbeddingRequest(("a", "b"), model="qwen"))) as batches:
            assert [len(batch.vectors) async for batch in batches] == [2]
        assert served(servers) == [0, 0, 1]
        await engine.close()


class TestAnotherServer:
    async def test_one_that_cannot_be_reached_costs_no_reply(self, waits: list[float]) -> None:
        away, here = InferenceServer(), InferenceServer()
        away.reserve()
        async with here.serving():
            engine = await engine_of([away, here])
            assert states(engine.card) == ["down", "ready"]
            assert "gets no requests: it cannot be reached" in engine.card.warnings[-1]
            for number in range(10):
                assert isinstance((await ask(engine, talk(f"question {number}")))[-1], Done)
            assert (len(here.chats), waits) == (10, [])
            await engine.close()

    @pytest.mark.parametrize("status", [429, 502, 503, 504])
    async def test_one_that_does_not_begin_is_followed_by_another_at_once(
        self, servers: list[InferenceServer], status: int, waits: list[float]
    ) -> None:
        engine = await engine_of(servers)
        servers[0].status = servers[1].status = status
        for number in range(6):
            assert isinstance((await ask(engine, talk(f"question {number}")))[-1], Done)
        assert (len(servers[2].chats), waits) == (6, [])
        await engine.close()

    async def test_a_busy_one_is_left_alone_for_as_long_as_it_says(
        self, servers: list[InferenceServer]
    ) -> None:
        engine = await engine_of(servers)
        servers[0].status, servers[0].headers = 429, {"retry-after": "25"}
        for number in range(30):
            assert isinstance((await ask(engine, talk(f"question {number}")))[-1], Done)
        assert len(servers[0].chats) == 1
        await engine.close()

    @pytest.mark.parametrize("how", ["first", "told"])
    async def test_a_reply_lost_before_its_first_token_is_tried_once_elsewhere(
        self, servers: list[InferenceServer], how: str
    ) -> None:
        engine = await engine_of(servers)
        for server in servers:
            server.breaks = how  # type: ignore[assignment]
        assert (await failure(engine, talk("hello"))).code == "upstream_failed"
        assert sorted(served(servers)) == [0, 1, 1]
        await engine.close()

    async def test_a_reply_lost_before_its_first_token_arrives(self, servers: list[InferenceServer]) -> None:
        engine = await engine_of(servers)
        servers[0].breaks = servers[1].breaks = "first"
        servers[1].status = 503
        done = [(await ask(engine, talk(f"question {number}")))[-1] for number in range(9)]
        assert all(isinstance(event, Done) for event in done)
        await engine.close()

    async def test_after_the_first_token_nothing_is_repeated(self, servers: list[InferenceServer]) -> None:
        engine = await engine_of(servers)
        for server in servers:
            server.breaks = "middle"
        events = await ask(engine, talk("hello"))
        assert isinstance(events[-1], Failed)
        assert [event.text for event in events if isinstance(event, TextDelta)] == ["Hello"]
        assert sum(served(servers)) == 1
        await engine.close()

    async def test_a_request_that_is_refused_goes_to_nobody_else(
        self, servers: list[InferenceServer]
    ) -> None:
        engine = await engine_of(servers)
        assert (await failure(engine, talk("x" * 5 * CONTEXT))).code == "context_length_exceeded"
        assert sum(served(servers)) == 1
        await engine.close()

    async def test_when_all_fail_each_is_tried_as_often_as_the_settings_say(
        self, servers: list[InferenceServer], waits: list[float]
    ) -> None:
        engine = await engine_of(servers, retries=2)
        for server in servers:
            server.status = 503
        assert (await failure(engine, talk("hello"))).code == "upstream_failed"
        assert (served(servers), len(waits)) == ([3, 3, 3], 2)
        await engine.close()

    async def test_where_all_are_out_of_reach_the_error_says_so(self) -> None:
        away = [InferenceServer(), InferenceServer()]
        for server in away:
            server.reserve()
        engine = await engine_of(away)
        assert (await failure(engine, talk("hello"))).code == "upstream_unreachable"
        await engine.close()


class Cards:
    """The cards that an engine reports while it is watched."""

    def __init__(self, engine: RemoteEngine) -> None:
        self.engine = engine
        self.seen: list[ModelCard] = []
        self._changed = Notifier()

    async def watch(self) -> None:
        await self.engine.watch(self._see)

    def _see(self, card: ModelCard) -> None:
        self.seen.append(card)
        self._changed.notify()

    async def until(self, expected: list[str]) -> None:
        """Wait until these are the states."""
        with anyio.fail_after(LONG):
            while states(self.engine.card) != expected:
                await self._changed.wait()


class TestHealth:
    @pytest.mark.parametrize("kind", ["vllm", "sglang", "llamacpp", "ray", "ollama"])
    async def test_a_sick_server_gets_nothing_and_comes_back_by_itself(self, kind: Kind) -> None:
        sick, well = InferenceServer(kind), InferenceServer(kind)
        async with sick.serving(), well.serving(), anyio.create_task_group() as tasks:
            engine = await engine_of([sick, well])
            cards = Cards(engine)
            tasks.start_soon(cards.watch)
            sick.healthy = False
            await cards.until(["down", "ready"])
            for number in range(10):
                await ask(engine, talk(f"question {number}"))
            assert (len(sick.chats), len(well.chats)) == (0, 10)
            sick.healthy = True
            await cards.until(["ready", "ready"])
            for number in range(20):
                await ask(engine, talk(f"question {number}"))
            assert len(sick.chats) > 0
            assert [states(card) for card in cards.seen] == [["down", "ready"], ["ready", "ready"]]
            tasks.cancel_scope.cancel()
        await engine.close()

    async def test_one_that_lost_the_model_is_sick(self, servers: list[InferenceServer]) -> None:
        engine = await engine_of(servers)
        async with anyio.create_task_group() as tasks:
            cards = Cards(engine)
            tasks.start_soon(cards.watch)
            servers[1].model = "other"
            await cards.until(["ready", "down", "ready"])
            assert "does not list the model 'qwen'" in engine.card.replicas[1].reason
            tasks.cancel_scope.cancel()
        await engine.close()

    async def test_one_that_others_keep_busy_gets_less(self, servers: list[InferenceServer]) -> None:
        servers[0].others, servers[0].waiting = 40, 7
        engine = await engine_of(servers)
        for number in range(30):
            await ask(engine, talk(f"question {number}"))
        assert served(servers)[0] == 0
        await engine.close()

    async def test_a_drained_server_ends_what_runs_and_gets_nothing_new(
        self, servers: list[InferenceServer]
    ) -> None:
        engine = await engine_of(servers)
        async with anyio.create_task_group() as tasks:
            cards = Cards(engine)
            tasks.start_soon(cards.watch)
            engine.drain_replica(f"{servers[0].url}/v1", True)
            await cards.until(["draining", "ready", "ready"])
            for number in range(20):
                await ask(engine, talk(f"question {number}"))
            assert served(servers)[0] == 0
            engine.drain_replica(f"{servers[0].url}/v1", False)
            await cards.until(["ready", "ready", "ready"])
            tasks.cancel_scope.cancel()
        await engine.close()

    async def test_where_all_are_drained_requests_are_told(self, servers: list[InferenceServer]) -> None:
        engine = await engine_of(servers, drained=[f"{server.url}/v1" for server in servers])
        failed = await failure(engine, talk("hello"))
        assert (failed.code, "are drained" in failed.message) == ("model_unavailable", True)
        await engine.close()

    async def test_only_a_server_among_several_can_be_drained(self, servers: list[InferenceServer]) -> None:
        engine = await engine_of(servers[:1])
        with pytest.raises(NotFound, match="no replica"):
            engine.drain_replica(f"{servers[0].url}/v1", True)
        await engine.close()


@pytest.mark.parametrize("kind", ["vllm", "sglang", "ray", "llamacpp", "ollama"])
async def test_what_each_server_says_is_understood(kind: Kind) -> None:
    async with InferenceServer(kind).serving() as server:
        engine = await load({"url": server.url})
        assert engine.card.context == (CONTEXT if kind in ("vllm", "sglang", "llamacpp") else 0)
        await ask(engine, talk("hello"))
        events = await ask(engine, talk("hello", "Hello", "more"))
        assert [event.text for event in events if isinstance(event, ReasoningDelta)] == ["Hm."]
        assert [event.text for event in events if isinstance(event, TextDelta)] == ["Hello"]
        done = events[-1]
        assert isinstance(done, Done)
        assert (done.usage.output, done.usage.estimated) == (2, False)
        assert done.usage.cached == (0 if kind == "ollama" else len("hello"))
        failed = await failure(engine, ChatRequest((user("x" * 5 * CONTEXT),)))
        assert failed.code == "context_length_exceeded"
        await engine.close()


def test_several_servers_are_asked_more_often_than_one() -> None:
    assert replica_set.POLL_SECONDS < remote.EVERY_WHILE_DOWN

"""The gateway's end of the internal protocol, against a worker that is a WebSocket server in the test."""

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest
from websockets.asyncio.server import ServerConnection, serve

from duologue.errors import Busy, Problem, Unavailable, WorkerLost
from duologue.gateway.workers.connection import LeaseInbox, Stream, WorkerConnection
from duologue.gateway.workers.local_transport import LocalTransport
from duologue.notifier import Notifier
from duologue.values.call_events import Played
from duologue.values.events import ENGINE_STALLED, STOPPING, WORKER_LOST, Done, Failed, TextDelta
from duologue.values.messages import ImagePart, Message, user
from duologue.values.questions.worker_answers import Counted
from duologue.values.questions.worker_questions import CountPrompt
from duologue.values.requests import ChatRequest, Sampling
from duologue.wire import worker_protocol

pytestmark = pytest.mark.anyio
REQUEST = ChatRequest((user("hello"),))


class Peer:
    """A worker seen from its sockets: what it received, and a hand to answer with."""

    def __init__(self) -> None:
        self.received: list[worker_protocol.Down] = []
        self.paths: list[str] = []
        self.authorization: list[str | None] = []
        self.live: ServerConnection | None = None
        self.losses: list[int] = []
        self._joiner = worker_protocol.FragmentJoiner()
        self._notifier = Notifier()

    async def __call__(self, socket: ServerConnection) -> None:
        assert socket.request is not None
        self.paths.append(socket.request.path)
        self.authorization.append(socket.request.headers.get("Authorization"))
        if socket.request.path == "/live":
            self.live = socket
        self._notifier.notify()
        async for frame in socket:
            assert isinstance(frame, bytes)
            assert len(frame) < 2 * worker_protocol.PIECE
            for message in worker_protocol.decode_down(frame):
                if isinstance(message, worker_protocol.Fragment):
                    if (whole := self._joiner.add(message)) is not None:
                        self.received.extend(worker_protocol.decode_down(whole))
                else:
                    self.received.append(message)
            self._notifier.notify()

    async def until(self, true: Callable[[], bool]) -> None:
        with anyio.fail_after(60):
            while not true():
                await self._notifier.wait()

    async def send(self, *messages: worker_protocol.Up) -> None:
        assert self.live is not None
        await self.live.send(worker_protocol.encode(messages))


class RecordedConnection(WorkerConnection):
    """A connection that remembers the streams it began."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.streams: list[Stream] = []

    def begin(self, *args: Any) -> Stream:
        self.streams.append(super().begin(*args))
        return self.streams[-1]


async def connected(
    body: Callable[[Peer, WorkerConnection], Awaitable[None]],
    **options: Any,
) -> list[worker_protocol.Report]:
    reports: list[worker_protocol.Report] = []
    peer = Peer()
    async with serve(peer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        connection: RecordedConnection = RecordedConnection(
            LocalTransport(f"127.0.0.1:{port}", "secret"),
            reports.append,
            lambda: peer.losses.append(sum(not stream.closed for stream in connection.streams)),
            **options,
        )
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(connection.run)
            await peer.until(lambda: len(peer.paths) == 2)
            await body(peer, connection)
            tasks.cancel_scope.cancel()
    return reports


def begin(
    connection: WorkerConnection, inbox: LeaseInbox, closed: list[Stream], request: ChatRequest = REQUEST
) -> Stream:
    return connection.begin(3, 0, request, inbox, "r1", closed.append)


async def test_both_sockets_are_opened_with_the_secret():
    async def body(peer, connection):
        assert sorted(peer.paths) == ["/bulk", "/live"]
        assert peer.authorization == ["Bearer secret"] * 2

    await connected(body)


async def test_a_control_that_cannot_be_encoded_is_dropped_and_the_others_still_arrive():
    async def body(peer, connection):
        stream = begin(connection, LeaseInbox(), [])
        stream.send((Played(reply=10**400, samples=1),))
        stream.send((Played(reply=1, samples=2),))
        await peer.until(lambda: len(peer.received) == 2)
        assert peer.received[1].controls == (Played(reply=1, samples=2),)
        assert not peer.losses

    await connected(body)


async def test_a_request_that_cannot_be_encoded_leaves_no_stream_behind():
    async def body(peer, connection):
        with pytest.raises(OverflowError):
            begin(
                connection, LeaseInbox(), [], ChatRequest((user("hello"),), sampling=Sampling(seed=10**400))
            )
        closed: list[Stream] = []
        begin(connection, LeaseInbox(), closed)
        connection.interrupt(STOPPING)
        assert len(connection._streams) == 1

    await connected(body)


async def test_events_arrive_in_order_and_the_slot_is_free_only_when_closed():
    async def body(peer, connection):
        inbox = LeaseInbox()
        closed: list[Stream] = []
        stream = begin(connection, inbox, closed)
        await peer.until(lambda: bool(peer.received))
        assert peer.received[0].slot == 3
        await peer.send(worker_protocol.Emit(stream.number, (TextDelta("a"), Done("stop"))))
        assert await inbox.take() == [(0, TextDelta("a")), (0, Done("stop"))]
        assert not closed
        await peer.send(worker_protocol.Closed(stream.number))
        await inbox.take()
        assert closed == [stream]

    await connected(body)


async def test_what_arrives_after_a_cancel_is_dropped():
    async def body(peer, connection):
        inbox = LeaseInbox()
        closed: list[Stream] = []
        stream = begin(connection, inbox, closed)
        stream.cancel()
        await peer.until(lambda: worker_protocol.Cancel(stream.number) in peer.received)
        await peer.send(
            worker_protocol.Emit(stream.number, (TextDelta("late"),)), worker_protocol.Closed(stream.number)
        )
        assert await inbox.take() == []
        assert closed == [stream]

    await connected(body)


async def test_taking_events_grants_new_credit():
    async def body(peer, connection):
        inbox = LeaseInbox()
        closed: list[Stream] = []
        stream = begin(connection, inbox, closed)
        await peer.until(lambda: bool(peer.received))
        await peer.send(worker_protocol.Emit(stream.number, (TextDelta("a"),) * worker_protocol.WINDOW))
        stream.taken(len(await inbox.take()))
        await peer.until(lambda: len(peer.received) == 2)
        assert peer.received[1] == worker_protocol.Grant(stream.number, worker_protocol.WINDOW)

    await connected(body)


async def test_a_large_request_travels_in_pieces_and_arrives_whole():
    large = ChatRequest((Message("user", (ImagePart(bytes(5 * worker_protocol.PIECE)),)),))

    async def body(peer, connection):
        begin(connection, LeaseInbox(), [], large)
        await peer.until(lambda: bool(peer.received))
        assert peer.received[0].request == large

    await connected(body)


async def test_a_lost_worker_ends_every_stream_with_a_sentence_and_frees_its_slot():
    async def body(peer, connection):
        inbox = LeaseInbox()
        closed: list[Stream] = []
        stream = begin(connection, inbox, closed)
        await peer.until(lambda: bool(peer.received))
        peer.live.transport.abort()
        assert await inbox.take() == [(0, WORKER_LOST)]
        assert closed == [stream]

    await connected(body)


async def test_the_loss_is_told_once_and_before_the_streams_end():
    async def body(peer, connection):
        inbox = LeaseInbox()
        closed: list[Stream] = []
        begin(connection, inbox, closed)
        await peer.until(lambda: bool(peer.received))
        peer.live.transport.abort()
        await inbox.take()
        assert peer.losses == [1]
        seen.append(peer)

    seen: list[Peer] = []
    await connected(body)
    assert seen[0].losses == [1]


async def test_a_generation_begun_on_a_lost_link_ends_at_once():
    async def body(peer, connection):
        first, second = LeaseInbox(), LeaseInbox()
        closed: list[Stream] = []
        begin(connection, first, closed)
        await peer.until(lambda: bool(peer.received))
        peer.live.transport.abort()
        await first.take()
        stream = begin(connection, second, closed)
        assert await second.take() == [(0, WORKER_LOST)]
        assert closed[-1] is stream

    await connected(body)


async def test_a_ready_worker_that_no_longer_answers_is_lost(monkeypatch):
    monkeypatch.setattr("duologue.gateway.workers.connection.BEAT", 0.01)

    async def body(peer, connection):
        inbox = LeaseInbox()
        begin(connection, inbox, [])
        await peer.until(lambda: bool(peer.received))
        await peer.send(worker_protocol.Report("w", "ready"))
        peer.live.transport.pause_reading()
        with anyio.fail_after(60):
            assert await inbox.take() == [(0, WORKER_LOST)]
        assert connection.hung == "it did not answer for several seconds"
        peer.live.transport.abort()  # or the server waits for its goodbye

    await connected(body)


async def test_an_engine_without_a_step_is_told_to_its_clients_and_then_replaced(monkeypatch):
    monkeypatch.setattr("duologue.gateway.workers.connection.BEAT", 0.01)
    times = iter(range(0, 100_000, 5))  # each look at the clock is five seconds after the last

    async def body(peer, connection):
        inbox = LeaseInbox()
        stream = begin(connection, inbox, [])
        with anyio.fail_after(60):
            assert await inbox.take() == [(0, ENGINE_STALLED)]
        await peer.until(lambda: worker_protocol.Cancel(stream.number) in peer.received)
        with anyio.fail_after(60):
            while not connection.hung:
                await anyio.wait_all_tasks_blocked()
        assert connection.hung == "its engine gave no step for 300 s"

    await connected(body, stall_limit=300.0, clock=lambda: float(next(times)))


async def test_a_generation_begun_while_stopping_ends_at_once_with_the_reason():
    async def body(peer, connection):
        inbox = LeaseInbox()
        connection.interrupt(STOPPING)
        begin(connection, inbox, [])
        assert await inbox.take() == [(0, STOPPING)]
        assert peer.received == []

    await connected(body)


async def test_stopping_says_so_and_cancels_the_work():
    async def body(peer, connection):
        inbox = LeaseInbox()
        stream = begin(connection, inbox, [])
        connection.interrupt(STOPPING)
        assert await inbox.take() == [(0, STOPPING)]
        await peer.until(lambda: worker_protocol.Cancel(stream.number) in peer.received)

    await connected(body)


async def test_reports_are_handed_on_and_a_broken_frame_ends_the_link():
    async def body(peer, connection):
        await peer.send(worker_protocol.Report("w", "ready"))
        inbox = LeaseInbox()
        begin(connection, inbox, [])
        await peer.until(lambda: bool(peer.received))
        await peer.live.send(b"not msgpack")
        assert await inbox.take() == [(0, WORKER_LOST)]

    assert await connected(body) == [worker_protocol.Report("w", "ready")]


def answered(ask: int, tokens: int) -> worker_protocol.AskAnswered:
    return worker_protocol.AskAnswered(ask, Counted(tokens, 100))


async def counting(connection: WorkerConnection, answers: list[Any], request: ChatRequest = REQUEST) -> None:
    """The count, or the problem it met."""
    try:
        answers.append(await connection.ask(CountPrompt(request)))
    except Problem as problem:
        answers.append(problem)


async def test_counts_are_answered_each_to_whoever_asked():
    answers: list[list[Any]] = [[], []]

    async def body(peer, connection):
        async with anyio.create_task_group() as tasks:
            for place in answers:
                tasks.start_soon(counting, connection, place)
            await peer.until(lambda: len(peer.received) == 2)
            assert peer.received[0].question.request == REQUEST
            first, second = (message.ask for message in peer.received)
            await peer.send(answered(second, 22), answered(first, 11))
        assert [place[0].tokens for place in answers] == [11, 22]
        assert connection.asks == 0

    await connected(body)


async def test_a_count_that_failed_raises_what_the_worker_met():
    async def body(peer, connection):
        answers: list[Any] = []
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(counting, connection, answers)
            await peer.until(lambda: bool(peer.received))
            await peer.send(
                worker_protocol.AskAnswered(
                    peer.received[0].ask, code="template_error", message="No.", status=400, param="messages"
                )
            )
        [problem] = answers
        assert (problem.code, problem.message, problem.status) == ("template_error", "No.", 400)
        assert problem.param == "messages"

    await connected(body)


@pytest.mark.parametrize("status", [-1, 7, 200, 302, 600, 10**12])
async def test_a_failure_with_a_status_that_is_none_is_the_servers(status: int):
    async def body(peer, connection):
        answers: list[Any] = []
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(counting, connection, answers)
            await peer.until(lambda: bool(peer.received))
            await peer.send(worker_protocol.AskAnswered(peer.received[0].ask, code="x", status=status))
        assert [problem.status for problem in answers] == [500]

    await connected(body)


async def test_a_flood_of_slots_elsewhere_is_passed_on_now_and_then_and_its_end_is_not_lost():
    heard: list[tuple[int, ...]] = []
    told = Notifier()

    def hear(slots: tuple[int, ...]) -> None:
        heard.append(slots)
        told.notify()

    async def body(peer, connection):
        await peer.send(*(worker_protocol.SlotsElsewhere((number,)) for number in range(1000)))
        with anyio.fail_after(30):
            while (999,) not in heard:
                await told.wait()
        assert heard == [(0,), (999,)]
        await peer.send(worker_protocol.SlotsElsewhere(()))
        with anyio.fail_after(30):
            while () not in heard:
                await told.wait()

    await connected(body, on_elsewhere=hear)


async def test_a_large_prompt_to_count_travels_in_pieces():
    large = ChatRequest((user("a" * 3 * worker_protocol.PIECE),))

    async def body(peer, connection):
        answers: list[Any] = []
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(counting, connection, answers, large)
            await peer.until(lambda: bool(peer.received))
            assert peer.received[0].question.request == large
            await peer.send(answered(peer.received[0].ask, 1))

    await connected(body)


async def test_a_lost_worker_ends_the_counts_it_was_asked_for_and_takes_no_more():
    async def body(peer, connection):
        answers: list[Any] = []
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(counting, connection, answers)
            await peer.until(lambda: bool(peer.received))
            peer.live.transport.abort()
        await counting(connection, answers)
        assert [type(answer) for answer in answers] == [WorkerLost, WorkerLost]

    await connected(body)


async def test_stopping_ends_the_counts_too():
    async def body(peer, connection):
        answers: list[Any] = []
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(counting, connection, answers)
            await peer.until(lambda: bool(peer.received))
            connection.interrupt(STOPPING)
        [problem] = answers
        assert (type(problem), problem.code) == (Unavailable, "server_stopping")

    await connected(body)


async def test_more_counts_than_a_worker_takes_are_refused_even_when_the_askers_gave_up():
    async def body(peer, connection):
        for _ in range(worker_protocol.MAX_ASKS):
            with anyio.CancelScope() as scope:
                scope.cancel()
                await connection.ask(CountPrompt(REQUEST))
        with pytest.raises(Busy):
            await connection.ask(CountPrompt(REQUEST))
        await peer.until(lambda: len(peer.received) == worker_protocol.MAX_ASKS)
        await peer.send(*(answered(message.ask, 1) for message in peer.received), worker_protocol.Closed(0))
        await peer.send(worker_protocol.Report("w", "ready"))
        with anyio.fail_after(60):
            while connection.asks:
                await anyio.wait_all_tasks_blocked()

    await connected(body)


async def test_an_interrupted_link_that_is_lost_then_keeps_its_reason():
    reason = Failed("model_unloaded", "It was unloaded.", 503)

    async def body(peer, connection):
        inbox = LeaseInbox()
        closed: list[Stream] = []
        begin(connection, inbox, closed)
        await peer.until(lambda: bool(peer.received))
        connection.interrupt(reason)
        assert await inbox.take() == [(0, reason)]
        peer.live.transport.abort()
        with anyio.fail_after(60):
            while not closed:
                await anyio.wait_all_tasks_blocked()
        assert peer.losses == [1]
        late = begin(connection, inbox, closed)
        assert late.closed
        assert (0, reason) in await inbox.take()

    await connected(body)


async def test_a_link_that_is_ended_is_lost_at_once_with_the_reason_given():
    reason = Failed("worker_restarted", "Try again.", 503)

    async def body(peer, connection):
        inbox = LeaseInbox()
        closed: list[Stream] = []
        begin(connection, inbox, closed)
        await peer.until(lambda: bool(peer.received))
        connection.end(reason)
        assert (peer.losses, len(closed)) == ([1], 1)
        assert await inbox.take() == [(0, reason)]
        assert begin(connection, inbox, closed).closed

    await connected(body)

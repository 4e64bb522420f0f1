"""The worker's end of the internal protocol, over sockets that are two lists."""

from collections.abc import Callable
from contextlib import asynccontextmanager

import anyio
import pytest

from duologue.errors import BadRequest, DeviceLost
from duologue.notifier import Notifier
from duologue.values.call_events import CallSessionEnded, CallSetup, TranscriptText, Typed
from duologue.values.events import Done, Event, Failed, Started, TextDelta
from duologue.values.messages import ImagePart, Message, user
from duologue.values.questions.worker_answers import Counted
from duologue.values.questions.worker_questions import CountPrompt
from duologue.values.requests import ChatRequest
from duologue.values.speech import SpeechRequest
from duologue.wire import worker_protocol
from duologue.worker.connection import EARLY_CANCELS, GatewayConnection

pytestmark = pytest.mark.anyio


class Wire:
    """The gateway at the other end: sends messages, collects the answers, hangs up."""

    def __init__(self) -> None:
        self._down, self._feed = anyio.create_memory_object_stream[bytes](100)[::-1]
        self.messages: list[worker_protocol.Up] = []
        self._changed = Notifier()

    async def receive(self) -> bytes:
        try:
            return await self._down.receive()
        except anyio.EndOfStream:
            raise EOFError from None

    async def send(self, frame: bytes) -> None:
        self.messages.extend(worker_protocol.decode_up(frame))
        self._changed.notify()

    async def send_down(self, *messages: worker_protocol.Down) -> None:
        await self._feed.send(worker_protocol.encode(messages))

    async def send_raw(self, frame: bytes) -> None:
        await self._feed.send(frame)

    async def until(self, enough: Callable[[list[worker_protocol.Up]], bool]) -> list[worker_protocol.Up]:
        with anyio.fail_after(60):
            while not enough(self.messages):
                await self._changed.wait()
        return self.messages

    def hang_up(self) -> None:
        self._feed.close()

    def events(self, lease: int) -> list[Event]:
        return [
            event
            for message in self.messages
            if isinstance(message, worker_protocol.Emit) and message.lease == lease
            for event in message.events
        ]

    def closed(self, lease: int) -> bool:
        return worker_protocol.Closed(lease) in self.messages


def report() -> worker_protocol.Report:
    return worker_protocol.Report("w", "ready")


REQUEST = ChatRequest((user("hello"),))


async def talk(begin, emit, controls):
    for word in ("a", "b"):
        await emit(TextDelta(word))
    await emit(Done("stop"))


async def unasked(question):
    raise AssertionError("nothing is to be asked here")


async def length(question):
    return Counted(len(question.request.messages[0].text), 100)


def answers(wire) -> dict[int, worker_protocol.AskAnswered]:
    return {
        message.ask: message for message in wire.messages if isinstance(message, worker_protocol.AskAnswered)
    }


def ask(number: int, request: ChatRequest) -> worker_protocol.Ask:
    return worker_protocol.Ask(number, CountPrompt(request))


async def hang(begin, emit, controls):
    await emit(TextDelta("a"))
    await anyio.sleep_forever()


async def test_a_connection_opens_with_a_report():
    wire = Wire()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(GatewayConnection(talk, unasked, report).run_live, wire)
        await wire.until(lambda messages: bool(messages))
        wire.hang_up()
    assert wire.messages == [report()]


async def test_text_that_is_written_between_two_frames_shares_the_next_one():
    wire, emitted, goes_on = Wire(), anyio.Event(), anyio.Event()

    async def write(begin, emit, controls):
        await emit(TextDelta("a"))
        await wire.until(lambda messages: bool(wire.events(1)))
        for word in ("b", "c"):
            await emit(TextDelta(word))
            await anyio.wait_all_tasks_blocked()
        emitted.set()
        await anyio.sleep_forever()

    async def pause(seconds):
        await goes_on.wait()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(GatewayConnection(write, unasked, report, pause=pause).run_live, wire)
        await wire.send_down(worker_protocol.Begin(1, 0, REQUEST))
        await emitted.wait()
        assert wire.events(1) == [TextDelta("a")]
        goes_on.set()
        await wire.until(lambda messages: len(wire.events(1)) > 1)
        wire.hang_up()
    assert wire.messages[-1] == worker_protocol.Emit(1, (TextDelta("b"), TextDelta("c")))


async def test_the_first_text_of_a_reply_follows_what_comes_before_it_without_a_pause():
    wire, pauses = Wire(), 0

    async def write(begin, emit, controls):
        await emit(Started("m"))
        await wire.until(lambda messages: wire.events(1) == [Started("m")])
        assert not pauses
        await emit(TextDelta("a"))
        await anyio.sleep_forever()

    async def pause(seconds):
        nonlocal pauses
        pauses += 1

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(GatewayConnection(write, length, report, pause=pause).run_live, wire)
        await wire.send_down(ask(1, REQUEST))
        await wire.until(lambda messages: 1 in answers(wire))
        await wire.send_down(worker_protocol.Begin(1, 0, REQUEST))
        await wire.until(lambda messages: len(wire.events(1)) == 2)
        await anyio.wait_all_tasks_blocked()
        assert pauses == 1
        wire.hang_up()


async def test_a_lease_says_its_events_in_order_and_then_that_it_is_closed():
    wire = Wire()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(GatewayConnection(talk, unasked, report).run_live, wire)
        await wire.send_down(worker_protocol.Begin(1, 0, REQUEST))
        await wire.until(lambda messages: wire.closed(1))
        wire.hang_up()
    assert wire.events(1) == [TextDelta("a"), TextDelta("b"), Done("stop")]
    assert wire.messages[-1] == worker_protocol.Closed(1)


async def test_a_cancelled_lease_closes_without_a_terminal_event():
    wire = Wire()
    async with anyio.create_task_group() as tasks:
        connection = GatewayConnection(hang, unasked, report)
        tasks.start_soon(connection.run_live, wire)
        await wire.send_down(worker_protocol.Begin(1, 0, REQUEST))
        await wire.until(lambda messages: bool(wire.events(1)))
        await wire.send_down(worker_protocol.Cancel(1))
        await wire.until(lambda messages: wire.closed(1))
        assert connection.running == 0
        wire.hang_up()
    assert wire.events(1) == [TextDelta("a")]


async def test_without_credit_a_lease_waits_and_a_grant_lets_it_go_on():
    wire = Wire()
    emitted = []

    async def count(begin, emit, controls):
        for number in range(5):
            await emit(TextDelta(str(number)))
            emitted.append(number)
        await emit(Done("stop"))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(GatewayConnection(count, unasked, report).run_live, wire)
        await wire.send_down(worker_protocol.Begin(1, 0, REQUEST, window=2))
        await wire.until(lambda messages: len(wire.events(1)) == 2)
        await anyio.wait_all_tasks_blocked()
        assert emitted == [0, 1]
        await wire.send_down(worker_protocol.Grant(1, 10))
        await wire.until(lambda messages: wire.closed(1))
        wire.hang_up()
    assert len(wire.events(1)) == 6


async def test_a_cancel_that_overtakes_its_request_still_cancels_it():
    wire = Wire()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(GatewayConnection(hang, unasked, report).run_live, wire)
        await wire.send_down(worker_protocol.Cancel(1))
        await wire.send_down(worker_protocol.Begin(1, 0, REQUEST))
        await wire.until(lambda messages: wire.closed(1))
        wire.hang_up()
    assert wire.events(1) == []


async def test_only_so_many_early_cancels_are_remembered():
    wire = Wire()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(GatewayConnection(talk, unasked, report).run_live, wire)
        await wire.send_down(*(worker_protocol.Cancel(number) for number in range(EARLY_CANCELS + 1)))
        await wire.send_down(worker_protocol.Begin(0, 0, REQUEST))
        await wire.until(lambda messages: wire.closed(0))
        wire.hang_up()
    assert wire.events(0)[-1] == Done("stop")


async def test_a_large_request_comes_in_pieces_on_the_other_socket():
    live, bulk = Wire(), Wire()
    seen = []

    async def record(begin, emit, controls):
        seen.append(begin.request)
        await emit(Done("stop"))

    large = ChatRequest((Message("user", (ImagePart(bytes(3 * worker_protocol.PIECE)),)),))
    async with anyio.create_task_group() as tasks:
        connection = GatewayConnection(record, unasked, report)
        tasks.start_soon(connection.run_live, live)
        tasks.start_soon(connection.run_bulk, bulk)
        await anyio.wait_all_tasks_blocked()
        for fragment in worker_protocol.fragments(
            1, worker_protocol.encode([worker_protocol.Begin(7, 0, large)])
        ):
            await bulk.send_down(fragment)
        await live.until(lambda messages: live.closed(7))
        live.hang_up()
        bulk.hang_up()
    assert seen == [large]


async def test_an_unexpected_fault_becomes_a_sentence_without_a_trace(caplog):
    wire = Wire()

    async def broken(begin, emit, controls):
        raise RuntimeError("secret detail")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(GatewayConnection(broken, unasked, report).run_live, wire)
        await wire.send_down(worker_protocol.Begin(1, 0, REQUEST, "req-9"))
        await wire.until(lambda messages: wire.closed(1))
        wire.hang_up()
    [failed] = wire.events(1)
    assert isinstance(failed, Failed)
    assert "req-9" in failed.message
    assert "secret" not in failed.message
    assert "secret detail" in caplog.text


async def test_a_broken_frame_ends_the_connection_and_its_leases(caplog):
    wire = Wire()
    async with anyio.create_task_group() as tasks:
        connection = GatewayConnection(hang, unasked, report)
        tasks.start_soon(connection.run_live, wire)
        await wire.send_down(worker_protocol.Begin(1, 0, REQUEST))
        await wire.until(lambda messages: bool(wire.events(1)))
        await wire.send_raw(b"not msgpack")
    assert connection.running == 0
    assert "broke the protocol" in caplog.text


async def test_a_second_live_socket_is_turned_away():
    first, second = Wire(), Wire()
    async with anyio.create_task_group() as tasks:
        connection = GatewayConnection(talk, unasked, report)
        tasks.start_soon(connection.run_live, first)
        await first.until(lambda messages: bool(messages))
        await connection.run_live(second)
        assert second.messages == []
        await first.send_down(worker_protocol.Begin(1, 0, REQUEST))
        await first.until(lambda messages: first.closed(1))
        first.hang_up()


async def test_when_the_gateway_hangs_up_every_lease_ends():
    wire = Wire()
    ended = []

    async def watch(begin, emit, controls):
        try:
            await emit(TextDelta("a"))
            await anyio.sleep_forever()
        finally:
            ended.append(begin.lease)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(GatewayConnection(watch, unasked, report).run_live, wire)
        await wire.send_down(worker_protocol.Begin(1, 0, REQUEST), worker_protocol.Begin(2, 1, REQUEST))
        await wire.until(lambda messages: bool(wire.events(1) and wire.events(2)))
        wire.hang_up()
    assert sorted(ended) == [1, 2]


async def test_a_running_reply_is_told_to_end_its_thought():
    wire, told = Wire(), []

    async def think(begin, emit, controls):
        await emit(TextDelta("a"))
        while not controls.thought_must_end:
            await anyio.lowlevel.checkpoint()
        told.append(begin.lease)
        await emit(Done("stop"))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(GatewayConnection(think, unasked, report).run_live, wire)
        await wire.send_down(worker_protocol.EndThought(7), worker_protocol.Begin(1, 0, REQUEST))
        await wire.until(lambda messages: bool(wire.events(1)))
        await wire.send_down(worker_protocol.EndThought(1))
        await wire.until(lambda messages: wire.closed(1))
        wire.hang_up()
    assert told == [1]


async def test_a_prompt_is_counted_beside_a_reply_that_runs():
    wire = Wire()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(GatewayConnection(hang, length, report).run_live, wire)
        await wire.send_down(worker_protocol.Begin(1, 0, REQUEST), ask(2, REQUEST))
        await wire.until(lambda messages: 2 in answers(wire))
        wire.hang_up()
    assert answers(wire)[2] == worker_protocol.AskAnswered(2, Counted(len("hello"), 100))


async def test_a_large_prompt_to_count_comes_in_pieces_on_the_bulk_socket():
    live, bulk = Wire(), Wire()
    connection = GatewayConnection(talk, length, report)
    large = ChatRequest((user("a" * 3 * worker_protocol.PIECE),))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(connection.run_live, live)
        tasks.start_soon(connection.run_bulk, bulk)
        for piece in worker_protocol.fragments(7, worker_protocol.encode([ask(7, large)])):
            await bulk.send_down(piece)
        await live.until(lambda messages: 7 in answers(live))
        live.hang_up()
        bulk.hang_up()
    assert answers(live)[7].answer == Counted(3 * worker_protocol.PIECE, 100)


async def test_what_cannot_be_answered_is_said_and_the_next_is_answered_all_the_same(caplog):
    seen = 0

    async def picky(question):
        nonlocal seen
        seen += 1
        if seen == 1:
            raise BadRequest("The template wants a user first.", code="template_error", param="messages")
        if seen == 2:
            raise ZeroDivisionError
        return await length(question)

    wire = Wire()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(GatewayConnection(talk, picky, report).run_live, wire)
        await wire.send_down(*(ask(each, REQUEST) for each in (1, 2, 3)))
        await wire.until(lambda messages: 3 in answers(wire))
        wire.hang_up()
    said = answers(wire)
    assert (said[1].code, said[1].status, said[1].param) == ("template_error", 400, "messages")
    assert said[1].message == "The template wants a user first."
    assert (said[2].code, said[2].status) == ("internal_error", 500)
    assert "ZeroDivisionError" not in said[2].message
    assert said[3].answer == Counted(5, 100)


async def test_questions_are_answered_one_at_a_time_in_order_and_not_without_end():
    running, most, order = 0, 0, []
    go = anyio.Event()

    async def slow(question):
        nonlocal running, most
        running += 1
        most = max(most, running)
        await go.wait()
        await anyio.lowlevel.checkpoint()
        running -= 1
        order.append(int(question.request.messages[0].text))
        return await length(question)

    wire = Wire()
    number = worker_protocol.MAX_ASKS + 2
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(GatewayConnection(talk, slow, report).run_live, wire)
        await wire.send_down(ask(0, ChatRequest((user("0"),))))
        await anyio.wait_all_tasks_blocked()
        await wire.send_down(*(ask(each, ChatRequest((user(str(each)),))) for each in range(1, number)))
        await wire.until(lambda messages: number - 1 in answers(wire))
        go.set()
        await wire.until(lambda messages: len(answers(wire)) == number)
        wire.hang_up()
    assert answers(wire)[number - 1].code == "busy"
    assert order == list(range(number - 1))
    assert most == 1


# ---- calls, speeches, transcriptions


async def chat(opened, inbox, tell):
    """Repeat what is typed."""
    while True:
        for control in await inbox.take():
            if isinstance(control, Typed):
                await tell(TranscriptText(control.text))
                if control.text == "bye":
                    return


async def refuse(opened, inbox, tell):
    raise BadRequest("There is no text to speak.")


async def break_down(opened, inbox, tell):
    raise RuntimeError("secret detail")


def call_events(wire, lease):
    return [
        event
        for message in wire.messages
        if isinstance(message, worker_protocol.CallEvents) and message.lease == lease
        for event in message.events
    ]


@asynccontextmanager
async def connected(run_session):
    wire = Wire()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(GatewayConnection(talk, unasked, report, run_session).run_live, wire)
        yield wire
        wire.hang_up()


async def test_a_call_is_told_things_in_order_and_ends_once():
    async with connected(chat) as wire:
        await wire.send_down(worker_protocol.Open(1, 0, CallSetup()))
        await wire.send_down(
            worker_protocol.SendControls(1, (Typed("a"), Typed("b"))),
            worker_protocol.SendControls(1, (Typed("bye"),)),
        )
        await wire.until(lambda messages: wire.closed(1))
    assert call_events(wire, 1) == [
        TranscriptText("a"),
        TranscriptText("b"),
        TranscriptText("bye"),
        CallSessionEnded(),
    ]
    assert wire.messages.count(worker_protocol.Closed(1)) == 1


async def test_two_calls_are_told_their_own():
    async with connected(chat) as wire:
        await wire.send_down(worker_protocol.Open(1, 0, CallSetup()), worker_protocol.Open(2, 1, CallSetup()))
        await wire.send_down(
            worker_protocol.SendControls(2, (Typed("two"),)), worker_protocol.SendControls(1, (Typed("one"),))
        )
        await wire.until(lambda messages: bool(call_events(wire, 1) and call_events(wire, 2)))
    assert (call_events(wire, 1), call_events(wire, 2)) == ([TranscriptText("one")], [TranscriptText("two")])


async def test_a_cancelled_call_closes_without_an_end():
    async with connected(chat) as wire:
        await wire.send_down(
            worker_protocol.Open(1, 0, CallSetup()), worker_protocol.SendControls(1, (Typed("a"),))
        )
        await wire.until(lambda messages: bool(call_events(wire, 1)))
        await wire.send_down(worker_protocol.Cancel(1), worker_protocol.SendControls(1, (Typed("b"),)))
        await wire.until(lambda messages: wire.closed(1))
    assert call_events(wire, 1) == [TranscriptText("a")]
    assert wire.messages.count(worker_protocol.Closed(1)) == 1


async def test_a_cancel_that_overtakes_a_call_still_cancels_it():
    async with connected(chat) as wire:
        await wire.send_down(worker_protocol.Cancel(1))
        await wire.send_down(worker_protocol.Open(1, 0, CallSetup()))
        await wire.until(lambda messages: wire.closed(1))
    assert call_events(wire, 1) == []


async def test_a_call_waits_for_credit_as_a_reply_does():
    async with connected(chat) as wire:
        await wire.send_down(worker_protocol.Open(1, 0, CallSetup(), window=2))
        await wire.send_down(
            worker_protocol.SendControls(1, tuple(Typed(str(number)) for number in range(5)))
        )
        await wire.until(lambda messages: len(call_events(wire, 1)) == 2)
        await anyio.wait_all_tasks_blocked()
        assert len(call_events(wire, 1)) == 2
        await wire.send_down(worker_protocol.Grant(1, 10))
        await wire.until(lambda messages: len(call_events(wire, 1)) == 5)


async def test_what_ends_a_call_is_its_last_event():
    async with connected(refuse) as wire:
        await wire.send_down(worker_protocol.Open(1, 0, SpeechRequest()))
        await wire.until(lambda messages: wire.closed(1))
    assert call_events(wire, 1) == [CallSessionEnded("invalid_request", "There is no text to speak.", 400)]


async def test_a_fault_in_a_call_is_a_sentence_without_a_trace(caplog):
    async with connected(break_down) as wire:
        await wire.send_down(worker_protocol.Open(1, 0, CallSetup(), "req-7"))
        await wire.until(lambda messages: wire.closed(1))
    [ended] = call_events(wire, 1)
    assert ended.code == "internal_error"
    assert "req-7" in ended.message
    assert "secret" not in ended.message
    assert "secret detail" in caplog.text


async def test_a_worker_without_a_voice_says_so():
    async with connected(None) as wire:
        await wire.send_down(worker_protocol.Open(1, 0, CallSetup()))
        await wire.until(lambda messages: wire.closed(1))
    assert call_events(wire, 1)[0].code == "unsupported"


async def test_an_end_waits_for_no_credit():
    async with connected(refuse) as wire:
        await wire.send_down(worker_protocol.Open(1, 0, CallSetup(), window=0))
        await wire.until(lambda messages: wire.closed(1))
    assert len(call_events(wire, 1)) == 1


async def test_what_a_lease_is_told_that_is_not_there_is_dropped():
    async with connected(chat) as wire:
        await wire.send_down(worker_protocol.SendControls(9, (Typed("a"),)))
        await wire.send_down(
            worker_protocol.Open(1, 0, CallSetup()), worker_protocol.SendControls(1, (Typed("bye"),))
        )
        await wire.until(lambda messages: wire.closed(1))
    assert call_events(wire, 9) == []


async def lose(begin, emit, controls):
    await emit(TextDelta("a"))
    await emit(Failed("device_lost", "The card failed.", 503))
    raise DeviceLost("The card failed.")


async def test_a_lost_device_ends_the_process_once_the_gateway_knows_why():
    wire = Wire()
    ended: list[str] = []

    def end_process(lost: DeviceLost) -> None:
        # What the gateway was sent by then.
        assert wire.closed(1)
        assert wire.events(1)[-1] == Failed("device_lost", "The card failed.", 503)
        ended.append(lost.message)

    async with anyio.create_task_group() as tasks:
        connection = GatewayConnection(lose, unasked, report, end_process=end_process)
        tasks.start_soon(connection.run_live, wire)
        await wire.send_down(worker_protocol.Begin(1, 0, REQUEST))
        await wire.until(lambda messages: bool(ended))
        wire.hang_up()
    assert ended == ["The card failed."]


async def test_a_session_that_loses_its_device_ends_with_the_reason_and_the_process_after_it():
    wire = Wire()
    ended: list[str] = []

    async def hold(opening, inbox, send):
        raise DeviceLost("The card failed.")

    async with anyio.create_task_group() as tasks:
        connection = GatewayConnection(talk, unasked, report, hold, lambda lost: ended.append(lost.message))
        tasks.start_soon(connection.run_live, wire)
        await wire.send_down(worker_protocol.Open(1, 0, CallSetup()))
        await wire.until(lambda messages: bool(ended))
        wire.hang_up()
    [last] = [
        event
        for message in wire.messages
        if isinstance(message, worker_protocol.CallEvents)
        for event in message.events
    ]
    assert last == CallSessionEnded("device_lost", "The card failed.", 503)
    assert ended == ["The card failed."]


async def test_a_session_whose_model_hangs_ends_with_the_reason_though_its_thread_does_not():
    wire = Wire()
    ended: list[str] = []
    stuck, freed = anyio.Event(), anyio.Event()

    async def hold(opening, inbox, send):
        stuck.set()
        with anyio.CancelScope(shield=True):
            await freed.wait()

    async with anyio.create_task_group() as tasks:
        connection = GatewayConnection(talk, unasked, report, hold, lambda lost: ended.append(lost.message))
        tasks.start_soon(connection.run_live, wire)
        await wire.send_down(worker_protocol.Open(1, 0, CallSetup()))
        await stuck.wait()
        connection.lose_device(DeviceLost("The model hangs."))
        await wire.until(lambda messages: bool(ended))
        freed.set()
        wire.hang_up()
    assert call_events(wire, 1)[0] == CallSessionEnded("device_lost", "The model hangs.", 503)
    assert ended[0] == "The model hangs."


async def test_any_other_failure_leaves_the_process_running():
    wire = Wire()
    ended: list[DeviceLost] = []

    async def fail(begin, emit, controls):
        raise RuntimeError("a bug")

    async with anyio.create_task_group() as tasks:
        connection = GatewayConnection(fail, unasked, report, end_process=ended.append)
        tasks.start_soon(connection.run_live, wire)
        await wire.send_down(worker_protocol.Begin(1, 0, REQUEST))
        await wire.until(lambda messages: wire.closed(1))
        wire.hang_up()
    assert not ended

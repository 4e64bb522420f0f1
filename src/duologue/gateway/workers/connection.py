"""The gateway's end of the internal protocol: two kept sockets to one worker, many leases on them.

Owns the sockets, the inboxes of running leases and their flow credit, and the counts that are asked for. Knows no queue and no process.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterator, Sequence

import anyio
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, WebSocketException

from duologue.errors import Busy, Problem, Unavailable, WorkerLost
from duologue.values.call_events import CallControl, CallEvent, CallSessionEnded, CallSetup, MicrophoneAudio
from duologue.values.events import Done, Event, Failed
from duologue.values.failures import WORKER_LOST
from duologue.values.requests import ChatRequest
from duologue.values.speech import SpeechRequest, TranscriptionRequest
from duologue.wire import worker_protocol

log = logging.getLogger(__name__)

OPEN_TIMEOUT = 600.0
"""Seconds a worker may take from its start to its first word; a dead one is noticed at once by its closed socket."""
PING_EVERY = 5.0
"""Seconds between two questions whether the worker still answers."""
PATIENCE = 20.0
"""Seconds a worker may leave such a question open once it is ready. It hangs then, and is as good as dead."""
LOADING_PATIENCE = 600.0
"""The same while its model loads: libraries hold the interpreter for as long as their constructors take."""
SOUND_WAITING = 256
"""Messages that may wait for a socket before further sound of callers is dropped: about five seconds of one caller."""

Work = ChatRequest | CallSetup | SpeechRequest | TranscriptionRequest
"""What a slot, or a seat, can be given to do."""
Item = Event | CallEvent


class LeaseInbox:
    """What arrived for a lease and was not yet taken. Bounded by the credit of its streams."""

    def __init__(self) -> None:
        self._items: list[tuple[int, Item]] = []
        self._arrived = anyio.Event()

    def put(self, choice: int, events: tuple[Item, ...]) -> None:
        self._items.extend((choice, event) for event in events)
        self._arrived.set()

    def wake(self) -> None:
        """Let the taker look again, with or without items."""
        self._arrived.set()

    async def take(self) -> list[tuple[int, Item]]:
        """All that arrived, waiting for something; a cancelled wait loses nothing."""
        await self._arrived.wait()
        self._arrived = anyio.Event()
        items, self._items = self._items, []
        return items


class Stream:
    """One running generation in `slot`. `ended`: nothing more will be delivered; `closed`: the slot is free."""

    def __init__(
        self, number: int, slot: int, choice: int, inbox: LeaseInbox, on_closed: Callable[[Stream], None]
    ) -> None:
        self.number = number
        self.slot = slot
        self.choice = choice
        self.inbox = inbox
        self.ended = False
        self.closed = False
        self._on_closed = on_closed
        self._untold = 0

    def deliver(self, events: tuple[Item, ...]) -> None:
        if self.ended:
            return
        self.ended = isinstance(events[-1], Done | Failed | CallSessionEnded)
        self.inbox.put(self.choice, events)

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            self._on_closed(self)
            self.inbox.wake()

    def taken(self, count: int) -> int:
        """Note that `count` events were taken; the credit to grant now, or 0."""
        self._untold += count
        if self.closed or self.ended or self._untold < worker_protocol.WINDOW // 2:
            return 0
        credit, self._untold = self._untold, 0
        return credit


class _Ask:
    """A prompt that is being counted, and its answer once there is one."""

    def __init__(self) -> None:
        self.answered = anyio.Event()
        self.answer: worker_protocol.Counted | None = None

    def tell(self, answer: worker_protocol.Counted) -> None:
        self.answer = answer
        self.answered.set()


class _Outbox:
    """Messages waiting for one socket's writer. Bounded by the slots (a Begin, a Cancel and Grants for each), by ASKS and by
    SOUND_WAITING."""

    def __init__(self) -> None:
        self._messages: deque[worker_protocol.Down] = deque()
        self._posted = anyio.Event()

    def post(self, message: worker_protocol.Down) -> None:
        self._messages.append(message)
        self._posted.set()

    @property
    def waiting(self) -> int:
        return len(self._messages)

    async def take(self) -> list[worker_protocol.Down]:
        await self._posted.wait()
        self._posted = anyio.Event()
        messages = list(self._messages)
        self._messages.clear()
        return messages


class WorkerConnection:
    """The connection to one worker, for as long as its process lives.

    `on_lost` is called once, in the moment the worker is lost and before its streams are told: whoever lends its
    slots must hear of it before they come back.
    """

    def __init__(
        self,
        address: str,
        secret: str,
        on_report: Callable[[worker_protocol.Report], None],
        on_lost: Callable[[], None] = lambda: None,
    ) -> None:
        self._address = address
        self._secret = secret
        self._on_report = on_report
        self._on_lost = on_lost
        self._streams: dict[int, Stream] = {}
        self._asks: dict[int, _Ask] = {}
        self._next = 1
        self._live = _Outbox()
        self._bulk = _Outbox()
        self._state: worker_protocol.WorkerState = "loading"
        self._refusal: Failed | None = None
        self._lost = False

    async def run(self) -> None:
        """Connect and relay until a socket closes or the worker no longer answers. Every stream still running then
        ends with `worker_lost`, or as `interrupt` said before, and so does every later one."""
        try:
            async with (
                self._socket("live") as live,
                self._socket("bulk") as bulk,
                anyio.create_task_group() as tasks,
            ):
                for socket, outbox in ((live, self._live), (bulk, self._bulk)):
                    tasks.start_soon(self._write, socket, outbox, tasks.cancel_scope)
                    tasks.start_soon(self._read, socket, tasks.cancel_scope)
                tasks.start_soon(self._watch, live, tasks.cancel_scope)
        except (OSError, WebSocketException) as error:
            log.debug("connection to %s lost: %s", self._address, error)
        finally:
            self._lose()

    def begin(
        self,
        slot: int,
        choice: int,
        request: Work,
        inbox: LeaseInbox,
        request_id: str,
        on_closed: Callable[[Stream], None],
    ) -> Stream:
        """Start a generation, or what else a slot can be given; its events go to `inbox`, and `on_closed` is called once its slot is free. On a link
        that is over it has ended, with the reason, when this returns."""
        number, self._next = self._next, self._next + 1
        stream = Stream(number, slot, choice, inbox, on_closed)
        if self._refusal is not None:
            stream.deliver((self._refusal,))
            stream.close()
            return stream
        self._streams[number] = stream
        if isinstance(request, ChatRequest):
            self._post(number, worker_protocol.Begin(number, slot, request, request_id))
        else:
            self._post(number, worker_protocol.Open(number, slot, request, request_id))
        return stream

    def tell(self, stream: Stream, controls: tuple[CallControl, ...]) -> bool:
        """Tell an open call these, in order. False: it was sound only, and the worker is so far behind that it was dropped."""
        if stream.ended or stream.closed:
            return True
        if self._live.waiting > SOUND_WAITING and all(
            isinstance(control, MicrophoneAudio) for control in controls
        ):
            return False
        self._live.post(worker_protocol.Tell(stream.number, controls))
        return True

    @property
    def asks(self) -> int:
        """Counts that were asked for and not answered, whether or not somebody still waits for them."""
        return len(self._asks)

    async def count(self, request: ChatRequest) -> worker_protocol.Counted:
        """The size of a request's prompt. Raises Busy when too many are being counted, WorkerLost or Unavailable when
        the link is over or ends meanwhile, and the Problem the worker met."""
        if self._refusal is not None:
            raise _refused(self._refusal)
        if len(self._asks) >= worker_protocol.ASKS:
            raise Busy("Too many prompts are being counted at once. Try again in a moment.")
        number, self._next = self._next, self._next + 1
        ask = self._asks[number] = _Ask()
        self._post(number, worker_protocol.Count(number, request))
        await ask.answered.wait()
        if ask.answer is None:
            raise _refused(self._refusal or WORKER_LOST)
        if ask.answer.code:
            raise Problem(ask.answer.message, code=ask.answer.code, status=ask.answer.status)
        return ask.answer

    def _post(
        self, number: int, message: worker_protocol.Begin | worker_protocol.Open | worker_protocol.Count
    ) -> None:
        frame = worker_protocol.encode([message])
        if len(frame) <= worker_protocol.PIECE:
            self._live.post(message)
        else:
            for fragment in worker_protocol.fragments(number, frame):
                self._bulk.post(fragment)

    def cancel(self, stream: Stream) -> None:
        """End a stream's work; whatever still arrives for it is dropped."""
        stream.ended = True
        if not stream.closed:
            self._live.post(worker_protocol.Cancel(stream.number))

    def taken(self, stream: Stream, count: int) -> None:
        """The consumer took `count` events: grant the worker as many when enough have gathered."""
        if credit := stream.taken(count):
            self._live.post(worker_protocol.Grant(stream.number, credit))

    def interrupt(self, failure: Failed) -> None:
        """End every running stream with this failure and cancel its work, and refuse later ones with it."""
        self._refusal = failure
        for stream in list(self._streams.values()):
            stream.deliver((failure,))
            self.cancel(stream)
        self._drop_asks()

    def end(self, failure: Failed) -> None:
        """The worker is about to be ended: as if it were lost now, with this failure for what it runs."""
        self._refusal = failure
        self._lose()

    def _lose(self) -> None:
        """The worker is gone, with its slots: every running stream ends, and every later one at its start."""
        if self._lost:
            return
        self._lost = True
        failure = self._refusal = self._refusal or WORKER_LOST
        self._on_lost()
        streams, self._streams = self._streams, {}
        for stream in streams.values():
            stream.deliver((failure,))
            stream.close()
        self._drop_asks()

    def _drop_asks(self) -> None:
        """Nobody will answer: whoever waits is told by the refusal."""
        asks, self._asks = self._asks, {}
        for ask in asks.values():
            ask.answered.set()

    def _socket(self, name: str) -> connect:
        return connect(
            f"ws://{self._address}/{name}",
            additional_headers={"Authorization": f"Bearer {self._secret}"},
            compression=None,
            max_size=worker_protocol.MAX_MESSAGE,
            open_timeout=OPEN_TIMEOUT,
            ping_interval=None,
            close_timeout=1,
            proxy=None,
        )

    async def _write(self, socket: ClientConnection, outbox: _Outbox, scope: anyio.CancelScope) -> None:
        try:
            while True:
                for part in _split(await outbox.take()):
                    await socket.send(worker_protocol.encode(part))
        except ConnectionClosed:
            self._lose()
            scope.cancel()

    async def _watch(self, socket: ClientConnection, scope: anyio.CancelScope) -> None:
        """Notice a worker that neither answers nor dies: stopped, swapped out, or caught in a library."""
        try:
            while True:
                await anyio.sleep(PING_EVERY)
                patience = LOADING_PATIENCE if self._state == "loading" else PATIENCE
                with anyio.move_on_after(patience) as waiting:
                    await (await socket.ping())
                if waiting.cancelled_caught:
                    log.error("worker at %s has not answered for %.0f s", self._address, patience)
                    self._lose()
                    scope.cancel()
        except ConnectionClosed:
            self._lose()
            scope.cancel()

    async def _read(self, socket: ClientConnection, scope: anyio.CancelScope) -> None:
        joiner = worker_protocol.Joiner()
        try:
            while True:
                frame = await socket.recv(decode=False)
                for message in worker_protocol.decode_up(frame):
                    self._handle(message, joiner)
        except ConnectionClosed:
            self._lose()
            scope.cancel()
        except ValueError as error:  # msgspec's validation errors are ValueErrors too
            log.error("worker at %s broke the protocol: %s", self._address, error)
            self._lose()
            scope.cancel()

    def _handle(self, message: worker_protocol.Up, joiner: worker_protocol.Joiner) -> None:
        match message:
            case worker_protocol.Emit(lease, events):
                if (stream := self._streams.get(lease)) is not None:
                    stream.deliver(events)
            case worker_protocol.CallEvents(lease, told):
                if (stream := self._streams.get(lease)) is not None:
                    stream.deliver(told)
            case worker_protocol.Closed(lease):
                if (stream := self._streams.pop(lease, None)) is not None:
                    stream.close()
            case worker_protocol.Counted(number):
                if (ask := self._asks.pop(number, None)) is not None:
                    ask.tell(message)
            case worker_protocol.Report():
                # Frames that were read already may come after the loss; the pool has counted the worker out by then.
                if not self._lost:
                    self._state = message.state
                    self._on_report(message)
            case worker_protocol.Fragment():
                if (frame := joiner.add(message)) is not None:
                    for inner in worker_protocol.decode_up(frame):
                        self._handle(inner, joiner)


def _refused(failure: Failed) -> Problem:
    if failure is WORKER_LOST:
        return WorkerLost(
            "The worker that was to count this conversation ended unexpectedly. It is being restarted; please try again."
        )
    return Unavailable(failure.message, code=failure.code, status=failure.status)


def _split(messages: list[worker_protocol.Down]) -> Iterator[Sequence[worker_protocol.Down]]:
    """Fragments go one a frame, so that pings and closes pass between them; the rest travels together."""
    small = [message for message in messages if not isinstance(message, worker_protocol.Fragment)]
    if small:
        yield small
    for message in messages:
        if isinstance(message, worker_protocol.Fragment):
            yield [message]

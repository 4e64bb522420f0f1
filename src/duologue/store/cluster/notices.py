"""Notices between gateways: PostgreSQL's LISTEN and NOTIFY over one connection of its own.

Used by whatever waits for rows that another gateway writes. A notice is a hint: after a time without a connection `when_blind` tells its
readers to look into the database again. On SQLite there is one gateway, and nothing here does or costs anything.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import msgspec
from anyio.abc import TaskStatus
from msgspec import Struct

from duologue.values.cluster.notices import Notice, NoticesLost

if TYPE_CHECKING:
    from duologue.store.database import Database, Transaction

log = logging.getLogger(__name__)

MOST_BYTES = 7_500
"""Bytes of one notice; PostgreSQL takes fewer than 8,000."""
MOST_WAITING = 2_000
"""Notices that wait to be sent, or to be handled. Beyond that all of them are replaced by one `NoticesLost`."""
AT_A_TIME = 100
PING_S = 2.0
"""Seconds between two signs of life on a quiet connection."""
TIMEOUT_S = 5.0
RETRY_S = 0.5

# Channels belong to a database, not to a schema, and several installations may share one.
_CHANNEL = "'duologue_' || md5(current_schema())"
_NOTIFY = f"SELECT pg_notify({_CHANNEL}, :payload)"
_NOTIFY_ALL = f"SELECT pg_notify({_CHANNEL}, payload) FROM unnest($1::text[]) AS payload"

Kind = TypeVar("Kind", bound=Struct)


class _Envelope(Struct, frozen=True, array_like=True):
    sender: str
    notice: msgspec.Raw


_envelopes = msgspec.json.Decoder(_Envelope)
_notices: msgspec.json.Decoder[Notice] = msgspec.json.Decoder(Notice)
_encode = msgspec.json.Encoder().encode


class Notices:
    """Those of one gateway, `sender`. Its own do not come back to it. Without a database, or on SQLite, nobody else is there."""

    def __init__(self, database: Database | None, sender: str) -> None:
        self._database = database
        self._sender = sender
        self._handlers: dict[type[Struct], list[Callable[[Any], None]]] = {}
        self._blind: list[Callable[[], None]] = []
        self._outbox: deque[str] = deque()
        self._wake = anyio.Event()
        self._inbox: deque[Notice] = deque()
        self._arrived = anyio.Event()
        self.shared = database is not None and database.is_postgresql
        """Whether there may be other gateways."""

    def on(self, kind: type[Kind], handler: Callable[[Kind], None]) -> None:
        """Call `handler`, which must not block, in a task, for every notice of this kind from another gateway."""
        self._handlers.setdefault(kind, []).append(handler)

    def when_blind(self, handler: Callable[[], None]) -> None:
        """Call `handler` whenever notices may have been missed. New ones arrive again by then."""
        self._blind.append(handler)

    def post(self, notice: Notice) -> None:
        """Send a notice soon, in the order of the calls."""
        if not self.shared:
            return
        if len(self._outbox) >= MOST_WAITING:
            self._outbox.clear()
            notice = NoticesLost()
        self._outbox.append(self._payload(notice))
        self._wake.set()

    async def publish(self, notice: Notice, within: Transaction | None = None) -> None:
        """Send a notice; as part of the transaction `within` it is sent when that is committed. Raises Unavailable."""
        if not self.shared or self._database is None:
            return
        from sqlalchemy import text

        async with self._database.writing(within) as connection:
            await connection.execute(text(_NOTIFY), {"payload": self._payload(notice)})

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Listen and send until cancelled; reconnect whenever the connection breaks."""
        if not self.shared or self._database is None:
            task_status.started()
            return
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._deliver)
            await self._keep_connected(self._database, task_status)

    async def _keep_connected(self, database: Database, task_status: TaskStatus[None]) -> None:
        is_first = True
        while True:
            try:
                async with database.own_connection() as connection:
                    broken = await self._listen(connection)
                    if is_first:
                        task_status.started()
                    else:
                        log.info("notices of the other gateways arrive again")
                        self._look_again()
                    is_first = False
                    await self._send(connection, broken)
            except Exception as error:  # noqa: BLE001
                # The driver has many names for a connection that broke.
                log.warning("notices of the other gateways do not arrive: %s", type(error).__name__)
            if is_first:
                is_first = False
                task_status.started()
            await anyio.sleep(RETRY_S)

    async def _listen(self, connection: Any) -> anyio.Event:
        """Listen on this connection; the event is set when it breaks."""
        broken = anyio.Event()

        def end(_connection: object) -> None:
            broken.set()
            self._wake.set()

        connection.add_termination_listener(end)
        with anyio.fail_after(TIMEOUT_S):
            channel = await connection.fetchval(f"SELECT {_CHANNEL}")
            await connection.add_listener(channel, self._receive)
        return broken

    async def _send(self, connection: Any, broken: anyio.Event) -> None:
        """Send what is posted, and a sign of life now and then, until the connection breaks."""
        while not broken.is_set():
            if not self._outbox:
                with anyio.move_on_after(PING_S):
                    await self._wake.wait()
            self._wake = anyio.Event()
            batch = [self._outbox.popleft() for _ in range(min(AT_A_TIME, len(self._outbox)))]
            try:
                with anyio.fail_after(TIMEOUT_S):
                    # With an empty batch this is the sign of life.
                    await connection.execute(_NOTIFY_ALL, batch)
            except BaseException:
                # Perhaps they were sent: twice is better than never.
                self._outbox.extendleft(reversed(batch))
                raise

    def _receive(self, _connection: object, _process: int, _channel: str, payload: str) -> None:
        try:
            envelope = _envelopes.decode(payload)
            if envelope.sender == self._sender:
                return
            notice = _notices.decode(envelope.notice)
        except msgspec.MsgspecError:
            # From a gateway of another version.
            log.debug("a notice of an unknown kind was ignored")
            return
        if len(self._inbox) >= MOST_WAITING:
            self._inbox.clear()
            notice = NoticesLost()
        self._inbox.append(notice)
        self._arrived.set()

    async def _deliver(self) -> None:
        """Call the handlers. The driver's own callback is no task, and most of AnyIO refuses to work there: because of that a run once ignored
        its readers elsewhere."""
        while True:
            await self._arrived.wait()
            self._arrived = anyio.Event()
            while self._inbox:
                notice = self._inbox.popleft()
                if isinstance(notice, NoticesLost):
                    self._look_again()
                for handler in self._handlers.get(type(notice), ()):
                    self._call(handler, notice)

    def _look_again(self) -> None:
        for handler in self._blind:
            self._call(handler)

    def _call(self, handler: Callable[..., None], *arguments: object) -> None:
        try:
            handler(*arguments)
        except Exception:
            log.exception("a notice of another gateway was not handled")

    def _payload(self, notice: Notice) -> str:
        payload = _encode(_Envelope(self._sender, msgspec.Raw(_encode(notice))))
        if len(payload) > MOST_BYTES:
            payload = _encode(_Envelope(self._sender, msgspec.Raw(_encode(NoticesLost()))))
        return payload.decode()

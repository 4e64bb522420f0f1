"""Responses that are written in the background: each a task of the server, with a numbered log of its events for clients that read them.

Owns how many of them a user may have, cancelling, that each ends and its end is stored whatever happens, and how long the log of one that
ended can be read. Used by `service`.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection
from contextlib import AbstractContextManager, aclosing, nullcontext
from typing import Any

import anyio
import anyio.abc
import msgspec

from duologue import caller
from duologue.errors import Busy, Problem, Unavailable
from duologue.gateway.middleware import byte_ledger
from duologue.gateway.middleware.byte_ledger import HeldBytes
from duologue.gateway.responses.item_storage import ItemStorage
from duologue.gateway.responses.preparation import PreparedResponse
from duologue.gateway.responses.response_reply import Events, Keep, ResponseWriter
from duologue.http.event_log import EventLog, EventNumbers
from duologue.notifier import Notifier
from duologue.store.responses.response_record import StoredResponse
from duologue.values.events import STOPPING
from duologue.wire.responses.response_object import failed_after
from duologue.wire.responses.response_stream import ResponseEncoder, ResponseEvent

log = logging.getLogger(__name__)

MOST_EVENTS = 1_000_000
"""Of one response; each token of a reply is about one."""
ENDED_LOGS = 64
"""Logs of ended responses that are kept."""
ENDED_BYTES = 32 * 2**20
"""The bytes of these logs."""
AGAIN_S = 30.0
"""Seconds after which the end of a response is stored again that could not be stored."""
LOOK_S = 5.0
"""Seconds between two looks for responses of gateways that have died."""
MOST_UNSTORED = 256
"""Of those ends. A database that cannot be written refuses new responses, each of which leaves one."""
RESTARTED = "server_restarted"
RESTARTED_SENTENCE = "The server restarted while it wrote this response. Ask again."

Allowed = Callable[[str, str], AbstractContextManager[None]]
"""A context for work of a user, begun with the key of this id. Raises AccessRevoked where the user may not have it go on."""


FindLeft = Callable[[Collection[str]], Awaitable[Collection[str]]]
"""Of these responses, those whose writer is gone. Called after the responses were read. Raises Unavailable."""


async def everyone_left(ids: Collection[str]) -> Collection[str]:
    """For a server that is alone."""
    return ids


def anyone(user: str, key: str) -> AbstractContextManager[None]:
    """Everything may go on: for a server without keys."""
    return nullcontext()


class BackgroundResponse:
    """One that runs or has ended."""

    def __init__(self, prepared: PreparedResponse, encoder: ResponseEncoder) -> None:
        self.encoder = encoder
        self.user, self.id, self.key = prepared.asked.user, prepared.asked.id, caller.key_id.get()
        self.scope = anyio.CancelScope()
        self.ended = anyio.Event()
        self.bytes = 0
        self.complete = False
        """Whether its last event is in the log."""
        self.held: HeldBytes | None = None
        self.log: EventLog[ResponseEvent] = EventLog(
            EventNumbers(-1), reset=(), remembered=MOST_EVENTS, complete_after=-1
        )

    def publish(self, events: Events) -> None:
        for event in events:
            self.bytes += len(event.data)
            self.complete = self.complete or event.final
            self.log.publish(event)

    async def frames(self, after: int = -1) -> AsyncGenerator[bytes]:
        """The events after number `after` as they come, until the last one."""
        last = self.log.number
        if self.ended.is_set() and after >= last:
            return
        async with aclosing(self.log.read(after)) as entries:
            async for entry in entries:
                yield entry.event.frame
                if entry.event.final:
                    return


class BackgroundResponses:
    """`run` serves until cancelled; before that none can begin. `most`: of one user at a time; `allowed`: a context for work of a user and
    the key that began it, which ends it with AccessRevoked."""

    def __init__(
        self,
        writer: ResponseWriter,
        storage: ItemStorage,
        keep: Keep,
        *,
        most: int,
        clock: Callable[[], float],
        allowed: Allowed = anyone,
        again: float = AGAIN_S,
    ) -> None:
        self.mark = ""
        """How the ids of those begin that this gateway writes, where others share its database."""
        self.left: FindLeft = everyone_left
        """Finds the responses whose writer is gone, among those of other gateways that are stored as running."""
        self._writer, self._storage, self._keep = writer, storage, keep
        self._most, self._clock, self._allowed, self._again = most, clock, allowed, again
        self._tasks: anyio.abc.TaskGroup | None = None
        self._running: dict[str, BackgroundResponse] = {}
        self._ended: OrderedDict[str, BackgroundResponse] = OrderedDict()
        self._unstored: OrderedDict[str, StoredResponse] = OrderedDict()
        self._news = Notifier()

    async def run(self, *, task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Mark those that the last server left unfinished, and keep the tasks until cancelled."""
        await self._end_left()
        try:
            async with anyio.create_task_group() as tasks:
                self._tasks = tasks
                task_status.started()
                if self.mark:
                    tasks.start_soon(self._keep_looking)
                await self._store_ends()
        finally:
            self._tasks = None

    async def _end_left(self) -> None:
        unfinished = {each.id: each for each in await self._storage.responses.unfinished()}
        others = [id for id in unfinished if id not in self._running]
        for left in [unfinished[id] for id in await self.left(others)] if others else ():
            response = failed_after(left.response, RESTARTED, RESTARTED_SENTENCE)
            await self._storage.responses.save(
                msgspec.structs.replace(left, status="failed", response=response)
            )

    async def _keep_looking(self) -> None:
        """End what other gateways leave unfinished when they die."""
        while True:
            await anyio.sleep(LOOK_S)
            try:
                await self._end_left()
            except Problem as problem:
                log.warning("the responses of other servers could not be checked: %s", problem.message)

    async def _store_ends(self) -> None:
        """Store the ends that could not be stored when they came, without what was written."""
        while True:
            while not self._unstored:
                await self._news.wait()
            await anyio.sleep(self._again)
            for id, end in tuple(self._unstored.items()):
                try:
                    await self._storage.responses.save(end)
                except Problem as problem:
                    log.warning("the end of the response %s could not be stored: %s", id, problem.message)
                    break
                self._unstored.pop(id, None)

    def check_room(self, user: str) -> None:
        """Raises Busy when this user has as many as allowed, Unavailable while the server starts or stops."""
        self._check_open()
        if sum(running.user == user for running in self._running.values()) >= self._most:
            raise Busy(
                f"{self._most} of your responses run in the background already (setting responses.background). Wait until one "
                "has ended, or cancel one.",
                code="background_full",
            )

    def _check_open(self) -> anyio.abc.TaskGroup:
        if self._tasks is None or self._tasks.cancel_scope.cancel_called:
            raise Unavailable(STOPPING.message, code=STOPPING.code)
        return self._tasks

    async def begin(self, prepared: PreparedResponse) -> BackgroundResponse:
        """Store a response and begin to write it. Raises Busy, Unavailable."""
        self.check_room(prepared.asked.user)
        encoder = self._writer.encoder(prepared, streams=True)
        job = BackgroundResponse(prepared, encoder)
        job.publish(encoder.queued())
        self._running[job.id] = job
        try:
            await self._storage.responses.add(stored_response(prepared, encoder.response), prepared.given)
            tasks = self._check_open()
        except BaseException as error:
            del self._running[job.id]
            if isinstance(error, Problem):
                # It may have been stored all the same, and must not stay unfinished.
                encoder.broken(error.code, error.message)
                self._store_later(stored_response(prepared, encoder.response))
            raise
        # From here on it is this work that has the bytes of its request, which ends before.
        job.held = byte_ledger.handed_on()
        tasks.start_soon(self._work, job, prepared)
        return job

    def find(self, user: str, id: str) -> BackgroundResponse | None:
        """One of this user that runs, or whose log is still kept."""
        job = self._running.get(id) or self._ended.get(id)
        return job if job is not None and job.user == user else None

    async def cancel(self, user: str, id: str) -> None:
        """End one that runs, and return when its end is stored; without effect on others."""
        job = self._running.get(id)
        if job is not None and job.user == user:
            job.scope.cancel()
            await job.ended.wait()

    def forget(self, user: str, id: str) -> None:
        """Drop the log of one that was deleted."""
        if self.find(user, id) is not None:
            self._ended.pop(id, None)

    async def _work(self, job: BackgroundResponse, prepared: PreparedResponse) -> None:
        try:
            try:
                with self._allowed(job.user, job.key), job.scope:
                    await self._write(job, prepared)
                if job.scope.cancelled_caught and not job.encoder.ended:
                    events = job.encoder.cancelled(int(self._clock()))
                    await self._keep(prepared, job.encoder)
                    job.publish(events)
            except Exception as error:
                if not isinstance(error, Problem):
                    log.exception("the response %s in the background failed", job.id)
                known = error if isinstance(error, Problem) else Problem("An internal error occurred.")
                events = job.encoder.broken(known.code, known.message)
                try:
                    await self._keep(prepared, job.encoder)
                except Problem:
                    self._store_later(stored_response(prepared, job.encoder.response))
                if not job.complete:
                    job.publish(events)
        finally:
            if not job.complete:
                # The server stops: the next start finds the row, and those who watch are told now.
                job.publish(job.encoder.broken(STOPPING.code, STOPPING.message))
            if job.held is not None:
                job.held.close()
            self._running.pop(job.id, None)
            job.ended.set()
            self._remember(job)

    def _store_later(self, response: StoredResponse) -> None:
        self._unstored[response.id] = response
        while len(self._unstored) > MOST_UNSTORED:
            self._unstored.popitem(last=False)  # the next start of the server finds it
        self._news.notify()

    async def _write(self, job: BackgroundResponse, prepared: PreparedResponse) -> None:
        is_saved = False
        async with aclosing(self._writer.write(prepared, job.encoder)) as batches:
            async for events in batches:
                if not is_saved and not job.encoder.ended:
                    is_saved = True
                    running = stored_response(prepared, job.encoder.response)
                    await self._storage.responses.save(running)
                job.publish(events)

    def _remember(self, job: BackgroundResponse) -> None:
        self._ended[job.id] = job
        while len(self._ended) > ENDED_LOGS or (
            len(self._ended) > 1 and sum(ended.bytes for ended in self._ended.values()) > ENDED_BYTES
        ):
            self._ended.popitem(last=False)


def stored_response(prepared: PreparedResponse, response: dict[str, Any]) -> StoredResponse:
    """A response as a row; its output is among the items."""
    body = prepared.asked.body
    return StoredResponse(
        prepared.asked.id,
        prepared.asked.user,
        response["status"],
        {name: value for name, value in response.items() if name != "output"},
        body.previous_response_id,
        None if body.conversation is None else body.conversation.id,
        body.background,
    )

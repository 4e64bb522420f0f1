"""All workers of one kind, the queue in front of them, and the only way to a slot: `with pool.lease(...)`.

Owns the shell around the pure `scheduler`: it passes facts in, carries commands out to the leases, and takes back every granted
slot on every exit. The workers themselves are its `Roster`. There is one pool for the models and one for the voice.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

import anyio
import anyio.abc
import msgspec
from anyio.lowlevel import checkpoint

from duologue import caller
from duologue.errors import Unavailable
from duologue.fair_lane import FairLane
from duologue.gateway.scheduling.eta import Job
from duologue.gateway.scheduling.lease import Lease
from duologue.gateway.scheduling.lowest_place import BATCH, in_lowest_place
from duologue.gateway.scheduling.place_refresh import tell_in_turns
from duologue.gateway.scheduling.queueing.queue_commands import Moved
from duologue.gateway.scheduling.roster import KeeperElsewhere, Roster
from duologue.gateway.scheduling.scheduler import (
    EVERY_SLOT,
    NO_MODEL,
    Chain,
    Command,
    Granted,
    Refused,
    Scheduler,
)
from duologue.gateway.scheduling.served_models import Asked, ServedModels
from duologue.gateway.workers.connection import WorkerConnection
from duologue.gateway.workers.keeper_contracts import Keeper
from duologue.gateway.workers.worker_status import WorkerStatus
from duologue.notifier import Notifier
from duologue.threads import Refusal
from duologue.values.events import STOPPING, Done
from duologue.values.questions.worker_answers import Answer, Counted
from duologue.values.questions.worker_questions import (
    CountPrompt,
    DrainReplica,
    Question,
    RenderChat,
    UseTemplate,
)
from duologue.values.requests import ChatRequest, ModelCard
from duologue.wire.worker_protocol import LoadSpec

REFRESH = 3.0
"""Seconds after which a waiting request gets a new estimate, even if it has not moved."""
CANCELLED = "This request was cancelled while it waited in the queue."
PLACES_AT_ONCE = 100
"""How many places of the queue are made in one step: about a millisecond."""
ASK_PATIENCE = 10.0
"""Seconds that an answer may take: a library that reads a long prompt blocks its engine for several."""
TEMPLATE_PATIENCE = 60.0
"""Seconds in which a worker must have compiled another template; it waits for the questions before it, and for the template's limits."""
ASKING = 4
"""Questions that are answered at a time, one of each user: a worker answers them one after another."""
TOO_MANY_ASKS = Refusal(
    "Too many questions wait for the models' workers. Try again in a moment.",
    "Answering other questions took too long. Try again in a moment.",
)
A = TypeVar("A", bound=Answer)


class Pool(Roster):
    """The workers, the scheduler and the leases. `log`: level and format of the workers' logs; `ticket_prefix`: how the names of
    this pool's tickets begin; `on_change` is called when a worker's status has changed; `weight_of` a share (`caller.share`) is how much it gets."""

    def __init__(
        self,
        load_specs: Sequence[LoadSpec],
        scheduler: Scheduler,
        *,
        port: int = 22400,
        log: tuple[str, str] = ("info", "text"),
        clock: Callable[[], float] = time.monotonic,
        on_change: Callable[[], None] = lambda: None,
        ticket_prefix: str = "q_",
        stall_limit: float | None = None,
        weight_of: Callable[[str], float] = lambda share: 1.0,
        placed: KeeperElsewhere | None = None,
    ) -> None:
        self._ticket_prefix = ticket_prefix
        self._weight_of = weight_of
        self._tickets = 0
        self._leases: dict[str, Lease] = {}
        super().__init__(
            load_specs,
            scheduler,
            port=port,
            log=log,
            clock=clock,
            on_change=on_change,
            stall_limit=stall_limit,
            placed=placed,
        )
        self._lease_ended = Notifier()
        self._asking = FairLane(ASKING, 1, patience=None, refusal=TOO_MANY_ASKS)
        self._served: tuple[object, ServedModels] = (None, ServedModels(()))

    # ---- leases

    def mark_tickets(self, mark: str) -> None:
        """The names of further tickets say which gateway has them."""
        self._ticket_prefix += f"{mark}_"

    @contextmanager
    def lease(
        self,
        model: str,
        *,
        kind: str = "chat",
        chain: Chain = (),
        opening: bytes = b"",
        need: int = 1,
        ahead: bool = False,
        user: str = "",
        prompt: float = 0.0,
        most: int | None = None,
    ) -> Iterator[Lease]:
        """A lease on `need` slots, or EVERY_SLOT of a worker, that serve `model`, given back on every exit. `ahead`: before the queue. A
        task in the lowest place waits behind the queue, whatever it asks for. `prompt` and `most`: as of `Scheduler.request`.

        Entering does not wait: iterate `lease.places()` until the slots are granted.
        """
        self._tickets += 1
        ticket = f"{self._ticket_prefix}{self._tickets:x}"
        behind = in_lowest_place()
        lease = Lease(self, ticket, user, need=1 if behind else need, whole=need >= EVERY_SLOT)
        self._leases[lease.ticket] = lease
        try:
            if self._stopping:
                lease.apply(Refused(lease.ticket, STOPPING.code, STOPPING.message), None)
            elif not self.served().all:
                lease.apply(Refused(lease.ticket, "model_empty", NO_MODEL), None)
            else:
                self._apply(
                    self.scheduler.request(
                        lease.ticket,
                        self._queue_of(model),
                        self._clock(),
                        need=need,
                        kind=BATCH if behind else kind,
                        chain=chain,
                        opening=opening,
                        ahead=ahead and not behind,
                        behind=behind,
                        share=caller.share(user),
                        weight=self._weight_of(caller.share(user)),
                        prompt=prompt,
                        most=most,
                    )
                )
            yield lease
        finally:
            del self._leases[lease.ticket]
            lease.give_back()
            self._lease_ended.notify()

    def cancel(self, ticket: str, user: str | None = None) -> bool:
        """Refuse the request that waits with this ticket. With `user`, only if it is theirs. False if there is none."""
        lease = self._leases.get(ticket)
        if lease is None or user not in (None, lease.user) or not self.scheduler.is_waiting(ticket):
            return False
        self.withdraw(ticket)
        lease.apply(Refused(ticket, "cancelled", CANCELLED), None)
        return True

    def withdraw(self, ticket: str) -> None:
        """Take a waiting ticket out of the queue."""
        self._apply(self.scheduler.cancel(ticket, self._clock()))

    def release(self, ticket: str, worker: str, slot: int) -> None:
        """Give a slot back."""
        self._apply(self.scheduler.release(ticket, worker, slot, self._clock()))
        self._slot_released.notify()

    def progress(self, ticket: str, worker: str, slot: int, tokens: int) -> None:
        """What runs in a slot has written so many tokens."""
        self.scheduler.progress(ticket, worker, slot, tokens, self._clock())

    def replied(self, model: str, kind: str, prompt: float, done: Done) -> None:
        """A reply has ended by itself; for the estimates. `prompt`: as of `Scheduler.request`."""
        kind = BATCH if in_lowest_place() else kind
        self.scheduler.estimator.ended(Job(self._queue_of(model), kind, prompt), done)

    # ---- questions

    async def count(self, request: ChatRequest, user: str = "") -> Counted:
        """How many tokens a request's prompt has, as a worker of its model counts them. Raises as `ask`, and the Problem of a template
        that rejects the messages."""
        counted = await self.ask(CountPrompt(request), Counted, user)
        served = self.served().find(request.model)
        # A worker that serves all models of a server does not know the context of each.
        if counted.context or served is None:
            return counted
        return msgspec.structs.replace(counted, context=served.card.context)

    async def ask(self, question: Question, kind: type[A], user: str = "") -> A:
        """The answer of a worker of the question's model, which is of this kind; it needs no slot. Users take turns.

        Raises Unavailable when no worker of the model is ready or none answers in time, WorkerLost when the worker
        ends meanwhile, Busy when too many are asked, and the Problem that the worker met.
        """
        if isinstance(question, CountPrompt | RenderChat):
            request = self.addressed(question.request)
            question, model = msgspec.structs.replace(question, request=request), request.model
        else:
            model = question.model
            served = self.served().find(model)
            upstream_model = "" if served is None else served.upstream_model
            question = msgspec.structs.replace(question, upstream_model=upstream_model)
        self._asked_connection(model)  # what nobody can answer is refused without a wait
        with anyio.move_on_after(ASK_PATIENCE):
            async with self._asking.turn(user):
                answer = await self._asked_connection(model).ask(question)
                assert isinstance(answer, kind), "each question has its kind of answer"
                return answer
        raise Unavailable(
            "The model is too busy to answer this. Try again in a moment.", code="count_timeout"
        )

    def _asked_connection(self, model: str) -> WorkerConnection:
        """The connection to the worker of this model that has the least to answer."""
        if self._stopping:
            raise Unavailable(STOPPING.message, code=STOPPING.code)
        if not self.served().all:
            raise Unavailable(NO_MODEL, code="model_empty")
        serving = self._keepers_of(model)
        connections = [
            keeper.connection
            for keeper in serving
            if keeper.status.state == "ready" and keeper.connection is not None
        ]
        if connections:
            return min(connections, key=lambda connection: connection.asks)
        detail = next((keeper.status.detail for keeper in serving if keeper.status.detail), "")
        raise Unavailable(detail or f"No worker of the model {model!r} is ready.")

    def _keepers_of(self, model: str) -> list[Keeper]:
        queue = self._queue_of(model)
        return [keeper for keeper in self._keepers.values() if keeper.status.queue == queue]

    async def use_template(self, model: str, path: str, source: str) -> None:
        """Have every worker of a model render with the template that was read from a file; "" for its own. Workers that start or join later
        get it too. Raises as `ask`, and Unsupported (`template_error`) for one that cannot be compiled; nothing has changed then."""
        self._asked_connection(model)
        for keeper in self._keepers_of(model):
            if keeper.status.state == "ready" and keeper.connection is not None:
                with anyio.move_on_after(TEMPLATE_PATIENCE) as patience:
                    await keeper.connection.ask(UseTemplate(source))
                if patience.cancelled_caught:
                    raise Unavailable(
                        "The model is too busy to change its template. Try again in a moment.",
                        code="count_timeout",
                    )
            keeper.load_spec = msgspec.structs.replace(keeper.load_spec, template=path)
        self.tuning.use_template(self._queue_of(model), path)

    async def drain_replica(self, worker: str, url: str, drained: bool) -> None:
        """Give one of the servers of a worker's model no new requests, or some again, and so after a restart. Raises NotFound
        (`replica_not_found`), Unavailable."""
        keeper = self._keepers[worker]
        if keeper.status.state != "ready" or keeper.connection is None:
            raise Unavailable(f"The worker {worker} is not ready. Try again when it is.")
        with anyio.move_on_after(ASK_PATIENCE) as patience:
            await keeper.connection.ask(DrainReplica(url, drained))
        if patience.cancelled_caught:
            raise Unavailable("The worker is too busy. Try again in a moment.", code="count_timeout")
        options = keeper.load_spec.options
        before = options.get("drained", ())
        others = [each for each in before if each != url] if isinstance(before, list | tuple) else []
        keeper.load_spec = msgspec.structs.replace(
            keeper.load_spec, options={**options, "drained": [*others, *([url] if drained else [])]}
        )

    # ---- views

    def cards(self) -> list[ModelCard]:
        """The models, the default first; those still loading with what is known of them."""
        return list(self.served().cards)

    def served(self) -> ServedModels:
        """The models by the names that clients use. Made again only when a worker or its models have changed."""
        # What is going to be removed serves nobody new.
        serving = [status for status in self.workers.values() if not status.retiring]
        of = [
            self._preferred,
            *((status.model, status.card, status.models, status.warning) for status in serving),
        ]
        if of != self._served[0]:
            self._served = (of, ServedModels(serving, self._preferred))
        return self._served[1]

    def workers_of(self, model: str) -> list[WorkerStatus]:
        """The workers that serve a model, by any of its names; those of the default model for an empty name."""
        served = self.served().find(model)
        return [status for status in self.workers.values() if status.queue == served.queue] if served else []

    def find(self, name: str) -> ModelCard | None:
        """The card of a model by any of its names; None if it is not served."""
        served = self.served().find(name)
        return None if served is None else served.card

    @property
    def ready(self) -> bool:
        """Whether a chat with the default model would be answered."""
        return any(status.state == "ready" for status in self.workers_of(""))

    def is_paused(self, ticket: str) -> bool:
        """Whether what runs under this ticket has been paused by its client."""
        return ticket in self._leases and self._leases[ticket].paused

    def now(self) -> float:
        """Seconds on the pool's clock, which the scheduler's times are on."""
        return self._clock()

    # ---- running

    async def run(self, *, task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Keep every worker running until cancelled; the workers end with it."""
        async with anyio.create_task_group() as tasks:
            for keeper in self._keepers.values():
                tasks.start_soon(keeper.run)
            tasks.start_soon(self._refresh)
            self._tasks = tasks
            task_status.started()

    async def places(self) -> list[Moved]:
        """The positions of all waiting requests, in order. Made in small steps: ten thousand places in one piece would hold up every reply."""
        found: list[Moved] = []
        for number, place in enumerate(self.scheduler.place_steps(self._clock())):
            if place is not None:
                found.append(place)
            if place is None or number % PLACES_AT_ONCE == 0:
                await checkpoint()
        return found

    async def _refresh(self) -> None:
        """Send waiting requests a new estimate now and then, made in one pass over the queue, which goes on in small steps however long it is."""
        while True:
            await anyio.sleep(REFRESH)
            await tell_in_turns(self.scheduler.place_portions(self._clock()), self._apply)

    async def stop(self, seconds: float) -> None:
        """Accept nothing new, end every running and waiting request with `server_stopping`, and give them `seconds` to
        deliver it."""
        self._stopping = True
        for lease in list(self._leases.values()):
            lease.apply(Refused(lease.ticket, STOPPING.code, STOPPING.message), None)
        for keeper in self._keepers.values():
            if keeper.connection is not None:
                keeper.connection.interrupt(STOPPING)
        with anyio.move_on_after(seconds):
            while self._leases:
                await self._lease_ended.wait()

    def _apply(self, commands: Iterable[Command]) -> None:
        for command in commands:
            if (lease := self._leases.get(command.ticket)) is None:
                continue
            connection = None
            if isinstance(command, Granted):
                # The scheduler has slots of a worker only from its first report to its loss, so the connection is there.
                connection = self._keepers[command.worker].connection
                assert connection is not None
            lease.apply(command, connection)

    def addressed(self, request: Asked) -> Asked:
        """The request with what the model's server calls it, where that differs from what clients do."""
        served = self.served().find(request.model)
        return request if served is None else served.addressed(request, self.tuning)

    def _queue_of(self, model: str) -> str:
        """The scheduler's line for a model; the name itself for one that nobody serves."""
        served = self.served().find(model)
        return model if served is None else served.queue

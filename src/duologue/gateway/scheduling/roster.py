"""The workers of a pool: which there are, in which order, and how they come and go.

Owns the keepers and what each worker loads. It knows no lease: `Pool` is built on it, carries out what the scheduler commands, and
asks the workers questions.
"""

from __future__ import annotations

import itertools
import math
import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence

import anyio
import anyio.abc
import msgspec

from duologue.errors import Problem, Unavailable
from duologue.gateway.scheduling.model_tuning import ModelTuning
from duologue.gateway.scheduling.scheduler import Command, Scheduler, unloaded_message
from duologue.gateway.workers import process
from duologue.gateway.workers.keeper import WorkerKeeper
from duologue.gateway.workers.keeper_contracts import Keeper, Listener, RestartCause
from duologue.gateway.workers.worker_status import WorkerStatus
from duologue.notifier import Notifier
from duologue.values.events import STOPPING, Failed
from duologue.values.requests import UpstreamModel
from duologue.wire.worker_protocol import LoadSpec

KeeperElsewhere = Callable[[LoadSpec, Listener, float | None], Keeper | None]
"""The keeper of a worker of this load spec that runs elsewhere; None for one that runs here. The last argument is its stall limit."""


class Roster(ABC):
    """The workers of a pool. `log`: level and format of their logs; `on_change` is called whenever a worker's status has changed; `placed`
    makes the keepers of workers that do not run on this machine."""

    def __init__(
        self,
        load_specs: Sequence[LoadSpec],
        scheduler: Scheduler,
        *,
        port: int,
        log: tuple[str, str],
        clock: Callable[[], float],
        on_change: Callable[[], None],
        stall_limit: float | None,
        placed: KeeperElsewhere | None = None,
    ) -> None:
        self.scheduler = scheduler
        """For reading only: commands go through the pool."""
        self._port = port
        self._log = log
        self._clock = clock
        self._changed = Notifier()
        self._on_change = on_change
        self._stall_limit = stall_limit
        self._placed = placed
        self._secret = secrets.token_urlsafe(32)
        self._stopping = False
        self._slot_released = Notifier()
        self.tuning = ModelTuning()
        self.workers: dict[str, WorkerStatus] = {}
        """By name, those of the default model first."""
        self._preferred = ""
        self._keepers: dict[str, Keeper] = {}
        self._numbers = itertools.count(len(load_specs))
        self._tasks: anyio.abc.TaskGroup | None = None
        for number, load_spec in enumerate(load_specs):
            self._enrol(load_spec, port + number)
        self._order()

    def _publish(self) -> None:
        """A worker's status has changed."""
        self._changed.notify()
        self._on_change()

    @abstractmethod
    def _apply(self, commands: Iterable[Command]) -> None:
        """Carry out what the scheduler commands."""

    def add(self, load_spec: LoadSpec, *, ahead: bool = False) -> WorkerStatus:
        """Start one more worker under a new name; `load_spec.worker` is ignored. Its status shows how the loading goes. `ahead`: before the
        others, so that its model is the default if no other one was chosen.

        Raises Unavailable while the pool does not run.
        """
        if self._tasks is None or self._stopping:
            raise Unavailable(STOPPING.message, code=STOPPING.code)
        number = next(number for number in self._numbers if f"worker_{number}" not in self.workers)
        load_spec = msgspec.structs.replace(load_spec, worker=f"worker_{number}")
        for other in self._keepers.values():
            if (
                other.load_spec.model == load_spec.model
                and other.load_spec.engine == load_spec.engine
                and not other.status.joined
            ):
                load_spec = alike(load_spec, other.load_spec)
        # Ports of removed workers are used again; a worker that finds its port taken tries the next one.
        keeper = self._enrol(load_spec, self._port + number % process.PORTS_TRIED)
        keeper.status.added = True
        return self._began(keeper, ahead=ahead)

    def admit(self, keeper: Keeper) -> WorkerStatus:
        """Add a worker on another machine, with its keeper; the pool is that keeper's listener. It runs until it is removed.

        Raises Unavailable while the pool does not run, and ValueError for a name that is taken.
        """
        if self._tasks is None or self._stopping:
            raise Unavailable(STOPPING.message, code=STOPPING.code)
        if keeper.status.worker in self.workers:
            raise ValueError(f"there is a worker {keeper.status.worker} already")
        template = self.tuning.template(keeper.status.queue)
        keeper.load_spec = msgspec.structs.replace(keeper.load_spec, template=template)
        self._enter(keeper)
        return self._began(keeper, ahead=False)

    def _began(self, keeper: Keeper, *, ahead: bool) -> WorkerStatus:
        """Start a keeper that has entered while the pool runs."""
        assert self._tasks is not None
        if ahead:
            name = keeper.status.worker
            self._keepers = {name: keeper} | self._keepers
        self._order()
        self._tasks.start_soon(keeper.run)
        self._publish()
        return keeper.status

    async def remove(self, name: str, failure: Failed | None = None) -> None:
        """As `drop`. Returns when the worker's process has ended. Raises KeyError."""
        keeper = self.drop(name, failure)
        if self._tasks is not None:
            await keeper.wait_ended()

    def drop(self, name: str, failure: Failed | None = None) -> Keeper:
        """Remove a worker: requests that wait for its model alone are refused, running ones end, both with `failure` or `model_unloaded`.
        Its process ends soon. Raises KeyError."""
        status, keeper = self.workers.pop(name), self._keepers.pop(name)
        failure = failure or Failed("model_unloaded", _removed_message(status), 503)
        refused = self.scheduler.worker_removed(name, self._clock(), failure.message, failure.code)
        self._apply(refused)
        if not status.joined and all(other.queue != status.queue for other in self.workers.values()):
            self.tuning.forget(status.queue)
        keeper.remove(failure)
        self._publish()
        return keeper

    def prefer(self, model: str) -> None:
        """Make a model the default, as long as it has a worker; otherwise, and with "", it is the first of the settings."""
        self._preferred = model
        self._order()
        self._publish()

    def _order(self) -> None:
        def is_other(status: WorkerStatus) -> bool:
            # Of the models of a connected server one is put first where they get their names.
            return (
                not self._preferred
                or bool(status.upstream)
                or self._preferred
                not in (
                    status.model,
                    status.card and status.card.name,
                )
            )

        # In the order in which they were added, except for the preferred model.
        # Those that do not chat are nobody's default.
        views = sorted(
            (keeper.status for keeper in self._keepers.values()),
            key=lambda status: (not status.chats, is_other(status)),
        )
        self.workers = {status.worker: status for status in views}

    async def retire(self, name: str, grace: float = math.inf) -> None:
        """Remove a worker as soon as nothing runs on it, which may take hours, or after `grace` seconds; nothing new begins on it. It goes
        behind the others, and its model is served no more unless one of them has it. Raises KeyError."""
        self._keepers[name] = self._keepers.pop(name)
        status = self.workers[name]
        status.draining = status.retiring = True
        self._order()
        self._apply(self.scheduler.worker_draining(name, self._clock(), _removed_message(status)))
        self._publish()
        await self.emptied(name, grace)
        if self.workers.get(name) is status:
            await self.remove(name)

    async def emptied(self, name: str, grace: float = math.inf) -> bool:
        """Return when nothing runs on a worker, or it was removed, or after `grace` seconds. Gives whether it is empty."""
        status = self.workers.get(name)
        with anyio.move_on_after(grace):
            while self.workers.get(name) is status and self.scheduler.busy(name):
                await self._slot_released.wait()
        return not self.scheduler.busy(name)

    def drain(self, name: str, note: str = "") -> None:
        """Let nothing new begin on a worker until `resume`; what runs on it goes on. Requests for a model that no other worker has are
        refused. Raises KeyError."""
        status = self.workers[name]
        status.draining, status.note = True, note
        self._apply_draining(status)
        self._publish()

    def _apply_draining(self, status: WorkerStatus) -> None:
        sentence = (
            f"The worker of {status.upstream or status.model} takes no new requests, because an admin drains it. Choose another model, or try again "
            "later."
        )
        at = self._clock()
        self._apply(self.scheduler.worker_draining(status.worker, at, sentence, sentence))

    def hold(self, name: str, note: str = "") -> None:
        """As `drain`, but requests wait: the worker is about to be started again. Raises KeyError."""
        status = self.workers[name]
        status.draining, status.note = True, note
        self._apply(self.scheduler.worker_held(name, self._clock()))
        self._publish()

    def resume(self, name: str) -> None:
        """Let a worker take requests again that was drained or held. Raises KeyError, and Problem `worker_retiring` (409) for one that is
        about to be removed."""
        status = self.workers[name]
        if status.retiring:
            raise Problem(
                f"The worker {name} is being unloaded, which cannot be undone. Load its model again when it is gone.",
                code="worker_retiring",
                status=409,
            )
        status.draining, status.note = False, ""
        self._apply(self.scheduler.worker_resumed(name, self._clock()))
        self._publish()

    async def beside(self, name: str, note: str = "") -> WorkerStatus:
        """Start another worker that loads the same as this one and stands for it: as much part of the settings, or loaded by a request.
        Returns when it is ready. Raises KeyError, and Unavailable when it failed; it is removed then."""
        old = self.workers[name]
        if old.joined:
            raise Unavailable(f"The worker {name} is on another machine. Start another one there.")
        new = self.add(self._keepers[name].load_spec)
        new.added, new.by_request, new.note = old.added, old.by_request, note
        try:
            while new.state != "ready":
                changed = self._changed.pending()
                if new.state == "failed" or new.restarts or self.workers.get(new.worker) is not new:
                    reason = new.detail or new.ended or "its process ended"
                    raise Unavailable(f"Another worker of {old.model} could not be started ({reason}).")
                await changed.wait()
        except BaseException:
            if self.workers.get(new.worker) is new:
                with anyio.CancelScope(shield=True):
                    await self.remove(new.worker)
            raise
        return new

    async def slot_released(self) -> None:
        """Return when a slot was given back, or a worker was lost."""
        await self._slot_released.wait()

    def restart(self, name: str, cause: RestartCause = "admin") -> None:
        """Restart a worker at once. What it runs ends with `worker_restarted`; waiting requests keep their place. Raises
        KeyError."""
        status = self.workers[name]
        if not status.retiring:
            status.draining, status.note = False, ""
        self._keepers[name].restart(cause)

    async def changed(self) -> None:
        """Return when the status of a worker has changed."""
        await self._changed.wait()

    def set_models(self, name: str, models: tuple[UpstreamModel, ...], warning: str = "") -> None:
        """The models of the connected server that a worker serves, and what is wrong with the server. Raises KeyError."""
        status = self.workers[name]
        if (status.models, status.warning) != (models, warning):
            status.models, status.warning = models, warning
            self._publish()

    def change_spec(self, name: str, load_spec: LoadSpec) -> None:
        """Load something else in a worker from its next start on. Raises KeyError."""
        self._keepers[name].load_spec = load_spec

    def load_spec(self, name: str) -> LoadSpec:
        """What a worker loads. Raises KeyError."""
        return self._keepers[name].load_spec

    def load_specs(self) -> list[LoadSpec]:
        """What each worker loads whose files are this server's, the default model's first."""
        return [self._keepers[name].load_spec for name, status in self.workers.items() if not status.joined]

    def _enrol(self, load_spec: LoadSpec, port: int) -> Keeper:
        """Take in a worker of this machine."""
        elsewhere = None if self._placed is None else self._placed(load_spec, self, self._stall_limit)
        keeper = elsewhere or WorkerKeeper(
            load_spec,
            self,
            port=port,
            secret=self._secret,
            log_settings=self._log,
            clock=self._clock,
            stall_limit=self._stall_limit,
        )
        self._enter(keeper)
        return keeper

    def _enter(self, keeper: Keeper) -> None:
        status = keeper.status
        self.workers[status.worker], self._keepers[status.worker] = status, keeper
        self._apply(self.scheduler.worker_starting(status.worker, status.queue, self._clock()))

    # ---- what the keepers report

    def worker_ready(self, status: WorkerStatus, slots: int) -> None:
        self._order()  # only now is the name known that the engine has for its model
        self._apply(self.scheduler.worker_ready(status.worker, status.queue, slots, self._clock()))
        if status.draining:
            self._apply_draining(status)

    def worker_down(self, status: WorkerStatus) -> None:
        at = self._clock()
        if status.state == "failed":
            self._apply(self.scheduler.worker_failed(status.worker, status.queue, status.detail, at))
        else:
            self._apply(self.scheduler.worker_starting(status.worker, status.queue, at))
        self._slot_released.notify()

    def worker_unreachable(self, status: WorkerStatus) -> None:
        self._apply(self.scheduler.worker_held(status.worker, self._clock()))

    def worker_reachable(self, status: WorkerStatus) -> None:
        if not status.draining:
            self._apply(self.scheduler.worker_resumed(status.worker, self._clock()))

    def slots_elsewhere(self, status: WorkerStatus, slots: tuple[int, ...]) -> None:
        self._apply(self.scheduler.slots_elsewhere(status.worker, slots, self._clock()))
        self._slot_released.notify()

    def worker_changed(self) -> None:
        self._order()  # an upstream that was down may have told the name of its model only now
        self._publish()


def alike(load_spec: LoadSpec, other: LoadSpec) -> LoadSpec:
    """The load spec of one more worker of a model, with what admins chose for the other one at run time."""
    loras = {"loras": other.options["loras"]} if "loras" in other.options else {}
    return msgspec.structs.replace(load_spec, template=other.template, options={**load_spec.options, **loras})


def _removed_message(status: WorkerStatus) -> str:
    """The sentence for requests that used or waited for a removed worker."""
    if status.upstream:
        return f"The server {status.upstream!r} was disconnected. Choose another model, or connect the server again."
    return unloaded_message(status.model)

"""The models that admins loaded while the server ran, and the default model they chose: kept for the next start.

Owns what is remembered, how a load that failed is marked, and which loads a start repeats. `loader` reports every load here, `service`
repeats the loads. The rows are in `store/remembered_loads.py`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec
from msgspec import Struct

from duologue.errors import NotFound, Problem
from duologue.values.events import STOPPING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from duologue.store.remembered_loads import RememberedLoad, RememberedLoads

log = logging.getLogger(__name__)

STOPPED_WHILE_LOADING = "The server stopped while it was loading."
"""Why a load failed that was under way when the process died. It is not repeated, because it may be what killed the process."""


class RememberedRow(Struct, frozen=True):
    """A model that is remembered and not loaded: how many of its workers, and why the last load failed, "" if none has."""

    name: str
    failed: str
    count: int


class RememberedModels:
    """Nothing is remembered before `open`. `prefer` makes a model the default; "" is the first of the settings.

    While the database cannot be written, models are loaded all the same, and the log says that they are not remembered.
    """

    def __init__(self, prefer: Callable[[str], None] = lambda model: None) -> None:
        self._prefer = prefer
        self._store: RememberedLoads | None = None
        self._configured: list[str] = []
        self._loads: dict[int, RememberedLoad] = {}
        self._workers: dict[str, int] = {}
        """The load of each worker."""
        self._new: set[int] = set()
        """Loads that are under way for the first time. They are forgotten if they fail: who requested them gets the reason."""
        self._choice: Mapping[str, Any] | None = None
        self._chosen = 0
        """How often this gateway has changed the default model."""
        self.on_stored: Callable[[], None] = lambda: None
        """Called when a default model was stored, or that there is none any more."""

    async def open(self, store: RememberedLoads, configured: Iterable[str]) -> None:
        """Read what is remembered. `configured`: the names of the models of the settings. Raises Unavailable."""
        self._store, self._configured = store, sorted(set(configured))
        loads = await store.all()
        covered = [load.id for load in loads if not load.another and load.name in self._configured]
        if covered:
            await store.forget(*covered)
        for load in loads:
            if load.loading:
                load = msgspec.structs.replace(load, loading=False, failed=STOPPED_WHILE_LOADING)
                await store.save(load)
            if load.id not in covered:
                self._loads[load.id] = load
        self._choice = await store.default_model()
        self._prefer(self.default)

    async def reload(self) -> None:
        """Read the default model again: an admin may have chosen another one at another gateway. Raises Unavailable."""
        if self._store is None:
            return
        before = -1
        while before != self._chosen:
            # What was read before a choice of this gateway was stored is old.
            before = self._chosen
            choice = await self._store.default_model()
        if choice != self._choice:
            self._choice = choice
            self._prefer(self.default)

    # ---- views

    @property
    def default(self) -> str:
        """The default model that an admin chose; "" without one. A choice holds as long as the settings name the same models as
        when it was made: who changes them decides anew."""
        choice = self._choice
        if choice is None or choice.get("configured") != self._configured:
            return ""
        return str(choice.get("model", ""))

    @property
    def rows(self) -> list[RememberedRow]:
        """What is remembered and not loaded, by model."""
        waiting: dict[str, list[RememberedLoad]] = {}
        for load in self._idle():
            waiting.setdefault(load.name, []).append(load)
        return [
            RememberedRow(name, next((load.failed for load in loads if load.failed), ""), len(loads))
            for name, loads in waiting.items()
        ]

    def has_worker(self, worker: str) -> bool:
        """Whether this worker is loaded again at the next start."""
        return worker in self._workers

    def is_idle(self, id: int) -> bool:
        """Whether this load is remembered and has no worker."""
        return any(load.id == id for load in self._idle())

    def failure(self, name: str) -> str:
        """Why a model that is remembered could not be loaded; "" if it was not tried or is loaded."""
        return next((load.failed for load in self._idle() if load.name == name and load.failed), "")

    def to_repeat(self) -> list[RememberedLoad]:
        """The loads that a start repeats: those of the default model first, none that has failed."""
        idle = [load for load in self._idle() if not load.failed and not load.loading]
        return sorted(idle, key=lambda load: (load.name != self.default, load.id))

    def to_retry(self, name: str) -> RememberedLoad:
        """The load of this model to try again, the first that failed. Raises NotFound."""
        idle = [load for load in self._idle() if load.name == name]
        if not idle:
            _missing(name)
        return min(idle, key=lambda load: (not load.failed, load.id))

    def _idle(self) -> list[RememberedLoad]:
        loaded = set(self._workers.values())
        return [load for load in self._loads.values() if load.id not in loaded]

    # ---- loads

    async def begin(
        self, name: str, sizes: Mapping[str, Any], *, another: bool, user: str, repeats: int = 0
    ) -> int:
        """A load begins: remember it, or the one that it repeats. `repeats`: the id of that one, 0 for any of this model. Gives the
        load's id, 0 if it cannot be remembered."""
        if self._store is None:
            return 0
        known = self._loads.get(repeats) or next((load for load in self._idle() if load.name == name), None)
        with _logged(name):
            if known is None:
                known = await self._store.begin(name, sizes, another=another, user=user)
                self._new.add(known.id)
            else:
                by = user or known.user
                known = msgspec.structs.replace(known, sizes=dict(sizes), user=by, loading=True, failed="")
                await self._store.save(known)
            self._loads[known.id] = known
            return known.id
        return 0

    def starts(self, id: int, worker: str) -> None:
        """The load has this worker."""
        if id in self._loads:
            self._workers[worker] = id

    def moved(self, old: str, new: str) -> None:
        """A worker was replaced by another one, which stands for the same load."""
        if (id := self._workers.pop(old, 0)) != 0:
            self._workers[new] = id

    async def ready(self, id: int) -> None:
        """The load is done."""
        await self._end(id, "")

    async def failed(self, id: int, problem: Problem) -> None:
        """The load failed. A remembered one stays with the reason; it is not tried again by itself. One that ended because the
        server shuts down is repeated at the next start; one whose model was unloaded meanwhile is forgotten."""
        for worker in [worker for worker, load in self._workers.items() if load == id]:
            del self._workers[worker]
        if problem.code == STOPPING.code:
            await self._end(id, "")
        elif id in self._new or problem.code == "model_unloaded":
            await self._forget([id])
        else:
            await self._end(id, problem.message)

    async def removed(self, worker: str) -> None:
        """A worker was unloaded."""
        if (id := self._workers.pop(worker, 0)) and not self._loads[id].loading:
            await self._forget([id])

    async def forget(self, name: str) -> None:
        """Forget a model that is remembered and not loaded. Raises NotFound."""
        ids = [load.id for load in self._idle() if load.name == name and not load.loading]
        if not ids:
            _missing(name)
        await self._forget(ids)
        await self.drop_default(name)

    async def _end(self, id: int, failed: str) -> None:
        if (load := self._loads.get(id)) is None:
            return
        load = self._loads[id] = msgspec.structs.replace(load, loading=False, failed=failed)
        self._new.discard(id)
        with _logged(load.name):
            assert self._store is not None
            await self._store.save(load)

    async def _forget(self, ids: Collection[int]) -> None:
        known = [self._loads.pop(id) for id in ids if id in self._loads]
        self._new -= set(ids)
        if known and self._store is not None:
            with _logged(known[0].name):
                await self._store.forget(*ids)

    # ---- the default model

    async def choose_default(self, name: str, user: str) -> None:
        """Make a model the default, for the next start too."""
        await self._choose(name, {"model": name, "user": user, "configured": self._configured})

    async def drop_default(self, name: str) -> None:
        """This model is not to be the default any more: it was unloaded."""
        if self.default != name or not name:
            return
        await self._choose(name, None)

    async def _choose(self, name: str, choice: Mapping[str, Any] | None) -> None:
        self._choice = choice
        self._prefer(self.default)
        with _logged(name):
            if self._store is not None:
                await self._store.choose_default(choice)
                self._chosen += 1
                self.on_stored()
                # A reload during the write has read the choice before.
                await self.reload()


@contextmanager
def _logged(name: str) -> Iterator[None]:
    try:
        yield
    except Problem as problem:
        log.warning("what is remembered of %s could not be written: %s", name, problem.message)


def _missing(name: str) -> NoReturn:
    raise NotFound(f"No model called {name[:80]!r} is remembered.", code="model_not_found", param="name")

"""The LoRA adapters of the loaded models: how much of each is added, and loading further ones.

The library takes adapters only with a model, so further ones restart the model's workers, one after another; one on another machine that serves a model of
this server fetches them then. How much of an adapter is added every request says ([decision 52](docs/decisions/0052-adapters-come-with-the-model.md)). The routes call this.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NoReturn

import msgspec

from duologue.errors import EngineFailed, Problem, Unavailable, Unsupported
from duologue.gateway.scheduling.pool import Pool
from duologue.gateway.workers.load_specs import adapter_paths
from duologue.gateway.workers.worker_status import WorkerStatus
from duologue.models import catalogue
from duologue.models.catalogue import file_stem
from duologue.models.gguf import header
from duologue.models.gguf.adapter import list_adapters
from duologue.threads import disk_io
from duologue.values.requests import ModelCard
from duologue.wire.worker_protocol import LoadSpec

log = logging.getLogger(__name__)


class AdapterService:
    """`folder` has the adapters, `models` the models that are offered to other machines; `changed` returns when a worker has changed its state."""

    def __init__(
        self, pool: Pool, folder: Path, models: Path, changed: Callable[[], Awaitable[None]]
    ) -> None:
        self._pool, self._folder, self._models, self._changed = pool, folder, models, changed
        self._loading = False

    async def names(self) -> list[str]:
        """The adapters of the folder."""
        return await disk_io(list_adapters, self._folder)

    def scales(self, card: ModelCard) -> dict[str, float]:
        """The adapters that a model was loaded with, in the order of their ids, each with its scale in use."""
        served = self._pool.served().find(card.name)
        chosen = None if served is None else self._pool.tuning.scales(served.queue)
        if chosen is not None:
            return {name: chosen.get(name, 0.0) for name in card.adapters}
        for status in self._pool.workers_of(card.name):
            loaded = _loaded(self._pool.load_spec(status.worker))
            return {name: loaded.get(name, 0.0) for name in card.adapters}
        return {}

    def use(self, card: ModelCard, scales: Mapping[str, float]) -> None:
        """Add the adapters that the model has with these scales from now on, and others not at all."""
        served = self._pool.served().find(card.name)
        if served is not None:
            self._pool.tuning.use_scales(served.queue, scales)

    async def load(self, card: ModelCard, scales: Mapping[str, float]) -> None:
        """Have the model use these adapters of the folder and no others. Those that it was not loaded with restart its workers.

        Raises NotFound (`lora_not_found`), BadRequest (`lora_unusable`), Unsupported for other engines, Problem `load_running`, and
        EngineFailed (`load_failed`), after which the model runs as before.
        """
        workers = self._pool.workers_of(card.name)
        if card.engine != "llama" or not workers:
            raise Unsupported(f"The engine of {card.name} does not support LoRA adapters.")
        if not set(scales) <= set(card.adapters):
            _check_others(workers)
            if self._loading:
                raise Problem(
                    "Adapters are being loaded. Wait until that is done.", code="load_running", status=409
                )
            self._loading = True
            try:
                await self._restart_with(card, workers, scales)
            finally:
                self._loading = False
        self.use(card, scales)

    async def _restart_with(
        self, card: ModelCard, workers: list[WorkerStatus], scales: Mapping[str, float]
    ) -> None:
        """Restart the workers here, then those on other machines, which fetch the files that are offered by then."""
        own = [status for status in workers if not status.joined]
        joined = [status for status in workers if status.joined]
        tuning = self._pool.tuning
        before = {status.worker: self._pool.load_spec(status.worker) for status in own}
        offered = tuning.adapters(card.name)
        # Those of before keep their ids: requests that name them may wait.
        loaded = _loaded(before[own[0].worker]) if own else dict.fromkeys(card.adapters, 0.0)
        model = Path(str(before[own[0].worker].options["model"])) if own else await self._offered_model(card)
        wanted = {**dict.fromkeys(loaded, 0.0), **scales}
        paths = await disk_io(adapter_paths, await disk_io(header.read, model), wanted, self._folder)
        if not own:
            tuning.offer_adapters(card.name, paths)
        try:
            for status in own:
                await self._restart(status, {**before[status.worker].options, "loras": paths})
            for status in joined:
                await self._restart_joined(status, scales)
        except Problem:
            tuning.offer_adapters(card.name, offered)
            for status in own:
                old = before[status.worker]
                if self._has(status) and self._pool.load_spec(status.worker) != old:
                    self._pool.change_spec(status.worker, old)
                    self._pool.restart(status.worker, "settings")
            for status in joined:
                if self._has(status) and status.card is not None and status.card.adapters != card.adapters:
                    self._pool.restart(status.worker, "settings")
            raise

    async def _offered_model(self, card: ModelCard) -> Path:
        """The file that is offered to other machines by the model's name. Raises Unsupported."""
        for path in await disk_io(catalogue.list_models, self._models):
            if card.name == await disk_io(catalogue.model_name, path):
                return path
        raise Unsupported(
            f"The files of {card.name} are not in the models folder of this server any more, so no adapter can be loaded with it.",
            param="loras",
        )

    async def _restart_joined(self, status: WorkerStatus, scales: Mapping[str, float]) -> None:
        """Restart a worker on another machine, and wait until it is ready with these adapters."""
        if not self._has(status):
            return  # it has gone meanwhile
        ended = status.restarts
        self._pool.restart(status.worker, "settings")
        while self._has(status) and (status.restarts == ended or status.state not in ("ready", "failed")):
            await self._changed()
        if self._has(status) and status.state == "ready" and status.card is not None:
            if set(scales) <= set(status.card.adapters):
                return
            raise EngineFailed(
                f"The worker {status.worker} on another machine has started again without the adapter. Its log says why; the model "
                "runs as before.",
                code="load_failed",
                status=500,
            )
        self._raise_unloadable(status)

    async def _restart(self, status: WorkerStatus, options: dict[str, Any]) -> None:
        """Restart one worker with these options, and wait until it is ready."""
        if not self._has(status):
            return  # unloaded meanwhile
        spec = self._pool.load_spec(status.worker)
        self._pool.change_spec(status.worker, msgspec.structs.replace(spec, options=options))
        self._pool.restart(status.worker, "settings")
        while self._has(status) and status.state not in ("ready", "failed"):
            await self._changed()
        if status.state != "ready" or not self._has(status):
            self._raise_unloadable(status)

    def _raise_unloadable(self, status: WorkerStatus) -> NoReturn:
        """A worker that was restarted is not there, or failed."""
        if not self._has(status):
            raise Unavailable(
                "The model was unloaded while its adapters were being loaded.", code="model_unloaded"
            )
        log.warning("%s could not be loaded with its adapters: %s", status.model, status.detail)
        raise EngineFailed(
            f"The model could not be loaded with these adapters, and runs without them again. {status.detail}",
            code="load_failed",
            status=500,
        )

    def _has(self, status: WorkerStatus) -> bool:
        return self._pool.workers.get(status.worker) is status


def _check_others(workers: Iterable[WorkerStatus]) -> None:
    """Raises Unsupported for a worker on another machine whose files are not this server's, and Unavailable for one that cannot be reached."""
    for status in workers:
        if status.joined and not status.offered:
            raise Unsupported(
                f"The worker {status.worker} on another machine has its own files. Name the adapter in the settings of that machine "
                "(loras), or start the worker there with --serve and this server's address, so that it downloads adapters from here.",
                param="loras",
            )
        if status.joined and status.state != "ready":
            raise Unavailable(
                f"The worker {status.worker} on another machine is not ready ({status.state}). Try again when it is, or remove it."
            )


def _loaded(spec: LoadSpec) -> dict[str, float]:
    """The adapters of a load spec by name, with their scales."""
    loras = spec.options.get("loras")
    if not isinstance(loras, dict):
        return {}
    return {file_stem(Path(path)): float(scale) for path, scale in loras.items()}

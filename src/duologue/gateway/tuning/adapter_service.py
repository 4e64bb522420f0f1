"""The LoRA adapters of the loaded models: how much of each is added, and loading further ones.

The library takes adapters only with a model, so further ones restart the model's workers, one after another; how much of an adapter is
added every request says ([decision 52](docs/decisions/0052-adapters-come-with-the-model.md)). The routes call this.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from duologue.errors import EngineFailed, Problem, Unavailable, Unsupported
from duologue.gateway.scheduling.pool import Pool
from duologue.gateway.workers.load_specs import adapter_paths
from duologue.gateway.workers.worker_status import WorkerStatus
from duologue.models.catalogue import file_stem
from duologue.models.gguf import header
from duologue.models.gguf.adapter import list_adapters
from duologue.threads import disk_io
from duologue.values.requests import ModelCard
from duologue.wire.worker_protocol import LoadSpec

log = logging.getLogger(__name__)


class AdapterService:
    """`folder` has the adapters; `changed` returns when a worker has changed its state."""

    def __init__(self, pool: Pool, folder: Path, changed: Callable[[], Awaitable[None]]) -> None:
        self._pool, self._folder, self._changed = pool, folder, changed
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
            joined = next((status.worker for status in workers if status.joined), "")
            if joined:
                raise Unsupported(
                    f"The worker {joined} on another machine cannot be given an adapter while it runs. Name it in the settings of "
                    "that machine (loras), or remove the worker, load the adapter, and start it there again with --serve.",
                    param="loras",
                )
            if self._loading:
                raise Problem(
                    "Adapters are being loaded. Wait until that is done.", code="load_running", status=409
                )
            self._loading = True
            try:
                await self._restart_with(workers, scales)
            finally:
                self._loading = False
        self.use(card, scales)

    async def _restart_with(self, workers: list[WorkerStatus], scales: Mapping[str, float]) -> None:
        spec = self._pool.load_spec(workers[0].worker)
        model = await disk_io(header.read, Path(str(spec.options["model"])))
        # Those of before keep their ids: requests that name them may wait.
        wanted = {**dict.fromkeys(_loaded(spec), 0.0), **scales}
        paths = await disk_io(adapter_paths, model, wanted, self._folder)
        before = {status.worker: self._pool.load_spec(status.worker) for status in workers}
        try:
            for status in workers:
                await self._restart(status, {**before[status.worker].options, "loras": paths})
        except Problem:
            for status in workers:
                own = before[status.worker]
                if self._has(status) and self._pool.load_spec(status.worker) != own:
                    self._pool.change_spec(status.worker, own)
                    self._pool.restart(status.worker, "settings")
            raise

    async def _restart(self, status: WorkerStatus, options: dict[str, Any]) -> None:
        """Restart one worker with these options, and wait until it is ready."""
        if not self._has(status):
            return  # unloaded meanwhile
        spec = self._pool.load_spec(status.worker)
        self._pool.change_spec(status.worker, msgspec.structs.replace(spec, options=options))
        self._pool.restart(status.worker, "settings")
        while self._has(status) and status.state not in ("ready", "failed"):
            await self._changed()
        if not self._has(status):
            raise Unavailable(
                "The model was unloaded while its adapters were being loaded.", code="model_unloaded"
            )
        if status.state == "failed":
            log.warning("%s could not be loaded with its adapters: %s", status.model, status.detail)
            raise EngineFailed(
                f"The model could not be loaded with these adapters, and runs without them again. {status.detail}",
                code="load_failed",
                status=500,
            )

    def _has(self, status: WorkerStatus) -> bool:
        return self._pool.workers.get(status.worker) is status


def _loaded(spec: LoadSpec) -> dict[str, float]:
    """The adapters of a load spec by name, with their scales."""
    loras = spec.options.get("loras")
    if not isinstance(loras, dict):
        return {}
    return {file_stem(Path(path)): float(scale) for path, scale in loras.items()}

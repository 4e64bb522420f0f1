"""The model's files on a node of a cluster: where the paths of the gateway are not there, they are downloaded from it by their hashes.

Ray starts a worker on a node with the gateway's paths. The joined worker's process asks this before it joins; without success it loads what it was
told, and fails with the reason that the gateway shows.
"""

from __future__ import annotations

import logging
import os
import time
from functools import partial
from pathlib import Path

import anyio
from msgspec import structs

from duologue.errors import Busy, Problem
from duologue.wire.worker_protocol import LoadSpec
from duologue.worker.joined.certificate_pin import trust_for
from duologue.worker.joined.fetched_model import ADAPTERS, FetchedModel, fetch_model
from duologue.worker.joined.gateway_address import parse_gateway
from duologue.worker.joined.join_spec import JoinSpec

log = logging.getLogger(__name__)

BUSY_SECONDS = 2.0
"""Seconds between two checks of a file that another worker of this node downloads."""


def with_own_files(spec: JoinSpec, folder: Path | None = None) -> JoinSpec:
    """The spec with files that are on this node, in `folder`, for a placed worker without them. Blocks for as long as a download takes."""
    if not spec.placed or not _lacks_files(spec.load_spec):
        return spec
    log.info("the model %s is not on this node; downloading it from %s", spec.load_spec.model, spec.url)
    try:
        served = fetched(spec, spec.load_spec.model, folder or _cache())
    except (Problem, OSError) as error:
        reason = error.message if isinstance(error, Problem) else str(error)
        log.error("the files of %s cannot be downloaded: %s", spec.load_spec.model, reason)
        return spec
    return structs.replace(spec, load_spec=_with_paths(spec.load_spec, served))


def _lacks_files(spec: LoadSpec) -> bool:
    model = spec.options.get("model")
    return spec.engine == "llama" and isinstance(model, str) and not Path(model).exists()


def fetched(spec: JoinSpec, name: str, folder: Path) -> FetchedModel:
    """The model of this name at the spec's gateway, its files in `folder`. Blocks. Raises Problem, OSError."""
    address = parse_gateway(spec.url, insecure_http=spec.insecure_http)
    trust = anyio.run(partial(trust_for, address, spec.fingerprints))
    while True:
        try:
            return fetch_model(address, spec.key, trust, name, folder, LoggedDownload())
        except Busy as busy:
            log.info("%s", busy.message)
            time.sleep(BUSY_SECONDS)


def _with_paths(spec: LoadSpec, served: FetchedModel) -> LoadSpec:
    paths: dict[str, object] = {option: str(path) for option, path in served.paths.items()}
    loras: dict[str, object] = {ADAPTERS: served.loras} if served.loras else {}
    return structs.replace(spec, options={**spec.options, **paths, **loras})


def _cache() -> Path:
    """Where the files are kept for the next worker of this node."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "duologue" / "models"


class LoggedDownload:
    """Logs one line for each file, because nobody watches a node."""

    def begin(self, label: str, total: int, done: int) -> None:
        log.info("%s: %.1f GB", label, total / 10**9)

    def kept(self, count: int) -> None:
        pass

    def advance(self, count: int) -> None:
        pass

    def end(self) -> None:
        pass

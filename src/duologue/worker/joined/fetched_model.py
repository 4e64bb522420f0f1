"""A model that the gateway offers: its files are downloaded once, by their hashes, into the data folder of this machine.

`cli/joining/join_command.py` asks for it before anything starts, and `placed_model.py` on the nodes of a cluster. The downloader is that of `models/hub`: resumed, checked, with room left on the disk.
"""

from __future__ import annotations

import hashlib
import logging
import ssl
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

import msgspec

from duologue.errors import BadRequest, ModelNotFound, Problem, StartFailed, Unauthorized, Unavailable
from duologue.models.hub.download import Source, Watch, check_disk, download
from duologue.models.hub.http import ATTEMPTS, HubConnection
from duologue.models.hub.resume import Content
from duologue.wire.machines.model_offer import FILE_PATH, MODEL_PATH, ModelOffer, OfferedFile, decode_offer
from duologue.worker.joined.gateway_address import GatewayAddress

log = logging.getLogger(__name__)

FOLDER = "by-hash"
"""Within the folder of the models: a folder for the files of each option, named by their hash."""
ADAPTERS = "loras"
OFFER_SECONDS = 1800.0
"""Seconds to the answer about a model: before the first one the gateway reads all of its files."""
LARGEST_OFFER = 4 * 1024 * 1024
"""Bytes of an offer, with its chat template."""


class FetchedModel(msgspec.Struct, frozen=True):
    """The offer, and where its files are: the path of the first one for each option of the engine, and those of the adapters in the order
    of their ids."""

    offer: ModelOffer
    paths: dict[str, Path]
    adapters: tuple[Path, ...] = ()

    @property
    def loras(self) -> dict[str, float]:
        """The adapters as an option of the engine."""
        paths = zip(self.adapters, self.offer.adapters, strict=True)
        return {str(path): adapter.scale for path, adapter in paths}


def fetch_model(
    address: GatewayAddress, key: str, trust: ssl.SSLContext | None, name: str, folder: Path, watch: Watch
) -> FetchedModel:
    """The model `name` of the gateway, downloaded into `folder` unless it is there. Blocks. Raises Problem."""
    try:
        with HubConnection(
            f"{address.scheme}://{address.authority}", key, trust=trust, plain_http=not address.is_encrypted
        ) as connection:
            offer = _offer(connection, address, name)
            paths, targets = _targets(offer, folder / FOLDER)
            _download(connection, address, targets, folder / FOLDER, watch)
            adapters = tuple(path for file, path in targets if file.option == ADAPTERS)
            return FetchedModel(offer, paths, adapters)
    except Problem as problem:
        raise _in_our_words(problem, address, name) from problem


def _offer(connection: HubConnection, address: GatewayAddress, name: str) -> ModelOffer:
    def ask() -> bytes:
        body = b""
        with connection.get(
            address.url(f"{MODEL_PATH}{quote(name, safe='')}"), f"the model {name}", patience=OFFER_SECONDS
        ) as response:
            for piece in response.iter_raw():
                body += piece
                if len(body) > LARGEST_OFFER:
                    raise BadRequest(f"The description of the model {name} is too long.")
        return body

    log.info("asking %s for the model %s, which it first reads once: that may take minutes", address, name)
    try:
        return decode_offer(connection.with_retries(ask, attempts=ATTEMPTS))
    except msgspec.MsgspecError as error:
        raise StartFailed(
            f"{address} describes the model {name} in a way that this version of Duologue does not read: {error}."
        ) from error


def _targets(offer: ModelOffer, folder: Path) -> tuple[dict[str, Path], list[tuple[OfferedFile, Path]]]:
    """Where the files belong: the first one of each option, and all of them."""
    paths: dict[str, Path] = {}
    targets = []
    for file in offer.files:
        together = [one.sha256 for one in offer.files if one.option == file.option]
        target = folder / _folder_name(together) / file.name
        paths.setdefault(file.option, target)
        targets.append((file, target))
    files = [adapter.file for adapter in offer.adapters]
    return paths, targets + [(file, folder / file.sha256 / file.name) for file in files]


def _folder_name(hashes: Sequence[str]) -> str:
    """Of the files with these hashes, of all of them: two models that were split may have the first part in common."""
    return hashes[0] if len(hashes) == 1 else hashlib.sha256("".join(hashes).encode()).hexdigest()


def _download(
    connection: HubConnection,
    address: GatewayAddress,
    targets: Sequence[tuple[OfferedFile, Path]],
    folder: Path,
    watch: Watch,
) -> None:
    missing = [(file, target) for file, target in targets if not target.exists()]
    if missing:
        check_disk(folder, sum(file.size for file, _ in missing))
    for file, target in missing:
        target.parent.mkdir(parents=True, exist_ok=True)
        source = Source(address.url(FILE_PATH + file.sha256), file.name, Content(file.size, file.sha256))
        download(connection, source, target, watch)


def _in_our_words(problem: Problem, address: GatewayAddress, name: str) -> Problem:
    """The sentences of a hub speak of tokens and mirrors."""
    if problem.code in ("hub_unauthorized", "hub_forbidden"):
        return Unauthorized(
            f"The gateway {address} refuses the key. Make one there with `duologue key add NAME --role worker`, and pass it with "
            "--key-file."
        )
    if isinstance(problem, ModelNotFound):
        return ModelNotFound(
            f"The gateway {address} does not offer a model {name!r} to workers. `duologue models list` there shows its models; it can offer only those in "
            "its own files."
        )
    if problem.code == "hub_unreachable":
        return unreachable(address)
    return problem


def unreachable(address: GatewayAddress) -> Unavailable:
    """The error when the gateway does not answer."""
    return Unavailable(
        f"The gateway {address} cannot be reached. Is it running, and does a firewall let this machine through?"
    )

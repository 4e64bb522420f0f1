"""The download of a model from the hub, or from an address, to the folder where it is found by name.

Used by the models commands and the server's downloads. Puts the steps together: list the repository, choose a variant,
check that it fits, download it, read its header.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from urllib.parse import quote

from msgspec import Struct

from duologue.errors import BadRequest, EngineFailed, Problem
from duologue.models.catalogue import (
    BUNDLED,
    PART,
    is_projector,
    list_models,
    model_name,
    projector_name,
)
from duologue.models.fit import Hardware
from duologue.models.gguf.header import NOT_USABLE, GgufHeader, read
from duologue.models.gguf.projector import read_projector
from duologue.models.hub.download import Source, Watch, check_disk, download
from duologue.models.hub.http import HubConnection
from duologue.models.hub.reference import HubReference, Reference, UrlReference, check_file_name
from duologue.models.hub.repository import (
    HubFile,
    Repository,
    Variant,
    choose,
    gigabytes,
    memory_of,
    parse_repository,
    projector_of,
)
from duologue.models.hub.resume import Content
from duologue.models.projectors import candidates
from duologue.models.recommended import BY_FILE

LARGEST_LISTING = 16 * 1024 * 1024
"""Bytes of the hub's description of one repository; large ones have some hundred kilobytes."""

LISTING_SECONDS = 60.0
"""How long it may take to arrive."""


class DownloadPlan(Struct, frozen=True):
    """What to download: each source with the name of its file, first part first. `size` 0: unknown."""

    files: tuple[tuple[str, Source], ...]
    size: int
    quantisation: str = ""
    licence: str = ""
    warning: str = ""

    @property
    def name(self) -> str:
        """The name the model will have."""
        return model_name(Path(self.files[0][0]))


class PulledModel(Struct, frozen=True):
    """A downloaded model. `was_there`: it was complete before; `checked`: verified by the hub's checksum."""

    header: GgufHeader
    was_there: bool
    checked: bool

    @property
    def name(self) -> str:
        return model_name(self.header.path)


def pull_model(
    connection: HubConnection,
    reference: Reference,
    folder: Path,
    probe_hardware: Callable[[], Hardware],
    watch: Watch,
    planned: Callable[[DownloadPlan], None],
) -> PulledModel:
    """All steps for one model, unless its file is here. `planned` gets what will be downloaded. Raises Problem."""
    if (there := find_pulled(reference, folder)) is not None:
        return there
    plan = plan_download(connection, reference, probe_hardware())
    planned(plan)
    return download_model(connection, plan, folder, watch)


def find_pulled(reference: Reference, folder: Path) -> PulledModel | None:
    """The recommended model of the reference, if its files are here: no network is needed then."""
    if not isinstance(reference, HubReference) or not reference.expected:
        return None
    path = folder / PurePosixPath(reference.expected).name
    if not path.is_file():
        return None
    known = BY_FILE.get(path.name)
    if known is not None and (known.vision or known.sound) and not candidates(path):
        return None  # its projector is missing: it was downloaded when GGUF models could only read
    return PulledModel(read(path), was_there=True, checked=False)


def plan_download(connection: HubConnection, reference: Reference, hardware: Hardware) -> DownloadPlan:
    """The files to download for a reference, by the hub's current list. Raises Problem."""
    if isinstance(reference, UrlReference):
        return _check_names(DownloadPlan(((reference.file, Source(reference.url, reference.file)),), 0))
    repository = describe(connection, reference)
    _check_model(repository)
    variant = choose(repository, reference.variant, reference.expected, hardware)
    return _check_names(_plan_of(connection.hub, reference, repository, variant, hardware))


def describe(connection: HubConnection, reference: HubReference) -> Repository:
    """The hub's description of a repository."""
    url = (
        f"{connection.hub}/api/models/{reference.repository}/revision/{quote(reference.revision)}?blobs=true"
    )

    def request() -> bytes:
        with connection.get(url, f"repository {reference.repository}") as response:
            body = bytearray()
            until = time.monotonic() + LISTING_SECONDS
            for piece in response.iter_raw():
                body += piece
                if len(body) > LARGEST_LISTING or time.monotonic() > until:
                    raise EngineFailed(
                        f"The hub's answer about {reference.repository} has no end.",
                        code="hub_failed",
                        status=502,
                    )
            return bytes(body)

    return parse_repository(reference.repository, connection.with_retries(request))


def download_model(connection: HubConnection, plan: DownloadPlan, folder: Path, watch: Watch) -> PulledModel:
    """Download the missing files of `plan` into `folder` and read the headers. Raises Problem.

    A split model's first part comes last, so that the model appears under its name only when it is complete. A projector
    that is there stays.
    """
    targets = [(folder / name, source) for name, source in plan.files]
    targets = [(path, source) for path, source in targets if not (is_projector(path) and path.exists())]
    was_there = _is_there(targets, folder)
    if not was_there:
        check_disk(folder, max(0, plan.size - sum(_bytes_on_disk(target) for target, _ in targets)))
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Problem(
                f"{folder} cannot be made: {error.strerror}. Give another folder by --data.",
                code="write_failed",
            ) from error
        for target, source in reversed(targets):
            download(connection, source, target, watch)
        for target, _ in targets:
            if is_projector(target):
                _check_projector(target)
    first = targets[0][0]
    checked = all(source.content.sha256 for _, source in targets)
    return PulledModel(_header(first, targets, was_there), was_there, checked and not was_there)


def _plan_of(
    hub: str, reference: HubReference, repository: Repository, variant: Variant, hardware: Hardware
) -> DownloadPlan:
    revision = repository.commit or reference.revision
    count = len(variant.files)

    def source(file: HubFile, number: int) -> Source:
        url = f"{hub}/{repository.name}/resolve/{quote(revision)}/{quote(file.path)}"
        label = file.name if count == 1 else f"{file.name} (part {number} of {count})"
        return Source(url, label, Content(file.size, file.sha256))

    warning = ""
    room = hardware.memory + hardware.card_memory
    if memory_of(repository, variant) > room:
        warning = (
            f"{variant.files[0].name} has {gigabytes(variant.size)}, but only {gigabytes(room)} of memory are free "
            "here now: it may not start, or be very slow."
        )
    files = [(file.name, source(file, number)) for number, file in enumerate(variant.files, 1)]
    size = variant.size
    if (projector := projector_of(repository, variant)) is not None:
        name = projector_name(variant.files[0].name)
        url = f"{hub}/{repository.name}/resolve/{quote(revision)}/{quote(projector.path)}"
        content = Content(projector.size, projector.sha256)
        files.append((name, Source(url, f"{name} (projector)", content)))
        size += projector.size
    return DownloadPlan(
        tuple(files),
        size,
        variant.quantisation,
        repository.licence,
        warning,
    )


def _check_names(plan: DownloadPlan) -> DownloadPlan:
    """`plan`, if its files may be written under their names."""
    for name, _ in plan.files:
        check_file_name(name)
    if plan.name == BUNDLED:
        raise BadRequest(f"{BUNDLED} is the name of the model inside Duologue; a file cannot have it.")
    return plan


def _check_model(repository: Repository) -> None:
    """Raises BadRequest when the hub says that it is no model: better before the download than after."""
    reason = NOT_USABLE.get(repository.architecture)
    if reason is not None:
        raise BadRequest(f"{repository.name} {reason}", code="model_unusable")


def _is_there(targets: list[tuple[Path, Source]], folder: Path) -> bool:
    """Whether the model is here already. Raises BadRequest when another one has its name."""
    first = targets[0][0]
    name = model_name(first).lower()
    for path in list_models(folder):
        if model_name(path).lower() == name and path != first:
            raise _taken(path)
    for target, source in targets:
        if target.exists() and source.content.size and target.stat().st_size != source.content.size:
            raise _taken(target)
    return all(target.exists() for target, _ in targets)


def _taken(path: Path) -> BadRequest:
    return BadRequest(
        f"Another model called {model_name(path)} exists ({path}). Remove it first: "
        f"`duologue models rm {model_name(path)}`, or rename its file.",
        code="model_exists",
    )


def _bytes_on_disk(target: Path) -> int:
    """Bytes of a target that are on the disk already."""
    part = target.with_name(target.name + PART)
    return sum(path.stat().st_size for path in (target, part) if path.exists())


def _check_projector(path: Path) -> None:
    """Raises Problem for a projector that cannot be read, and removes it."""
    try:
        read_projector(path)
    except Problem as problem:
        path.unlink(missing_ok=True)
        raise Problem(
            f"The downloaded projector cannot be used, and was removed: {problem.message}",
            code="model_unusable",
            status=502,
        ) from problem


def _header(first: Path, targets: list[tuple[Path, Source]], was_there: bool) -> GgufHeader:
    """The header of the downloaded model. An unreadable file is removed, so that it is not listed as a model."""
    try:
        return read(first)
    except Problem as problem:
        if was_there:
            raise
        for target, _ in targets:
            target.unlink(missing_ok=True)
        raise Problem(
            f"The downloaded file cannot be used, and was removed: {problem.message}",
            code="model_unusable",
            status=502,
        ) from problem

"""A model from the hub, or from an address, to the folder where it is found by name.

Puts the steps together: what is there, which of it, does it fit, bring it, read it. Decides none of them itself.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from urllib.parse import quote

from msgspec import Struct

from duologue.errors import BadRequest, Problem
from duologue.models.catalogue import BUNDLED, PART, list_models, model_name
from duologue.models.fit import Hardware, memory_needed
from duologue.models.gguf.header import NOT_FOR_CHAT, GgufHeader, read
from duologue.models.hub.download import Source, Watch, check_disk, download
from duologue.models.hub.http import HubConnection
from duologue.models.hub.reference import HubReference, Reference, UrlReference, check_file_name
from duologue.models.hub.repository import HubFile, Repository, Variant, choose, gigabytes, parse_repository
from duologue.models.hub.resume import Content

LARGEST_LISTING = 16 * 1024 * 1024
"""Bytes of the hub's answer about one repository; large ones have some hundred kilobytes."""


class Order(Struct, frozen=True):
    """What is to be brought: each source with the name of its file, first part first. `size` 0: not known."""

    files: tuple[tuple[str, Source], ...]
    size: int
    quantisation: str = ""
    licence: str = ""
    warning: str = ""

    @property
    def name(self) -> str:
        """The name the model will go by."""
        return model_name(Path(self.files[0][0]))


class Pulled(Struct, frozen=True):
    """A model that is there, and whether it was before. `checked`: by the hub's checksum."""

    header: GgufHeader
    was_there: bool
    checked: bool

    @property
    def name(self) -> str:
        return model_name(self.header.path)


def there_already(reference: Reference, folder: Path) -> Pulled | None:
    """The recommended model that is meant, if its file is here: then nobody need be asked, and no network be there."""
    if not isinstance(reference, HubReference) or not reference.expected:
        return None
    path = folder / PurePosixPath(reference.expected).name
    return Pulled(read(path), was_there=True, checked=False) if path.is_file() else None


def order(connection: HubConnection, reference: Reference, hardware: Hardware) -> Order:
    """What a reference means now: the hub is asked for its files. Raises Problem."""
    if isinstance(reference, UrlReference):
        return _checked(Order(((reference.file, Source(reference.url, reference.file)),), 0))
    repository = describe(connection, reference)
    _check_chat_model(repository)
    variant = choose(repository, reference.wanted, reference.expected, hardware)
    return _checked(_order(connection.hub, reference, repository, variant, hardware))


def describe(connection: HubConnection, reference: HubReference) -> Repository:
    """What the hub says of a repository."""
    url = (
        f"{connection.hub}/api/models/{reference.repository}/revision/{quote(reference.revision)}?blobs=true"
    )

    def ask() -> bytes:
        with connection.get(url, f"repository {reference.repository}") as response:
            body = bytearray()
            for piece in response.iter_raw():
                body += piece
                if len(body) > LARGEST_LISTING:
                    raise BadRequest(f"The hub's answer about {reference.repository} has no end.")
            return bytes(body)

    return parse_repository(reference.repository, connection.patiently(ask))


def bring(connection: HubConnection, wanted: Order, folder: Path, watch: Watch) -> Pulled:
    """Download what is missing of `wanted` into `folder` and read it. Raises Problem.

    A split model's first part comes last, so that the model appears under its name when it is whole.
    """
    targets = [(folder / name, source) for name, source in wanted.files]
    was_there = _is_there(targets, folder)
    if not was_there:
        check_disk(folder, max(0, wanted.size - sum(_there(target) for target, _ in targets)))
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Problem(
                f"{folder} cannot be made: {error.strerror}. Give another folder by --data.",
                code="write_failed",
            ) from error
        for target, source in reversed(targets):
            download(connection, source, target, watch)
    first = targets[0][0]
    checked = all(source.content.sha256 for _, source in targets)
    return Pulled(_header(first, targets, was_there), was_there, checked and not was_there)


def _order(
    hub: str, reference: HubReference, repository: Repository, variant: Variant, hardware: Hardware
) -> Order:
    revision = repository.commit or reference.revision
    count = len(variant.files)

    def source(file: HubFile, number: int) -> Source:
        url = f"{hub}/{repository.name}/resolve/{quote(revision)}/{quote(file.path)}"
        label = file.name if count == 1 else f"{file.name} (part {number} of {count})"
        return Source(url, label, Content(file.size, file.sha256))

    warning = ""
    room = hardware.memory + hardware.card_memory
    if memory_needed(variant.size) > room:
        warning = (
            f"{variant.files[0].name} has {gigabytes(variant.size)}, and {gigabytes(room)} of memory are free "
            "here now: it may not start, or crawl."
        )
    return Order(
        tuple((file.name, source(file, number)) for number, file in enumerate(variant.files, 1)),
        variant.size,
        variant.quantisation,
        repository.licence,
        warning,
    )


def _checked(wanted: Order) -> Order:
    """`wanted`, if its files may be written under their names."""
    for name, _ in wanted.files:
        check_file_name(name)
    if wanted.name == BUNDLED:
        raise BadRequest(f"{BUNDLED} is the name of the model inside Duologue; a file cannot have it.")
    return wanted


def _check_chat_model(repository: Repository) -> None:
    """Raises BadRequest when the hub says that the model cannot chat: better before the download than after."""
    reason = NOT_FOR_CHAT.get(repository.architecture)
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
        f"Another model called {model_name(path)} is here ({path}). Remove it first: "
        f"`duologue models rm {model_name(path)}`, or rename its file.",
        code="model_exists",
    )


def _there(target: Path) -> int:
    """Bytes of a target that need no more room."""
    part = target.with_name(target.name + PART)
    return sum(path.stat().st_size for path in (target, part) if path.exists())


def _header(first: Path, targets: list[tuple[Path, Source]], was_there: bool) -> GgufHeader:
    """The header of what was brought. What cannot be read is not left there under a model's name."""
    try:
        return read(first)
    except Problem as problem:
        if was_there:
            raise
        for target, _ in targets:
            target.unlink(missing_ok=True)
        raise Problem(
            f"What was downloaded cannot be used, and was removed: {problem.message}",
            code="model_unusable",
            status=502,
        ) from problem

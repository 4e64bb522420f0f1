"""The contents of a repository of the hub, and the choice of its files.

Used by `pull`. Pure: the hub's JSON in, the variants of a model out, and the choice among them for a machine. Every value
is checked before it is used; it comes from another server.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

import msgspec
from msgspec import Struct, field

from duologue.errors import BadRequest, EngineFailed, ModelNotFound
from duologue.models.catalogue import PROJECTOR, is_projector
from duologue.models.fit import Hardware, memory_needed
from duologue.models.gguf.header import SPLIT
from duologue.models.recommended import BILLION, MILLION

QUANTISATION = re.compile(
    r"(?:^|[-._])((?:UD-)?(?:I?Q[1-8]_(?:K(?:_(?:XXS|XS|S|M|L|XL))?|[01]|XXS|XS|S|M|NL)|MXFP4(?:_MOE)?|TQ[12]_0|BF16|F16|F32|FP16))(?=[-._]|$)",
    re.IGNORECASE,
)
PREFERRED = (
    *("Q4_K_M", "MXFP4", "Q4_K_S", "IQ4_XS", "IQ4_NL", "Q4_K_L", "Q4_0", "Q4_1", "Q5_K_M", "Q5_K_S", "Q6_K", "Q8_0"),
    *("Q3_K_L", "Q3_K_M", "IQ3_M", "Q3_K_S", "IQ3_S", "IQ3_XS", "IQ3_XXS", "Q2_K", "IQ2_M"),
    *("BF16", "F16", "F32"),
)  # fmt: skip
"""The order of preference without a choice by the user: four bits lose little and run everywhere, then more bits; fewer
than four only where memory is short."""
PROJECTOR_KINDS = ("F16", "Q8_0", "BF16", "F32")
"""The order of preference among the projectors of a model; one is small, and four bits cost it more than they cost a model."""
LONGEST_PATH = 1024
SHA256 = re.compile(r"^[0-9a-f]{64}$")
COMMIT = re.compile(r"^[0-9a-f]{7,64}$")


class HubFile(Struct, frozen=True):
    """One file. `size` in bytes; `sha256` "" where the hub does not list it."""

    path: str
    size: int
    sha256: str = ""

    @property
    def name(self) -> str:
        return PurePosixPath(self.path).name


class Variant(Struct, frozen=True):
    """One form of the model: a file, or all parts of a split one in order."""

    files: tuple[HubFile, ...]
    quantisation: str

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)


class Repository(Struct, frozen=True):
    """A repository at one commit. `licence` and `architecture` are "" where the hub does not say."""

    name: str
    commit: str
    files: tuple[HubFile, ...]
    licence: str = ""
    architecture: str = ""


class _Lfs(Struct):
    size: int = 0
    sha256: str = ""
    oid: str = ""


class _Sibling(Struct):
    rfilename: str
    size: int | None = None
    lfs: _Lfs | None = None


class _CardData(Struct):
    license: str | list[str] | None = None


class _Gguf(Struct):
    architecture: str = ""


class _Info(Struct):
    sha: str = ""
    siblings: list[_Sibling] = []
    card_data: _CardData | None = field(default=None, name="cardData")
    gguf: _Gguf | None = None


def parse_repository(name: str, body: bytes) -> Repository:
    """The repository `name` from the hub's JSON. Raises EngineFailed for anything else."""
    try:
        info = msgspec.json.decode(body, type=_Info)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise EngineFailed(
            f"The hub's answer about {name} cannot be understood ({error}). Is HF_ENDPOINT the address of a hub?",
            code="hub_failed",
            status=502,
        ) from None
    licence = info.card_data.license if info.card_data else None
    return Repository(
        name=name,
        commit=info.sha if COMMIT.match(info.sha) else "",
        files=tuple(_file(sibling) for sibling in info.siblings if _is_path(sibling.rfilename)),
        licence=plain(", ".join(licence) if isinstance(licence, list) else licence or ""),
        architecture=plain(info.gguf.architecture if info.gguf else ""),
    )


def _is_path(text: str) -> bool:
    return len(text) <= LONGEST_PATH and text.isprintable()


def plain(text: str, limit: int = 60) -> str:
    """Text from another server for a terminal: one short line without control characters."""
    return "".join(character for character in text if character.isprintable())[:limit]


def _file(sibling: _Sibling) -> HubFile:
    lfs = sibling.lfs or _Lfs()
    sha256 = (lfs.sha256 or lfs.oid).removeprefix("sha256:").lower()
    size = sibling.size or lfs.size
    return HubFile(sibling.rfilename, max(0, size), sha256 if SHA256.match(sha256) else "")


def variants(files: Iterable[HubFile]) -> list[Variant]:
    """The variants of the model among the files: no projectors, no matrices, no split model with a part missing."""
    models = [file for file in files if _is_model(file)]
    result = [Variant((file,), quantisation_of(file)) for file in models if not SPLIT.match(file.name)]
    parts: dict[tuple[str, int], dict[int, HubFile]] = {}
    for file in models:
        if split := SPLIT.match(file.name):
            whole = (str(PurePosixPath(file.path).with_name(split["stem"])), int(split["count"]))
            parts.setdefault(whole, {})[int(split["part"])] = file
    for (_, count), numbered in parts.items():
        # The length first: a listing can claim a hundred thousand parts for each of its files.
        if len(numbered) == count and sorted(numbered) == list(range(1, count + 1)):
            files_ = tuple(numbered[number] for number in sorted(numbered))
            result.append(Variant(files_, quantisation_of(files_[0])))
    return result


def _is_model(file: HubFile) -> bool:
    name = file.name.lower()
    return name.endswith(".gguf") and PROJECTOR not in name and "imatrix" not in name


def projector_of(repository: Repository, variant: Variant) -> HubFile | None:
    """The projector through which the model of a repository sees or hears; None where it has none. Of several the one in 16 bits,
    which every processor reads quickly."""
    own = PurePosixPath(variant.files[0].path).parent
    found = [
        file
        for file in repository.files
        if is_projector(Path(file.name)) and "imatrix" not in file.name.lower()
    ]

    def order(file: HubFile) -> tuple[bool, int, str]:
        kind = quantisation_of(file)
        place = PROJECTOR_KINDS.index(kind) if kind in PROJECTOR_KINDS else len(PROJECTOR_KINDS)
        return (PurePosixPath(file.path).parent != own, place, file.path)

    return min(found, key=order, default=None)


def memory_of(repository: Repository, variant: Variant) -> int:
    """Bytes of memory for a variant, with the projector that is downloaded with it."""
    projector = projector_of(repository, variant)
    return memory_needed(variant.size, projector.size if projector else 0)


def quantisation_of(file: HubFile) -> str:
    """The quantisation in a file's name, or else in its folder's: "Q4_K_M"; "" when in neither."""
    path = PurePosixPath(file.path)
    split = SPLIT.match(path.name)
    for text in (split["stem"] if split else path.name.removesuffix(".gguf"), path.parent.name):
        if matches := QUANTISATION.findall(text):
            return str(matches[-1]).upper().removesuffix("_MOE").replace("FP16", "F16")
    return ""


def choose(repository: Repository, name: str, expected: str, hardware: Hardware) -> Variant:
    """The variant called `name`, a file or a quantisation; else the expected file; else the best that fits.

    Raises ModelNotFound (no GGUF there, or not that one) and BadRequest (nothing there fits into memory).
    """
    there = variants(repository.files)
    if not there:
        raise ModelNotFound(_nothing(repository))
    if name:
        return _variant_called(repository, there, name)
    for variant in there:
        if variant.files[0].path == expected:
            return variant
    room = max(hardware.memory, hardware.card_memory)
    fitting = [variant for variant in there if memory_of(repository, variant) <= room]
    if not fitting:
        smallest = min(there, key=lambda variant: variant.size)
        raise BadRequest(
            f"Nothing in {repository.name} fits: its smallest file has {gigabytes(smallest.size)}, and "
            f"{gigabytes(room)} of memory are free here. Choose a smaller model, or override with "
            f"{repository.name}:{smallest.files[0].path}.",
            code="model_too_large",
        )
    return min(fitting, key=_preference)


def gigabytes(size: int) -> str:
    """A number of bytes for people: 2.5 GB, 640 MB, 0.4 MB."""
    if size >= BILLION:
        return f"{size / BILLION:.1f} GB"
    return f"{size / MILLION:.{0 if size >= 10 * MILLION else 1}f} MB"


def _preference(variant: Variant) -> tuple[int, int]:
    plain = variant.quantisation.removeprefix("UD-")
    return (PREFERRED.index(plain) if plain in PREFERRED else len(PREFERRED), variant.size)


def _variant_called(repository: Repository, there: list[Variant], name: str) -> Variant:
    low = name.lower().removesuffix(".gguf")
    for variant in there:
        first = variant.files[0]
        stem = SPLIT.sub(r"\g<stem>", first.path).removesuffix(".gguf").lower()
        names = {first.path.lower(), first.name.lower(), stem, PurePosixPath(stem).name}
        if low in names or f"{low}.gguf" in names:
            return variant
    same = [variant for variant in there if variant.quantisation.lower() == low]
    if len(same) == 1:
        return same[0]
    if same:
        names_ = ", ".join(variant.files[0].path for variant in same[:8])
        raise BadRequest(f"{repository.name} has several files with {name}: {names_}. Name the file.")
    has = ", ".join(sorted({variant.quantisation or variant.files[0].path for variant in there})[:20])
    raise ModelNotFound(f"{repository.name} has no {name}. It has: {has}.")


def _nothing(repository: Repository) -> str:
    if any(file.path.endswith((".safetensors", ".bin")) for file in repository.files):
        return (
            f"{repository.name} has the original weights, not GGUF files. Usually there is a converted repository: "
            f"look for {repository.name.partition('/')[2]}-GGUF on the hub."
        )
    return f"{repository.name} has no complete GGUF model."

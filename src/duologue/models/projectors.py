"""Which projector belongs to a model: the one named, or the one beside its file.

Used by the llama engine before it loads a model, by the models page, and by downloads. All models may lie in one folder, and two of
them may be equally wide, so a file is taken for a model's projector only if its name, or what it says of itself, shows it;
or if no other model is in the folder. Reads headers; blocks.
"""

from __future__ import annotations

import re
from pathlib import Path

from msgspec import Struct

from duologue.errors import Problem, StartFailed
from duologue.models.catalogue import PROJECTOR, SUFFIX, file_stem, is_projector, list_models
from duologue.models.gguf.header import GgufHeader
from duologue.models.gguf.projector import Projector, read_projector

NONE = "none"
"""The setting for a model that shall read text alone."""
_KIND = re.compile(
    r"[-._ ]?(?:ud[-_])?(?:i?q[1-8](?:_[a-z0-9]{1,3}){1,3}|mxfp4(?:_moe)?|bf16|f16|fp16|f32|fp32|gguf)(?=[-._ ]|$)",
    re.IGNORECASE,
)
"""The quantisation in a file's name: a model and its projector seldom have the same."""


class FoundProjector(Struct, frozen=True):
    """The projector of a model, or none; `warning` says why a file that looks like one is not used."""

    projector: Projector | None = None
    warning: str = ""


def find_projector(header: GgufHeader, named: str = "") -> FoundProjector:
    """The projector for the model of `header`: the file `named`, which may be in the model's folder, or the one beside it. Raises
    StartFailed for a named one that is missing, damaged or of another width; one that is only found is left out then, with a
    warning, because a file that happens to lie there must not keep a model from loading."""
    if named == NONE:
        return FoundProjector()
    if named:
        path = Path(named).expanduser()
        beside = header.path.parent / path
        projector = read_projector(beside if not path.is_file() and beside.is_file() else path)
        if not projector.fits(header.embedding):
            raise StartFailed(
                f"{_misfit(projector, header)} Name the one from the model's own repository.", param="mmproj"
            )
        return FoundProjector(projector)
    warning = ""
    for path in candidates(header.path, header.name):
        try:
            projector = read_projector(path)
        except Problem as problem:
            warning = warning or f"{problem.message} The model reads text only."
            continue
        if projector.fits(header.embedding):
            return FoundProjector(projector)
        warning = warning or f"{_misfit(projector, header)} The model reads text only."
    return FoundProjector(warning=warning)


def candidates(model: Path, name: str = "") -> list[Path]:
    """The files beside a model that may be its projector, the likeliest first: by their name, by what they say of
    themselves, then any where there is no other model."""
    there = sorted(path for path in model.parent.glob(f"*{SUFFIX}") if is_projector(path) and path.is_file())
    if not there:
        return []
    own = bare(file_stem(model))
    by_name = [path for path in there if bare(file_stem(path)) == own]
    if by_name:
        return sorted(by_name, key=_precision)
    by_title = [path for path in there if name and _title(path) == bare(name)]
    if by_title:
        return sorted(by_title, key=_precision)
    alone = {file_stem(path) for path in list_models(model.parent) if path.parent == model.parent}
    if len({bare(stem) for stem in alone}) == 1:
        return sorted(there, key=_precision)
    return []


def bare(name: str) -> str:
    """A name without quantisation, the mark of projectors, case and separators."""
    without = _KIND.sub("", name.lower().replace(PROJECTOR, " "))
    return re.sub(r"[^a-z0-9]+", "", without)


def _title(path: Path) -> str:
    try:
        return bare(read_projector(path).name)
    except Problem:
        return ""


def _precision(path: Path) -> tuple[int, str]:
    """Half precision first: eyes are small, and four bits cost them more than a model."""
    name = path.name.lower()
    order = next(
        (at for at, kind in enumerate(("f16", "q8", "f32")) if kind in name and "bf16" not in name), 3
    )
    return (order, name)


def _misfit(projector: Projector, header: GgufHeader) -> str:
    widths = ", ".join(map(str, projector.stated)) or "another width"
    return (
        f"{projector.path.name} is a projector for a model of width {widths}, and {header.path.name} has "
        f"{header.embedding}."
    )

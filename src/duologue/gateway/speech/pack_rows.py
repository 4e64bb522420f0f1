"""The voice packs as clients see them: what is on the disk, how each fits this machine, and why none can be used.

Called by `pack_service`. Pure, but for the search for a library.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from msgspec import Struct

from duologue.config.sections.voice import VoiceSettings
from duologue.errors import Problem, Unsupported
from duologue.gateway.workers.load_specs import names_engine
from duologue.models import installed_packs
from duologue.models.fit import SPARE_DISK, Fit, Hardware, memory_needed
from duologue.models.voice_packs import PACKS, SpeechModelArchive, VoicePack

LIBRARY = "sherpa_onnx"
MISSING_LIBRARY = (
    f"Voice packs need one more package ({LIBRARY}). Install it on the server with pip install 'duologue[voice]' and "
    "restart it."
)


class PackFiles(Struct, frozen=True):
    """What is there of a pack, in bytes: `missing` is to be downloaded, `unfinished` was downloaded and is not unpacked."""

    pack: VoicePack
    missing: int
    unfinished: int


def pack_files(data: Path) -> list[PackFiles]:
    """Every pack with what is there of it. Blocks."""
    return [
        PackFiles(
            pack,
            sum(archive.size for archive in pack.archives if not installed_packs.is_installed(archive, data)),
            installed_packs.unfinished_size(pack, data),
        )
        for pack in PACKS
    ]


def pack_rows(files: Sequence[PackFiles], chosen: str, hardware: Hardware | None) -> list[dict[str, Any]]:
    """The rows of the list. `chosen`: the name of the pack in use."""
    return [
        {
            "name": row.pack.name,
            "title": row.pack.title,
            "variant": row.pack.variant,
            "languages": list(row.pack.languages),
            "size": row.pack.size,
            "missing": row.missing,
            "unfinished": row.unfinished,
            "installed": row.missing == 0,
            "active": row.pack.name == chosen,
            "fit": "" if hardware is None else pack_fit(row, hardware),
            "recogniser": _archive(row.pack.recogniser),
            "speaker": _archive(row.pack.speaker),
        }
        for row in files
    ]


def _archive(archive: SpeechModelArchive) -> dict[str, Any]:
    return {
        "name": archive.name,
        "title": archive.title or archive.name,
        "does": archive.does,
        "size": archive.size,
        "licence": archive.licence,
        "source": archive.source,
    }


def pack_fit(row: PackFiles, hardware: Hardware) -> Fit:
    """How a pack fits this machine. An archive and its files are on the disk together for a moment."""
    if memory_needed(row.pack.size) > hardware.memory:
        return "memory"
    if row.missing and 2 * row.missing + SPARE_DISK > hardware.disk + row.unfinished:
        return "disk"
    return "good"


def settings_sentence(voice: VoiceSettings) -> str:
    """What the settings keep from the packs; "" for nothing."""
    named = [
        f"voice.{kind}"
        for kind, engine in (("recogniser", voice.recogniser), ("speaker", voice.speaker))
        if names_engine(engine)
    ]
    if not named:
        return ""
    return f"The settings name {' and '.join(named)}, which stays in use whichever pack is chosen."


def packs_problem(voice: VoiceSettings, library: str = LIBRARY) -> Problem | None:
    """Why no pack can be used: the settings decide, or the library is not installed."""
    if names_engine(voice.recogniser) and names_engine(voice.speaker):
        return Problem(
            f"{settings_sentence(voice)} Remove them from the settings and restart the server to use voice packs.",
            code="pack_not_used",
            status=409,
        )
    if find_spec(library) is None:
        return Unsupported(MISSING_LIBRARY, code="engine_missing", status=503)
    return None

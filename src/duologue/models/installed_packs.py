"""The voice packs on this machine: which are installed, which one is used, and removing one.

Used by the gateway before it starts the voice, by its voice packs, and by `duologue setup voice`. A pack is installed when the
folders of its models are there; models that several packs share are on the disk once. The one in use is named by a small
file in the data folder, read before the database is open. Blocks.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec
from msgspec import Struct

from duologue.errors import NotFound, Problem
from duologue.models.catalogue import PART, RECORD
from duologue.models.voice_packs import PACKS, SpeechModelArchive, VoicePack

CHOICE = "voice-pack.json"
UNPACKING = ".unpacking"
"""The suffix of a folder that is not complete."""


class ChosenPack(Struct, frozen=True):
    """The content of the file: the name of the pack, "" for none."""

    pack: str = ""


def models_folder(data: Path) -> Path:
    """Where models of speech are: with all others."""
    return data / "models"


def is_installed(archive: SpeechModelArchive, data: Path) -> bool:
    return (models_folder(data) / archive.name).is_dir()


def installed_packs(data: Path) -> list[VoicePack]:
    """The packs whose models are all there."""
    return [pack for pack in PACKS if all(is_installed(archive, data) for archive in pack.archives)]


def turn_end_file(pack: VoicePack, data: Path) -> Path | None:
    """The file of a pack that judges the ends of turns; None where it has none, or where it is not there."""
    if pack.turn_end is None:
        return None
    path = models_folder(data) / pack.turn_end.file
    return path if path.is_file() else None


def unpacking_folder(archive: SpeechModelArchive, data: Path) -> Path:
    """The folder that an archive is unpacked into before it gets its name."""
    return models_folder(data) / f".{archive.name}{UNPACKING}"


def unfinished_size(pack: VoicePack, data: Path) -> int:
    """Bytes of the archives of a pack that were downloaded, in whole or in part, and not unpacked yet."""
    return sum(
        _size(path)
        for archive in pack.archives
        if not is_installed(archive, data)
        for path in _downloads(archive, data)[:2]
    )


def _size(path: Path) -> int:
    """Bytes of a file; 0 where it is not there: a download that ends renames it between a look and a `stat`."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _downloads(archive: SpeechModelArchive, data: Path) -> tuple[Path, Path, Path]:
    """The files of the download of an archive: whole, in part, and the record of the part."""
    whole = models_folder(data) / archive.file
    return whole, whole.with_name(whole.name + PART), whole.with_name(whole.name + RECORD)


def chosen_pack(data: Path) -> VoicePack | None:
    """The pack in use; None where there is none, or where it is no longer there."""
    try:
        name = msgspec.json.decode((data / CHOICE).read_bytes(), type=ChosenPack).pack
    except (OSError, msgspec.MsgspecError):
        return None
    return next((pack for pack in installed_packs(data) if pack.name == name), None)


def choose_pack(data: Path, name: str) -> None:
    """Use this pack from the next start on; "" for none. Raises Problem (`write_failed`)."""
    path = data / CHOICE
    temporary = path.with_name(f"{CHOICE}.new")
    try:
        if not name:
            path.unlink(missing_ok=True)
            return
        temporary.write_bytes(msgspec.json.encode(ChosenPack(name)))
        temporary.replace(path)
    except OSError as error:
        raise _write_failed(path, error) from error


def remove_pack(pack: VoicePack, data: Path, keep: frozenset[str] = frozenset()) -> int:
    """Delete the models of a pack that no other installed pack needs, and what was downloaded of it: the bytes that were freed.
    `keep`: the names of archives that are needed otherwise. Raises NotFound where nothing is there, Problem (`write_failed`)."""
    others = keep | {
        archive.name
        for other in installed_packs(data)
        if other.name != pack.name
        for archive in other.archives
    }
    paths = [
        path
        for archive in pack.archives
        if archive.name not in others
        for path in (
            models_folder(data) / archive.name,
            unpacking_folder(archive, data),
            *_downloads(archive, data),
        )
        if path.exists()
    ]
    if not paths and pack not in installed_packs(data):
        raise NotFound(f"The voice pack {pack.name} is not installed.", code="pack_not_found")
    freed = _remove_turn_end(pack, data)
    for path in paths:
        freed += sum(file.lstat().st_size for file in (path, *path.rglob("*")) if file.is_file())
        try:
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
        except OSError as error:
            raise _write_failed(path, error) from error
    return freed


def _remove_turn_end(pack: VoicePack, data: Path) -> int:
    """Delete that file unless another installed pack uses it: the bytes that were freed. Raises Problem (`write_failed`)."""
    path = turn_end_file(pack, data)
    others = {other.turn_end for other in installed_packs(data) if other.name != pack.name}
    if path is None or pack.turn_end in others:
        return 0
    size = path.stat().st_size
    try:
        path.unlink()
    except OSError as error:
        raise _write_failed(path, error) from error
    return size


def _write_failed(path: Path, error: OSError) -> Problem:
    return Problem(f"{path} cannot be written: {error.strerror}.", code="write_failed", status=500)

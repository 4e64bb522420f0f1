"""`duologue storage copy`: users' files from the data folder to the storage of the settings, before several gateways share it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import anyio
import typer

from duologue.cli import Config, Data
from duologue.errors import NotFound, Problem, StartFailed

if TYPE_CHECKING:
    from duologue.config import Settings
    from duologue.storage.file_store import FileStore

storage = typer.Typer(
    name="storage", help="Where the files of users are kept.", no_args_is_help=True, rich_markup_mode=None
)


@storage.callback()
def _group() -> None:
    """Where the files of users are kept."""


@storage.command("copy")
def copy(
    back: Annotated[
        bool,
        typer.Option("--back", help="Copy from the storage of the settings into the data folder instead."),
    ] = False,
    config: Config = None,
    data: Data = None,
) -> None:
    """Copy all files from the data folder to the shared folder or object storage of the settings. Nothing is removed, and a file that is
    there already is left alone, so it may be repeated."""
    from duologue.config import load

    settings = load(config, os.environ, {"data": data})
    if settings.storage.folder is None and not settings.storage.s3.bucket:
        raise StartFailed(
            "The settings keep files in the data folder. Set storage.folder or storage.s3 first, to what the gateways will use."
        )
    try:
        copied, there = anyio.run(_copy_all, settings, back)
    except Problem as problem:
        raise StartFailed(f"{problem.message} What was copied stays; repeat the command.") from problem
    print(f"{copied:,} files copied, {there:,} were there already.")


async def _copy_all(settings: Settings, back: bool) -> tuple[int, int]:
    from duologue.storage.folder_store import FolderStorage
    from duologue.storage.opening import BLOBS, FILES, RECORDINGS, file_storage

    shared, own = file_storage(settings.storage, settings.data / "copies/move"), FolderStorage(settings.data)
    await shared.check()
    source, target = (shared, own) if back else (own, shared)
    copied = there = 0
    # Uploads in pieces are not among them: a browser begins those again.
    for kind in (BLOBS, FILES, RECORDINGS):
        missing = NotFound("A file was removed while it was copied.")
        files, place = source.section(kind, missing), target.section(kind, missing)
        async for entry in files.entries():
            if await _size(place, entry.name) == entry.size:
                there += 1
            else:
                await _copy(files, place, entry.name)
                copied += 1
    return copied, there


async def _size(place: FileStore, name: str) -> int:
    try:
        return await place.size(name)
    except NotFound:
        return -1


async def _copy(files: FileStore, place: FileStore, name: str) -> None:
    from duologue.threads import disk_io

    path = place.incoming / f"copy-{os.getpid()}"
    await disk_io(_copied, await files.source(name), path)
    await place.put(name, path)


def _copied(source: Path, path: Path) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    shutil.copyfile(source, path)
    path.chmod(0o600)

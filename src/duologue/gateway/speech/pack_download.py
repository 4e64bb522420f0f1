"""Downloads and unpacks the archives of a voice pack.

Called by `pack_service` and by `duologue setup voice`. Owns the steps for one archive: its digest from the release's list, the
download with `models.hub` (resumed, verified), and unpacking in a child process into a folder that gets its name only when it is
complete.
"""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from duologue.decoder.service import decode_stream
from duologue.errors import BadRequest, EngineFailed, Problem, Unavailable
from duologue.media.archives import ArchivePiece, read_archive
from duologue.models.hub.resume import Content
from duologue.models.installed_packs import is_installed, models_folder, unpacking_folder
from duologue.models.voice_packs import DIGESTS, RELEASES, SpeechModelArchive, VoicePack, digest_of
from duologue.threads import disk_io

if TYPE_CHECKING:
    from duologue.models.hub.download import Watch
    from duologue.models.hub.http import HubConnection

LARGEST_LIST = 4 << 20
"""Bytes of a release's list of digests."""


def missing_archives(pack: VoicePack, data: Path) -> list[SpeechModelArchive]:
    """The archives of a pack whose models are not there yet."""
    return [archive for archive in pack.archives if not is_installed(archive, data)]


def download_archive(
    connection: HubConnection,
    archive: SpeechModelArchive,
    data: Path,
    watch: Watch,
    *,
    releases: str = RELEASES,
) -> Path:
    """Download one archive: its file. Blocks. Raises as `models.hub.download`, BadRequest for an address that is not allowed."""
    from duologue.models.hub.download import Source, check_disk, download
    from duologue.models.hub.http import OTHER_SOURCES

    folder = models_folder(data)
    folder.mkdir(parents=True, exist_ok=True)
    # Once for the archive, about once more for its files.
    check_disk(folder, 2 * archive.size)
    target = folder / archive.file
    address = f"{releases}/{archive.release}/{archive.file}"
    try:
        digest = fetch_digest(connection, archive, releases)
        download(connection, Source(address, archive.name, Content(sha256=digest)), target, watch)
    except Problem as problem:
        if problem.code != "hub_unreachable":
            raise
        # The sources named there have language models only.
        message = problem.message.replace(
            OTHER_SOURCES, "A mirror is named by the setting `voice.packs_url`."
        )
        raise Unavailable(message, code=problem.code) from problem
    return target


def fetch_digest(connection: HubConnection, archive: SpeechModelArchive, releases: str = RELEASES) -> str:
    """The SHA-256 that the release publishes for an archive; "" where it publishes none. Blocks. Raises Problem."""
    from duologue.models.hub.http import FIRST_ATTEMPTS

    def fetch() -> str:
        address = f"{releases}/{archive.release}/{DIGESTS}"
        with connection.get(address, f"the list of digests of {archive.release}") as response:
            listing = bytearray()
            for piece in response.iter_raw():
                listing += piece
                if len(listing) > LARGEST_LIST:
                    raise EngineFailed(
                        f"The list of digests of {archive.release} is too long.",
                        code="hub_failed",
                        status=502,
                    )
        return digest_of(listing.decode("utf-8", "replace"), archive.file)

    try:
        return connection.with_retries(fetch, lambda: 0, FIRST_ATTEMPTS)
    except Problem as problem:
        if problem.status == 404:
            return ""
        raise


async def unpack_archive(
    path: Path, archive: SpeechModelArchive, data: Path, progress: Callable[[int], None] = lambda count: None
) -> None:
    """Unpack a downloaded archive into the folder of its model, and delete it. `progress` gets the bytes as they are written. A
    damaged archive is deleted too, so that it is downloaded again; on a full disk it stays. Raises Problem."""
    target = models_folder(data) / archive.name
    half = unpacking_folder(archive, data)
    await disk_io(shutil.rmtree, half, True)
    try:
        async with decode_stream(read_archive, path, archive.name) as pieces:
            await _write(pieces, half, progress)
        await disk_io(half.replace, target)
    except BadRequest as problem:
        await disk_io(path.unlink, True)
        raise EngineFailed(
            f"{problem.message} It was deleted; download it again.", code="archive_refused", status=502
        ) from problem
    except OSError as error:
        from duologue.models.hub.download import write_problem

        raise write_problem(target.parent, error) from error
    finally:
        await disk_io(shutil.rmtree, half, True)
    await disk_io(path.unlink, True)


async def _write(pieces: AsyncIterator[ArchivePiece], folder: Path, progress: Callable[[int], None]) -> None:
    """Write the files. The names were checked where the archive was read; here they are checked again, because that process
    may do what the archive wants."""
    await disk_io(folder.mkdir, 0o777, True)
    files = 0
    async for piece in pieces:
        path = _inside(folder, piece.name)
        if piece.data:
            await disk_io(_append, path, piece.data)
            progress(len(piece.data))
        else:
            files += 1
            await disk_io(_begin_file, path)
    if not files:
        raise BadRequest("The archive is empty.", code="archive_refused")


def _inside(folder: Path, name: str) -> Path:
    """The path of a file in the folder. Raises BadRequest for a name that leads anywhere else."""
    path = folder / name
    if not name or Path(name).is_absolute() or ".." in Path(name).parts:
        raise BadRequest("The archive has a file outside of its folder.", code="archive_refused")
    return path


def _begin_file(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    # Never through a link, and never a file that is there already.
    path.open("xb").close()


def _append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)

"""Archives of speech models as sherpa-onnx's releases have them, made small, and a server that hands them out."""

from __future__ import annotations

import hashlib
import io
import tarfile
from collections.abc import Mapping

from tests.support.hub_stand_in import Hub

from duologue.models.voice_packs import DIGESTS, SpeechModelArchive


def archive_of(folder: str, files: Mapping[str, bytes]) -> bytes:
    """A tar.bz2 with these files in this folder."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:bz2") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(f"{folder}/{name}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def offer(hub: Hub, archive: SpeechModelArchive, content: bytes, digest: str | None = None) -> None:
    """Have the stand-in for the releases offer an archive, with its digest, another one, or ("") none."""
    release = hub.files.setdefault(f"releases/{archive.release}", {})
    release[archive.file] = content
    digest = hashlib.sha256(content).hexdigest() if digest is None else digest
    lines = release.get(DIGESTS, b"").decode()
    release[DIGESTS] = (lines + (f"{archive.file}\t{digest}\n" if digest else "")).encode()


def releases_of(hub: Hub) -> str:
    """The address below which the releases are."""
    return f"{hub.store}/store/releases"

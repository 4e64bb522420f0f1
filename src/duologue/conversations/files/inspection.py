"""Whether an attached file can be used, told before it is sent. Called by the page after each upload, through `api/files.py`.

Owns what makes a file unusable for every model. What one model cannot take is decided when the message is sent.
"""

from __future__ import annotations

from msgspec import Struct

from duologue.config.settings import LimitSettings
from duologue.conversations.files.attachments import MEGABYTE, reject_empty, reject_family, reject_long
from duologue.conversations.files.blobs import Blobs
from duologue.decoder.service import decode
from duologue.errors import BadRequest, TooLarge
from duologue.media import documents, images, recordings, sniff, texts, videos
from duologue.values.conversations import Blob


class Inspection(Struct, frozen=True):
    """`code` and `message` are the error that a message with this file would get from every model, else empty. `scan`: a PDF
    without text, which only a model that sees pictures can read."""

    code: str = ""
    message: str = ""
    scan: bool = False


async def inspect(blobs: Blobs, limits: LimitSettings, user: str, hash: str) -> Inspection:
    """Raises NotFound, and Busy when too many files are being read."""
    blob = await blobs.get(user, hash)
    try:
        return await _inspect(blobs, limits, user, blob)
    except (BadRequest, TooLarge) as problem:
        return Inspection(problem.code, problem.message)


async def _inspect(blobs: Blobs, limits: LimitSettings, user: str, blob: Blob) -> Inspection:
    source = await blobs.source(blob.hash)
    most = limits.text_mb * MEGABYTE
    match sniff.family(blob.mime):
        case "image":
            await decode(images.for_model, source, limits.image_megapixels, user=user)
        case "pdf":
            return Inspection(scan=not await decode(documents.text, source, most, user=user))
        case "text":
            if blob.size > 4 * most:
                raise reject_long(limits)
            read = await decode(texts.read_text, source, user=user)
            if not read.text.strip():
                raise reject_empty()
            if len(read.text.encode("utf-8", "replace")) > most:
                raise reject_long(limits)
        case "audio":
            await decode(recordings.measure_sound, source, user=user)
        case "video":
            measured = await decode(videos.measure_video, source, user=user)
            if measured.width or not measured.has_sound:
                videos.check_measured(measured, limits.video_minutes)
        case _:
            raise reject_family()
    return Inspection()

"""Parts of a request that have to be read before it is known what they are: files, sent along or stored before, recordings, and
whatever is at a web address.

Fetches addresses behind the guard of the tools, within one budget of bytes for a request, a few at a time, and keeps what was there for
the next turns of a conversation; decoder processes read what came. All of it counts for what its user may have in flight. Called by the
APIs whose requests name files: chat completions, responses, messages.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from msgspec.structs import replace

from duologue.config.settings import LimitSettings
from duologue.conversations.files.attachments import ATTACHABLE, fenced
from duologue.decoder.service import decode, decode_stream
from duologue.errors import BadRequest, Problem, TooLarge, Unsupported
from duologue.fair_lane import FairLane
from duologue.gateway.media.address_cache import AddressCache
from duologue.gateway.middleware import byte_ledger
from duologue.media import documents, recordings, sniff, texts
from duologue.media.wav import RATE
from duologue.threads import Refusal
from duologue.tools.ssrf_guard import AddressGuard
from duologue.tools.web_request import get_from_web
from duologue.values.messages import AudioPart, ImagePart, Part, TextPart, VideoPart
from duologue.values.requests import ModelCard
from duologue.wire.media_parts import MediaReference

MEGABYTE = 2**20
SECONDS = 20.0
"""For one address, redirects and all."""
LONGEST_URL = 4000
PLACES, PLACES_PER_USER = 6, 3
"""Addresses that are fetched at a time."""
ACCEPT = "image/*, audio/*, video/*, application/pdf, text/*;q=0.8, */*;q=0.5"
BUSY = Refusal(
    "Too many files are being fetched at the moment; try again soon.",
    "Fetching other files kept the server busy for too long; try again soon.",
    "files_busy",
)


class ReadStored(Protocol):
    """The name and the bytes of a user's stored file of at most so many bytes. Raises NotFound, TooLarge."""

    async def __call__(self, user: str, id: str, most: int) -> tuple[str, bytes]: ...


class MediaReferences:
    """`addresses`: those that may be reached; without them none are fetched. `stored` reads the files that users stored before."""

    def __init__(
        self,
        limits: LimitSettings,
        addresses: AddressGuard | None = None,
        clock: Callable[[], float] = time.monotonic,
        stored: ReadStored | None = None,
    ) -> None:
        self._limits, self._addresses, self._clock = limits, addresses, clock
        self._stored = stored
        self._cache = AddressCache()
        self._lane = FairLane(PLACES, PLACES_PER_USER, refusal=BUSY)

    async def read(
        self, references: Sequence[MediaReference], card: ModelCard, user: str
    ) -> Mapping[str, Sequence[Part]]:
        """What each is, by its path. Raises Problem that names the part."""
        left = self._limits.media_address_mb * MEGABYTE
        stored_left = self._limits.body_mb * MEGABYTE
        found: dict[str, Sequence[Part]] = {}
        for reference in references:
            try:
                data = reference.data
                if reference.url:
                    data = await self._fetched(reference.url, left, user)
                    left -= len(data)
                elif reference.stored:
                    name, data = await self._read_stored(reference.stored, stored_left, user)
                    stored_left -= len(data)
                    reference = replace(reference, name=reference.name or name)
                found[reference.where] = await self._parts(reference, data, card, user)
            except Problem as problem:
                raise Problem(
                    f"{reference.where}: {problem.message}",
                    code=problem.code,
                    status=problem.status,
                    param=reference.where,
                    retry_after=problem.retry_after,
                ) from None
        return found

    async def _read_stored(self, id: str, most: int, user: str) -> tuple[str, bytes]:
        if self._stored is None:
            raise Unsupported("Stored files are not available here; send the file itself.")
        return await self._stored(user, id, most)

    async def _fetched(self, url: str, most: int, user: str) -> bytes:
        if self._addresses is None or not self._limits.media_address_mb:
            raise Unsupported(
                "Web addresses are not fetched here (setting limits.media_address_mb); send the file itself."
            )
        if len(url) > LONGEST_URL:
            raise BadRequest(f"An address may have at most {LONGEST_URL} characters.", code="bad_url")
        body = self._cache.get(user, url, self._clock())
        if body is None:
            async with self._lane.turn(user):
                fetched = await get_from_web(
                    url, self._addresses, accept=ACCEPT, seconds=SECONDS, most_bytes=max(1, most)
                )
            self._cache.put(user, url, fetched, self._clock())
            body = fetched.body if fetched.complete else None
        if body is None or len(body) > most:
            raise TooLarge(
                f"What is at the addresses of a request may have {self._limits.media_address_mb} MB together; "
                "the setting limits.media_address_mb raises the limit."
            )
        # Only now its size is known; until then the places of the lane bound how much comes.
        byte_ledger.count(len(body))
        return body

    async def _parts(
        self, reference: MediaReference, data: bytes, card: ModelCard, user: str
    ) -> Sequence[Part]:
        if not data:
            raise BadRequest("The file is empty.", code="file_empty")
        mime = await decode(sniff.kind, data[: sniff.HEAD], reference.name, "", user=user)
        family = sniff.family(mime)
        # A browser's recording of sound alone is a WebM like a video.
        if reference.kind == "audio" or (reference.kind == "file" and family == "audio"):
            return [AudioPart((await decode(recordings.read_sound, data, user=user)).samples, RATE)]
        if reference.kind == "image" or family == "image":
            return [ImagePart(data, mime, reference.detail)]
        if reference.kind == "video" or family == "video":
            return [VideoPart(data, mime)]
        if family == "pdf":
            return await self._pdf(reference, data, card, user)
        if family == "text":
            read = await decode(texts.read_text, data, user=user)
            if not read.text.strip():
                raise BadRequest("The file is empty.", code="file_empty")
            return [TextPart(f"\n{fenced(reference.name, read.text)}\n")]
        raise BadRequest(
            f"A file of this kind cannot be given to a model. {ATTACHABLE}", code="file_unsupported"
        )

    async def _pdf(
        self, reference: MediaReference, data: bytes, card: ModelCard, user: str
    ) -> Sequence[Part]:
        """The text of a document; the pages of one without, for a model that sees."""
        text = await decode(documents.text, data, self._limits.text_mb * MEGABYTE, user=user)
        if text:
            return [TextPart(f"\n{fenced(reference.name, text)}\n")]
        if "image" not in card.accepted:
            raise Unsupported(
                f"The PDF has no text in it: it is a scan, and the model {card.name} cannot see its pages.",
                code="document_without_text",
            )
        most, megapixels = self._limits.document_pages, self._limits.image_megapixels
        async with decode_stream(documents.pages, data, most, megapixels, user=user) as pages:
            return [ImagePart(page.data, page.mime) async for page in pages]

"""Uploads that arrive in pieces and go on after a broken connection, also after a restart of the server.

Used by `api/uploads.py`. What has arrived is in `UploadPieces`; where gateways share their files, an upload goes on at any of them. A
complete one becomes a file like any other, through `Blobs.keep`, with the same limits and checks. Abandoned uploads are removed.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import anyio

from duologue.conversations.files.upload_pieces import PartialUpload, UploadPieces
from duologue.errors import BadRequest, Busy, NotFound, Problem, TooLarge
from duologue.values.conversations import Blob

if TYPE_CHECKING:
    from duologue.conversations.files.blobs import Blobs
    from duologue.conversations.files.quota import StorageQuota

T = TypeVar("T")

PIECE_BYTES = 4 * 2**20
"""The largest piece. Within the default limit of a body, and little to send again where a proxy keeps a piece until it is whole."""
UPLOADS_PER_USER = 20
UPLOADS_IN_ALL = 1000
IDLE_MS = 12 * 3_600_000
"""How long an idle upload is kept, and the answer of a complete one."""
ABANDONED_MS = 5 * 60_000
"""After so long without a piece an upload makes room for another one of its user."""
READ = 2**20
TRANSIENT = 429
"""Problems of this status and above may pass: the upload is kept for another try."""


class PartialUploads:
    """`limit`: bytes of one file; `now` gives milliseconds since 1970. Open it with `load`. How many uploads a user may have, and how much
    they may hold, is counted at each gateway; what a user may store in all is checked when a file is complete."""

    def __init__(
        self, pieces: UploadPieces, blobs: Blobs, quota: StorageQuota, *, limit: int, now: Callable[[], int]
    ) -> None:
        self._pieces = pieces
        self._blobs = blobs
        self._quota = quota
        self._limit = limit
        self._now = now
        self.mark = ""
        """The beginning of the ids of its uploads, by which other gateways know the owner."""
        self._uploads: dict[str, PartialUpload] = {}
        self._finishing: dict[str, anyio.Event] = {}

    async def load(self) -> None:
        """Find what an earlier server received. Call it before the first request."""
        self._uploads = {upload.id: upload for upload in await self._pieces.found()}
        await self.collect()

    async def begin(self, user: str, name: str, mime: str, size: int) -> PartialUpload:
        """A new, empty upload of `size` bytes. Raises TooLarge for a file over the limit or the user's storage, Busy where
        there are too many, Unavailable when the disk cannot be written."""
        if size > self._limit:
            raise TooLarge(
                f"The file is larger than {self._limit / 2**20:g} MB; the setting limits.blob_mb raises the limit."
            )
        # Shared pieces do not depend on the gateway that began the upload.
        mark = "" if self._pieces.is_shared else self.mark
        upload = PartialUpload(mark + secrets.token_hex(16), user, name, mime, size, touched=self._now())
        # It has its place before the first await: two that begin together must not both take the last one.
        self._uploads[upload.id] = upload
        try:
            await self._make_room(upload)
            await self._pieces.begin(upload)
        except BaseException:
            await self._forget(upload)
            raise
        return upload

    async def get(self, user: str, id: str) -> PartialUpload:
        """Raises NotFound, also for another user's."""
        upload = await self._pieces.current(id, self._uploads.get(id))
        if upload is not None:
            self._uploads[id] = upload
        if upload is None or upload.user != user or self._is_over(upload):
            raise NotFound(
                "This upload does not exist. It may be complete, or it received nothing for too long and was removed. Start it again.",
                code="upload_not_found",
            )
        return upload

    async def add(self, user: str, id: str, offset: int, data: bytes) -> Blob | None:
        """A piece that begins at `offset`. The stored file once nothing is missing, also when that is asked again.

        Raises NotFound; BadRequest (`upload_offset`, 409) for another offset than the upload's; TooLarge for more than its size, and
        what `Blobs.keep` raises.
        """
        upload = await self.get(user, id)
        if offset != upload.offset:
            raise BadRequest(
                f"The upload has {upload.offset} bytes, and this piece begins at {offset}. Go on from there.",
                code="upload_offset",
                status=409,
                param="Upload-Offset",
                values={"offset": upload.offset},
            )
        if offset + len(data) > upload.size:
            raise TooLarge(
                f"The upload was announced with {upload.size} bytes, and this piece ends after them."
            )
        if data:
            # At its place and not at the end: the same piece sent twice at a time is written twice to the same place.
            touched = self._now()
            try:
                await self._pieces.write(upload, offset, data, touched)
            except NotFound:
                # Another request brought the same piece and the end, and was faster.
                if not upload.hash:
                    raise
            upload.offset = max(upload.offset, offset + len(data))
            upload.touched = touched
        return await self._finish(upload) if upload.offset == upload.size else None

    async def drop(self, user: str, id: str) -> None:
        """Raises NotFound."""
        await self._forget(await self.get(user, id))

    async def collect(self) -> int:
        """Remove abandoned uploads. Returns their number. Called by `retention.py`."""
        if self._pieces.is_shared:
            # Including those that continued at another gateway, or were left by a dead one.
            self._uploads = {upload.id: upload for upload in await self._pieces.found()}
        over = [upload for upload in self._uploads.values() if self._is_over(upload)]
        for upload in over:
            await self._forget(upload)
        return len(over)

    async def _make_room(self, new: PartialUpload) -> None:
        """Drop abandoned uploads of this user, the oldest first, until the new one fits. Raises Busy, TooLarge."""
        while True:
            own = [upload for upload in self._uploads.values() if upload.user == new.user and not upload.hash]
            many = len(own) > UPLOADS_PER_USER or len(self._uploads) > UPLOADS_IN_ALL
            try:
                if many:
                    raise Busy(
                        "Too many uploads are unfinished. Wait for some of them.", code="too_many_uploads"
                    )
                held = sum(upload.held for upload in own if upload is not new)
                self._quota.check_unfinished(new.size, held)
                return
            except Problem:
                idle = [each for each in own if each.touched < self._now() - ABANDONED_MS]
                if not idle:
                    raise
                await self._forget(min(idle, key=lambda each: each.touched))

    async def _finish(self, upload: PartialUpload) -> Blob:
        """Store the complete file, once. The upload stays for a while, so that a lost answer can be asked for again."""
        while (other := self._finishing.get(upload.id)) is not None:
            await other.wait()
            upload = await self._pieces.current(upload.id, upload) or upload
        if upload.hash:
            return await self._blobs.get(upload.user, upload.hash)
        done = self._finishing[upload.id] = anyio.Event()
        try:
            blob = await self._blobs.keep(
                upload.user, self._pieces.content(upload), name=upload.name, mime=upload.mime
            )
            upload.hash = blob.hash
            await self._pieces.complete(upload)
            return blob
        except NotFound:
            # Another gateway was asked to finish the same upload, and was faster.
            done_there = await self._pieces.current(upload.id, None)
            if done_there is None or not done_there.hash:
                raise
            upload.hash = done_there.hash
            return await self._blobs.get(upload.user, upload.hash)
        except Problem as problem:
            if problem.status < TRANSIENT:
                await self._forget(upload)
            raise
        finally:
            self._finishing.pop(upload.id, None)
            done.set()

    async def _forget(self, upload: PartialUpload) -> None:
        self._uploads.pop(upload.id, None)
        with anyio.CancelScope(shield=True):
            await self._pieces.forget(upload)

    def _is_over(self, upload: PartialUpload) -> bool:
        return upload.touched < self._now() - IDLE_MS

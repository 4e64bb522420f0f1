"""Where responses, conversations and their items are kept: the rows, and the media of items as files of their user.

A picture is stored once however often it is in a chain, counts for the user's files, and goes when no item has it any more. Used by
everything in this package.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from duologue.errors import BadRequest, NotFound, TooLarge, Unavailable
from duologue.gateway.middleware import byte_ledger
from duologue.request_parsing import parsing
from duologue.store.responses.response_record import ItemBounds, ItemSide, StoredItem
from duologue.wire import media_parts
from duologue.wire.responses.item_bodies import AnyItem, ReferenceItem, stored_items
from duologue.wire.responses.item_records import (
    inline_media,
    listed,
    stored_files,
    with_files,
    with_media,
)

if TYPE_CHECKING:
    from duologue.conversations.files.blobs import Blobs
    from duologue.store.responses.conversation_rows import ApiConversationRows
    from duologue.store.responses.response_rows import ResponseRows
    from duologue.store.stores import Store

MEGABYTE = 2**20


class ItemStorage:
    """Empty until `use`: the database opens after the routes exist. `most_mb`: of the media of one chain, and of its items; `most_items`:
    of one chain."""

    def __init__(self, most_mb: int, most_items: int) -> None:
        self._most = most_mb * MEGABYTE
        self.bounds = ItemBounds(most_items, self._most)
        """What is read at a time: as much as a request could have sent."""
        self._store: Store | None = None
        self._blobs: Blobs | None = None

    def use(self, store: Store, blobs: Blobs) -> None:
        self._store, self._blobs = store, blobs

    @property
    def responses(self) -> ResponseRows:
        """Raises Unavailable while the server starts."""
        return self._opened().responses

    @property
    def conversations(self) -> ApiConversationRows:
        """Raises Unavailable while the server starts."""
        return self._opened().api_conversations

    async def keep(
        self, user: str, items: Sequence[dict[str, Any]], side: ItemSide = "input"
    ) -> tuple[StoredItem, ...]:
        """Items as they are stored, their media kept as files. Raises BadRequest, and TooLarge where the user's room is used up."""
        kept = []
        for item in items:
            files = []
            for medium in inline_media(item):
                data = await parsing(
                    len(medium.data), media_parts.from_base64, medium.data, medium.field, user=user
                )
                blob = await self._files().keep(user, data)
                files.append((medium, blob.hash))
            hashes = tuple(hash for _, hash in files)
            kept.append(StoredItem(item["id"], with_files(item, files), side, hashes))
        return tuple(kept)

    async def with_media(self, user: str, items: Sequence[StoredItem]) -> list[dict[str, Any]]:
        """Stored items with their media, as a client sent them. These count for what their user has in flight. Raises TooLarge where they
        have more bytes than a request may, NotFound for a file that is gone, Busy."""
        left = self._most
        full = []
        for stored in items:
            media: dict[tuple[int, str], str] = {}
            for part, field, hash, prefix in stored_files(stored.item):
                blob = await self._files().get(user, hash)
                left -= blob.size
                if left < 0:
                    raise TooLarge(
                        f"The pictures and files of the earlier turns have more than {self._most // MEGABYTE} MB together "
                        "(setting limits.body_mb). Begin anew with those that matter."
                    )
                byte_ledger.count(base64_size(blob.size))
                data = await self._files().read(hash)
                text = await parsing(len(data), media_parts.to_base64, data, user=user)
                media[part, field] = prefix + text
            full.append(with_media(stored.item, media))
        return full

    async def shown(
        self, user: str, items: Sequence[StoredItem], *, with_images: bool = False
    ) -> list[dict[str, Any]]:
        """Stored items as lists show them."""
        if not with_images:
            return [listed(stored.item) for stored in items]
        try:
            return await self.with_media(user, items)
        except NotFound:
            return [listed(stored.item) for stored in items]

    async def resolved(self, user: str, items: Sequence[AnyItem], name: str) -> list[AnyItem]:
        """Items of a request, each reference replaced by what it refers to. Raises BadRequest for those to nothing."""
        ids = [item.id for item in items if isinstance(item, ReferenceItem)]
        if not ids:
            return list(items)
        found = await self.responses.items_by_id(user, ids, self.bounds)
        full = await self.with_media(user, [StoredItem(id, item) for id, item in found.items()])
        known = dict(zip(found, stored_items(full), strict=True))
        resolved: list[AnyItem] = []
        for index, item in enumerate(items):
            if isinstance(item, ReferenceItem):
                if item.id not in known:
                    raise BadRequest(
                        f"{name}[{index}] refers to the item {item.id!r}, which is not stored here.",
                        code="item_not_found",
                        param=f"{name}[{index}].id",
                    )
                item = known[item.id]
            resolved.append(item)
        return resolved

    def _opened(self) -> Store:
        if self._store is None:
            raise Unavailable("The server is starting. Try again in a moment.")
        return self._store

    def _files(self) -> Blobs:
        if self._blobs is None:
            raise Unavailable("The server is starting. Try again in a moment.")
        return self._blobs


def base64_size(size: int) -> int:
    """The characters of so many bytes in base64."""
    return 4 * ((size + 2) // 3)


def output_items(output: Sequence[dict[str, Any]]) -> tuple[StoredItem, ...]:
    """The items that a model wrote: text alone."""
    return tuple(StoredItem(item["id"], item, "output") for item in output)

"""All stores, over two databases with the same tables: a durable one, and one in memory for temporary chats.

Opened by `conversations/service.py`. Owns which conversation is in which database. Nothing of a temporary conversation is ever
written to disk.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from sqlalchemy.ext.asyncio import AsyncConnection

from duologue.errors import BadRequest, NotFound
from duologue.store.approvals import Approvals
from duologue.store.batches.batch_rows import BatchRows
from duologue.store.batches.file_rows import FileRows
from duologue.store.blobs import BlobRows
from duologue.store.cluster.claim_rows import ClaimRows
from duologue.store.conversations import Conversations
from duologue.store.database import Database
from duologue.store.drafts import Drafts
from duologue.store.faces.avatar_rows import AvatarRows
from duologue.store.folders import Folders
from duologue.store.mcp import McpServers
from duologue.store.messages import Messages
from duologue.store.pending import Pending
from duologue.store.remembered_loads import RememberedLoads
from duologue.store.responses.conversation_rows import ApiConversationRows
from duologue.store.responses.response_rows import ResponseRows
from duologue.store.runs import Runs
from duologue.store.search.ranking import Search
from duologue.store.settings import ServerSettings, UserSettings
from duologue.store.sound.custom_voices import CustomVoices
from duologue.store.sound.recordings import RecordingRows
from duologue.store.upstreams import Upstreams
from duologue.store.usage.usage_rows import UsageRows
from duologue.values.conversations import Conversation
from duologue.values.runs import Run

TEMPORARY_CLAIM = "conversation:"
MOST_TEMPORARY = 1000
"""Temporary conversations in memory at a time."""


class Store:
    """The stores of one database. Writes that belong together share a transaction: `async with store.writing() as connection`,
    then `within=connection` in each of them."""

    def __init__(self, database: Database, now: Callable[[], int]) -> None:
        self.database = database
        self.conversations = Conversations(database, now)
        self.messages = Messages(database, now)
        self.runs = Runs(database, now)
        self.approvals = Approvals(database, now)
        self.pending = Pending(database, now)
        self.folders = Folders(database, now)
        self.drafts = Drafts(database, now)
        self.settings = UserSettings(database, now)
        self.server_settings = ServerSettings(database, now)
        self.search = Search(database)
        self.blobs = BlobRows(database, now)
        self.mcp = McpServers(database, now)
        self.remembered_loads = RememberedLoads(database, now)
        self.upstreams = Upstreams(database, now)
        self.custom_voices = CustomVoices(database, now)
        self.avatars = AvatarRows(database, now)
        self.recordings = RecordingRows(database, now)
        self.files = FileRows(database, now)
        self.batches = BatchRows(database, now)
        self.responses = ResponseRows(database, now)
        self.api_conversations = ApiConversationRows(database, now)
        self.usage = UsageRows(database)

    def writing(self) -> AbstractAsyncContextManager[AsyncConnection]:
        return self.database.writing()

    def reading(self) -> AbstractAsyncContextManager[AsyncConnection]:
        return self.database.reading()


class Stores:
    """`now` gives milliseconds since 1970 (UTC). Data of users, not of a conversation (folders, settings, servers,
    permissions), is in `durable`."""

    def __init__(self, durable: Database, temporary: Database, now: Callable[[], int]) -> None:
        self.durable = Store(durable, now)
        self.temporary = Store(temporary, now)
        self._now = now
        self._temporary: dict[str, int] = {}
        self.claims: ClaimRows | None = None
        """Where several gateways share the durable database: the names of temporary conversations are claimed there, as each is in the memory of one."""

    @staticmethod
    @asynccontextmanager
    async def opened(url: str | None, data: Path, *, now: Callable[[], int]) -> AsyncIterator[Stores]:
        """Both databases; see `Database.opened`."""
        async with Database.opened(url, data, now=now) as durable, Database.memory() as temporary:
            yield Stores(durable, temporary, now)

    def of(self, conversation: str) -> Store:
        """The store of a conversation, also of one that does not exist yet."""
        return self.temporary if conversation in self._temporary else self.durable

    def is_temporary(self, conversation: str) -> bool:
        return conversation in self._temporary

    async def create(self, user: str, conversation: Conversation) -> Conversation:
        """`Conversations.create` in the right database. Raises BadRequest `too_many_temporary`, `id_taken`."""
        if not conversation.temporary:
            return await self.of(conversation.id).conversations.create(user, conversation)
        if conversation.id not in self._temporary:
            if await self.durable.conversations.owner(conversation.id) is not None:
                raise _id_taken()
            if len(self._temporary) >= MOST_TEMPORARY:
                raise BadRequest(
                    f"There are {MOST_TEMPORARY} temporary chats already. Delete one, or start a chat that is stored.",
                    code="too_many_temporary",
                )
            if self.claims is not None and not await self.claims.take(TEMPORARY_CLAIM + conversation.id):
                raise _id_taken()
        created = await self.temporary.conversations.create(user, conversation)
        self._temporary[conversation.id] = self._now()
        return created

    async def find_run(self, user: str, run: str) -> tuple[Store, Run]:
        """A run and its store. Raises NotFound, also for another user's run."""
        if self._temporary:
            try:
                return self.temporary, await self.temporary.runs.get(user, run)
            except NotFound:
                pass
        return self.durable, await self.durable.runs.get(user, run)

    async def forget_temporary(self, older_than_ms: int) -> list[str]:
        """Delete the temporary conversations that have not changed for that long, and those that were deleted. Returns their
        ids."""
        before = self._now() - older_than_ms
        expired = []
        for id in list(self._temporary):
            owner = await self.temporary.conversations.owner(id)
            conversation = owner and await self.temporary.conversations.get(owner, id, deleted=True)
            if (
                not conversation
                or conversation.deleted
                or (conversation.updated <= before and conversation.running is None)
            ):
                expired.append(id)
        await self.temporary.conversations.forget(expired)
        for id in expired:
            del self._temporary[id]
        if self.claims is not None and expired:
            await self.claims.release([TEMPORARY_CLAIM + id for id in expired])
        return expired


def _id_taken() -> BadRequest:
    return BadRequest(
        "A conversation with this id exists already. Choose another id.", code="id_taken", param="id"
    )

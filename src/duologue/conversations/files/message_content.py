"""What a client sent as a message's content, made into what is kept.

Owns the limits of one message, and that nobody's content names another user's file. What a file becomes is decided by
`attachments`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from duologue.conversations.agent.dependencies import ConversationFiles
from duologue.conversations.runs.commands import CommandContent, FileContent
from duologue.values.conversations import Blob, Content, ResourceContent
from duologue.values.requests import ModelCard
from duologue.wire import api


class AttachmentLimits(Protocol):
    """The settings `limits.NAME`."""

    @property
    def text_mb(self) -> int: ...

    @property
    def attachments(self) -> int: ...


class FileReader(Protocol):
    """`blobs.Blobs`: raises NotFound for a file that is not this user's."""

    async def get(self, user: str, hash: str) -> Blob: ...


class Contents:
    """`attachments` are those of a conversation."""

    def __init__(
        self, attachments: Callable[[str], ConversationFiles], files: FileReader, limits: AttachmentLimits
    ) -> None:
        self._attachments = attachments
        self._files = files
        self._limits = limits

    async def given(self, user: str, parts: Sequence[api.Part]) -> tuple[CommandContent, ...]:
        """The parts as a verb takes them. Raises TooLarge, NotFound for a file that is not this user's."""
        api.check_contents(parts, text_mb=self._limits.text_mb, attachments=self._limits.attachments)
        given = tuple(_given(part) for part in parts)
        for part in given:
            if isinstance(part, FileContent | ResourceContent) and part.blob:
                await self._files.get(user, part.blob)
        return given

    async def kept(
        self, user: str, conversation: str, parts: Sequence[api.Part], card: ModelCard | None = None
    ) -> tuple[Content, ...]:
        """The parts as a row keeps them. Raises as `given`, and Unsupported for a file nothing can be made of."""
        attachments = self._attachments(conversation)
        return tuple(
            [
                await attachments.content(
                    user, part.blob, name=part.name, mime=part.mime, given=part.given, card=card
                )
                if isinstance(part, FileContent)
                else part
                for part in await self.given(user, parts)
            ]
        )


def _given(part: api.Part) -> CommandContent:
    if isinstance(part, api.FileContentBody):
        return FileContent(part.blob, part.name, part.mime, part.given)
    return api.plain_content(part)

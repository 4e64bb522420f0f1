"""The content of a message, from the body of a request to what is stored.

Used by the API. Owns the limits of one message, and the check that no content names another user's file. `attachments.py`
decides what a file becomes.
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


class MessageContents:
    """`attachments` gives those of a conversation."""

    def __init__(
        self, attachments: Callable[[str], ConversationFiles], files: FileReader, limits: AttachmentLimits
    ) -> None:
        self._attachments = attachments
        self._files = files
        self._limits = limits

    async def command_content(self, user: str, parts: Sequence[api.Part]) -> tuple[CommandContent, ...]:
        """The parts as a command takes them. Raises TooLarge, NotFound for a file that is not this user's."""
        api.check_contents(parts, text_mb=self._limits.text_mb, attachments=self._limits.attachments)
        contents = tuple(_command_content(part) for part in parts)
        for part in contents:
            if isinstance(part, FileContent | ResourceContent) and part.blob:
                await self._files.get(user, part.blob)
        return contents

    async def stored_content(
        self, user: str, conversation: str, parts: Sequence[api.Part], card: ModelCard | None = None
    ) -> tuple[Content, ...]:
        """The parts as a row stores them. Raises as `command_content`, and Unsupported for a file that no model can take."""
        attachments = self._attachments(conversation)
        return tuple(
            [
                await attachments.content(
                    user, part.blob, name=part.name, mime=part.mime, given=part.given, card=card
                )
                if isinstance(part, FileContent)
                else part
                for part in await self.command_content(user, parts)
            ]
        )


def _command_content(part: api.Part) -> CommandContent:
    if isinstance(part, api.FileContentBody):
        return FileContent(part.blob, part.name, part.mime, part.given)
    return api.plain_content(part)

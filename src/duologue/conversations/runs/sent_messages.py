"""What users send: as it is stored, with files converted for the model, and how much of it may wait.

Used by `service.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from duologue.conversations.agent.dependencies import RunDependencies
from duologue.conversations.runs.commands import CommandContent, FileContent
from duologue.errors import BadRequest, Busy
from duologue.values.conversations import Content, PendingMessage
from duologue.values.requests import ModelCard

if TYPE_CHECKING:
    from duologue.store.stores import Store


async def stored_content(
    dependencies: RunDependencies,
    user: str,
    conversation: str,
    parts: Sequence[CommandContent],
    card: ModelCard,
) -> tuple[Content, ...]:
    """The sent content as it is stored."""
    attachments = dependencies.attachments(conversation)
    content: list[Content] = []
    for part in parts:
        if isinstance(part, FileContent):
            content.append(
                await attachments.content(
                    user, part.blob, name=part.name, mime=part.mime, given=part.given, card=card
                )
            )
        else:
            content.append(part)
    return tuple(content)


def check_content(
    dependencies: RunDependencies, conversation: str, content: tuple[Content, ...], card: ModelCard
) -> None:
    """Raises BadRequest for an empty message, and what the model cannot take as the files' rules say."""
    if not any(getattr(part, "text", "x").strip() or getattr(part, "blob", "") for part in content):
        raise BadRequest("The message is empty. Write something, or add a file.", param="message")
    dependencies.attachments(conversation).check(content, card)


async def check_room(store: Store, message: PendingMessage, most: int) -> None:
    """Raises Busy(code="too_many_pending") when a new message would be one too many."""
    pending = await store.pending.of(message.conversation)
    if len(pending) >= most and all(other.id != message.id for other in pending):
        raise Busy(
            f"{len(pending)} messages are pending in this conversation already, as many as `runs.pending` allows.",
            code="too_many_pending",
            status=409,
        )


async def first_queued(store: Store, conversation: str) -> PendingMessage | None:
    """The message to send when no reply is running. Those on hold wait for the user."""
    pending = await store.pending.of(conversation)
    return next((message for message in pending if message.how == "queue"), None)

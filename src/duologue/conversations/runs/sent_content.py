"""What a command sends, as it is stored: files are converted for the model, and an empty message is refused.

Used by `service.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from duologue.conversations.agent.dependencies import RunDependencies
from duologue.conversations.runs.commands import CommandContent, FileContent
from duologue.errors import BadRequest
from duologue.values.conversations import Content
from duologue.values.requests import ModelCard


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

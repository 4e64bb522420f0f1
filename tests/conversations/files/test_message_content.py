"""What a client sent as content: within its limits, and only its own files."""

from typing import Any

import pytest

from duologue.config.settings import LimitSettings
from duologue.conversations.files.message_content import MessageContents
from duologue.conversations.runs.commands import FileContent
from duologue.errors import NotFound, TooLarge
from duologue.values.conversations import Blob, Content, ImageContent, ResourceContent, TextContent
from duologue.wire import api

pytestmark = pytest.mark.anyio

OWN, OTHER = "a" * 64, "b" * 64


class Files:
    async def get(self, user: str, hash: str) -> Blob:
        if hash != OWN:
            raise NotFound("There is no such file.")
        return Blob(hash, "image/png", 1)


class Attachments:
    def __init__(self, conversation: str) -> None:
        self.conversation = conversation

    async def content(self, user: str, hash: str, **told: Any) -> Content:
        return ImageContent(hash, "image/png", f"{self.conversation}/{told['name']}")


def parts(*given: dict[str, Any]) -> list[api.Part]:
    return list(api.read(api.ContentChangeBody, {"content": list(given)}).content)


@pytest.fixture
def contents() -> MessageContents:
    return MessageContents(Attachments, Files(), LimitSettings(attachments=2))  # type: ignore[arg-type]


TEXT = {"type": "text", "text": "look"}


async def test_parts_become_what_a_verb_takes(contents: MessageContents) -> None:
    file = {"type": "file", "blob": OWN, "name": "cat.png", "given": "pages"}
    resource = {"type": "resource", "server": "s", "uri": "u", "text": "words"}
    assert await contents.command_content("ann", parts(TEXT, file, resource)) == (
        TextContent("look"),
        FileContent(OWN, "cat.png", "", "pages"),
        ResourceContent("s", "u", text="words"),
    )


async def test_files_become_what_is_kept_with_the_conversations_own_attachments(
    contents: MessageContents,
) -> None:
    kept = await contents.stored_content(
        "ann", "c", parts(TEXT, {"type": "file", "blob": OWN, "name": "cat.png"})
    )
    assert kept == (TextContent("look"), ImageContent(OWN, "image/png", "c/cat.png"))


@pytest.mark.parametrize(
    "part",
    [{"type": "file", "blob": OTHER}, {"type": "resource", "server": "s", "uri": "u", "blob": OTHER}],
)
async def test_another_users_file_does_not_exist(contents: MessageContents, part: dict[str, Any]) -> None:
    with pytest.raises(NotFound):
        await contents.command_content("ann", parts(part))
    with pytest.raises(NotFound):
        await contents.stored_content("ann", "c", parts(part))


async def test_more_files_than_a_message_may_carry_are_refused(contents: MessageContents) -> None:
    with pytest.raises(TooLarge, match=r"limits\.attachments"):
        await contents.command_content("ann", parts(*[{"type": "file", "blob": OWN}] * 3))

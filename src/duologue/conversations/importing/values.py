"""What an import finds: conversations, their rows, and the files in them.

Owns these values and the ids they get. Pure. Knows no format and no store.
"""

from __future__ import annotations

from hashlib import sha256
from uuid import NAMESPACE_URL, uuid5

from msgspec import Struct, field

from duologue.values.conversations import (
    AudioContent,
    Content,
    Conversation,
    DocumentContent,
    Folder,
    ImageContent,
    StoredMessage,
    TextContent,
    VideoContent,
)

_SPACE = uuid5(NAMESPACE_URL, "duologue:import")


class File(Struct, frozen=True):
    """A file that came with a conversation. `data` are its bytes; `given` says how a PDF was given to the model."""

    name: str
    mime: str
    data: bytes
    given: str = ""


class Imported(Struct, frozen=True):
    """A conversation as it was found, its rows parents first, and its files by their SHA-256 (hex), which is how the
    rows' content names them.

    `settled`: the content is as Duologue made it and is kept as it is; of other programs' files only the blob is
    right, and what a model is to be given of them is yet to be made.
    """

    conversation: Conversation
    messages: tuple[StoredMessage, ...]
    files: dict[str, File] = field(default_factory=dict)
    folder: Folder | None = None
    settled: bool = False
    troubles: tuple[str, ...] = ()


class ImportProblem(Struct, frozen=True):
    """An entry that could not be read, in a sentence."""

    words: str


Found = Imported | ImportProblem


def derived(user: str, *parts: str) -> str:
    """The id of something this user imports from elsewhere: the same at every import."""
    return str(uuid5(_SPACE, "\n".join((user, *parts))))


class ImportedFiles:
    """The files of one conversation, as they are met."""

    def __init__(self) -> None:
        self.found: dict[str, File] = {}

    def add(self, data: bytes, name: str, mime: str, given: str = "") -> Content:
        """Take a file in; the content that stands for it in a row."""
        hash = sha256(data).hexdigest()
        self.found.setdefault(hash, File(name, mime, data, given))
        match mime.partition("/")[0]:
            case "image":
                return ImageContent(hash, mime, name)
            case "audio":
                return AudioContent(hash, mime, name)
            case "video":
                return VideoContent(hash, mime, name)
        return DocumentContent(hash, mime, name, given="pages" if given == "pages" else "text")


def absent(what: str) -> TextContent:
    """What stands where a file was that did not come along."""
    return TextContent(f"[{what}: this file was not in the import]")


def titled(title: str) -> str:
    """How a conversation is named in a sentence."""
    return f"“{title[:60]}”" if title else "A conversation without a title"

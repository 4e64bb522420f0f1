"""The result of reading an imported file: conversations, their rows, and the files in them.

Pure; shared by the readers of all formats and `conversations/importer.py`. Owns these values and how their ids are derived.
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
    """A file of a conversation. `data`: its bytes; `given`: whether a PDF was given to the model as "text" or "pages"."""

    name: str
    mime: str
    data: bytes
    given: str = ""


class ImportedConversation(Struct, frozen=True):
    """A conversation, its rows with parents first, and its files by their SHA-256 (hex), as the rows' content names them.

    `is_native`: written by Duologue, so the content is stored unchanged. In the content of other programs only the hash is
    right; what the model gets of the file has yet to be derived. `problems`: sentences about what was left out. `above`: the folders
    that the folder is in, the outermost first.
    """

    conversation: Conversation
    messages: tuple[StoredMessage, ...]
    files: dict[str, File] = field(default_factory=dict)
    folder: Folder | None = None
    is_native: bool = False
    problems: tuple[str, ...] = ()
    above: tuple[Folder, ...] = ()

    @property
    def folders(self) -> tuple[Folder, ...]:
        """The folder, after those that it is in."""
        return (*self.above, self.folder) if self.folder is not None else ()


class ImportProblem(Struct, frozen=True):
    """An entry that could not be read. `message` says which and why."""

    message: str


ImportEntry = ImportedConversation | ImportProblem


def derived_id(user: str, *parts: str) -> str:
    """An id for something imported by this user. The same input gives the same id, so a repeated import adds nothing."""
    return str(uuid5(_SPACE, "\n".join((user, *parts))))


class ImportedFiles:
    """Collects the files of one conversation while it is read."""

    def __init__(self) -> None:
        self.files: dict[str, File] = {}

    def add(self, data: bytes, name: str, mime: str, given: str = "") -> Content:
        """Add a file. Returns the content that refers to it in a row."""
        hash = sha256(data).hexdigest()
        self.files.setdefault(hash, File(name, mime, data, given))
        match mime.partition("/")[0]:
            case "image":
                return ImageContent(hash, mime, name)
            case "audio":
                return AudioContent(hash, mime, name)
            case "video":
                return VideoContent(hash, mime, name)
        return DocumentContent(hash, mime, name, given="pages" if given == "pages" else "text")


def missing_file(name: str) -> TextContent:
    """The content in place of a file that is not in the import."""
    return TextContent(f"[{name}: this file was not in the import]")


def quoted_title(title: str) -> str:
    """The title of a conversation for use in a sentence."""
    return f"“{title[:60]}”" if title else "A conversation without a title"

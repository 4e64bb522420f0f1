"""Conversations as files: JSON lines that can be imported again without loss, zips of them, and Markdown for people.

Used by `api/import_export.py`. `importing/duologue_format.py` owns the shape of the lines.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime

import msgspec

from duologue.conversations.importing import FILES
from duologue.conversations.importing.duologue_format import (
    VERSION,
    FileLine,
    Header,
    Line,
    MessageLine,
    files_of,
)
from duologue.threads import encoding
from duologue.values.conversations import (
    AudioContent,
    Content,
    Conversation,
    DocumentContent,
    Folder,
    ImageContent,
    ResourceContent,
    StoredMessage,
    TextContent,
    VideoContent,
)

Read = Callable[[str], Awaitable[bytes | None]]
"""The bytes of a file by its hash; None when it no longer exists."""

_encoder = msgspec.json.Encoder()
_FENCE = re.compile(r"^ {0,3}(`{3,})", re.MULTILINE)
_UNSAFE = re.compile(r"[^\w.-]+")


class Exported(msgspec.Struct, frozen=True):
    """A conversation with its whole tree, by sequence."""

    conversation: Conversation
    messages: tuple[StoredMessage, ...]
    folder: Folder | None = None
    above: tuple[Folder, ...] = ()
    """The folders that the folder is in, the outermost first."""


def file_name(conversation: Conversation, ending: str) -> str:
    """A file name that every file system accepts: words of the title and the first characters of the id."""
    words = _UNSAFE.sub("-", conversation.title)[:60].strip("-._")
    return f"{words or 'conversation'}-{_UNSAFE.sub('-', conversation.id)[:8]}.{ending}"


async def json_lines(exported: Exported, read: Read) -> AsyncIterator[bytes]:
    """One conversation with its files: a header, a line for each row, a line for each file."""
    for line in _lines(exported):
        yield line
    for hash, (name, mime) in _files(exported.messages).items():
        if (data := await read(hash)) is not None:
            yield await encoding(_line, FileLine(hash, name, mime, data))


async def archive(exports: AsyncIterator[Exported], read: Read) -> AsyncIterator[bytes]:
    """A zip of any number of conversations, produced while it is sent. Each file is in it once."""
    sink = _Sink()
    written: set[str] = set()
    names: set[str] = set()
    with zipfile.ZipFile(sink, "w") as target:
        async for exported in exports:
            files = _files(exported.messages)
            for hash in files:
                if hash not in written and (data := await read(hash)) is not None:
                    written.add(hash)
                    # Pictures, sound and video are compressed already.
                    await encoding(_add, target, f"{FILES}{hash}", data, zipfile.ZIP_STORED)
                    yield sink.take()
            references = (_line(FileLine(hash, name, mime)) for hash, (name, mime) in files.items())
            name = _free(names, file_name(exported.conversation, "jsonl"))
            data = b"".join((*_lines(exported), *references))
            await encoding(_add, target, f"conversations/{name}", data, zipfile.ZIP_DEFLATED)
            yield sink.take()
    yield sink.take()


def _lines(exported: Exported) -> Iterator[bytes]:
    yield _line(Header(VERSION, exported.conversation, exported.folder, exported.above))
    for row in exported.messages:
        yield _line(MessageLine(row))


def _line(line: Line) -> bytes:
    return _encoder.encode(line) + b"\n"


def _files(messages: Iterable[StoredMessage]) -> dict[str, tuple[str, str]]:
    """The files of the rows by hash, each with its name and media type if known."""
    files: dict[str, tuple[str, str]] = {}
    for row in messages:
        for part in row.content:
            for hash in files_of(part):
                own = hash == getattr(part, "blob", "")
                name, mime = (getattr(part, "name", ""), getattr(part, "mime", "")) if own else ("", "")
                if hash not in files or own:
                    files[hash] = (name, mime)
    return files


def _free(names: set[str], name: str) -> str:
    stem, _, ending = name.rpartition(".")
    free = next(
        one for number in range(1, len(names) + 2) if (one := f"{stem}{_nth(number)}.{ending}") not in names
    )
    names.add(free)
    return free


def _nth(number: int) -> str:
    return "" if number == 1 else f"-{number}"


def _add(target: zipfile.ZipFile, name: str, data: bytes, compression: int) -> None:
    # The date is fixed, so that the same conversations give the same archive.
    info = zipfile.ZipInfo(name)
    info.external_attr = 0o600 << 16
    target.writestr(info, data, compression)


class _Sink:
    """A write-only target for a zip that is streamed: buffers the bytes until they are taken."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def write(self, data: bytes) -> int:
        self._pieces.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Writes are not buffered elsewhere."""

    def close(self) -> None:
        """There is nothing to close."""

    def take(self) -> bytes:
        pieces, self._pieces = self._pieces, []
        return b"".join(pieces)


# ---- Markdown


def markdown(conversation: Conversation, path: Sequence[StoredMessage]) -> str:
    """The rows of one branch, root first, as Markdown. Times are in UTC."""
    blocks = [f"# {_one_line(conversation.title) or 'Conversation'}"]
    if conversation.created:
        blocks.append(f"*{_moment(conversation.created)}*")
    results = {row.tool_call_id: row for row in path if row.role == "tool"}
    calls = {call.id for row in path for call in row.tool_calls}
    for row in path:
        if row.role == "tool" and row.tool_call_id in calls:
            continue
        blocks += _row(row, results)
    return "\n\n".join(blocks) + "\n"


_NAMES = {"user": "You", "assistant": "Assistant", "system": "System", "tool": "Tool"}


def _row(row: StoredMessage, results: dict[str, StoredMessage]) -> Iterator[str]:
    speaker = "Summary" if row.kind == "summary" else _NAMES[row.role]
    model = f" ({_one_line(row.model)})" if row.model and row.role == "assistant" else ""
    yield f"## {speaker}{model}"
    if row.reasoning.strip():
        yield f"<details>\n<summary>Reasoning</summary>\n\n{row.reasoning.strip()}\n\n</details>"
    yield from _content(row.content)
    for call in row.tool_calls:
        yield f"**Tool: {_code(call.name)}**"
        if call.arguments.strip() not in ("", "{}"):
            yield _fenced(call.arguments, "json")
        result = results.get(call.id)
        if result is not None:
            yield from _result(result)
    if row.error is not None:
        yield f"> This reply failed: {_one_line(row.error.message)}"
    elif row.status == "stopped":
        yield "> This reply was stopped."
    elif row.status == "interrupted":
        yield "> This reply was interrupted."


def _result(row: StoredMessage) -> Iterator[str]:
    record = row.call
    if record is not None and record.state not in ("done", "waiting"):
        yield f"*{record.state}*"
    if row.text.strip():
        yield _fenced(row.text, "")
    yield from _content(tuple(part for part in row.content if not isinstance(part, TextContent)))


def _content(content: tuple[Content, ...]) -> Iterator[str]:
    for part in content:
        match part:
            case TextContent(text):
                if text.strip():
                    yield text.strip("\n")
            case ImageContent():
                yield _file("Picture", part.name, part.mime)
            case AudioContent():
                yield _file("Recording", part.name, part.mime)
            case VideoContent():
                yield _file("Video", part.name, part.mime)
            case DocumentContent():
                yield _file("Document", part.name, part.mime)
            case ResourceContent():
                yield _file("Resource", part.name or part.uri, part.server)


def _file(label: str, name: str, detail: str) -> str:
    return f"*{label}:* {_code(name or 'without a name')}" + (f" ({_one_line(detail)})" if detail else "")


def _fenced(text: str, language: str) -> str:
    longest = max((len(fence) for fence in _FENCE.findall(text)), default=2)
    fence = "`" * max(3, longest + 1)
    end = "" if text.endswith("\n") else "\n"
    return f"{fence}{language}\n{text}{end}{fence}"


def _code(text: str) -> str:
    text = _one_line(text)
    return f"`{text}`" if "`" not in text else f"`` {text} ``"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _moment(milliseconds: int) -> str:
    return f"{datetime.fromtimestamp(milliseconds / 1000, UTC):%Y-%m-%d %H:%M} UTC"

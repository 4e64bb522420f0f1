"""Attached files: the content that a stored file becomes in a message, and the parts that a model gets of it.

Used by runs, calls, compaction and the importer. Owns the choice between a document's text and its pages, the notes in place
of what a model cannot take, and the refusal of a new message with such content. `history` chooses the rows a model sees;
`media` reads the files.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Literal, NoReturn

from duologue.config.settings import LimitSettings
from duologue.conversations.files.blobs import Blobs
from duologue.conversations.history.prompt_messages import PromptMessage, history
from duologue.decoder.service import decode, decode_stream
from duologue.errors import BadRequest, NotFound, Problem, TooLarge, Unsupported
from duologue.media import documents, images, recordings, sniff, texts, videos, wav
from duologue.values.conversations import (
    AudioContent,
    Blob,
    Content,
    DocumentContent,
    ImageContent,
    ResourceContent,
    StoredMessage,
    TextContent,
    VideoContent,
)
from duologue.values.fitting import UNFIT, treatment
from duologue.values.messages import (
    AudioPart,
    ImagePart,
    Message,
    Part,
    TextPart,
    ToolCall,
    VideoPart,
)
from duologue.values.requests import ModelCard

MEGABYTE = 2**20
ATTACHABLE = "Pictures, PDF documents, text files of every kind, sound and video can be attached."

_TICKS = re.compile(r"`{3,}")
_NOUNS = {"image": "a picture", "audio": "sound", "video": "a video"}


class Attachments:
    """`temporary`: for temporary chats, whose files stay in memory. `hears`: whether sound is written down for models that take none."""

    def __init__(
        self,
        blobs: Blobs,
        limits: LimitSettings,
        *,
        temporary: bool = False,
        hears: Callable[[], bool] = lambda: False,
    ) -> None:
        self._hears = hears
        self._blobs = blobs
        self._limits = limits
        self._temporary = temporary

    async def content(
        self,
        user: str,
        hash: str,
        *,
        name: str = "",
        mime: str = "",
        given: Literal["text", "pages"] | None = None,
        card: ModelCard | None = None,
    ) -> Content:
        """The message content for a stored file of this user. `given` None lets the server choose: text, if there is
        any. `mime` is ignored, because the type detected from the bytes is more reliable.

        Raises NotFound; and BadRequest, TooLarge and Unsupported with the file's name in the sentence.
        """
        blob = await self._blobs.available(user, hash, temporary=self._temporary)
        name = name or blob.name
        try:
            match sniff.family(blob.mime):
                case "image":
                    return await self._image(user, blob, name)
                case "pdf":
                    return await self._pdf(user, blob, name, given, card)
                case "text":
                    return await self._text(user, blob, name)
                case "audio":
                    return await self._audio(user, blob, name)
                case "video":
                    return await self._video(user, blob, name)
                case _:
                    raise reject_family()
        except Problem as problem:
            _raise_for_file(name, problem)

    async def keep(
        self, user: str, data: bytes, name: str, mime: str, card: ModelCard | None = None
    ) -> Content:
        """Store a file from a tool. If no model can take it, it is a resource that the user can open. Raises TooLarge,
        Unavailable."""
        blob = await self._blobs.keep(user, data, name=name, mime=mime, temporary=self._temporary)
        try:
            return await self.content(user, blob.hash, name=name, mime=mime, card=card)
        except (BadRequest, TooLarge):
            if sniff.family(blob.mime) == "audio":
                return AudioContent(blob.hash, blob.mime, name, blob.duration)
            return ResourceContent("", "", name, blob.mime, blob=blob.hash)

    def check(self, content: Sequence[Content], card: ModelCard | None) -> None:
        """Raises Unsupported when a new message has content that the model cannot take."""
        for part in content:
            modality = _modality(part)
            if card is None or modality is None or self._is_taken(modality, card):
                continue
            name = getattr(part, "name", "") or "The file"
            takes = " and ".join(card.modalities)
            if isinstance(part, DocumentContent):
                advice = "attach it as text" if part.text else "choose a model that takes pictures"
                sentence = f"{name} would be given as pictures of its pages, but the model {card.name} takes {takes}; {advice}."
            else:
                sentence = (
                    f"{name} is {_NOUNS[modality]}, but the model {card.name} takes {takes}; "
                    "choose another model or leave the file out."
                )
            raise Unsupported(sentence, code=UNFIT, param="content")

    async def messages(
        self, user: str, rows: Sequence[StoredMessage], card: ModelCard | None
    ) -> tuple[Message, ...]:
        """The messages for a model from the rows of a path, root first. A file that the model cannot take, or that is gone,
        becomes a short note in brackets: an old picture must not stop a chat. Raises Unavailable when files cannot be
        read."""
        return tuple([await self._message(user, entry, card) for entry in history(rows)])

    async def _image(self, user: str, blob: Blob, name: str) -> ImageContent:
        source = await self._blobs.source(blob.hash)
        picture = await decode(images.for_model, source, self._limits.image_megapixels, user=user)
        shown = ""
        if picture.data:
            shown = (await self._store(user, picture.data, name, picture.mime)).hash
        width, height = blob.width or picture.width, blob.height or picture.height
        return ImageContent(blob.hash, blob.mime, name, shown, width, height)

    async def _video(self, user: str, blob: Blob, name: str) -> VideoContent | AudioContent:
        """A video; browsers record sound alone in the same kinds of files."""
        measured = await decode(videos.measure_video, await self._blobs.source(blob.hash), user=user)
        if not measured.width and measured.has_sound:
            return await self._audio(user, blob, name)
        videos.check_measured(measured, self._limits.video_minutes)
        return VideoContent(blob.hash, blob.mime, name)

    async def _audio(self, user: str, blob: Blob, name: str) -> AudioContent:
        duration = await decode(recordings.measure_sound, await self._blobs.source(blob.hash), user=user)
        return AudioContent(blob.hash, blob.mime, name, duration)

    async def _text(self, user: str, blob: Blob, name: str) -> DocumentContent:
        # A character takes at most four bytes in any encoding, so a larger file is refused without reading it.
        if blob.size > 4 * self._limits.text_mb * MEGABYTE:
            raise reject_long(self._limits)
        read = await decode(texts.read_text, await self._blobs.source(blob.hash), user=user)
        if not read.text.strip():
            raise reject_empty()
        text_blob = await self._text_blob(user, blob, name, read)
        return DocumentContent(blob.hash, blob.mime, name, text_blob)

    async def _pdf(
        self, user: str, blob: Blob, name: str, given: Literal["text", "pages"] | None, card: ModelCard | None
    ) -> DocumentContent:
        source = await self._blobs.source(blob.hash)
        text = await decode(documents.text, source, self._limits.text_mb * MEGABYTE, user=user)
        if not text:
            given = "pages"
            if card is not None and "image" not in card.accepted:
                raise Unsupported(
                    f"The PDF has no text in it: it is a scan, and the model {card.name} cannot see its pages. "
                    "Choose a model that takes pictures.",
                    code="document_without_text",
                )
        # The text is stored with the pages too: a model without vision may continue the chat later.
        text_blob = ""
        if text:
            read = texts.ReadText(text, is_file=False)
            text_blob = await self._text_blob(user, blob, name, read, pages=given == "pages")
        pages = await self._pages(user, source, name) if given == "pages" else []
        return DocumentContent(blob.hash, blob.mime, name, text_blob, tuple(pages), given or "text")

    async def _pages(self, user: str, source: bytes | Path, name: str) -> list[str]:
        most, megapixels = self._limits.document_pages, self._limits.image_megapixels
        hashes: list[str] = []
        async with decode_stream(documents.pages, source, most, megapixels, user=user) as pages:
            async for page in pages:
                stored = await self._store(user, page.data, f"{name} {len(hashes) + 1}", page.mime)
                hashes.append(stored.hash)
        return hashes

    async def _text_blob(
        self, user: str, blob: Blob, name: str, read: texts.ReadText, *, pages: bool = False
    ) -> str:
        """The hash of a document's text: of the file itself when that is the text already."""
        encoded = read.text.encode("utf-8", "replace")
        if len(encoded) > self._limits.text_mb * MEGABYTE:
            if pages:
                return ""
            raise reject_long(self._limits)
        return blob.hash if read.is_file else (await self._store(user, encoded, name, sniff.PLAIN)).hash

    async def _store(self, user: str, data: bytes, name: str, mime: str) -> Blob:
        return await self._blobs.keep(user, data, name=name, mime=mime, temporary=self._temporary)

    async def _message(self, user: str, entry: PromptMessage, card: ModelCard | None) -> Message:
        parts: list[Part] = []
        after_file = False
        for content in entry.content:
            new_parts = [part async for part in self._parts(user, content, card)]
            is_file = not isinstance(content, TextContent)
            for part in new_parts:
                before = parts[-1] if parts else None
                if isinstance(part, TextPart) and isinstance(before, TextPart):
                    gap = "\n\n" if (is_file or after_file) and part.text.strip() else ""
                    parts[-1] = TextPart(f"{before.text}{gap}{part.text}")
                else:
                    parts.append(part)
                after_file = is_file
        tool_calls = tuple(
            ToolCall(tool_call.id, tool_call.name, tool_call.arguments) for tool_call in entry.tool_calls
        )
        return Message(
            entry.role, tuple(parts), entry.reasoning or None, tool_calls, entry.tool_call_id, entry.name
        )

    async def _parts(self, user: str, content: Content, card: ModelCard | None) -> AsyncIterator[Part]:
        """The parts of one piece of content."""
        if isinstance(content, TextContent):
            yield TextPart(content.text)
            return
        try:
            for part in await self._file_parts(user, content, card):
                yield part
        except NotFound:
            yield _note(content, "the file is gone")
        except (BadRequest, TooLarge):
            yield _note(content, "it cannot be read")

    async def _file_parts(self, user: str, content: Content, card: ModelCard | None) -> list[Part]:
        modality = _modality(content)
        is_taken = self._is_taken(modality, card)
        if isinstance(content, ResourceContent):
            return await self._resource(user, content, card)
        if isinstance(content, DocumentContent):
            if is_taken and content.pages:
                return await self._page_parts(user, content)
            if content.text:
                text = (await self._blobs.read(content.text)).decode("utf-8", "replace")
                return [TextPart(fenced(content.name, text))]
        if isinstance(content, TextContent | DocumentContent) or not is_taken:
            return [_note(content, "not shown: this model cannot take it")]
        if isinstance(content, AudioContent):
            sound = await decode(recordings.read_sound, await self._blobs.source(content.blob), user=user)
            return [AudioPart(sound.samples, wav.RATE)]
        if isinstance(content, ImageContent):
            return [_image_part(await self._blobs.read(content.shown or content.blob))]
        assert isinstance(content, VideoContent), content
        return [VideoPart(await self._blobs.read(content.blob), content.mime)]

    def _is_taken(self, modality: str | None, card: ModelCard | None) -> bool:
        """Whether the model gets something of such content: as it is, or as what the gateway makes of it."""
        if card is None or modality is None:
            return True
        return treatment(modality, card.accepted, hears=self._hears()) != "refuse"

    async def _page_parts(self, user: str, content: DocumentContent) -> list[Part]:
        pictures: list[Part] = []
        for page in content.pages:
            data = await self._blobs.read(page)
            pictures.append(_image_part(data))
        note = f"{len(content.pages)} pages as pictures"
        if len(content.pages) >= self._limits.document_pages:
            count = await decode(documents.page_count, await self._blobs.source(content.blob), user=user)
            if count > len(content.pages):
                note = f"the first {len(content.pages)} of {count} pages as pictures"
        return [TextPart(f"[{content.name or 'Document'}: {note}]"), *pictures]

    async def _resource(self, user: str, content: ResourceContent, card: ModelCard | None) -> list[Part]:
        title = " ".join(dict.fromkeys(part for part in (content.name, content.uri) if part))
        if content.text or not content.blob:
            return [TextPart(fenced(title, content.text))]
        # The client wrote this content itself, so check that the file belongs to this user.
        blob = await self._blobs.get(user, content.blob)
        family = sniff.family(blob.mime)
        if family == "text":
            read = await decode(texts.read_text, await self._blobs.source(blob.hash), user=user)
            return [TextPart(fenced(title or blob.name, read.text))]
        if family == "image" and (card is None or "image" in card.accepted):
            source = await self._blobs.source(blob.hash)
            picture = await decode(images.for_model, source, self._limits.image_megapixels, user=user)
            return [ImagePart(picture.data or await self._blobs.read(blob.hash), picture.mime)]
        return [_note(content, "not shown: this model cannot take it")]


def reject_family() -> BadRequest:
    return BadRequest(
        f"A file of this kind cannot be given to a model. {ATTACHABLE}", code="file_unsupported"
    )


def reject_empty() -> BadRequest:
    return BadRequest("The file is empty.", code="file_empty")


def reject_long(limits: LimitSettings) -> TooLarge:
    return TooLarge(
        f"It has more than {limits.text_mb} MB of text; attach a part of it, or raise the setting limits.text_mb.",
        code="document_too_long",
    )


def _image_part(data: bytes) -> ImagePart:
    return ImagePart(data, sniff.quick_kind(data[: sniff.HEAD]) or sniff.BINARY)


def _modality(content: Content) -> str | None:
    """The modality a model needs for this content; None when text is enough."""
    match content:
        case ImageContent():
            return "image"
        case AudioContent():
            return "audio"
        case VideoContent():
            return "video"
        case DocumentContent(given="pages"):
            return "image"
    return None


def _note(content: Content, reason: str) -> TextPart:
    kind = type(content).__name__.removesuffix("Content").lower()
    name = getattr(content, "name", "") or getattr(content, "uri", "")
    return TextPart(f"[{kind} {name}: {reason}]" if name else f"[{kind}: {reason}]")


def fenced(name: str, text: str) -> str:
    """A file's text under its name, in a code fence longer than any inside it."""
    ticks = "`" * max(3, 1 + max((len(run) for run in _TICKS.findall(text)), default=0))
    return f"{name or 'File'}:\n{ticks}\n{text.rstrip()}\n{ticks}"


def _raise_for_file(name: str, problem: Problem) -> NoReturn:
    """Raise the same problem with the file's name in its sentence."""
    if not name or name in problem.message or problem.status >= 429:
        raise problem
    named = type(problem)(
        f"{name}: {problem.message}", code=problem.code, status=problem.status, param=problem.param
    )
    raise named from None

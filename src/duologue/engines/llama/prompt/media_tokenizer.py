"""Prompts with pictures and sounds for a loaded model: their texts tokenized, their media measured.

Owned by `engine` where the model has a projector. Owns what a medium is to the library (a PNG, JPEG or GIF file, a WAV file), and
the number of tokens that each takes, which only the library knows.
"""

from __future__ import annotations

import base64
import hashlib
from collections import OrderedDict
from collections.abc import Sequence

from duologue.engines.llama.http_client import LlamaHttpClient
from duologue.engines.llama.prompt.media_prompt import ENDING, MediaPrompt, MediumPiece, TextPiece
from duologue.engines.llama.prompt.text_pieces import cutter, pieces
from duologue.engines.llama.prompt.tokenizer import LlamaTokenizer
from duologue.errors import BadRequest, EngineFailed
from duologue.threads import ThreadLane
from duologue.values.audio import from_float32, wav_header
from duologue.values.messages import AudioPart, ImagePart

KNOWN = 1024
"""Media whose number of tokens is remembered."""
STEP = 1024
"""Characters of a text after which a prompt may be cut, so that its first part can be read before the rest."""
LEAST_RATE, MOST_RATE = 1_000, 384_000
"""Hz of a sound."""
SAMPLE = 4
"""Bytes of a float32 sample."""
SIGNATURES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF8")
"""How files begin whose pictures the library reads."""


class MediaTokenizer:
    """Makes `MediaPrompt`s. `client` is a connection of its own, `bos` the text of the token that begins every text, which the
    library adds by itself where `leading` has it; `marker` stands for a medium in a request."""

    def __init__(
        self,
        tokenizer: LlamaTokenizer,
        client: LlamaHttpClient,
        markers: Sequence[str],
        leading: tuple[int, ...],
        bos: str,
        marker: str,
    ) -> None:
        self._tokenizer, self._client = tokenizer, client
        self._lane = ThreadLane(1)
        self._markers = cutter(markers)
        self._leading, self._bos, self._marker = leading, bos, marker
        self._sizes: OrderedDict[int, int] = OrderedDict()
        self._frame: dict[str, int] = {}
        """Tokens that a count has beside those of a medium, by its kind."""

    async def prompt(self, parts: Sequence[str | ImagePart | AudioPart]) -> MediaPrompt:
        """See `MediaPromptEngine.tokenize_media`."""
        found: list[TextPiece | MediumPiece] = []
        for at, part in enumerate(parts):
            if isinstance(part, str):
                text = part.removeprefix(self._bos) if at == 0 and self._leading and self._bos else part
                found += [
                    TextPiece(piece, await self._tokenizer.tokens(piece, start=False))
                    for piece in pieces(text, self._markers, STEP)
                ]
            else:
                found.append(await self._lane.run(self._medium, part))
        if not found or isinstance(found[-1], MediumPiece):
            found.append(TextPiece(ENDING, await self._tokenizer.tokens(ENDING, start=False)))
        return MediaPrompt(found, self._leading, self._marker)

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def _medium(self, part: ImagePart | AudioPart) -> MediumPiece:
        data = _file(part)
        file = base64.b64encode(data).decode()
        digest = hashlib.sha256(data).digest()
        number = -1 - int.from_bytes(digest[:8], "big")
        if (size := self._sizes.get(number)) is None:
            size = self._sizes[number] = self._size(part, file)
            if len(self._sizes) > KNOWN:
                self._sizes.popitem(last=False)
        self._sizes.move_to_end(number)
        return MediumPiece(file, number, size)

    def _size(self, part: ImagePart | AudioPart, file: str) -> int:
        """The tokens of a medium: of a message with it alone, less those of such a message without it."""
        kind = "image" if isinstance(part, ImagePart) else "audio"
        content = _content(kind, file)
        try:
            total = self._client.count([content])
            if kind not in self._frame:
                self._frame[kind] = 2 * total - self._client.count([content, content])
        except BadRequest:
            raise _unreadable(kind) from None
        if (size := total - self._frame[kind]) < 1:
            raise EngineFailed("The engine does not say how many tokens a picture or sound takes.")
        return size


def _file(part: ImagePart | AudioPart) -> bytes:
    """The file of a medium. Raises BadRequest for one that the library does not read."""
    if isinstance(part, ImagePart):
        if not part.data.startswith(SIGNATURES):
            raise BadRequest(
                "A picture is not a PNG, JPEG or GIF file, so the model cannot see it.",
                code="image_unreadable",
                param="messages",
            )
        return part.data
    if not LEAST_RATE <= part.rate <= MOST_RATE or len(part.data) < SAMPLE:
        raise _unreadable("audio")
    pcm = from_float32(part.data)
    return wav_header(part.rate, len(pcm)) + pcm


def _content(kind: str, file: str) -> dict[str, object]:
    if kind == "image":
        return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{file}"}}
    return {"type": "input_audio", "input_audio": {"data": file, "format": "wav"}}


def _unreadable(kind: str) -> BadRequest:
    if kind == "image":
        return BadRequest(
            "A picture is damaged and cannot be read.", code="image_unreadable", param="messages"
        )
    return BadRequest("A sound is empty or cannot be read.", code="sound_unreadable", param="messages")

"""Tokenizing for a loaded model: piece by piece, so that a short text does not wait for another user's long one.

Owned by `engine`. The library tokenizes in its own threads, without the interpreter's lock. Short texts have a thread
and a connection of their own, so they pass long ones; long ones take turns at every piece.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TypeVar

from duologue.engines.llama.http_client import LlamaHttpClient
from duologue.engines.llama.prompt.text_pieces import PIECE, cutter, pieces
from duologue.errors import ContextExceeded
from duologue.threads import ThreadLane
from duologue.values.questions.worker_answers import Tokenized
from duologue.values.questions.worker_questions import TokenizeText

T = TypeVar("T")
MARKER_BEGINNINGS = ("<", "[")
FEW_MARKERS = 2000
"""Markers that are found in a tenth of a second, however long the text is."""

KNOWN_ENDINGS = 64
LONGEST_ENDING = 256
"""Characters. A template's generation prompt is one of a few short texts; their tokens are cached."""
SHORT = 32 * 1024
"""Characters of a text that need not wait behind longer ones; tokenizing it takes a twentieth of a second at most."""
FAR_TOO_LONG = 4
"""Multiple of the context at which tokenizing ends: nobody needs the exact number."""


class LlamaTokenizer:
    """Tokens of texts. `short` and `long` are connections to the engine, `lane` the thread of the first one; `bos` are the
    tokens that begin every text, `context` the tokens that one chat has."""

    def __init__(
        self,
        short: LlamaHttpClient,
        long: LlamaHttpClient,
        lane: ThreadLane,
        markers: Iterable[str],
        bos: tuple[int, ...],
        context: int,
    ) -> None:
        self._short, self._long = short, long
        self._lane, self._long_lane = lane, ThreadLane(1)
        self._markers = cutter(markers)
        self._bos, self._context = bos, context
        self._endings: dict[str, tuple[int, ...]] = {}

    async def tokens(self, text: str, *, start: bool) -> tuple[int, ...]:
        """See `PromptEngine.tokenize`. Raises ContextExceeded for a text far beyond the context."""
        if not start and (cached := self._endings.get(text)) is not None:
            return cached
        tokens = await self._tokens(text)
        if not start:
            if len(self._endings) < KNOWN_ENDINGS and len(text) < LONGEST_ENDING:
                self._endings[text] = tokens
            return tokens
        if self._bos and tokens[: len(self._bos)] != self._bos:
            return (*self._bos, *tokens)
        return tokens

    async def text_tokens(self, question: TokenizeText) -> Tokenized:
        """The tokens of a text that is no prompt. Raises ContextExceeded for one far beyond the context that may be full of markers:
        looking for them takes long."""
        text, control = question.text, question.control
        limited = control and sum(map(text.count, MARKER_BEGINNINGS)) > FEW_MARKERS
        pieces: tuple[bytes, ...] = ()
        try:
            if question.pieces:
                read_pieces = partial(_pieces, control=control)
                found = await self._read(text, read_pieces, control=control, limited=limited)
                tokens = tuple(token for token, _ in found)
                pieces = tuple(piece for _, piece in found)
            else:
                read = partial(_tokenize, control=control)
                tokens = tuple(await self._read(text, read, control=control, limited=limited))
        except ContextExceeded as error:
            raise ContextExceeded(
                f"The text has more than {FAR_TOO_LONG * self._context} tokens, {FAR_TOO_LONG} times the context of this model, and "
                "much in it that may be control tokens. Send it in parts, or without looking for control tokens in it.",
            ) from error
        if question.start and self._bos and tokens[: len(self._bos)] != self._bos:
            tokens = (*self._bos, *tokens)
            first = await self._lane.run(self._short.detokenize, self._bos)
            pieces = (first.encode(), *(b"" for _ in self._bos[1:]), *pieces)
        return Tokenized(tokens, pieces if question.pieces else ())

    async def text(self, tokens: Sequence[int]) -> str:
        """The text of tokens of the vocabulary."""
        if len(tokens) <= SHORT:
            return await self._lane.run(self._short.detokenize, tokens)
        return await self._long_lane.run(self._long.detokenize, tokens)

    async def _tokens(self, text: str) -> tuple[int, ...]:
        return tuple(await self._read(text, _tokenize))

    async def _read(
        self,
        text: str,
        read: Callable[[LlamaHttpClient, str], Sequence[T]],
        *,
        control: bool = True,
        limited: bool = True,
    ) -> list[T]:
        """What `read` reads of the text, piece by piece. `control`: markers in it become control tokens. Raises ContextExceeded where it
        is `limited`."""
        if len(text) <= PIECE:
            return [*await self._lane.run(read, self._short, text)]
        # In turns, so that a cancelled request ends here and another one of this size gets its piece in between.
        lane, client = (self._lane, self._short) if len(text) <= SHORT else (self._long_lane, self._long)
        if not control:  # no cut is safe without a marker, and none is slow
            return [*await lane.run(read, client, text)]
        found: list[T] = []
        for piece in pieces(text, self._markers):
            if limited and len(piece) > SHORT:
                await self._check_size(piece, len(found))
            found += await lane.run(read, client, piece)
            if limited:
                self._check(len(found))
        return found

    async def _check_size(self, text: str, before: int) -> None:
        """Raises ContextExceeded when a text without known markers is far too long: found out from parts of it, as the whole
        may have markers that are not known, and then takes long."""
        count = before
        for at in range(0, len(text), PIECE):
            part = await self._long_lane.run(self._long.tokenize, text[at : at + PIECE])
            # A cut in the middle of a word adds a few tokens.
            count += max(0, len(part) - 8)
            self._check(count)

    def _check(self, count: int) -> None:
        if count > FAR_TOO_LONG * self._context:
            raise ContextExceeded(
                f"The conversation takes more than {FAR_TOO_LONG * self._context} tokens, but this model's maximum context length is "
                f"{self._context} with the reply. Shorten it or start a new chat.",
                param="messages",
            )

    def close(self) -> None:
        """Close the connections; from the thread of the engine's lane. The engine waits for open ones when it ends."""
        self._short.close()
        self._long.close()


def _tokenize(client: LlamaHttpClient, text: str, control: bool = True) -> tuple[int, ...]:
    return client.tokenize(text) if control else client.tokenize(text, control=False)


def _pieces(client: LlamaHttpClient, text: str, control: bool) -> tuple[tuple[int, bytes], ...]:
    return client.pieces(text, control=control)

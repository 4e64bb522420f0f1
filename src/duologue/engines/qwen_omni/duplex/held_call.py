"""One call that an omni model holds: the caller's sound and frames read as they come, replies spoken unit by unit, and cut where the caller
interrupts.

Implements `contracts.DuplexView`; `engine` makes one for each call. These models have no mark for listening or speaking, so the session
decides each unit. Their templates have no place for what is heard during a reply either: such sound is passed again after `cut`. All of
it is one sequence of the thinker, whose cache is kept, rolled back and shortened, and never made anew.
"""

from __future__ import annotations

import secrets
import time
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import datetime
from itertools import chain
from typing import Any, Protocol, TypeVar

from duologue.engines.contracts import (
    Decision,
    DuplexOptions,
    Generation,
    UnitAnswer,
    UnitCosts,
)
from duologue.engines.decoding.token_choice import TokenChoice
from duologue.engines.decoding.token_text import TokenText
from duologue.engines.qwen_omni.duplex.spoken_turn import SpokenTurn
from duologue.engines.qwen_omni.duplex.turn_marks import TurnMarks, cut_turns, with_turns
from duologue.engines.qwen_omni.duplex.unit_window import UnitWindow
from duologue.engines.qwen_omni.prompt.media_reader import as_sound
from duologue.engines.qwen_omni.prompt.omni_prompt import OmniPrompt, PromptMedium, PromptPiece, reading_steps
from duologue.engines.qwen_omni.prompt.prompt_reader import PromptReader
from duologue.engines.qwen_omni.talker import Talker
from duologue.engines.qwen_omni.thinking.recited_text import RecitedText
from duologue.engines.qwen_omni.thinking.thinker import Thinker
from duologue.engines.qwen_omni.thinking.thinker_sequence import ThinkerSequence
from duologue.engines.templates.template_renderer import TemplateRenderer
from duologue.errors import ContextExceeded, EngineFailed, Unsupported
from duologue.text.templates.media_places import cut_at_places, with_places
from duologue.text.templates.prompt_request import PromptRequest
from duologue.values.audio import HEARD_RATE, SPOKEN_RATE, samples
from duologue.values.messages import ImagePart, Message

T = TypeVar("T")
LEAST_UNIT, MOST_UNIT = HEARD_RATE // 5, 2 * HEARD_RATE
"""Samples of a unit. The encoders of both families read sound in blocks: of a second it becomes nearly what a whole recording would,
of less than 0.2 s hardly a token."""
REPLY_ROOM = 512
"""Tokens that are left free for a reply, or a quarter of a small context."""


class ModelCalls(Protocol):
    """Runs one step in the model's thread."""

    def __call__(self, function: Callable[..., T], *args: object) -> Awaitable[T]: ...


class QwenDuplexView:
    """See `contracts.DuplexView`. `call` runs a step in the model's thread, `choice` says how tokens are chosen, `ends` are the tokens that end
    a reply, `context` bounds the cache."""

    def __init__(
        self,
        thinker: Thinker,
        reader: PromptReader,
        template: TemplateRenderer,
        tokenizer: Any,
        talker: Talker | None,
        call: ModelCalls,
        choice: Callable[[Generation], TokenChoice],
        *,
        ends: Collection[int],
        context: int,
        batch: int,
    ) -> None:
        self._thinker, self._reader, self._template = thinker, reader, template
        self._tokenizer, self._talker = tokenizer, talker
        self._call, self._choice = call, choice
        self._ends, self._context, self._batch = ends, context, batch
        self._reply_room = min(REPLY_ROOM, context // 4)
        self._options = DuplexOptions()
        self._marks = TurnMarks("", "", "")
        self._window = UnitWindow(0, context)
        self._sequence: ThinkerSequence | None = None
        self._turn: SpokenTurn | None = None
        self._prompt = 0
        self._closed = False
        """Whether the marks behind the last reply were read: the caller's turn is open."""
        self._typed: list[str] = []
        """What was typed during a reply."""
        self._recitals: deque[str] = deque()
        """What the next replies are to say, whatever the model would."""

    @property
    def decides(self) -> bool:
        return False

    @property
    def unit_samples(self) -> tuple[int, int]:
        return LEAST_UNIT, MOST_UNIT

    @property
    def sequence(self) -> ThinkerSequence:
        """What the call has in the cache. Raises EngineFailed before `prepare`."""
        if self._sequence is None:
            raise EngineFailed("The call was not prepared.")
        return self._sequence

    async def prepare(self, messages: Sequence[Message], options: DuplexOptions) -> int:
        """See `DuplexView.prepare`. Raises ContextExceeded for messages that leave no room, NotFound for an unknown voice, Unsupported
        for a model that does not speak, and the Problems of rendering."""
        mark = f"turn{secrets.token_hex(12)}"
        texts, media = with_places(messages, place := f"medium{secrets.token_hex(12)}")
        request = PromptRequest(with_turns(texts, mark), thinking=False, form="full")
        marks = cut_turns(await self._template.render(request, datetime.now()), mark)
        parts = cut_at_places(marks.prompt, place, media)
        prompt: OmniPrompt = await self._call(self._reader.prompt, parts)
        if len(prompt) + 2 * self._reply_room > self._context:
            raise ContextExceeded(
                f"The conversation takes {len(prompt)} tokens, but the model has room for {self._context} with the call. Begin with fewer "
                "messages.",
                param="messages",
            )
        await self._call(self.drop)
        sequence = await self._call(self._thinker.sequence)
        for pieces in reading_steps(prompt.after(0), self._batch):
            await self._call(self._thinker.read, sequence, pieces)
        if self._talker is None or sequence.trace is None:
            raise Unsupported(
                "The model does not speak, so it cannot hold a call.", code="modality_unsupported"
            )
        await self._call(self._talker.begin, sequence.trace, options.voice)  # the voice is there
        await self._call(self._choice, Generation(options.sampling, voice=options.voice))
        most = self._context - self._reply_room
        asked = most if options.window is None else max(options.window, len(prompt) + self._reply_room)
        self._window = UnitWindow(len(prompt), min(asked, most))
        self._options, self._marks, self._prompt = options, marks, len(prompt)
        self._sequence = sequence
        return len(sequence)

    async def unit(
        self,
        pcm: bytes,
        frames: Sequence[ImagePart] = (),
        *,
        decision: Decision = "model",
        max_slices: int | None = None,
    ) -> UnitAnswer:
        """See `DuplexView.unit`. A picture is one piece whatever `max_slices` says. Raises BadRequest for a frame that cannot be read."""
        if self._turn is not None and not self._turn.over:
            if decision != "speak":
                raise EngineFailed("A reply is open: it is cut before the model listens.")
            return await self._spoken(pcm, time.perf_counter(), 0, 0)
        began = time.perf_counter()
        slices, vision = await self._call(self._listen, pcm, tuple(frames))
        if decision != "speak":
            costs = UnitCosts(prefill=_milliseconds(began))
            return UnitAnswer(cached=len(self.sequence), slices=slices, vision_tokens=vision, costs=costs)
        await self._call(self._begin_reply)
        return await self._spoken(pcm, began, slices, vision)

    async def finalize(self) -> None:
        """Read the marks behind a reply that is over, so that the next unit need not."""
        if self._turn is not None and self._turn.over:
            await self._call(self._close)

    async def cut(self, heard: int) -> str:
        """See `DuplexView.cut`. Of a reply of which nothing was heard nothing stays: the caller's turn goes on."""
        if self._turn is None:
            return ""
        return await self._call(self._cut, heard)

    async def recite(self, text: str) -> None:
        """See `DuplexView.recite`. The model reads the words as its own, so they are in its cache as far as they were heard."""
        self._recitals.append(text)

    async def type(self, text: str) -> None:
        """See `DuplexView.type`. During a reply it waits until the caller's turn is open again."""
        if self._turn is not None and not self._turn.over:
            self._typed.append(text)
        else:
            await self._call(self._read_typed, text)

    def drop(self) -> None:
        """Free the cache. In the model's thread."""
        self._sequence = self._turn = None
        self._typed.clear()
        self._recitals.clear()
        self._closed = False

    async def _spoken(self, pcm: bytes, began: float, slices: int, vision: int) -> UnitAnswer:
        """The next sound of the open reply, as long as the unit."""
        turn = self._turn
        assert turn is not None, "a reply is open"
        prefill = _milliseconds(began)
        written, codes = turn.written, turn.codes
        before = turn.language, turn.speech, turn.vocoder
        count = (samples(pcm) or MOST_UNIT) * SPOKEN_RATE // HEARD_RATE
        while turn.lacks(count):
            await self._call(turn.step)
        sound, text = turn.take(count)
        if turn.over:
            rest, more = turn.take(0)
            sound, text = sound + rest, text + more
        return UnitAnswer(
            listens=False,
            text=text,
            pcm=sound,
            end_of_turn=turn.over,
            cached=len(self.sequence),
            written=turn.written - written,
            codes=turn.codes - codes,
            slices=slices,
            vision_tokens=vision,
            costs=_costs(prefill, turn, before),
        )

    def _listen(self, pcm: bytes, frames: Sequence[ImagePart]) -> tuple[int, int]:
        """Read a unit into the caller's turn; the pictures in it, and their tokens."""
        self._open_caller()
        pieces: list[PromptPiece] = list(chain.from_iterable(map(self._reader.pieces, frames)))
        vision = sum(piece.size for piece in pieces if isinstance(piece, PromptMedium))
        if pcm:
            pieces += self._reader.pieces(as_sound(pcm))
        self._read(pieces)
        return len(frames), vision

    def _read_typed(self, text: str) -> None:
        self._open_caller()
        self._read(self._reader.pieces(text))

    def _open_caller(self) -> None:
        """Open the caller's turn, with what was typed before it."""
        if self._turn is not None:
            self._close()
            self._turn = None
        self._closed = False
        typed, self._typed = self._typed, []
        for text in typed:
            self._read(self._reader.pieces(text))

    def _read(self, pieces: Sequence[PromptPiece]) -> None:
        """Read pieces into the caller's open turn; the oldest make room for them."""
        sequence, count = self.sequence, sum(len(piece.tokens) for piece in pieces)
        if not count:
            return
        if leaving := self._window.leaving(len(sequence) + count):
            self._thinker.remove(sequence, self._prompt, self._prompt + leaving)
        if len(sequence) + count > self._context - self._reply_room:
            raise ContextExceeded(
                f"A unit of {count} tokens does not fit into the model's context of {self._context} tokens. Send smaller pictures, or fewer.",
                param="frames",
            )
        for step in reading_steps(iter(pieces), self._batch):
            self._thinker.read(sequence, step)
        self._window.read(count)

    def _begin_reply(self) -> None:
        sequence, talker, voice = self.sequence, self._talker, self._options.voice
        assert talker is not None, "checked when the call was prepared"
        marks = self._reader.pieces(self._marks.reply)
        logits = self._thinker.read(sequence, marks)
        choice: TokenChoice | RecitedText = self._choice(Generation(self._options.sampling, voice=voice))
        limit = self._reply_limit(len(sequence))
        if self._recitals:
            tokens = self._reader.tokens(self._recitals.popleft())
            choice, limit = (
                RecitedText(tokens, min(self._ends)),
                max(limit, min(len(tokens), self._reply_room)),
            )
        self._turn = SpokenTurn(
            self._thinker,
            sequence,
            talker.begin(sequence.trace, voice),  # type: ignore[arg-type]  # a model that speaks has a trace
            choice,
            TokenText(self._tokenizer),
            logits,
            marks=sum(len(piece.tokens) for piece in marks),
            ends=self._ends,
            limit=limit,
        )
        self._closed = False

    def _reply_limit(self, length: int) -> int:
        asked = self._options.sampling.max_tokens
        room = self._context - length - len(self._reader.tokens(self._marks.caller))
        return max(1, room if asked is None or asked < 0 else min(asked, room))

    def _close(self) -> None:
        """Read the marks behind the reply, once."""
        turn, sequence = self._turn, self.sequence
        if turn is None or self._closed:
            return
        self._thinker.read(sequence, self._reader.pieces(self._marks.caller))
        self._window.replied(len(sequence) - turn.start + turn.marks)
        self._closed = True

    def _cut(self, heard: int) -> str:
        turn, sequence = self._turn, self.sequence
        assert turn is not None, "a reply is open"
        kept = turn.heard(heard)
        if self._closed:
            self._window.unread_reply()
        if not kept:
            sequence.crop(turn.start - turn.marks)
            self._turn, self._closed = None, False
            return ""
        sequence.crop(turn.start + kept)
        self._closed = False
        self._close()
        self._turn = None
        return "".join(turn.texts[:kept])


def _costs(prefill: float, turn: SpokenTurn, before: tuple[float, float, float]) -> UnitCosts:
    """What a unit of a reply took, by the seconds before it of writing, speaking and the vocoder."""
    language, speech, vocoder = before
    sound = turn.vocoder - vocoder
    return UnitCosts(
        prefill, (turn.language - language) * 1000, (turn.speech - speech - sound) * 1000, sound * 1000
    )


def _milliseconds(began: float) -> float:
    return (time.perf_counter() - began) * 1000

"""The text and sound of one reply on the way from where they are made to where they are sent.

`synthesis.py` fills it from a speaker, `omni/native_reply.py` from a model that speaks by itself; playback and `speech_task.py` take
from it at their pace. Owns which written text belongs to which sample, and the mouth's keys (`turns/mouth`), which are made only where they
are asked for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from msgspec import Struct

from duologue.sessions.speech.kept_sound import KeptSound
from duologue.turns.mouth.curve import MouthCurve
from duologue.values.audio import SAMPLE_BYTES, samples
from duologue.values.events import ReplyWord
from duologue.values.mouth import MouthKey, Phone


class SoundPiece(Struct, frozen=True):
    """Sound to send: `words` begin in it, and `text` is what was written up to its end and not sent before. `mouth`: all keys that are known
    and were not sent before, also those of later sound."""

    pcm: bytes
    words: tuple[ReplyWord, ...]
    text: str
    mouth: tuple[MouthKey, ...] = ()


class TextMark(Struct, frozen=True):
    """From `sample` on, the written text up to `character` is being spoken."""

    sample: int
    character: int


class ReplyBuffer:
    """What exists of a reply and was not sent yet. `mouth`: with the mouth's keys."""

    def __init__(self, number: int, *, mouth: bool = False) -> None:
        self.number = number
        self.written = ""
        self.length = 0
        """Samples that exist."""
        self.sent = 0
        """Samples taken so far."""
        self.complete = False
        """All of its sound exists."""
        self.finished = False
        """All of its text exists."""
        self.recorded: KeptSound | None = None
        """Where all of its sound is kept besides, for who draws it."""
        self._text_sent = 0
        self._sound: deque[bytes] = deque()
        self._words: deque[ReplyWord] = deque()
        self._marks: deque[TextMark] = deque()
        self._curve = MouthCurve() if mouth else None
        self._keys: list[MouthKey] = []

    @property
    def waiting(self) -> int:
        """Samples that exist and were not taken."""
        return self.length - self.sent

    def take(self, most: int) -> SoundPiece:
        """The next samples, at most `most`, with their words and text. May be empty."""
        pieces: list[bytes] = []
        missing = most
        while missing > 0 and self._sound:
            piece = self._sound.popleft()
            if samples(piece) > missing:
                self._sound.appendleft(piece[missing * SAMPLE_BYTES :])
                piece = piece[: missing * SAMPLE_BYTES]
            pieces.append(piece)
            missing -= samples(piece)
        pcm = b"".join(pieces)
        self.sent += samples(pcm)
        words: list[ReplyWord] = []
        while self._words and self._words[0].start < self.sent:
            words.append(self._words.popleft())
        return SoundPiece(pcm, tuple(words), self._text(), self.keys())

    @property
    def draws_mouth(self) -> bool:
        """Whether phones are of use to it."""
        return self._curve is not None

    def keys(self) -> tuple[MouthKey, ...]:
        """The keys that became known and were not sent with any sound."""
        keys, self._keys = self._keys, []
        return tuple(keys)

    def rest(self) -> str:
        """The written text that was not sent with any sound."""
        text, self._text_sent = self.written[self._text_sent :], len(self.written)
        return text

    def _text(self) -> str:
        end = self._text_sent
        while self._marks and self._marks[0].sample <= self.sent:
            end = max(end, self._marks.popleft().character)
        text, self._text_sent = self.written[self._text_sent : end], end
        return text

    def _append(
        self,
        pcm: bytes,
        words: Iterable[ReplyWord],
        marks: Iterable[TextMark],
        phones: Iterable[Phone] = (),
    ) -> None:
        """Add sound, the words and phones that begin in it, and where the words' text is shown."""
        self._sound.append(pcm)
        self.length += samples(pcm)
        words = tuple(words)
        self._words.extend(words)
        self._marks.extend(marks)
        keys = self._curve.feed(phones, self.length) if self._curve is not None else ()
        self._keys += keys
        if self.recorded is not None:
            self.recorded.add(pcm, words, keys)

    def _complete(self) -> None:
        """All of its sound exists."""
        self.complete = True
        keys = self._curve.finish() if self._curve is not None else ()
        self._keys += keys
        if self.recorded is not None:
            self.recorded.add(b"", (), keys)

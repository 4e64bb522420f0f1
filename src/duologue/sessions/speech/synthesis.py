"""One reply on its way from written text to sound.

Text goes in at one end as it is written; clause by clause it becomes speakable, is spoken, and waits here until it is
taken. Owns the buffer, how far ahead it is filled, and which written text goes with which sample. Knows no turn and
no pace.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager

import anyio
from msgspec import Struct

from duologue.engines.contracts import SpeakerEngine, SpeechChunk
from duologue.errors import EngineFailed, Problem
from duologue.sessions.speech.clip_cache import ClipCache
from duologue.text.speech.clause_splitter import Clause, Clauses
from duologue.text.speech.normalise import speakable
from duologue.text.speech.word_spans import spread_words, written_words
from duologue.values.audio import SAMPLE_BYTES, SPOKEN_RATE, samples
from duologue.values.events import ReplyWord

log = logging.getLogger(__name__)

AHEAD = 2 * SPOKEN_RATE
"""Samples of sound not taken yet with which the next clause waits to be spoken: two seconds."""
GIVES_UP = 3
"""Clauses in a row that could not be spoken, after which the rest of a reply is only written: the voice is down."""
LONGEST = 256 * 1024
"""Characters of one reply that are spoken; nobody listens to more."""


class VoiceStyle(Struct, frozen=True):
    """How a reply is to sound."""

    voice: str = ""
    speed: float = 1.0
    language: str = "en"


def voice_style(speaker: SpeakerEngine, voice: str, speed: float, language: str) -> VoiceStyle:
    """How it sounds when this is asked for: the language, where none is named, is the voice's."""
    if not language:
        chosen = next((one for one in speaker.voices if one.name == voice), speaker.voices[0])
        language = chosen.language
    return VoiceStyle(voice, speed, language)


class Taken(Struct, frozen=True):
    """Sound to be sent: `words` begin in it, and `text` is what had been written up to its end and was not told yet."""

    pcm: bytes
    words: tuple[ReplyWord, ...]
    text: str


class _Mark(Struct, frozen=True):
    """From `sample` on, the written text up to `character` is being said."""

    sample: int
    character: int


class SpokenReply:
    """A reply's text and sound. `changed` is called when there is more sound or all of it; `failed` when a clause could not
    be spoken, which is left out then: once, for a voice that is down fails at every one."""

    def __init__(
        self,
        number: int,
        speaker: SpeakerEngine,
        voicing: VoiceStyle,
        *,
        clips: ClipCache | None = None,
        changed: Callable[[SpokenReply, tuple[ReplyWord, ...]], None] = lambda reply, words: None,
        failed: Callable[[SpokenReply, Problem], None] = lambda reply, problem: None,
    ) -> None:
        self.number = number
        self.written = ""
        self.made = 0
        """Samples of sound there are so far."""
        self.sent = 0
        """Samples of it that were taken."""
        self.complete = False
        """All of its sound was made."""
        self.finished = False
        """All of its text is there."""
        self.clauses = 0
        """Clauses that stood so far."""
        self._speaker = speaker
        self._voicing = voicing
        self._clips = clips
        self._changed = changed
        self._failed = failed
        self._cutter = Clauses(voicing.language)
        self._clauses: deque[Clause] = deque()
        self._told = 0
        self._sound: deque[bytes] = deque()
        self._words: deque[ReplyWord] = deque()
        self._marks: deque[_Mark] = deque()
        self._news = anyio.Event()

    # ---- text

    def write(self, text: str, *, last: bool = False) -> None:
        """The next piece of its text; `last`: nothing follows. What is over LONGEST is left out."""
        if self.finished:
            return
        text = text[: LONGEST - len(self.written)]
        self.written += text
        if text:
            self._stand(self._cutter.feed(text))
        if last:
            self.finished = True
            self._stand(self._cutter.finish())
        self._news.set()

    def pause(self) -> None:
        """The writer pauses: what is written so far is said without waiting for the rest of its sentence."""
        if not self.finished:
            self._stand(self._cutter.flush())
            self._news.set()

    def _stand(self, clauses: Iterable[Clause]) -> None:
        before = len(self._clauses)
        self._clauses.extend(clauses)
        self.clauses += len(self._clauses) - before

    # ---- sound

    async def make(self) -> None:
        """Speak the clauses as they come, a little ahead of what is taken, until all are."""
        told, silent = False, 0
        while (clause := await self._next()) is not None:
            if silent < GIVES_UP:
                problem = await self._tried(clause)
                silent = 0 if problem is None else silent + 1
                if problem is not None and not told:
                    told = True
                    self._failed(self, problem)
            self._marks.append(_Mark(self.made, clause.to))
            self._changed(self, ())
        self.complete = True
        self._changed(self, ())

    async def _tried(self, clause: Clause) -> Problem | None:
        """Speak a clause: why that could not be done."""
        try:
            await self._speak(clause)
        except Problem as problem:
            return problem
        except Exception:
            log.exception("the speaker failed")
            return EngineFailed("The voice failed. The server's log has the reason.")
        return None

    @property
    def waiting(self) -> int:
        """Samples that were made and not taken."""
        return self.made - self.sent

    def take(self, most: int) -> Taken:
        """The next samples, at most so many, with what belongs to them. May be empty."""
        pieces: list[bytes] = []
        wanted = most
        while wanted > 0 and self._sound:
            piece = self._sound.popleft()
            if samples(piece) > wanted:
                self._sound.appendleft(piece[wanted * SAMPLE_BYTES :])
                piece = piece[: wanted * SAMPLE_BYTES]
            pieces.append(piece)
            wanted -= samples(piece)
        pcm = b"".join(pieces)
        self.sent += samples(pcm)
        words: list[ReplyWord] = []
        while self._words and self._words[0].start < self.sent:
            words.append(self._words.popleft())
        self._news.set()
        return Taken(pcm, tuple(words), self._text())

    def rest(self) -> str:
        """The written text that was not told with any sound."""
        text, self._told = self.written[self._told :], len(self.written)
        return text

    def _text(self) -> str:
        told = self._told
        while self._marks and self._marks[0].sample <= self.sent:
            told = max(told, self._marks.popleft().character)
        text, self._told = self.written[self._told : told], told
        return text

    async def _next(self) -> Clause | None:
        while True:
            if self._clauses and self.waiting < AHEAD:
                return self._clauses.popleft()
            if self.finished and not self._clauses:
                return None
            self._news = anyio.Event()
            await self._news.wait()

    async def _speak(self, clause: Clause) -> None:
        said = speakable(clause.text, self._voicing.language)
        if not said.text.strip():
            return
        begun = self.made
        untimed: list[bytes] = []
        timed = False
        async with self._source(said.text) as sounds:
            async for spoken in sounds:
                timed = timed or bool(spoken.words)
                if not timed:
                    # Until the first word nobody knows whether the voice tells when its words sound.
                    untimed.append(spoken.pcm)
                    continue
                words = written_words(spoken.words, said, at=clause.at, start=begun)
                self._add(b"".join((*untimed, spoken.pcm)), words)
                untimed.clear()
        if untimed:
            pcm = b"".join(untimed)
            self._add(pcm, spread_words(said, samples(pcm), at=clause.at, start=begun))

    def _add(self, pcm: bytes, words: tuple[ReplyWord, ...]) -> None:
        self._sound.append(pcm)
        self.made += samples(pcm)
        self._words.extend(words)
        # A word is told once it has begun to sound.
        self._marks.extend(_Mark(word.start + 1, word.to) for word in words)
        self._changed(self, words)

    def _source(self, text: str) -> AbstractAsyncContextManager[AsyncIterator[SpeechChunk]]:
        if self._clips is not None:
            return self._clips.speak(self._speaker, text, self._voicing)
        return self._speaker.speak(
            text, voice=self._voicing.voice, speed=self._voicing.speed, language=self._voicing.language
        )

"""Synthesises one reply while it is being written.

Text goes in as it is written; clause by clause it is normalised and spoken, and its sound waits here until it is sent.
Owns how far ahead the buffer is filled. `call/spoken_playback.py` and `speech_task.py` drive it and set the pace.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager

from duologue.engines.contracts import SpeakerEngine, SpeechChunk
from duologue.errors import EngineFailed, Problem
from duologue.notifier import Notifier
from duologue.sessions.speech.clip_cache import ClipCache, VoiceStyle, spoken
from duologue.sessions.speech.guessed_phones import phones_in_sound, phones_of_words
from duologue.sessions.speech.reply_buffer import ReplyBuffer, SoundPiece, TextMark
from duologue.text.speech.clause_splitter import Clause, ClauseSplitter
from duologue.text.speech.normalise import speakable
from duologue.text.speech.word_spans import spread_words, written_words
from duologue.tracing import spans
from duologue.values.audio import SPOKEN_RATE, samples
from duologue.values.events import ReplyWord
from duologue.values.mouth import Phone
from duologue.values.speech import VoiceSample

log = logging.getLogger(__name__)

AHEAD = 2 * SPOKEN_RATE
"""Samples of unsent sound that are made ahead, unless somebody needs more of it at once: two seconds."""
GIVES_UP = 3
"""Consecutive clauses that cannot be spoken before the rest is only written: the voice is down."""
LONGEST = 256 * 1024
"""Characters of one reply that are spoken; nobody listens to more."""


def voice_style(
    speaker: SpeakerEngine, voice: str, speed: float, language: str, sample: VoiceSample | None = None
) -> VoiceStyle:
    """The style for these options. Without a language it is the voice's."""
    if not language:
        chosen = next((one for one in speaker.voices if one.name == voice), speaker.voices[0])
        language = chosen.language
    return VoiceStyle(voice, speed, language, sample)


class SpokenReply(ReplyBuffer):
    """The text and sound of one reply. `on_change` is called when there is more sound or all of it; `on_failure` when a clause
    could not be spoken and is left out: once, because a voice that is down fails at every clause."""

    def __init__(
        self,
        number: int,
        speaker: SpeakerEngine,
        style: VoiceStyle,
        *,
        clips: ClipCache | None = None,
        mouth: bool = False,
        on_change: Callable[[SpokenReply, tuple[ReplyWord, ...]], None] = lambda reply, words: None,
        on_failure: Callable[[SpokenReply, Problem], None] = lambda reply, problem: None,
    ) -> None:
        super().__init__(number, mouth=mouth)
        self.clauses = 0
        """Clauses found so far."""
        self.ahead = AHEAD
        """Samples of unsent sound at which synthesis pauses before the next clause."""
        self._speaker = speaker
        self._style = style
        self._clips = clips
        self._on_change = on_change
        self._on_failure = on_failure
        self._splitter = ClauseSplitter(style.language)
        self._clauses: deque[Clause] = deque()
        self._changed = Notifier()

    # ---- text

    def write(self, text: str, *, last: bool = False) -> None:
        """Append text; `last`: nothing follows. Text beyond LONGEST is dropped."""
        if self.finished:
            return
        text = text[: LONGEST - len(self.written)]
        self.written += text
        if text:
            self._add_clauses(self._splitter.feed(text))
        if last:
            self.finished = True
            self._add_clauses(self._splitter.finish())
        self._changed.notify()

    def speak_as_it_is_taken(self) -> None:
        """Make no more sound ahead than usual from now on."""
        self.ahead = AHEAD
        self._changed.notify()

    def pause(self) -> None:
        """The writer pauses: speak what is written so far without waiting for the end of its sentence."""
        if not self.finished:
            self._add_clauses(self._splitter.flush())
            self._changed.notify()

    def _add_clauses(self, clauses: Iterable[Clause]) -> None:
        before = len(self._clauses)
        self._clauses.extend(clauses)
        self.clauses += len(self._clauses) - before

    # ---- sound

    async def synthesise(self) -> None:
        """Speak the clauses as they come, a little ahead of what is taken, until all are spoken."""
        reported, failures = False, 0
        while (clause := await self._next_clause()) is not None:
            if failures < GIVES_UP:
                problem = await self._try_to_speak(clause)
                failures = 0 if problem is None else failures + 1
                if problem is not None and not reported:
                    reported = True
                    self._on_failure(self, problem)
            self._marks.append(TextMark(self.length, clause.to))
            self._on_change(self, ())
        self._complete()
        self._on_change(self, ())

    async def _try_to_speak(self, clause: Clause) -> Problem | None:
        """Speak a clause; the Problem if that fails."""
        try:
            with spans.span("synthesis"):
                await self._speak(clause)
        except Problem as problem:
            return problem
        except Exception:
            log.exception("the speaker failed")
            return EngineFailed("The voice failed. The server's log has the reason.")
        return None

    def take(self, most: int) -> SoundPiece:
        """The next samples; more are made in their place."""
        piece = super().take(most)
        self._changed.notify()
        return piece

    async def _next_clause(self) -> Clause | None:
        while True:
            if self._clauses and self.waiting < self.ahead:
                return self._clauses.popleft()
            if self.finished and not self._clauses:
                return None
            await self._changed.wait()

    async def _speak(self, clause: Clause) -> None:
        spoken = speakable(clause.text, self._style.language)
        if not spoken.text.strip():
            return
        start = self.length
        untimed: list[bytes] = []
        timed = False
        async with self._source(spoken.text) as chunks:
            async for chunk in chunks:
                timed = timed or bool(chunk.words)
                if not timed:
                    # Whether this voice reports word times is not known before its first word.
                    untimed.append(chunk.pcm)
                    continue
                words = written_words(chunk.words, spoken, at=clause.at, start=start)
                phones = _later(chunk.phones, start)
                if self.draws_mouth and not phones:
                    phones = phones_of_words(words, self._style.language)
                self._add(b"".join((*untimed, chunk.pcm)), words, phones)
                untimed.clear()
        if untimed:
            pcm = b"".join(untimed)
            words = spread_words(spoken, samples(pcm), at=clause.at, start=start)
            language = self._style.language
            self._add(pcm, words, phones_in_sound(words, pcm, start, language) if self.draws_mouth else ())

    def _add(self, pcm: bytes, words: tuple[ReplyWord, ...], phones: Iterable[Phone]) -> None:
        # A word is shown once it has begun to sound.
        self._append(pcm, words, (TextMark(word.start + 1, word.to) for word in words), phones)
        self._on_change(self, words)

    def _source(self, text: str) -> AbstractAsyncContextManager[AsyncIterator[SpeechChunk]]:
        if self._clips is not None:
            return self._clips.speak(self._speaker, text, self._style)
        return spoken(self._speaker, text, self._style)


def _later(phones: Iterable[Phone], start: int) -> list[Phone]:
    """The phones of a clause as those of its reply, where it begins at sample `start`."""
    return [Phone(phone.symbol, phone.start + start, phone.end + start) for phone in phones]

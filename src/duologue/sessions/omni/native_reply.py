"""A reply that a model speaks by itself: its words and sound come a unit at a time.

`native_call.py` fills it with the answers to units; `native_playback.py` sends it. Owns which word is heard at which sample: a model says
which sound belongs to a unit's text and not where a word is in it, so the words of a unit share its sound by their letters, and its phones are
guessed by them.
"""

from __future__ import annotations

from duologue.sessions.speech.guessed_phones import phones_in_sound
from duologue.sessions.speech.reply_buffer import ReplyBuffer, TextMark
from duologue.text.speech.word_spans import letters_in, words_in
from duologue.values.audio import samples
from duologue.values.events import ReplyWord


class NativeReply(ReplyBuffer):
    """One reply. A word that goes on in the next unit is known once it has ended there. `language`: what it is said in, for `mouth`."""

    def __init__(self, number: int, *, mouth: bool = False, language: str = "") -> None:
        super().__init__(number, mouth=mouth)
        self._language = language
        self._unsounded = ""
        """Text whose sound has not come."""
        self._begun: ReplyWord | None = None
        """The word at the end of the last unit, which may go on."""

    def add(self, text: str, pcm: bytes, *, last: bool = False) -> tuple[ReplyWord, ...]:
        """Append a unit's text and sound; `last`: nothing follows. The words that are complete with it."""
        if self.finished:
            return ()
        self.written += text
        self._unsounded += text
        words: tuple[ReplyWord, ...] = ()
        if pcm:
            at = len(self.written) - len(self._unsounded)
            fragments = self._spread(self._unsounded, at, samples(pcm))
            words = self._join(fragments, self._unsounded)
            marks = [TextMark(word.start + 1, word.to) for word in fragments]
            self._unsounded = ""
            # Parts of words too: the mouth cannot wait for the rest of a word.
            phones = phones_in_sound(fragments, pcm, self.length, self._language) if self.draws_mouth else ()
            self._append(pcm, words, marks, phones)
        if last:
            self.finished = True
            self._complete()
            if self._begun is not None:
                words = (*words, self._begun)
                self._words.append(self._begun)
                self._begun = None
        return words

    def _spread(self, text: str, at: int, count: int) -> list[ReplyWord]:
        """The words of a text that is heard in the next `count` samples, and stands at character `at`."""
        ranges = words_in(text)
        weights = [letters_in(text[begin:end]) + 1 for begin, end in ranges]
        total, before, words = sum(weights), 0, []
        for (begin, end), weight in zip(ranges, weights, strict=True):
            first = self.length + count * before // total
            before += weight
            last = self.length + count * before // total
            words.append(ReplyWord(text[begin:end], first, last, at + begin, at + end))
        return words

    def _join(self, fragments: list[ReplyWord], text: str) -> tuple[ReplyWord, ...]:
        """Whole words of these: the first may be the end of the one that has begun, and the last may go on."""
        words = list(fragments)
        begun, self._begun = self._begun, None
        if begun is not None:
            if words and words[0].at == begun.to and not text[:1].isspace():
                end = words[0]
                words[0] = ReplyWord(begun.text + end.text, begun.start, end.end, begun.at, end.to)
            else:
                words.insert(0, begun)
        if words and words[-1].to == len(self.written) and not text[-1:].isspace():
            self._begun = words.pop()
        return tuple(words)

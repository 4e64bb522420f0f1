"""Splits a reply into clauses for speech synthesis while it is still being generated.

The first clause is short, so that sound starts early; later ones are sentences, or parts of long ones. How the input is
chunked never changes the clauses, only how early they are returned. Linear in the text. The content of a code block is
skipped; its opening line stands for it. Used by speech synthesis in sessions.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct

from duologue.text.speech.abbreviations import NEVER_ENDING, PERHAPS_ENDING

FIRST = 8
"""Minimum length of the first clause, in characters, before it may end at a comma."""
FIRST_WORDS, FIRST_MOST = 6, 16
"""The first clause may end before one of BREATHS after more than so many words, and ends unconditionally at the second number."""
SECOND, LATER = 40, 90
"""Minimum lengths of the second clause and of later ones, in characters, before they may end at a comma."""
LONGEST, LONGEST_WORD = 240, 1000
"""Length, in characters, at which a clause ends at the next space, and at which it ends even within a word."""
WRAPPED = 60
"""A line of at least this length may be hard-wrapped: its sentence may continue on the next line."""
RUN = 32
"""Maximum lookahead over consecutive marks or spaces; it keeps hostile input linear."""

_BREATHS = """
and but or because that which who when while where if so then since although though as for with without
und aber oder weil dass wenn als denn sondern während obwohl damit sodass wobei wie für mit ohne
"""
BREATHS = frozenset(_BREATHS.split())
_ENDS = frozenset(".!?…")
_WIDE_ENDS = frozenset("。！？｡")
_SOFT = frozenset(",;:—–-")
_WIDE_SOFT = frozenset("，、；：")
_CLOSERS = frozenset("\"'”’»)]}*_`~」』）】》")
_OPENERS = " \t\n\u00a0\"'([{„“”‚‘«»*_~"
_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})([^\n]*)")
_MARKER = re.compile(r"[\s>#*+-]*(?:\d{1,9}|[A-Za-z])?")
_TOKEN = re.compile(r"[\w.]*$")
_SPECIAL = re.compile(r"[\s.!?…。！？｡,;:—–\-，、；：`\[\]]")


class Clause(Struct, frozen=True):
    """A unit of synthesis. `text` is the written text from `at` to `to` (character offsets in the whole input), stripped of
    surrounding whitespace. `ends`: it ends a sentence, line or block."""

    text: str
    at: int
    to: int
    ends: bool = True


class ClauseSplitter:
    """Takes a reply in chunks and returns each clause as soon as it is complete. `language` is a BCP 47 tag."""

    def __init__(self, language: str = "en") -> None:
        self._ordinals = language.lower().partition("-")[0] in (
            "de",
            "da",
            "nb",
            "no",
            "cs",
            "pl",
            "fi",
            "hu",
        )
        """Whether a number with a full stop is an ordinal number."""
        self._text = ""
        self._base = 0
        """Offset of `_text` in the whole input."""
        self._start = 0
        self._next = 0
        """Where the current clause and the unread part begin, in `_text`."""
        self._line = 0
        self._fresh = True
        """Where the line begins in the whole input, and whether none of it has been read."""
        self._fence = ""
        self._long = False
        """The marks that opened the code block, and whether the current line is too long to close it."""
        self._finished = False
        """No more input: the end of the text ends the clause."""
        self._emitted = 0
        self._words = 0
        self._soft = -1
        """The offset after the last comma or similar mark."""
        self._quoted = False
        self._depth = 0

    def feed(self, text: str) -> list[Clause]:
        """Append `text` and return the clauses it completes."""
        self._text += text
        clauses = self._split()
        if self._start:
            self._text = self._text[self._start :]
            self._base += self._start
            self._next -= self._start
            self._start = 0
        return clauses

    def finish(self) -> list[Clause]:
        """The remaining clauses, at the end of the reply."""
        return self.flush()

    def flush(self) -> list[Clause]:
        """The remaining clauses when generation pauses (a tool call, an approval). Later input is treated as the start of a reply."""
        self._finished = True
        clauses = self._split()
        if not self._fence:
            clauses += self._cut(len(self._text))
        self._base += len(self._text)
        self._text, self._start, self._next = "", 0, 0
        self._finished, self._fresh, self._emitted = False, True, 0
        self._quoted, self._depth = False, 0
        return clauses

    def _split(self) -> list[Clause]:
        clauses: list[Clause] = []
        while self._next < len(self._text):
            if self._fence:
                complete = self._code()
            elif self._fresh:
                complete = self._line_begins(clauses)
            else:
                complete = self._advance(clauses)
            if not complete:
                break
        return clauses

    def _cut(self, end: int, *, ends: bool = True) -> list[Clause]:
        """The clause up to `end`, unless it is blank."""
        raw = self._text[self._start : end]
        text = raw.strip()
        at = self._base + self._start + len(raw) - len(raw.lstrip())
        self._start = end
        self._next = max(self._next, end)
        self._words = 0
        self._soft = -1
        if not text:
            return []
        self._emitted += any(map(str.isalnum, text))
        return [Clause(text, at, at + len(text), ends)]

    # Inside code blocks

    def _line_begins(self, clauses: list[Clause]) -> bool:
        """Decide whether the line opens a code block. False: more input is needed."""
        head = self._next
        while head < len(self._text) and head - self._next < RUN and self._text[head] in " \t>":
            head += 1
        mark = self._text[head : head + 3]
        if mark in ("", "`", "``", "~", "~~") and len(self._text) < head + 3 and not self._finished:
            return False
        if mark not in ("```", "~~~"):
            return self._plain_line()
        end = self._text.find("\n", head, head + LONGEST)
        if end < 0 and len(self._text) < head + LONGEST:
            if not self._finished:
                return False
            end = len(self._text)
        match = _FENCE.fullmatch(self._text, self._next, end) if end >= 0 else None
        if match is None or (mark == "```" and "`" in match[2]):
            return self._plain_line()
        self._fence, self._long = match[1], False
        clauses += self._cut(end)
        self._start = self._next = min(end + 1, len(self._text))
        return True

    def _plain_line(self) -> bool:
        self._fresh, self._line = False, self._base + self._next
        self._quoted, self._depth = False, 0
        return True

    def _code(self) -> bool:
        """Skip a line of a code block; it may close the block."""
        end = self._text.find("\n", self._next)
        self._next = end + 1 if end >= 0 else len(self._text)
        line = self._text[self._start : self._next]
        self._long = self._long or len(line) > 2 * RUN
        if end >= 0 or self._finished or self._long:
            self._start = self._next
        if end < 0 and not self._finished:
            return False
        bare = line.strip(" \t>\r\n")
        if not self._long and len(bare) >= len(self._fence) and set(bare) == {self._fence[0]}:
            self._fence, self._fresh = "", True
        self._long = False
        return True

    # Outside code blocks

    def _advance(self, clauses: list[Clause]) -> bool:
        """Advance to the next possible end of a clause and decide. False: the decision needs more input."""
        most = min(len(self._text), self._start + LONGEST_WORD)
        match = _SPECIAL.search(self._text, self._next, most)
        at = match.start() if match else max(self._next, most)
        if at - self._start >= LONGEST_WORD:
            clauses += self._cut(max(self._next, self._start + LONGEST_WORD), ends=False)
            return True
        self._next = at
        if match is None:
            return False
        mark = self._text[at]
        if mark == "\n":
            return self._line_ends(at, clauses)
        if mark.isspace():
            self._next = at + 1
            self._word_ends(at, clauses)
        elif mark in _ENDS or mark in _WIDE_ENDS:
            return self._sentence_ends(at, clauses)
        elif mark in _SOFT or mark in _WIDE_SOFT:
            return self._breath(at, clauses)
        else:
            self._next = at + 1
            self._enclosed(mark)
        return True

    def _enclosed(self, marks: str) -> None:
        """Track inline code and brackets; clauses never end inside them."""
        for mark in marks:
            if mark == "`":
                self._quoted = not self._quoted
            elif mark in "[]" and not self._quoted:
                self._depth = max(0, self._depth + (1 if mark == "[" else -1))

    def _lead(self, at: int) -> str | None:
        """The line up to `at`; None if a clause has already ended in it."""
        begin = self._line - self._base
        return self._text[begin:at] if self._start <= begin else None

    def _line_ends(self, at: int, clauses: list[Clause]) -> bool:
        last = self._text[at - 1] if at > self._start else ""
        if self._base + at - self._line >= WRAPPED and (last.isalnum() or last == ","):
            if at + 1 >= len(self._text) and not self._finished:
                return False
            if self._text[at + 1 : at + 2].islower():
                self._next = at + 1
                self._word_ends(at, clauses)
                return True
        clauses += self._cut(at)
        self._start = self._next = at + 1
        self._fresh = True
        return True

    def _word_ends(self, at: int, clauses: list[Clause]) -> None:
        """Handle a space: the first clause may end before the preceding word, an overlong clause after it."""
        if at == self._start:
            self._start = at + 1
            return
        if at - self._start >= LONGEST:
            self._quoted, self._depth = False, 0
            clauses += self._cut(self._soft if self._soft - self._start >= SECOND else at, ends=False)
            return
        begin = at
        while begin > self._start and at - begin < RUN and not self._text[begin - 1].isspace():
            begin -= 1
        if begin == at:
            return
        self._words += 1
        if self._emitted or self._quoted or self._depth:
            return
        if self._words > FIRST_WORDS and self._text[begin:at].lower() in BREATHS:
            clauses += self._cut(begin, ends=False)
        elif self._words >= FIRST_MOST:
            clauses += self._cut(at, ends=False)

    def _breath(self, at: int, clauses: list[Clause]) -> bool:
        """Handle a comma, colon or dash."""
        mark = self._text[at]
        wide = mark in _WIDE_SOFT
        if mark in "–-" and not self._text[max(0, at - 1) : at].isspace():
            self._next = at + 1
            return True
        end = self._closed(at + 1)
        if end >= len(self._text) and not self._finished:
            return False
        self._next = end
        self._enclosed(self._text[at:end])
        follows = end >= len(self._text) or self._text[end].isspace() or mark == "—" or wide
        lead = self._lead(at)
        marker = lead is not None and not lead.strip(" \t>*+-")
        if not follows or marker or self._quoted or self._depth:
            return True
        self._soft = end
        least = (FIRST, SECOND, LATER)[min(self._emitted, 2)]
        if len(self._text[self._start : end].strip()) >= (least // 2 if wide else least):
            clauses += self._cut(end, ends=False)
        return True

    def _closed(self, end: int) -> int:
        """The offset after closing quotes and brackets at `end`."""
        most = min(len(self._text), end + RUN)
        while end < most and self._text[end] in _CLOSERS:
            end += 1
        return end

    def _sentence_ends(self, at: int, clauses: list[Clause]) -> bool:
        end = at
        most = min(len(self._text), at + RUN)
        while end < most and (self._text[end] in _ENDS or self._text[end] in _WIDE_ENDS):
            end += 1
        marks = self._text[at:end]
        end = self._closed(end)
        if end >= len(self._text) and not self._finished:
            return False
        is_end: bool | None
        if any(mark in _WIDE_ENDS for mark in marks):
            is_end = True
        elif end < len(self._text) and not self._text[end].isspace():
            is_end = False
        else:
            is_end = self._ends_sentence(marks, at, end)
        if is_end is None:
            return False
        self._enclosed(self._text[at:end])
        self._next = end
        if is_end and not self._quoted and not self._depth:
            clauses += self._cut(end)
        return True

    def _ends_sentence(self, marks: str, at: int, end: int) -> bool | None:
        """Whether these marks, followed by a space, end a sentence. None: it depends on the next word."""
        closed = end > at + len(marks)
        if marks != ".":
            return True if not closed and marks.strip(".…") else self._before(end, str.islower)
        lead = self._lead(at)
        if lead is not None and _MARKER.fullmatch(lead) and not closed:
            return False
        match = _TOKEN.search(self._text[max(self._start, at - RUN) : at])
        token = match[0].lower() if match else ""
        word = token.rpartition(".")[2]
        if token in NEVER_ENDING:
            return False
        if token == "no":
            return self._before(end, str.isdigit)
        alone = not self._text[max(self._start, at - len(token) - 1) : at - len(token)].strip(_OPENERS)
        if len(word) == 1 and alone and word.isalpha() and self._text[at - 1] != "I":
            return self._before(end, str.islower) if "." in token else False
        if word.isdigit():
            return not (self._ordinals and len(word) <= 2 and token == word)
        if closed or len(word) < 3 or token in PERHAPS_ENDING:
            return self._before(end, str.islower)
        return True

    def _before(self, end: int, continues: Callable[[str], bool]) -> bool | None:
        """Whether a sentence ends at `end`: not if the next letter `continues` it. None: that letter has not arrived
        yet."""
        at = end
        while at < len(self._text) and at - end < RUN and self._text[at] in " \t\u00a0":
            at += 1
        if at >= len(self._text):
            return True if self._finished else None
        return self._text[at].isspace() or not continues(self._text[at])

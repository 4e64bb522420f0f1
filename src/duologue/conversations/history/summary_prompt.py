"""Summaries of folded turns: what a model is asked for one, and what stands in where no model can write it.

Pure. Owns the sentences of the question and the limits of what is shown; `compaction` asks and stores.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from duologue.conversations.history.context_window import BYTES_A_TOKEN, turns
from duologue.values.conversations import StoredMessage, TextContent
from duologue.values.messages import system, user
from duologue.values.requests import ChatRequest, ModelCard, Sampling

TINY = 1_000_000_000
"""Parameters below which a model's summary is worse than the first sentences of what was said."""
MOST = 1024
"""Tokens of a summary at most."""
SHARE = 8
"""A summary takes at most an eighth of the context."""
SENTENCES = 160
"""Characters of one message in an extract, whole sentences of it where they fit."""
HEAD = "Earlier in this conversation:"

INSTRUCTION = (
    "Summarise the conversation below for yourself, so that you can go on with it without reading it again. Keep what "
    "was decided, names, numbers, dates, code and file names that matter, what the user wants, and what is still "
    "open. Write in the language of the conversation, as plain short sentences, and nothing else."
)

_SENTENCE_END = re.compile(r"(?<=[.!?…。！？])\s+|\n+")


def budget(context: int) -> int:
    """Tokens a summary may take."""
    return min(MOST, max(64, context // SHARE)) if context else MOST


def can_write(card: ModelCard) -> bool:
    """Whether a model's own summary is worth having."""
    return not card.bundled and not 0 < card.parameters < TINY


def pieces(rows: Sequence[StoredMessage], context: int) -> list[str]:
    """What was said in the rows, in pieces that each leave a model of `context` tokens room to sum them up with what
    it wrote so far. A row longer than a quarter of a piece is shown by its beginning and its end."""
    tokens = (context - 2 * budget(context)) * 3 // 4 if context else 4096
    room = int(max(256, tokens) * BYTES_A_TOKEN)
    found: list[str] = []
    piece: list[str] = []
    for line in (said(row, room // 4) for row in rows):
        if piece and sum(map(_bytes, piece)) + _bytes(line) > room:
            found.append("\n\n".join(piece))
            piece = []
        if line:
            piece.append(line)
    return [*found, "\n\n".join(piece)] if piece else found


def said(row: StoredMessage, room: int) -> str:
    """One row as a line of a transcript within about `room` bytes; "" for a row without words."""
    files = [
        getattr(part, "name", "") or "a file" for part in row.content if not isinstance(part, TextContent)
    ]
    calls = [f"[called {call.name} with {shortened(call.arguments, room // 4)}]" for call in row.tool_calls]
    words = [shortened(row.text.strip(), room), *(f"[{name}]" for name in files), *calls]
    text = " ".join(word for word in words if word)
    who = "Summary so far" if row.kind == "summary" else row.role.capitalize()
    return f"{who}: {text}" if text else ""


def question(piece: str, before: str, *, context: int, model: str) -> ChatRequest:
    """What a model is asked for one piece; `before` is its summary of the pieces before it."""
    shown = f"Summary so far: {before}\n\n{piece}" if before else piece
    sampling = Sampling(max_tokens=budget(context), temperature=0.2)
    return ChatRequest((system(INSTRUCTION), user(shown)), model=model, sampling=sampling, thinking=False)


def extract(rows: Sequence[StoredMessage], context: int) -> str:
    """A summary made without a model: an earlier summary, then the first sentences of each message, of as many of the
    newest turns as there is room for."""
    room = int(budget(context) * BYTES_A_TOKEN) - _bytes(HEAD)
    earlier = next((row.text for row in reversed(rows) if row.kind == "summary"), "")
    told = [line for turn in turns(row for row in rows if row.kind == "message") for line in _lines(turn)]
    kept: list[str] = []
    earlier = shortened(earlier.removeprefix(HEAD).strip(), room // 2)
    room -= _bytes(earlier)
    for line in reversed(told):
        room -= _bytes(line) + 1
        if room < 0:
            break
        kept.append(line)
    return "\n".join(part for part in (HEAD, earlier, *reversed(kept)) if part)


def shortened(text: str, room: int) -> str:
    """The beginning and the end of a text, within about `room` bytes."""
    if _bytes(text) <= room:
        return text
    data, half = text.encode("utf-8", "replace"), max(1, room // 2)
    return f"{data[:half].decode('utf-8', 'ignore')} … {data[-half:].decode('utf-8', 'ignore')}"


def _lines(turn: Sequence[StoredMessage]) -> list[str]:
    """The first sentences of what was said in a turn: the question, and the last answer."""
    asked = [row for row in turn if row.role == "user" and row.text.strip()]
    answered = [row for row in turn if row.role == "assistant" and row.text.strip()][-1:]
    return [f"{row.role.capitalize()}: {_first_sentences(row.text)}" for row in (*asked, *answered)]


def _first_sentences(text: str) -> str:
    """The first sentence, and those after it that fit beside it."""
    first, *others = _SENTENCE_END.split(text.strip()[: 4 * SENTENCES])
    if len(first) > SENTENCES:
        return first[: SENTENCES - 1].rstrip() + "…"
    for sentence in others:
        if len(first) + 1 + len(sentence) > SENTENCES:
            break
        first = f"{first} {sentence}"
    return first


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))

"""The prompt for a summary of folded turns, and the extract that replaces it when no model can write one.

Pure; `compaction.py` runs the model and stores the summary.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from duologue.conversations.history.context_window import BYTES_PER_TOKEN, turns
from duologue.values.conversations import StoredMessage, TextContent
from duologue.values.messages import system, user
from duologue.values.requests import ChatRequest, ModelCard, Sampling

FEWEST_PARAMETERS = 1_000_000_000
"""A model with fewer parameters writes worse summaries than the extract of first sentences."""
MOST_TOKENS = 1024
"""Limit of a summary."""
SHARE = 8
"""A summary takes at most an eighth of the context."""
EXCERPT = 160
"""Characters of one message in an extract: whole sentences, if they fit."""
HEAD = "Earlier in this conversation:"

INSTRUCTION = (
    "Summarise the conversation below for yourself, so that you can go on with it without reading it again. Keep what "
    "was decided, names, numbers, dates, code and file names that matter, what the user wants, and what is still "
    "open. Write in the language of the conversation, as plain short sentences, and nothing else."
)

_SENTENCE_END = re.compile(r"(?<=[.!?…。！？])\s+|\n+")


def budget(context: int) -> int:
    """The tokens that a summary may take."""
    return min(MOST_TOKENS, max(64, context // SHARE)) if context else MOST_TOKENS


def can_write(card: ModelCard) -> bool:
    """Whether a model's own summary is better than an extract."""
    return not card.bundled and not 0 < card.parameters < FEWEST_PARAMETERS


def pieces(rows: Sequence[StoredMessage], context: int) -> list[str]:
    """The transcript of the rows, in pieces that leave a model of `context` tokens enough room for the summary so far and the
    new one. Of a row longer than a quarter of a piece, only the beginning and the end are included."""
    tokens = (context - 2 * budget(context)) * 3 // 4 if context else 4096
    room = int(max(256, tokens) * BYTES_PER_TOKEN)
    transcripts: list[str] = []
    piece: list[str] = []
    for line in (transcript_line(row, room // 4) for row in rows):
        if piece and sum(map(_bytes, piece)) + _bytes(line) > room:
            transcripts.append("\n\n".join(piece))
            piece = []
        if line:
            piece.append(line)
    return [*transcripts, "\n\n".join(piece)] if piece else transcripts


def transcript_line(row: StoredMessage, room: int) -> str:
    """One row as a line of a transcript within about `room` bytes; "" for a row without words."""
    files = [
        getattr(part, "name", "") or "a file" for part in row.content if not isinstance(part, TextContent)
    ]
    tool_calls = [
        f"[called {tool_call.name} with {shortened(tool_call.arguments, room // 4)}]"
        for tool_call in row.tool_calls
    ]
    pieces = [shortened(row.text.strip(), room), *(f"[{name}]" for name in files), *tool_calls]
    text = " ".join(piece for piece in pieces if piece)
    speaker = "Summary so far" if row.kind == "summary" else row.role.capitalize()
    return f"{speaker}: {text}" if text else ""


def summary_request(piece: str, before: str, *, context: int, model: str) -> ChatRequest:
    """The request for one piece. `before`: the summary of the pieces before it."""
    prompt = f"Summary so far: {before}\n\n{piece}" if before else piece
    sampling = Sampling(max_tokens=budget(context), temperature=0.2)
    return ChatRequest((system(INSTRUCTION), user(prompt)), model=model, sampling=sampling, thinking=False)


def extract(rows: Sequence[StoredMessage], context: int) -> str:
    """A summary without a model: the earlier summary, then the first sentences of each message, of as many of the newest turns
    as fit."""
    room = int(budget(context) * BYTES_PER_TOKEN) - _bytes(HEAD)
    earlier = next((row.text for row in reversed(rows) if row.kind == "summary"), "")
    lines = [line for turn in turns(row for row in rows if row.kind == "message") for line in _lines(turn)]
    kept: list[str] = []
    earlier = shortened(earlier.removeprefix(HEAD).strip(), room // 2)
    room -= _bytes(earlier)
    for line in reversed(lines):
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
    """The first sentences of a turn: of the user's messages and of the last reply."""
    questions = [row for row in turn if row.role == "user" and row.text.strip()]
    replies = [row for row in turn if row.role == "assistant" and row.text.strip()][-1:]
    return [f"{row.role.capitalize()}: {_first_sentences(row.text)}" for row in (*questions, *replies)]


def _first_sentences(text: str) -> str:
    """The first sentence, and as many after it as fit."""
    first, *others = _SENTENCE_END.split(text.strip()[: 4 * EXCERPT])
    if len(first) > EXCERPT:
        return first[: EXCERPT - 1].rstrip() + "…"
    for sentence in others:
        if len(first) + 1 + len(sentence) > EXCERPT:
            break
        first = f"{first} {sentence}"
    return first


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))

"""Titles of conversations: from the first words of a message, and from a model.

Pure; used by the runs, calls and `title_generator.py`. Owns how a message becomes a title, the prompt for one, and which replies
count as a title.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from urllib.parse import urlsplit

from duologue.values.conversations import Content, StoredMessage, TextContent
from duologue.values.messages import Message, system, user
from duologue.values.requests import ChatRequest, Sampling

MOST_CHARACTERS = 60
"""Limit of a title."""
SHORTEST_SENTENCE = 12
"""Characters before a full stop: "Hi!" says little of what follows."""
LONGEST_ABBREVIATION = 3
"""Letters of a word whose full stop may not be the end of a sentence, like "Dr."."""
READ = 4000
"""Characters of a message that are considered for a title."""
QUOTED = 600
"""Characters of each message in the prompt for a title."""
MODEL_WORDS = 12
"""A reply with more words is an answer, not a title."""
MODEL_TOKENS = 40

INSTRUCTION = (
    "Write a title for the conversation below: three to six words in its language, no quotes, no full stop. "
    "Write the title and nothing else."
)

_FENCE = re.compile(r"^ {0,3}(```|~~~)[^\n]*\n(.*?)(?:^ {0,3}\1[^\n]*$|\Z)", re.DOTALL | re.MULTILINE)
_IMAGE = re.compile(r"!\[([^\]\n]*)\]\([^)\n]*\)")
_LINK = re.compile(r"\[([^\]\n]+)\]\([^)\n]*\)")
_URL = re.compile(r"<?\b(?:https?|ftp)://[^\s<>]+>?|\bwww\.[^\s<>]+", re.IGNORECASE)
_TAG = re.compile(r"</?[a-zA-Z][^<>\n]{0,200}>")
_LINE_MARK = re.compile(r"^\s*(?:#{1,6}\s+|>\s?|[-*+]\s+|\d{1,3}[.)]\s+|[-*_=]{3,}\s*$)+", re.MULTILINE)
_EMPHASIS = re.compile(r"(\*\*\*|\*\*|\*|___|__|~~|`+)(?=\S)(.+?)(?<=\S)\1")
_SENTENCE = re.compile(r"[.!?…]+(?=\s+[^\sa-z])|[。！？]+")
_TRAILING = " ,;:.!?…-–—，、；：。！？"
_SPACE = re.compile(r"\s+")
_NUMBER = re.compile(r" \((\d{1,4})\)$")
_LABEL = re.compile(r"^(?:title|titel|titre|título|titolo)\s*[:：]\s*", re.IGNORECASE)
_REFUSALS = (
    "i'm sorry",
    "i am sorry",
    "sorry,",
    "as an ai",
    "i cannot",
    "i can't",
    "sure",
    "here is",
    "here's",
)


def first_words(content: Sequence[Content]) -> str:
    """A title from the first message: its first sentence or words without markup, code and URLs, at most MOST_CHARACTERS characters,
    ending with a word. A message without words gives the first line of its code, the host of its URL, or the name of its file;
    "" when it has none of these."""
    text = "\n".join(part.text for part in content if isinstance(part, TextContent))[:READ]
    names = (getattr(part, "name", "") for part in content)
    for candidate in (plain(text), _code(text), _host(text), next(filter(None, names), "")):
        if candidate:
            return _headline(candidate)
    return ""


def plain(text: str) -> str:
    """The plain words of a Markdown text, on one line."""
    text = _FENCE.sub("\n", text)
    text = _IMAGE.sub(r"\1", text)
    text = _LINK.sub(r"\1", text)
    text = _URL.sub(" ", text)
    text = _TAG.sub(" ", text)
    text = _LINE_MARK.sub("", text)
    for _ in range(3):  # bold around italic around code
        text = _EMPHASIS.sub(r"\2", text)
    words = _SPACE.sub(" ", text).strip()
    return words if any(char.isalnum() for char in words) or not words.isascii() else ""


def cut(text: str, room: int = MOST_CHARACTERS) -> str:
    """The text in at most `room` characters: whole, or cut after a word, with an ellipsis."""
    text = _SPACE.sub(" ", text).strip()
    if len(text) <= room:
        return text
    head = text[: room - 1]
    if text[room - 1] != " ":
        words, _, rest = head.rpartition(" ")
        if len(rest) < room // 2:  # a language without spaces, or one very long word, is cut anywhere
            head = words or head
    return head.rstrip(" ,;:.!?-–—") + "…"


def untaken(title: str, taken: Collection[str]) -> str:
    """The title with the lowest number, from 2 on, that none of `taken` has: a copy can be told from its original in every
    language. An empty title stays empty."""
    stem = title_stem(title)
    numbers = (number for number in range(2, len(taken) + 3) if f"{stem} ({number})" not in taken)
    return f"{stem} ({next(numbers)})" if stem else ""


def title_stem(title: str) -> str:
    """A title without the number of a copy."""
    return _NUMBER.sub("", title)


def title_request(rows: Sequence[StoredMessage], model: str = "") -> ChatRequest | None:
    """The request for a title of these rows (a path from its root); None when they have no text."""
    lines = [
        f"{row.role.capitalize()}: {cut(row.text[:READ], QUOTED)}"
        for row in rows
        if row.role in ("user", "assistant") and row.kind == "message" and row.text.strip()
    ][:4]
    if not lines:
        return None
    messages: tuple[Message, ...] = (system(INSTRUCTION), user("\n\n".join(lines)))
    sampling = Sampling(max_tokens=MODEL_TOKENS, temperature=0.2)
    return ChatRequest(messages, model=model, sampling=sampling, thinking=False)


def extract_title(reply: str) -> str:
    """The title in a model's reply; "" when there is none, but an apology, an answer or a repeated word."""
    lines = [line.strip() for line in reply[:READ].strip().splitlines() if line.strip()]
    if not lines:
        return ""
    title = _LABEL.sub("", plain(lines[0])).strip(" \"'“”„«»‘’`*.:-")
    words = title.lower().split()
    letters = sum(char.isalpha() for char in title)
    repeated = len(words) >= 4 and len(set(words)) <= len(words) // 2
    too_long = len(words) > MODEL_WORDS or len(title) > 2 * MOST_CHARACTERS
    if letters < 3 or repeated or too_long or title.lower().startswith(_REFUSALS) or title.endswith("?!"):
        return ""
    return cut(title)


def _headline(text: str) -> str:
    """The first sentence of the text, or as many of its words as a title may have, without punctuation at the end."""
    for match in _SENTENCE.finditer(text[: MOST_CHARACTERS + 1]):
        last_word = text[: match.start()].rpartition(" ")[2]
        if len(last_word) > LONGEST_ABBREVIATION and match.start() >= SHORTEST_SENTENCE:
            text = text[: match.start()]
            break
    head = cut(text).rstrip(_TRAILING)
    return head or cut(text)


def _code(text: str) -> str:
    match = _FENCE.search(text)
    return next((line.strip() for line in match[2].splitlines() if line.strip()), "") if match else ""


def _host(text: str) -> str:
    match = _URL.search(text)
    if match is None:
        return ""
    address = match[0].strip("<>")
    try:
        return urlsplit(address if "://" in address else f"https://{address}").hostname or ""
    except ValueError:
        return ""

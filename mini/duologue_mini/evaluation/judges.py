"""Judges replies to fresh draws against the answer that the generator wrote.

Wording is free. What counts depends on the family: the exact calls, the last number, the copied text, the words taken from
the conversation, or that the model declines.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from duologue_mini.evaluation.heldout import (
    ToolCall,
    calls_match,
    declines,
    final_number,
    is_spoken,
    plain,
    same,
    words,
)
from duologue_mini.scene import ToolUse

COMMON = frozenset(
    [
        "a",
        "about",
        "after",
        "all",
        "also",
        "am",
        "an",
        "and",
        "any",
        "are",
        "as",
        "at",
        "be",
        "because",
        "been",
        "but",
        "by",
        "can",
        "could",
        "did",
        "do",
        "does",
        "done",
        "for",
        "from",
        "get",
        "got",
        "had",
        "has",
        "have",
        "he",
        "hello",
        "her",
        "here",
        "hi",
        "him",
        "his",
        "how",
        "i",
        "if",
        "in",
        "is",
        "it",
        "its",
        "just",
        "know",
        "like",
        "me",
        "more",
        "my",
        "no",
        "not",
        "now",
        "of",
        "off",
        "ok",
        "on",
        "one",
        "or",
        "our",
        "out",
        "please",
        "said",
        "say",
        "says",
        "she",
        "so",
        "some",
        "tell",
        "than",
        "thank",
        "thanks",
        "that",
        "the",
        "their",
        "them",
        "then",
        "there",
        "they",
        "this",
        "to",
        "told",
        "too",
        "up",
        "us",
        "very",
        "was",
        "we",
        "well",
        "were",
        "what",
        "when",
        "where",
        "which",
        "who",
        "why",
        "will",
        "with",
        "would",
        "yes",
        "you",
        "your",
    ]
)
SHARED = 0.34
"""The overlap of key words at which two answers count as the same in substance."""
CLOSE = 0.5
"""The overlap of all words at which a reply counts as one of the generator's answers."""
MANY, MOST = 4, 0.75
"""Of more than MANY words taken from the conversation, the share MOST is enough."""
NOT_SAID = re.compile(r"\b(?:not|no|nothing|never|n't|cannot|without)\b|n't\b", re.IGNORECASE)


@dataclass(frozen=True)
class Expected:
    """The generator's answer, and what it answers."""

    answer: str
    question: str
    context: str
    """All messages before, with tool results and system prompt."""
    alike: Sequence[str] = ()
    """Other answers of the generator to this kind of question."""


Judge = Callable[[Expected, str], bool]


def makes_calls(expected: Sequence[ToolUse], actual: Sequence[ToolCall]) -> bool:
    """Whether exactly the expected calls were made, in any order."""
    return calls_match([{"name": use.name, "arguments": use.arguments} for use in expected], actual)


def content(text: str) -> set[str]:
    """The key words of a text."""
    return set(words(text)) - COMMON


def same_number(expected: Expected, reply: str) -> bool:
    """The last number is the same; if the expected answer has none, the reply declines or is similar."""
    number = final_number(expected.answer)
    if declines(expected.answer):
        return declines(reply)
    return final_number(reply) == number if number is not None else similar(expected, reply)


def same_text(expected: Expected, reply: str) -> bool:
    """The same text, except for a phrase around it."""
    expected_text, reply_text = plain(expected.answer), plain(reply)
    return (
        same(expected_text, reply_text)
        or ends_with(expected_text, reply_text)
        or ends_with(reply_text, expected_text)
    )


def ends_with(inner: str, outer: str) -> bool:
    """Whether one text is the end of the other, after a colon or a line break."""
    return len(inner) > 1 and bool(re.search(rf"(?::\s|\n){re.escape(inner.rstrip('.'))}\.?$", outer))


def quotes_context(expected: Expected, reply: str) -> bool:
    """The reply has the words that the expected answer takes from the conversation and not from the question."""
    question_text = " ".join(re.findall(r"[^.!?\n]+\?", expected.question))
    reply_stems, question_stems = stems(reply), stems(question_text)
    keys = (stems(expected.answer) & stems(expected.context)) - question_stems
    numbers = set(re.findall(r"\d+", expected.answer)) - set(re.findall(r"\d+", question_text))
    if keys or numbers:
        enough = len(keys & reply_stems) >= (len(keys) if len(keys) <= MANY else MOST * len(keys))
        return enough and numbers <= set(re.findall(r"\d+", reply))
    if opening := re.match(r"(yes|no)\b", expected.answer, re.IGNORECASE):
        return reply.casefold().startswith(opening[1].casefold())
    if NOT_SAID.search(plain(expected.answer)):
        return bool(NOT_SAID.search(plain(reply)))
    return similar(expected, reply)


def stems(text: str) -> set[str]:
    """The key words of a text, without their endings."""
    return {re.sub(r"(?<=\w{3})(?:es|ed|ing|s|d|e|'s)$", "", word) for word in content(text)}


def same_refusal(expected: Expected, reply: str) -> bool:
    """The reply declines and invents no number; or, if the expected answer does not decline, it is similar."""
    if not declines(expected.answer):
        return similar(expected, reply)
    context = expected.question + expected.context + expected.answer
    return declines(reply) and set(re.findall(r"\d+", reply)) <= set(re.findall(r"\d+", context))


def similar(expected: Expected, reply: str) -> bool:
    """The reply is close to one of the answers to this kind of question, or has the key words of this one."""
    reply_words, key_words = set(words(reply)), content(expected.answer)
    for answer in expected.alike:
        other = set(words(answer))
        if reply_words == other or len(reply_words & other) >= CLOSE * len(reply_words | other):
            return True
    reply_content = content(reply)
    if not key_words or not reply_content:
        return reply_words == set(words(expected.answer)) and (
            bool(reply_words) or plain(reply) == plain(expected.answer)
        )
    return len(key_words & reply_content) >= SHARED * len(key_words | reply_content)


def same_and_speakable(expected: Expected, reply: str) -> bool:
    """The same in substance, and speakable."""
    return is_spoken(reply) and (same_number if final_number(expected.answer) else similar)(expected, reply)


def on_subject(expected: Expected, reply: str) -> bool:
    """A story, rhyme, joke or list: long enough, not a refusal, and on the subject of the question."""
    subject = content(expected.answer) & content(expected.question)
    length = min(8, len(words(expected.answer)))
    has_excuse = re.search(r"\b(?:beyond me|too small|larger model)\b", reply)
    return len(words(reply)) >= length and not has_excuse and subject <= content(reply)


JUDGES: dict[str, Judge] = {
    "arithmetic": same_number,
    "rewriting": same_text,
    "echo": same_text,
    "reading": quotes_context,
    "recall": quotes_context,
    "memory": quotes_context,
    "unseen_tools": quotes_context,
    "tools": quotes_context,
    "stories": on_subject,
    "spoken": same_and_speakable,
    "scope": same_refusal,
    "beyond": same_refusal,
}
"""Judges by family; the others use `similar`."""

"""The hand-written cases that are kept out of training, and the checks that judge replies to them.

One case is one JSON object per line of `prompts/heldout.jsonl`: `id`, `skill`, `turns` (what the user says, in order; the
model answers each), and where needed `system`, `tools` (OpenAI's function tools), `thinking`, `results` (the text returned
when a tool of that name is called), `judge` (which answers are judged: `last`, the default, or `all`) and `check`. All
conditions of a check must hold; `CONDITIONS` lists them. `after_call` is a check of the answer that follows the tool
results. Patterns are regular expressions, case-insensitive unless they say `(?-i:...)`; `.` matches line ends too. They
are applied to the reply with straight quotes and without bold and code marks.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from pathlib import Path
from typing import Any

HELDOUT = Path(__file__).resolve().parents[1] / "prompts" / "heldout.jsonl"

# The skills in the order of the table, with the least number of cases of each.
SKILLS: dict[str, int] = {
    "greetings": 25,
    "identity": 25,
    "help": 40,
    "sums": 35,
    "times": 10,
    "tools": 60,
    "recall": 25,
    "reading": 30,
    "rewriting": 25,
    "stories": 10,
    "system": 20,
    "spoken": 8,
    "scope": 45,
}


@dataclass(frozen=True)
class ToolCall:
    """One tool call; the arguments are parsed JSON, or None if they are not JSON."""

    name: str
    arguments: Any


@dataclass(frozen=True)
class Reply:
    """One reply: its visible text and its tool calls."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()


@dataclass(frozen=True)
class Answer:
    """The replies to one user turn: the first, and the one after the results of its calls."""

    first: Reply
    after: Reply | None = None


@dataclass(frozen=True)
class Case:
    """One line of the file."""

    id: str
    skill: str
    turns: tuple[str, ...]
    check: Mapping[str, Any]
    system: str | None = None
    tools: tuple[Mapping[str, Any], ...] = ()
    thinking: bool = False
    results: Mapping[str, str] = field(default_factory=dict)
    judge_all: bool = False


# --- loading


def load(path: Path = HELDOUT) -> list[Case]:
    """The cases of a file. Raises ValueError that names the first invalid line."""
    cases = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            cases.append(parse(json.loads(line)))
        except (ValueError, TypeError, KeyError, re.error) as error:
            raise ValueError(f"{path.name}, line {number}: {error}") from error
    return cases


def parse(entry: Mapping[str, Any]) -> Case:
    known_fields = {"id", "skill", "system", "tools", "thinking", "turns", "results", "check", "judge"}
    if unknown := set(entry) - known_fields:
        raise ValueError(f"unknown fields {sorted(unknown)}")
    if entry["skill"] not in SKILLS:
        raise ValueError(f"unknown skill {entry['skill']!r}")
    if not entry["turns"] or not all(isinstance(turn, str) and turn.strip() for turn in entry["turns"]):
        raise ValueError("turns must be a non-empty list of texts")
    if entry.get("judge", "last") not in ("last", "all"):
        raise ValueError("judge must be last or all")
    verify(entry["check"])
    return Case(
        id=entry["id"],
        skill=entry["skill"],
        turns=tuple(entry["turns"]),
        check=entry["check"],
        system=entry.get("system"),
        tools=tuple(entry.get("tools", ())),
        thinking=bool(entry.get("thinking", False)),
        results=entry.get("results", {}),
        judge_all=entry.get("judge", "last") == "all",
    )


def verify(check: Mapping[str, Any]) -> None:
    """Raises ValueError unless a check has conditions, all known, with valid patterns."""
    if not check:
        raise ValueError("a check needs conditions")
    if unknown := set(check) - set(CONDITIONS) - {"after_call"}:
        raise ValueError(f"unknown conditions {sorted(unknown)}")
    for name in ("any", "all", "none"):
        if not isinstance(check.get(name, []), list):
            raise ValueError(f"{name} must be a list of patterns")
        for pattern in check.get(name, []):
            re.compile(pattern)
    if "language" in check and check["language"] not in STOP_WORDS:
        raise ValueError(f"unknown language {check['language']!r}")
    if "after_call" in check:
        verify(check["after_call"])


# --- judging


def judge(case: Case, answers: Sequence[Answer]) -> list[str]:
    """What is wrong with the answers to a case, one sentence each; empty if the case passed."""
    if len(answers) != len(case.turns):
        return [f"{len(answers)} answers to {len(case.turns)} turns"]
    relevant = answers if case.judge_all else answers[-1:]
    return [complaint for answer in relevant for complaint in complaints(case.check, answer)]


def complaints(check: Mapping[str, Any], answer: Answer) -> list[str]:
    """The conditions of a check that an answer does not meet."""
    unmet = [
        f"{name} {json.dumps(expected, ensure_ascii=False)}: not met by {describe(answer.first)}"
        for name, expected in check.items()
        if name != "after_call" and not CONDITIONS[name](expected, answer.first)
    ]
    if "after_call" in check:
        if answer.after is None:
            unmet.append("after_call: nothing was said after a result")
        else:
            unmet += [f"after_call: {it}" for it in complaints(check["after_call"], Answer(answer.after))]
    return unmet


def describe(reply: Reply) -> str:
    calls = "".join(f" {call.name}({json.dumps(call.arguments, ensure_ascii=False)})" for call in reply.calls)
    return json.dumps(reply.text, ensure_ascii=False) + calls


def plain(text: str) -> str:
    """A reply as patterns see it: straight quotes, common spaces, no bold or code marks."""
    for old, new in (("’", "'"), ("‘", "'"), ("“", '"'), ("”", '"'), ("\u00a0", " "), ("**", ""), ("`", "")):
        text = text.replace(old, new)
    return text.strip()


def has_match(pattern: str, reply: Reply) -> bool:
    return re.search(pattern, plain(reply.text), re.IGNORECASE | re.DOTALL) is not None


# --- numbers

_DIGITS = re.compile(r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?")
_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_SMALL = {word: value for value, word in enumerate(_UNITS.split())} | {
    word: value for value, word in zip(range(20, 100, 10), _TENS.split(), strict=True)
}
_LARGE = {"hundred": 100, "thousand": 1000}


def final_number(text: str) -> float | None:
    """The last number of a text: in digits if there are any, otherwise in English words."""
    text = plain(text)
    matches = list(_DIGITS.finditer(text))
    if not matches:
        return _final_in_words(text)
    last = matches[-1]
    before = text[: last.start()]
    value = float(last.group().replace(",", ""))
    return -value if _is_negative(before) else value


def _is_negative(before: str) -> bool:
    """Whether a number after this text is negative; a minus between two numbers is not a sign."""
    sign = re.search(r"([-−–]|\b(?:minus|negative)\s+)$", before, re.IGNORECASE)
    if sign is None:
        return False
    left = before[: sign.start()].rstrip()
    last_word = re.search(r"[a-z]+$", left.lower())
    return not re.search(r"[\d)]$", left) and (last_word is None or not _is_number_word(last_word.group()))


def _is_number_word(word: str) -> bool:
    return word in _SMALL or word in _LARGE


def _final_in_words(text: str) -> float | None:
    clauses = re.split(r"[^a-z\s-]+", text.lower())
    with_numbers = [clause for clause in clauses if any(map(_is_number_word, re.findall(r"[a-z]+", clause)))]
    words = re.findall(r"[a-z]+", with_numbers[-1]) if with_numbers else []
    end = next((place for place in range(len(words), 0, -1) if _is_number_word(words[place - 1])), 0)
    if not end:
        return None
    start = end - 1
    while start and (_is_number_word(words[start - 1]) or _is_joint(words, start - 1)):
        start -= 1
    total = group = 0
    for word in words[start:end]:
        if word == "thousand":
            total, group = total + max(group, 1) * 1000, 0
        elif word == "hundred":
            group = max(group, 1) * 100
        else:
            group += _SMALL.get(word, 0)
    value = float(total + group)
    is_signed = start > 0 and words[start - 1] in ("minus", "negative")
    return -value if is_signed and not (start > 1 and _is_number_word(words[start - 2])) else value


def _is_joint(words: Sequence[str], place: int) -> bool:
    """Whether an `and` at this place joins the parts of one number: `two hundred and six`."""
    return words[place] == "and" and place > 0 and words[place - 1] in _LARGE


# --- tool calls


def matches(expected: Any, actual: Any) -> bool:
    """Compares values as JSON; `{"$any": [...]}` matches any of its values."""
    if isinstance(expected, Mapping) and set(expected) == {"$any"}:
        return any(matches(choice, actual) for choice in expected["$any"])
    if isinstance(expected, Mapping):
        return (
            isinstance(actual, Mapping)
            and set(expected) == set(actual)
            and all(matches(value, actual[name]) for name, value in expected.items())
        )
    if isinstance(expected, list):
        return (
            isinstance(actual, list)
            and len(expected) == len(actual)
            and all(matches(one, other) for one, other in zip(expected, actual, strict=True))
        )
    if isinstance(expected, bool) or isinstance(actual, bool):
        return expected is actual
    return bool(expected == actual)


def calls_match(expected: Sequence[Mapping[str, Any]], actual: Sequence[ToolCall]) -> bool:
    """Whether exactly these calls were made, in any order."""
    return len(expected) == len(actual) and any(
        all(
            one["name"] == call.name and matches(one["arguments"], call.arguments)
            for one, call in zip(expected, order, strict=True)
        )
        for order in permutations(actual)
    )


# --- wording

# Ways to decline or not to know. Generous on purpose: a check's `none` patterns catch invented facts.
DECLINING = (
    r"\bbeyond (?:me|my|what i|that|the)\b",
    r"\b(?:do|does|did|would|will|could|can|am|are|is|have|has|was|were|may|should)(?: not|n't)\b",
    r"\b(?:cannot|won't|never (?:learn|heard|been|saw|read)|unable|not able|no idea|not sure|unsure|no clue)\b",
    r"\b(?:no|lack|without|little|any) (?:\w+ )?(?:knowledge|access|way|means|information|facts|connection|clock|eyes)\b",
    r"\b(?:outside|out of|over) (?:\w+ )?(?:me|my|what|reach|head|depth|league|scope|limits?)\b",
    r"\btoo (?:big|large|hard|difficult|much|long|far|heavy|high|complicated|complex|small|little|deep|tricky)\b",
    r"\b(?:more|further|harder|bigger|larger) than (?:i|a model|my)\b",
    r"\bnot (?:something|one of|part|for me|made|built|trained|meant|within|in my|a question|my|know|possible|among)\b",
    r"\b(?:larger|bigger|better|stronger|real|proper|other|another) model\b",
    r"\bduologue setup\b",
    r"\bi(?:'m| am) (?:only|just|too|a (?:very )?(?:small|tiny|little))\b",
    r"\b(?:must|have to|need to|rather|better) (?:pass|decline|leave|not)\b",
    r"\b(?:guess(?:ing)?|make (?:it|something|things) up|invent(?:ing)?)\b",
    r"\b(?:knows?|learned|learnt|taught|tell you) (?:nothing|little|only|very little)\b",
    r"\b(?:ask|see|consult|call|talk to|speak to|speak with) (?:a|an|your|someone|somebody|the) ",
    r"\b(?:sorry|afraid|unfortunately|alas|apologies|pity)\b",
    r"\b(?:je ne|nicht|no (?:sé|puedo)|non (?:so|posso))\b",
)

_SMALL_WORDS = {
    "de": (
        "der die das und ist nicht ich du sie es ein eine einen einem einer mir dir mich dich danke gut "
        "guten tag hallo wie was auf zu zum zur mit für von bin bist heiße wir auch kann kannst gern gerne "
        "bitte heute im am den dem ja nein sehr dein deine mein meine hier noch aber sind hat habe ihnen "
        "ihr nur morgen geht tschüss"
    ),
    "fr": (
        "le la les et est pas je tu vous il elle un une des de du bonjour merci bien ça va comment que qui "
        "pour avec suis mon ma votre ton ta ce sur dans au aux oui non très salut puis peux nous mais ici "
        "aujourd'hui bonsoir j'ai c'est m'appelle ai moi revoir"
    ),
    "es": (
        "el la los las y es yo tú usted un una de que hola gracias bien cómo como por para con soy mi tu su "
        "muy estoy qué en al del sí buenos buenas días tardes puedo me te llamo aquí hoy pero adiós "
        "ayudarte"
    ),
    "it": (
        "il lo la gli le e è non io tu un una di che ciao grazie bene come per con sono mio tuo molto sto "
        "cosa in al del sì buongiorno posso buona giornata mi chiamo ti qui oggi ma arrivederci aiutarti"
    ),
    "en": (
        "the and is not you an my of to for with am are it that this what how can hello thanks yes good day "
        "your i i'm"
    ),
}
STOP_WORDS = {name: frozenset(text.split()) for name, text in _SMALL_WORDS.items()}
_ENGLISH = STOP_WORDS.pop("en")
_SYMBOLS = frozenset("*_#@&%/\\|[]{}<>~^`=+")
_ABBREVIATIONS = re.compile(r"\b(e\.g|i\.e|etc|mr|mrs|ms|dr|st|vs)\.", re.IGNORECASE)


def sentences(text: str) -> int:
    text = _ABBREVIATIONS.sub(r"\1", plain(text))
    return len([part for part in re.split(r"(?<=[.!?…])[\"')]*\s+|\n+", text) if re.search(r"\w", part)])


def words(text: str) -> list[str]:
    return re.findall(r"\w+(?:['-]\w+)*", plain(text).lower())


def is_language(expected: str, text: str) -> bool:
    """Whether the text has more stop words of this language than of any other, English included."""
    reply_words = words(text)
    counts = {name: sum(word in stop for word in reply_words) for name, stop in STOP_WORDS.items()}
    best = counts[expected]
    return best > sum(word in _ENGLISH for word in reply_words) and best == max(counts.values())


def is_spoken(text: str) -> bool:
    """Whether a voice can read it out: no digits, no Markdown, no symbols, no pictures, no list."""
    return (
        bool(text.strip())
        and not any(
            unicodedata.category(sign)[0] == "S" or sign.isdigit() or sign in _SYMBOLS for sign in text
        )
        and not re.search(r"^\s*[-•–]\s", text, re.MULTILINE)
    )


def is_question(text: str) -> bool:
    """Whether the text ends with a question; a quote, a bracket or a symbol may follow the mark."""
    text = plain(text)
    while text and text[-1] != "?" and (text[-1] in "\"')*_ :" or unicodedata.category(text[-1])[0] == "S"):
        text = text[:-1]
    return text.endswith("?")


def declines(text: str) -> bool:
    return any(re.search(pattern, plain(text), re.IGNORECASE) for pattern in DECLINING)


def same(expected: str | Sequence[str], text: str) -> bool:
    """Equality up to case, outer space, surrounding quotes and a final period; a list matches if one of its texts does."""

    def bare(value: str) -> str:
        return plain(value).strip("\" '").removesuffix(".").strip("\" '").casefold()

    return bare(text) in {bare(it) for it in ([expected] if isinstance(expected, str) else expected)}


CONDITIONS: dict[str, Callable[[Any, Reply], bool]] = {
    # at least one pattern is found; each is found; none is found
    "any": lambda target, reply: any(has_match(pattern, reply) for pattern in target),
    "all": lambda target, reply: all(has_match(pattern, reply) for pattern in target),
    "none": lambda target, reply: not any(has_match(pattern, reply) for pattern in target),
    # the last number of the text
    "number": lambda target, reply: final_number(reply.text) == float(target),
    "exact": lambda target, reply: same(target, reply.text),
    # exactly this call; exactly these, in any order; no call at all
    "call": lambda target, reply: calls_match([target], reply.calls),
    "calls": lambda target, reply: calls_match(target, reply.calls),
    "no_call": lambda target, reply: not target or not reply.calls,
    # it asks back and calls nothing
    "asks": lambda target, reply: not target or (is_question(reply.text) and not reply.calls),
    # it declines
    "declines": lambda target, reply: not target or (declines(reply.text) and not reply.calls),
    # the most sentences; the least and the most words
    "sentences": lambda target, reply: 1 <= sentences(reply.text) <= target,
    "words": lambda target, reply: target[0] <= len(words(reply.text)) <= target[1],
    "language": lambda target, reply: is_language(target, reply.text),
    "spoken": lambda target, reply: not target or is_spoken(reply.text),
}

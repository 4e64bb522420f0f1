"""Turns an answer into words that can be read aloud: no Markdown, no symbols, numbers written out."""

import re
from collections.abc import Callable

from duologue_mini.text.numerals import digit_by_digit, in_words, ordinal, time_in_words, year_in_words
from duologue_mini.text.particulars import MONTHS
from duologue_mini.text.words import join_words

_MONTH = "|".join(MONTHS)
_MONEY = {"$": "dollars", "€": "euros", "£": "pounds"}
_LETTERS = re.compile(r"\b[A-Za-z](?:-[A-Za-z])+\b")
_ALLOWED = re.compile(r"[^\w\s,.?!'-]|_")


def _number(text: str) -> str:
    if (len(text) > 1 and text[0] == "0") or len(text) > 9:
        return digit_by_digit(" ".join(text))
    return in_words(int(text))


def _each(text: str) -> str:
    """An identifier with its letters and digits one by one, words as they are."""
    parts = re.findall(r"[A-Z]?[a-z]{2,}|[A-Za-z]|\d", text)
    return " ".join(digit_by_digit(part) if part.isdigit() else part for part in parts)


def _address(match: re.Match[str]) -> str:
    text = match[0]
    end = text[-1] if text[-1] in ".,!?" else ""
    text = text.removesuffix(end) if end else text
    for mark, name in {
        "https://": "",
        "http://": "",
        "@": "at",
        "_": "underscore",
        "/": "slash",
        "~": "tilde",
        "-": "dash",
        ".": "dot",
    }.items():
        text = text.replace(mark, f" {name} ")
    return re.sub(r"\d", lambda digit: f" {digit_by_digit(digit[0])} ", text).strip() + end


def _clock(match: re.Match[str]) -> str:
    return time_in_words(int(match[1]), int(match[2]))


def _price(match: re.Match[str]) -> str:
    return f"{_number(match[1])} {match[3]} {_number(match[2])}"


def _identifier(match: re.Match[str]) -> str:
    return match[1] + digit_by_digit(" ".join(match[2]))


STEPS: list[tuple[str, str | Callable[[re.Match[str]], str]]] = [
    (r": `duologue serve --model FILE\.gguf`", ", with the command duologue serve"),
    (r"`duologue serve --model FILE\.gguf`", "duologue serve"),
    (r"^`duologue|(?<=\. )`duologue", "Duologue"),
    (r"\bduologue-mini", "duologue mini"),
    (r"\*\*|`|[\"“”«»]|^#+ |^> ", ""),
    (r"\S+@\S+|\S*(?:\w/|/\w|https?:|_)\S*|\b\w+(?:\.[a-z]\w{1,4})+\b", _address),
    (r"(\d) \+ (?=\d)", r"\1 plus "),
    (r"(\d) - (?=\d)", r"\1 minus "),
    (r"(\d) [×x*] (?=\d)", r"\1 times "),
    (r" = ", " is "),
    (r"(?<![\w-])-(?=\d)", "minus "),
    (r"\b(\d{1,2}):(\d\d)\b", _clock),
    (r"(?<=\d) ?([ap])\.?m\b(?:\.(?= [a-z]))?", r" \1 m"),
    (r"([$€£])(\d+)", lambda match: f"{_number(match[2])} {_MONEY[match[1]]}"),
    (r"\b(\d+)\.(\d\d) (euros|dollars|pounds)", _price),
    (rf"\b(\d{{1,2}}) ({_MONTH})\b", lambda match: f"the {ordinal(int(match[1]))} of {match[2]}"),
    (rf"\b({_MONTH}) (\d{{1,2}})\b", lambda match: f"{match[1]} {ordinal(int(match[2]))}"),
    (
        r"\b(in|of|since|,) ?(1[1-9]\d\d|20\d\d)\b(?! [a-z])",
        lambda match: f"{match[1]} {year_in_words(int(match[2]))}",
    ),
    (r"\b((?:[Nn]umber|[Cc]ode|[Pp]ort|PIN|password|token) (?:of [\w ]+ )?is |[Cc]all )(\d+)", _identifier),
    (_LETTERS.pattern, lambda match: ", ".join(match[0].split("-"))),
    (r"\b(?=[\w-]*\d)(?=[\w-]*[A-Za-z-])\w[\w-]*\w\b", lambda match: _each(match[0])),
    (r"(\d+)\.(\d+)", lambda match: f"{_number(match[1])} point {digit_by_digit(' '.join(match[2]))}"),
    (r"\d+", lambda match: _number(match[0])),
    (r" ?%", " percent"),
    (r" ?& ?", " and "),
    (r"\s*[;:()\[\]→]+\s*", ", "),
    (r" [–—-] ", ", "),
    (r"\s+", " "),
    (r"(, )+(?=[.,?!])|,(?=\s*[.?!])", ""),
    (r"[, ]+$", ""),
]
_COMPILED = [(re.compile(pattern, re.M), replacement) for pattern, replacement in STEPS]
_ITEM = re.compile(r"^(?:[-*]|\d+\.) +(.*)$")


def to_speech(text: str) -> str:
    """The text as it is spoken."""
    text = _join_lists(text)
    for pattern, replacement in _COMPILED:
        text = pattern.sub(replacement, text)
    text = re.sub(r"([.!?] )([a-z])", lambda match: match[1] + match[2].upper(), text.strip(" ,"))
    return text[:1].upper() + text[1:]


def sayable(text: str) -> bool:
    """Whether the text has nothing that cannot be read aloud."""
    return not _ALLOWED.search(text) and not any(letter.isdigit() for letter in text)


def _join_lists(text: str) -> str:
    """Lines of a list as one sentence."""
    lines: list[str] = []
    items: list[str] = []
    for line in [*text.split("\n"), ""]:
        item = _ITEM.match(line)
        if item:
            items.append(_inside(item[1].rstrip(".,")))
            continue
        if items:
            lines.append(join_words(items) + ".")
            items = []
        if line.strip():
            lines.append(line)
    return " ".join(lines)


def _inside(item: str) -> str:
    """An item of a list as part of a sentence."""
    first = item.partition(" ")[0]
    return item[:1].lower() + item[1:] if first in ("You", "Your", "The", "A", "An", "On") else item

"""Turns typed text into the words that are spoken: numbers and signs in words, no punctuation."""

import re

from duologue_mini.text.numerals import digit_by_digit, in_words, ordinal, time_in_words

SIGNS = {
    "+": "plus",
    "−": "minus",
    "×": "times",
    "*": "times",
    "÷": "divided by",
    "=": "is",
    "%": "percent",
    "&": "and",
    "€": "euros",
    "$": "dollars",
}
_TEXT = re.compile(r"[A-Za-z' ]+")
LONGEST_NUMBER = 6
"""Numbers of up to so many digits are spoken as one number; longer ones, and codes that begin with 0, digit by digit."""


def spoken_form(text: str) -> str | None:
    """The words of a line, separated by single spaces; None if the line cannot be spoken as it stands."""
    if "\n" in text:
        return None
    text = text.replace("’", "'").replace("“", '"').replace("”", '"')
    text = re.sub(r"\b(\d{1,2}):(\d\d)\b", lambda match: time_in_words(int(match[1]), int(match[2])), text)
    text = re.sub(r"\b(\d{1,2})(?:st|nd|rd|th)\b", lambda match: ordinal(int(match[1])), text)
    text = re.sub(r"(?<=\d) x (?=\d)", " times ", text)
    text = re.sub(r"(?<=\d) ?[-–] ?(?=\d)", " minus ", text)
    text = re.sub(r"\d{1,3}(?:,\d{3})+|\d+", _number, text)
    for sign, word in SIGNS.items():
        text = text.replace(sign, f" {word} ")
    text = re.sub(r"[?!.,;:\"]+(?= |$)|(?<= )\"|^\"|--? ", " ", text)
    text = re.sub(r"(?<![a-zA-Z])'|'(?![a-zA-Z])", " ", text)
    text = re.sub(r"(?<=[a-zA-Z])-(?=[a-zA-Z])", " ", text).replace("(", " ").replace(")", " ")
    text = " ".join(text.split())
    return text if _TEXT.fullmatch(text) else None


def _number(match: re.Match[str]) -> str:
    digits = match[0].replace(",", "")
    if (len(digits) > 1 and digits[0] == "0") or len(digits) > LONGEST_NUMBER:
        return digit_by_digit(" ".join(digits))
    return in_words(int(digits)).replace("-", " ")

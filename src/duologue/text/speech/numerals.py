"""Numbers in English and German words: cardinals, ordinals, years and single digits.

Used by `english` and `german`.
"""

from __future__ import annotations

_UNDER_TWENTY = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
nineteen
"""
_TENFOLD = "- - twenty thirty forty fifty sixty seventy eighty ninety"
_ENGLISH, _TENS = _UNDER_TWENTY.split(), _TENFOLD.split()
_SCALES = ((10**12, "trillion"), (10**9, "billion"), (10**6, "million"), (1000, "thousand"))
_IRREGULAR = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
}
_UNTER_ZWANZIG = """
null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn
neunzehn
"""
_ZEHNFACH = "- - zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig"
_GERMAN, _ZEHNER = _UNTER_ZWANZIG.split(), _ZEHNFACH.split()
_STUFEN = ((10**12, "Billion", "en"), (10**9, "Milliarde", "n"), (10**6, "Million", "en"))
_UNREGELMÄSSIG = {1: "erst", 3: "dritt", 7: "siebt", 8: "acht"}
LONGEST = 15
"""Maximum digits of a number spoken as a number; longer ones are spoken digit by digit."""


def english(number: int) -> str:
    """A whole number of at most LONGEST digits: one hundred twenty-three."""
    if number < 0:
        return f"minus {english(-number)}"
    for scale, name in _SCALES:
        if number >= scale:
            rest = number % scale
            return f"{english(number // scale)} {name}" + (f" {english(rest)}" if rest else "")
    if number >= 100:
        rest = number % 100
        return f"{_ENGLISH[number // 100]} hundred" + (f" {english(rest)}" if rest else "")
    if number < 20:
        return _ENGLISH[number]
    return _TENS[number // 10] + (f"-{_ENGLISH[number % 10]}" if number % 10 else "")


def english_ordinal(number: int) -> str:
    """First, twenty-second, one hundredth."""
    words = english(number)
    cut = max(words.rfind(" "), words.rfind("-")) + 1
    last = words[cut:]
    if last in _IRREGULAR:
        return words[:cut] + _IRREGULAR[last]
    return words[:-1] + "ieth" if last.endswith("y") else words + "th"


def english_year(year: int) -> str:
    """Nineteen eighty-four, nineteen oh five, two thousand six, twenty twenty-four."""
    century, rest = divmod(year, 100)
    if not 1100 <= year <= 2099 or 2000 <= year <= 2009:
        return english(year)
    if not rest:
        return f"{english(century)} hundred"
    return f"{english(century)} {'oh ' if rest < 10 else ''}{english(rest)}"


def german(number: int) -> str:
    """A whole number of at most LONGEST digits: einhundertdreiundzwanzig."""
    if number < 0:
        return f"minus {german(-number)}"
    for scale, name, plural in _STUFEN:
        if number >= scale:
            count, rest = divmod(number, scale)
            head = f"eine {name}" if count == 1 else f"{_as_part(count)} {name}{plural}"
            return f"{head} {german(rest)}" if rest else head
    if number >= 1000:
        rest = number % 1000
        return f"{_as_part(number // 1000)}tausend" + (german(rest) if rest else "")
    if number >= 100:
        rest = number % 100
        return f"{_as_part(number // 100)}hundert" + (german(rest) if rest else "")
    if number < 20:
        return _GERMAN[number]
    ones = number % 10
    return (f"{_as_part(ones)}und" if ones else "") + _ZEHNER[number // 10]


def _as_part(number: int) -> str:
    """As a part of a larger number: ein, einundzwanzig, hundertein."""
    words = german(number)
    return words[:-1] if words.endswith("eins") else words


def german_ordinal(number: int, ending: str = "e") -> str:
    """Erste, dritten, zwanzigste: `ending` is the case ending."""
    head, low = divmod(number, 100)
    if low in _UNREGELMÄSSIG:
        return (german(head * 100) if head else "") + _UNREGELMÄSSIG[low] + ending
    return german(number) + ("t" if 0 < low < 20 else "st") + ending


def german_year(year: int) -> str:
    """Neunzehnhundertvierundachtzig, zweitausendvierundzwanzig."""
    century, rest = divmod(year, 100)
    if not 1100 <= year <= 1999:
        return german(year)
    return f"{german(century)}hundert" + (german(rest) if rest else "")


def digits(text: str, language: str) -> str:
    """The digits of a text one by one, with a comma between groups."""
    words = _GERMAN if language == "de" else _ENGLISH
    groups = "".join(each if each.isdecimal() else " " for each in text).split()
    return ", ".join(" ".join(words[int(each)] for each in group) for group in groups)

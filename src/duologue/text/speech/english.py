"""Rules that put numbers and signs in English words.

Order matters: a rule leaves no digits in what it rewrites, so specific rules (dates, times, money) precede general ones.
Applied by `normalise` after markup is removed.
"""

from __future__ import annotations

import re

from duologue.text.speech.mapped_text import Replacement
from duologue.text.speech.numerals import LONGEST, digits, english, english_ordinal, english_year
from duologue.text.speech.powers import powers
from duologue.text.speech.quantities import (
    CODES,
    CURRENCIES,
    FRACTIONS,
    MEASURABLE,
    MONTHS,
    PICTURES,
    ROMAN,
    RULERS,
    UNITS,
    countable_pattern,
)
from duologue.text.speech.strip_markup import Rule

_NUMBER = r"(?:\d{1,3}(?:,\d{3})+|\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?!\d)|\d+)(?:\.\d+)?"
_START = r"(?<![\w.,])"
_MINUS = r"([-−](?=\d))?"
_MONTH = "|".join((*MONTHS["en"], r"(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\b\.?"))
_UNIT = "|".join(re.escape(unit) for unit in sorted(UNITS["en"], key=len, reverse=True))
_POWERED = "|".join(re.escape(unit) for unit in UNITS["en"] if "^" in unit)
_SIGNS = "$€£¥"
_LARGE = {
    "k": "thousand",
    "K": "thousand",
    "m": "million",
    "M": "million",
    "mn": "million",
    "bn": "billion",
    "B": "billion",
}
_SCALE = "|".join(sorted(_LARGE, key=len, reverse=True))
_SCALES = rf"million|billion|trillion|thousand|(?:{_SCALE})\b"
# A unit, the sign or the name of a currency, or a scale, as it follows a number.
_AFTER = rf"{_UNIT}|[{_SIGNS}]|(?:{'|'.join(CODES)})\b|(?:{_SCALE})\b"
_CUES = (
    "in|since|of|by|from|year|until|till|before|after|during|around|between|and|to|for|through|circa|class"
)
_PARTS = {2: ("half", "halves"), 4: ("quarter", "quarters")}


def number(text: str) -> str:
    """A written number in words."""
    whole, point, part = re.sub(r"[,\s]", "", text).partition(".")
    if (len(whole) > 1 and whole[0] == "0") or len(whole) > LONGEST:
        head = digits(whole, "en")
    else:
        head = english(int(whole))
    return f"{head} point {digits(part, 'en')}" if point else head


def _one(text: str) -> bool:
    return text in ("1", "1.0", "1.00")


def _date(year: str, month: str, day: str) -> str | None:
    if not (1 <= int(month) <= 12 and 1 <= int(day) <= 31):
        return None
    words = f"{MONTHS['en'][int(month) - 1]} {english_ordinal(int(day))}"
    return f"{words}, {_year(year)}" if year else words


def _year(text: str) -> str:
    return english_year(int(text)) if len(text) == 4 else english_year(2000 + int(text))


def _slashed(match: re.Match[str]) -> str | None:
    first, second, year = match.groups()
    return _date(year, second, first) if int(first) > 12 else _date(year, first, second)


def _month(text: str) -> str:
    return next(month for month in MONTHS["en"] if month.startswith(text.rstrip(".")[:3]))


def _month_day(match: re.Match[str]) -> Replacement:
    year = (", ", _year(match[3])) if match[3] else ()
    return "".join((_month(match[1]), " ", english_ordinal(int(match[2])), *year))


def _day_month(match: re.Match[str]) -> Replacement:
    year = f" {_year(match[3])}" if match[3] else ""
    return f"the {english_ordinal(int(match[1]))} of {_month(match[2])}{year}"


def _time(match: re.Match[str]) -> str | None:
    hour, minute, second, half = int(match[1]), int(match[2] or 0), match[3], (match[4] or "").lower()
    if hour > 24 or minute > 59:
        return None
    if half:
        words = english(hour) + _minutes(minute)
    elif minute or second:
        words = english(hour) + (_minutes(minute) or " zero")
    else:
        words = f"{english(hour)} o'clock" if 1 <= hour <= 12 else f"{english(hour)} hundred"
    if second:
        words += f" and {english(int(second))} second{'' if int(second) == 1 else 's'}"
    return f"{words} {half[0]} m" if half else words


def _minutes(minute: int) -> str:
    return "" if not minute else f" {'oh ' if minute < 10 else ''}{english(minute)}"


def _money(match: re.Match[str]) -> str:
    sign = match["sign"] or match["code"]
    names = CURRENCIES["en"][CODES.get(sign, sign)]
    amount = match["a"] or match["b"]
    minus = "minus " if match["minus"] else ""
    scale = match["c"] or match["d"]
    if scale:
        return f"{minus}{number(amount)} {_LARGE.get(scale, scale)} {names[1]}"
    if "," in amount[-3:] and "." not in amount:
        amount = amount[:-3] + "." + amount[-2:] if amount[-3] == "," else amount
    whole, point, part = amount.partition(".")
    if not point or len(part) != 2 or not int(part):
        whole = whole if not point or not part.strip("0") else amount
        return f"{minus}{number(whole)} {names[0] if _one(whole) else names[1]}"
    small = f"{english(int(part))} {names[2] if int(part) == 1 else names[3]}"
    if not int(whole.replace(",", "")):
        return minus + small
    return f"{minus}{number(whole)} {names[0] if _one(whole) else names[1]} and {small}"


def _measured(match: re.Match[str]) -> Replacement:
    names = UNITS["en"][match[2]]
    return f"{number(match[1])} {names[0] if _one(match[1]) else names[1]}"


def _scaled(match: re.Match[str]) -> str | None:
    """5m users, 10k requests. "5m" alone is a length, and "5k" may be a race."""
    if match[2] == "m" and match["noun"] in MEASURABLE:
        return None
    if match[2] in "kK" and match[1] in ("2", "4", "5", "8") and match["noun"] in PICTURES:
        return None
    return _scaled_always(match)


def _scaled_always(match: re.Match[str]) -> str:
    return f"{number(match[1])} {_LARGE[match[2]]}"


def _range(match: re.Match[str]) -> str | None:
    """50%-60%, 3 km – 5 km: a unit on both sides is spoken once."""
    minus, first, _, dash, second = match.groups()
    if dash == " - " and _value(first) >= _value(second):
        return None
    return f"{'minus ' if minus else ''}{number(first)} to "


def _range_of_numbers(match: re.Match[str]) -> str:
    """3-5 km."""
    return f"{'minus ' if match[1] else ''}{number(match[2].rstrip('.,'))} to "


def _range_of_two(match: re.Match[str]) -> str:
    """500m-1km."""
    return f"{_measured(match)} to "


def _range_of_money(match: re.Match[str]) -> str | None:
    """$3-$5, $3m-$5m, $3-5 million; $900k-$2m."""
    sign, amount, scale, dash, again, second, other = match.groups()
    if dash == " - " and (not again or _value(amount) >= _value(second)):
        return None
    # The sign goes before the second amount where it has none.
    sign_again = "" if again else sign
    if scale and scale != other:
        return f"{number(amount)} {_LARGE.get(scale, scale)} {CURRENCIES['en'][sign][1]} to {sign_again}"
    return f"{number(amount)} to {sign_again}"


def _value(text: str) -> float:
    return float(re.sub(r"[,\s]", "", text))


def _fraction(match: re.Match[str]) -> str | None:
    above, below = int(match[2]), int(match[3])
    if not below or match[0] in ("24/7", "9/11"):
        words = f"{english(above)} {english(below)}" if below else None
    elif below <= 20 and below > 1 and above < below:
        name, names = _PARTS.get(below, (english_ordinal(below), english_ordinal(below) + "s"))
        words = f"{english(above)} {name if above == 1 else names}"
        if match[1]:
            return f"{english(int(match[1]))} and {'a ' + name if above == 1 else words}"
    else:
        words = f"{english(above)} over {english(below)}"
    return f"{english(int(match[1]))}, {words}" if match[1] and words else words


def _glyph(match: re.Match[str]) -> str:
    above, _, below = FRACTIONS[match[2]].partition("/")
    name, names = _PARTS.get(int(below), (english_ordinal(int(below)), english_ordinal(int(below)) + "s"))
    if match[1]:
        return f"{number(match[1])} and {'a' if above == '1' else english(int(above))} {name if above == '1' else names}"
    return f"{english(int(above))} {name if above == '1' else names}"


def _decade(match: re.Match[str]) -> str:
    words = english_year(int(match[1])) if len(match[1]) == 4 else english(int(match[1]))
    return words[:-1] + "ies" if words.endswith("y") else words + "s"


def _telephone(text: str) -> str:
    return ("plus " if text.startswith("+") else "") + digits(text, "en")


def _roman(match: re.Match[str]) -> Replacement | None:
    value = ROMAN.get(match[3])
    if value is None:
        return None
    if match[1] in RULERS:
        return (1, 2, f"the {english_ordinal(value)}")
    return (1, 2, english(value)) if len(match[3]) > 1 else None


def _address(match: re.Match[str]) -> str:
    return " dot ".join(number(part) for part in match[0].split("."))


def _version(match: re.Match[str]) -> str:
    words = " point ".join(number(part) for part in match[2].split("."))
    return f"version {words}" if match[1] else words


def _version_number(text: str) -> str:
    return " point ".join(number(part) for part in text.split("."))


_MONEY = (
    rf"(?P<minus>(?<!\w)[-−])?(?:(?P<sign>[{_SIGNS}]) ?(?P<a>{_NUMBER})(?: ?(?P<c>million|billion|trillion|thousand|bn|[kKmMB])\b)?"
    rf"|{_START}(?P<b>{_NUMBER}(?:,\d\d(?!\d))?) ?(?:(?P<d>million|billion|trillion|thousand) )?"
    rf"(?P<code>[€$£]|(?:EUR|USD|GBP|JPY|CHF)\b))"
)

RULES: list[Rule] = [
    (re.compile(r"\b([Vv]ersion )[vV]\.? ?(?=\d)"), (1,)),
    (re.compile(r"\b(\d{1,2})\.(\d{1,2})\.(\d{4})\b"), lambda match: _date(match[3], match[2], match[1])),
    (re.compile(rf"{_START}\d{{1,3}}(?:\.\d{{1,3}}){{3}}(?![\w.]*\d)"), _address),
    (re.compile(r"(?<![\w.])(v(?:ersion )?)?(\d+(?:\.\d+){2,5})\b(?!\.\d)"), _version),
    (re.compile(r"(?<![\w.])([vV])(\d+(?:\.\d+)*)\b"), lambda match: f"version {_version_number(match[2])}"),
    (re.compile(r"\b(\d{4})-(\d\d)-(\d\d)\b"), lambda match: _date(match[1], match[2], match[3])),
    (re.compile(r"(?<![\d/])(\d{1,2})/(\d{1,2})/(\d{4})\b"), _slashed),
    (re.compile(rf"\b({_MONTH}) (\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)(?:,? (\d{{4}})\b)?"), _month_day),
    (re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? ({_MONTH})(?:,? (\d{{4}})\b)?(?!\w)"), _day_month),
    (re.compile(r"(?<![\d:])(\d{1,2}):(\d\d)(?::(\d\d))?(?: ?([AaPp])\.?[Mm]\b\.?)?(?![:\d])"), _time),
    (re.compile(r"(?<![\d.:])(\d{1,2})()() ?([AaPp])(?:\.[Mm]\.|[Mm]\b)"), _time),
    (
        re.compile(
            r"(?<!\d)(?:\+\d[\d ()/-]{5,20}\d|\(\d{2,5}\)[\d /-]{4,16}\d|\b\d{3}-\d{3,4}(?:-\d{4})?\b)"
        ),
        lambda match: _telephone(match[0]),
    ),
    (re.compile(r"\b((?:1[1-9]|20)\d0|\d0)(?:'|’)?s\b"), _decade),
    (re.compile(rf"(?<![A-Za-z0-9.,/])({_NUMBER}) ?({_POWERED})(?!\w)"), _measured),
    *powers("en"),
    (
        re.compile(
            rf"([{_SIGNS}]) ?({_NUMBER})(?: ?({_SCALES}))?( ?[–-] ?)"
            rf"(?=(\1)? ?({_NUMBER})(?: ?({_SCALES}))?(?![\w-]|[.,]?\d))"
        ),
        _range_of_money,
    ),
    (re.compile(rf"{_START}{_MINUS}({_NUMBER}) ?({_AFTER})( ?[–-] ?)(?=({_NUMBER}) ?\3(?![\w²³/]))"), _range),
    (re.compile(rf"{_START}({_NUMBER}) ?({_UNIT})[–-](?={_NUMBER} ?(?:{_UNIT})(?![\w²³/]))"), _range_of_two),
    (re.compile(_MONEY), _money),
    (
        re.compile(
            rf"{_START}{_MINUS}(\d[\d.,]*) ?[–-] ?(?={_NUMBER} ?(?:{_UNIT}|[{_SIGNS}]|{_SCALE})(?!\w))"
        ),
        _range_of_numbers,
    ),
    (re.compile(rf"(?<![\w.,/])({_NUMBER}) ?({_SCALE})(?= {countable_pattern('en')})"), _scaled),
    (re.compile(rf"(?<![\w.,/])({_NUMBER}) ?(bn|mn)\b"), _scaled_always),
    (
        re.compile(r"(?<![\w.])((?:1[1-9]|20)\d\d) ?[–-] ?((?:1[1-9]|20)\d\d)(?![\w-])"),
        lambda match: f"{_year(match[1])} to {_year(match[2])}",
    ),
    (re.compile(rf"(?<![\w%‰°{_SIGNS})])[-−](?={_NUMBER})"), "minus "),
    (re.compile(rf"(?<![A-Za-z0-9.,/])({_NUMBER}) ?({_UNIT})(?![\w²³/])"), _measured),
    (re.compile(r"(?<!\w)(\d{1,15})(?:st|nd|rd|th)\b"), lambda match: english_ordinal(int(match[1]))),
    (re.compile(r"(?<![\w/.])(?:(\d{1,9}) )?(\d{1,3})/(\d{1,3})(?![\w/]|\.\d)"), _fraction),
    (re.compile(rf"(\d{{1,9}})? ?([{''.join(FRACTIONS)}])"), _glyph),
    (
        re.compile(
            rf"(?i:\b({_CUES})) ((?:1[1-9]|20)\d\d)\b(?![.,:]?\d)(?! (?:people|users|times|words|tokens|of))"
        ),
        lambda match: (1, f" {_year(match[2])}"),
    ),
    (
        re.compile(r"(?<=[(,]) ?((?:19|20)\d\d)\b(?![.,:]?\d)"),
        lambda match: f" {_year(match[1])}" if match[0][0] == " " else _year(match[1]),
    ),
    (re.compile(r"\b((?:19|20)\d\d)(?=[.!?)]*$)"), lambda match: _year(match[1])),
    (re.compile(r"\b([A-Z][a-z]+)( )([IVX]+)\b"), _roman),
    (re.compile(r"#(?=\d)"), "number "),
    (re.compile(r"(\d) ?[×x*] ?(?=\d)"), (1, " times ")),
    (
        re.compile(r"(?<!\d)(\d+) ?– ?(?=\d)|(?<![\w-])(\d+)-(?=\d+(?![\w-]))"),
        lambda match: (1 if match[1] else 2, " to "),
    ),
    (re.compile(r"(\d)( ?)[-−] (?=\d)"), (1, " minus ")),
    (re.compile(r"(\d):(?=\d)"), (1, " to ")),
    (re.compile(r"([A-Za-z])-?(?=\d)"), (1, " ")),
    (re.compile(r"(\d)-?(?=[A-Za-z])"), (1, " ")),
    (re.compile(_NUMBER), lambda match: number(match[0])),
]
SIGNS: list[Rule] = [
    (re.compile(r"\be\.g\.,?"), "for example"),
    (re.compile(r"\bi\.e\.,?"), "that is"),
    (re.compile(r"\bvs\."), "versus"),
    (re.compile(r"\bapprox\."), "approximately"),
    (re.compile(r"\betc\.(?=,? \w)"), "et cetera"),
    (re.compile(r"\betc\."), "et cetera."),
    (re.compile(r"\bC\+\+"), "C plus plus"),
    (re.compile(r"\b([CF])#"), (1, " sharp")),
    (re.compile(r"\s?≤\s?|\s?<=\s?"), " at most "),
    (re.compile(r"\s?≥\s?|\s?>=\s?"), " at least "),
    (re.compile(r"\s?≠\s?|\s?!=\s?"), " is not "),
    (re.compile(r"\s?≈\s?|~(?=\w)"), " about "),
    (re.compile(r"\s?±\s?"), " plus or minus "),
    (re.compile(r"\s?×\s?|(?<=\w) \* (?=\w)"), " times "),
    (re.compile(r"\s?÷\s?"), " divided by "),
    (re.compile(r" ?(?:->|=>|→|⇒) ?"), ", "),
    (re.compile(r"\s?={1,3}\s?"), " equals "),
    (re.compile(r"(?<=\w) < (?=\w)|<(?=\d)"), " less than "),
    (re.compile(r"(?<=\w) > (?=\w)|>(?=\d)"), " greater than "),
    (re.compile(r"\s?\+\s?"), " plus "),
    (re.compile(r"√"), " square root of "),
    (re.compile(r"π"), " pi "),
    (re.compile(r"∞"), " infinity "),
    (re.compile(r"°"), " degrees "),
    (re.compile(r"§+ ?"), " section "),
    (re.compile(r"\s?&\s?"), " and "),
    (re.compile(r"\s?%"), " percent"),
    (re.compile(r"©"), " copyright "),
    (re.compile(r"\$"), " dollars "),
    (re.compile(r"€"), " euros "),
    (re.compile(r"£"), " pounds "),
]

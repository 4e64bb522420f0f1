"""Rules that put numbers and signs in German words.

Order matters: a rule leaves no digits in what it rewrites, so specific rules (dates, times, money) precede general ones.
Applied by `normalise` after markup is removed.
"""

from __future__ import annotations

import re

from duologue.text.speech.numerals import LONGEST, digits, german, german_ordinal, german_year
from duologue.text.speech.powers import powers
from duologue.text.speech.quantities import (
    CODES,
    CURRENCIES,
    FEMININE,
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

_NUMBER = r"(?:\d{1,3}(?:\.\d{3})+(?!\d)|\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?!\d)|\d+)(?:,\d+)?"
_START = r"(?<![\w.,])"
_MONTH = "|".join((*MONTHS["de"], r"(?:Jan|Feb|Mrz|Apr|Jun|Jul|Aug|Sept?|Okt|Nov|Dez)\."))
_UNIT = "|".join(re.escape(unit) for unit in sorted(UNITS["de"], key=len, reverse=True))
_POWERED = "|".join(re.escape(unit) for unit in UNITS["de"] if "^" in unit)
_MINUS = r"([-−](?=\d))?"
_SIGNS = "$€£¥"
# A unit, or the sign or the name of a currency, as it follows a number.
_AFTER = rf"{_UNIT}|[{_SIGNS}]|(?:{'|'.join(CODES)})\b"
# After these an ordinal ends in -n: am dritten Mai.
_WEAK = (
    "am|vom|zum|beim|im|dem|den|des|ab|bis|seit|diesem|jedem|ihrem|seinem|meinem|diesen|jeden|letzten|nächsten"
    "|(?:an|auf|aus|bei|in|mit|nach|seit|unter|von|vor|während|zu) der"
)
_PARTS = {2: ("halb", "halbe"), 3: ("Drittel", "Drittel"), 4: ("Viertel", "Viertel")}


def number(text: str) -> str:
    """A written number in words."""
    whole, comma, part = re.sub(r"[.\s]", "", text).partition(",")
    if (len(whole) > 1 and whole[0] == "0") or len(whole) > LONGEST:
        head = digits(whole, "de")
    elif len(whole) == 4 and not comma and whole == text:
        head = german_year(int(whole))
    else:
        head = german(int(whole))
    return f"{head} Komma {digits(part, 'de')}" if comma else head


def _counted(text: str, name: str, names: str) -> str:
    """A number and what it counts: ein Euro, eine Stunde, zwei Stunden."""
    if text == "1":
        return f"{'eine' if name in FEMININE else 'ein'} {name}"
    return f"{number(text)} {names}"


def _year(text: str) -> str:
    return german_year(int(text) if len(text) == 4 else 2000 + int(text))


def _date(day: str, month: str, year: str | None, before: str | None) -> str | None:
    if not (1 <= int(month) <= 12 and 1 <= int(day) <= 31):
        return None
    return _day(day, before) + " " + MONTHS["de"][int(month) - 1] + (f" {_year(year)}" if year else "")


def _day(day: str, before: str | None) -> str:
    return german_ordinal(int(day), "er" if before is None else _ending(before))


def _ending(before: str) -> str:
    return "en" if re.fullmatch(_WEAK, before, re.IGNORECASE) else "e"


def _governing(match: re.Match[str]) -> str | None:
    """The word that decides an ordinal's case. It precedes the ordinal, or the first of a series, as in "am 1. Mai, 3. Juni
    und 21. Juli"."""
    if match[1]:
        return match[1]
    end = match.start()
    for _ in range(MOST_JOINED):
        previous = _JOINED.search(match.string, max(0, end - FARTHEST), end)
        if previous is None:
            return None
        if previous["before"]:
            return previous["before"]
        end = previous.start()
    return None


def _month(text: str) -> str:
    head = {"Mrz": "Mär"}.get(text.rstrip("."), text[:3])
    return next(month for month in MONTHS["de"] if month.startswith(head))


def _named_date(match: re.Match[str]) -> tuple[str | int, ...]:
    year = f" {_year(match[5])}" if match[5] else ""
    return (1, 2, f"{_day(match[3], _governing(match))} {_month(match[4])}{year}")


def _dotted_date(match: re.Match[str]) -> tuple[str | int, ...] | None:
    words = _date(match[3], match[4], match[5], _governing(match))
    return None if words is None else (1, 2, words)


def _time(match: re.Match[str]) -> str | None:
    hour, minute, second = int(match[1]), int(match[2]), match[3]
    if hour > 24 or minute > 59:
        return None
    words = f"{'ein' if hour == 1 else german(hour)} Uhr" + (f" {german(minute)}" if minute else "")
    return f"{words} und {_counted(str(int(second)), 'Sekunde', 'Sekunden')}" if second else words


def _money(match: re.Match[str]) -> str:
    sign = match["sign"] or match["code"]
    name, names, cent, cents = CURRENCIES["de"][CODES.get(sign, sign)]
    amount = match["a"] or match["b"]
    minus = "minus " if match["minus"] else ""
    if re.fullmatch(r"\d+\.\d\d", amount):
        amount = amount.replace(".", ",")
    scale = match["d"]
    if scale:
        scale = {"Mio.": "Millionen", "Mrd.": "Milliarden", "Tsd.": "tausend"}.get(scale, scale)
        one = number(amount) if amount != "1" else "eine"
        return f"{minus}{one} {scale} {names}"
    whole, comma, part = amount.partition(",")
    if len(part) != 2 or not int(part):
        amount = whole if not comma or not part.strip("0") else amount
        return minus + _counted(amount, name, names)
    small = german(int(part))
    if not int(whole.replace(".", "")):
        return f"{minus}{_counted(str(int(part)), cent, cents)}"
    return f"{minus}{_counted(whole, name, names)} {small}"


def _measured(match: re.Match[str]) -> str:
    return _counted(match[1], *UNITS["de"][match[2]])


def _ordinal(match: re.Match[str]) -> tuple[str | int, ...]:
    return (1, 2, german_ordinal(int(match[3]), _ending(_governing(match) or "")))


def _first_of_days(match: re.Match[str]) -> tuple[str | int, ...]:
    """The 1. of "1.–3. Mai" and "1./2. Mai", after the second date has been put in words."""
    return (1, 2, f"{_day(match[3], _governing(match))} {'und' if match[4] == '/' else 'bis'} ")


def _range(match: re.Match[str]) -> str | None:
    """50%-60%, 3 km – 5 km: a unit on both sides is spoken once."""
    minus, first, _, dash, second = match.groups()
    if dash == " - " and _value(first) >= _value(second):
        return None
    return f"{'minus ' if minus else ''}{number(first)} bis "


def _range_of_two(match: re.Match[str]) -> str:
    """500m-1km."""
    return f"{_measured(match)} bis "


def _range_of_numbers(match: re.Match[str]) -> str:
    """3-5 km."""
    return f"{'minus ' if match[1] else ''}{number(match[2].rstrip('.,'))} bis "


def _value(text: str) -> float:
    return float(re.sub(r"[.\s]", "", text).replace(",", "."))


def _scaled(match: re.Match[str]) -> str | None:
    """5m Nutzer, 20k Anfragen. "5m" alone is a length."""
    amount, scale, noun = match[1], match[2], match["noun"]
    if scale in "mM":
        return None if scale == "m" and noun in MEASURABLE else _counted(amount, "Million", "Millionen")
    if amount in ("2", "4", "5", "8") and noun in PICTURES:
        return None
    return german(int(amount) * 1000) if re.fullmatch(r"\d{1,9}", amount) else f"{number(amount)} tausend"


def _fraction(match: re.Match[str]) -> str | None:
    above, below = int(match[2]), int(match[3])
    if below < 2 or below > 20 or above >= below:
        return f"{german(above)} durch {german(below)}" if below and not match[1] else None
    words = _parts(above, below)
    if match[1]:
        whole = german(int(match[1]))
        return f"{whole}einhalb" if (above, below) == (1, 2) else f"{whole} {words}"
    return words


def _parts(above: int, below: int) -> str:
    if (above, below) == (1, 2):
        return "ein halb"
    name = _PARTS.get(below, ("", german_ordinal(below, "") + "el"))[1]
    return f"{'ein' if above == 1 else german(above)} {name}"


def _glyph(match: re.Match[str]) -> str:
    above, _, below = FRACTIONS[match[2]].partition("/")
    if match[1]:
        whole = german(int(match[1]))
        return f"{whole}einhalb" if match[2] == "½" else f"{whole} {_parts(int(above), int(below))}"
    return _parts(int(above), int(below))


def _telephone(text: str) -> str:
    return ("plus " if text.startswith("+") else "") + digits(text, "de")


def _roman(match: re.Match[str]) -> tuple[str | int, ...] | None:
    value = ROMAN.get(match[3])
    if value is None:
        return None
    if match[1] in RULERS:
        return (1, 2, f"der {german_ordinal(value).capitalize()}")
    return (1, 2, german(value)) if len(match[3]) > 1 else None


def _dotted(match: re.Match[str], group: int = 0) -> str:
    return " Punkt ".join(number(part) for part in match[group].split("."))


_MONEY = (
    rf"(?P<minus>(?<!\w)[-−])?(?:(?P<sign>[{_SIGNS}]) ?(?P<a>\d+\.\d\d(?!\d)|{_NUMBER})"
    rf"|{_START}(?P<b>\d+\.\d\d(?!\d)|{_NUMBER}) ?(?:(?P<d>Tsd\.|Mio\.|Mrd\.|Millionen?|Milliarden?|tausend) )?"
    rf"(?P<code>[{_SIGNS}]|(?:EUR|USD|GBP|JPY|CHF)\b))"
)
_BEFORE = rf"(?:\b({_WEAK}|der|die|das)( (?:\w+tag, (?:den )?)?))?"
# An ordinal with the conjunction that joins the next one to it: "am 1. Mai und ".
_JOINED = re.compile(
    rf"(?:\b(?P<before>(?i:{_WEAK}|der|die|das)) (?:\w+tag, (?:den )?)?)?(?<![\d.])\d{{1,4}}\.(?:\d{{1,2}}\.)?"
    rf"(?: ?(?:{_MONTH}))?(?: ?\d{{4}})?(?: [A-ZÄÖÜ][a-zäöüß]+)?(?:,? (?:und|oder|sowie|bis|bzw\.)|,| ?[–/-]) ?$"
)
MOST_JOINED = 8
"""Ordinals in one series."""
FARTHEST = 60
"""Characters searched before an ordinal for the one it is joined to."""

RULES: list[Rule] = [
    (re.compile(rf"{_START}\d{{1,3}}(?:\.\d{{1,3}}){{3}}(?![\w.]*\d)"), _dotted),
    (
        re.compile(rf"(?i:{_BEFORE})(?<![\d.])(\d{{1,2}})\.(\d{{1,2}})\.(\d{{4}}|\d\d)?(?![\d.])"),
        _dotted_date,
    ),
    (re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){2,5}\b(?!\.\d)(?<!\.\d{3}\.\d{3})"), _dotted),
    (re.compile(r"(?<![\w.])[vV](\d+(?:\.\d+)*)\b"), lambda match: f"Version {_dotted(match, 1)}"),
    (re.compile(r"\b(\d{4})-(\d\d)-(\d\d)\b"), lambda match: _date(match[3], match[2], match[1], None)),
    (re.compile(rf"(?i:{_BEFORE})\b(\d{{1,2}})\. ?({_MONTH})(?!\w)(?: (\d{{4}})\b)?"), _named_date),
    (
        re.compile(
            rf"(?i:{_BEFORE})(?<![\d.])(\d{{1,2}})\. ?([–/-]) ?(?=[a-zäöüß]+(?:er|en|e) (?:{'|'.join(MONTHS['de'])}))"
        ),
        _first_of_days,
    ),
    (re.compile(r"(?<![\d:])(\d{1,2}):(\d\d)(?::(\d\d))?(?![:\d])(?: Uhr\b)?"), _time),
    (re.compile(r"\b1 Uhr\b"), "ein Uhr"),
    (
        re.compile(
            r"(?<!\d)(?:\+\d[\d ()/-]{5,20}\d|\(0\d{2,5}\)[\d /-]{4,16}\d|\b0\d{2,5}[ /-]\d[\d /-]{2,14}\d\b)"
        ),
        lambda match: _telephone(match[0]),
    ),
    (re.compile(rf"(?<![A-Za-z0-9.,/])({_NUMBER}) ?({_POWERED})(?!\w)"), _measured),
    *powers("de"),
    (re.compile(rf"{_START}{_MINUS}({_NUMBER}) ?({_AFTER})( ?[–-] ?)(?=({_NUMBER}) ?\3(?![\w²³/]))"), _range),
    (re.compile(rf"{_START}({_NUMBER}) ?({_UNIT})[–-](?={_NUMBER} ?(?:{_UNIT})(?![\w²³/]))"), _range_of_two),
    (re.compile(_MONEY), _money),
    (
        re.compile(rf"{_START}{_MINUS}(\d[\d.,]*) ?[–-] ?(?={_NUMBER} ?(?:{_UNIT}|[{_SIGNS}]|[kKM])(?!\w))"),
        _range_of_numbers,
    ),
    (re.compile(rf"(?<![\w.,/])({_NUMBER}) ?([kKmM])(?= {countable_pattern('de')})"), _scaled),
    (
        re.compile(r"(?<![\w.])((?:1[1-9]|20)\d\d) ?[–-] ?((?:1[1-9]|20)\d\d)(?![\w-])"),
        lambda match: f"{_year(match[1])} bis {_year(match[2])}",
    ),
    (re.compile(rf"(?<![\w%‰°{_SIGNS})])[-−](?={_NUMBER})"), "minus "),
    (re.compile(rf"(?<![A-Za-z0-9.,/])({_NUMBER}) ?({_UNIT})(?![\w²³/])"), _measured),
    (re.compile(rf"(?i:{_BEFORE})(?<![\w.,])(\d{{1,4}})\.(?= [A-Za-zÄÖÜäöü])"), _ordinal),
    (re.compile(r"(?<![\w/.,])(?:(\d{1,9}) )?(\d{1,3})/(\d{1,3})(?![\w/]|[.,]\d)"), _fraction),
    (re.compile(rf"(\d{{1,9}})? ?([{''.join(FRACTIONS)}])"), _glyph),
    (re.compile(r"\b((?:1[1-9]|20)\d0|\d0)er\b"), lambda match: number(match[1]) + "er"),
    (re.compile(r"\b([A-ZÄÖÜ][a-zäöüß]+)( )([IVX]+)\b(?:\.(?= [a-zäöü]))?"), _roman),
    (re.compile(r"\bNr\. ?(?=\d)|#(?=\d)"), "Nummer "),
    (re.compile(r"(\d) ?[×x*·] ?(?=\d)"), (1, " mal ")),
    (re.compile(r"(\d) ?: ?(?=\d)"), (1, " zu ")),
    (
        re.compile(r"(?<!\d)(\d+) ?– ?(?=\d)|(?<![\w-])(\d+)-(?=\d+(?![\w-]))"),
        lambda match: (1 if match[1] else 2, " bis "),
    ),
    (re.compile(r"(\d)( ?)[-−] (?=\d)"), (1, " minus ")),
    (re.compile(r"([A-Za-zÄÖÜäöüß])-?(?=\d)"), (1, " ")),
    (re.compile(r"(\d)-?(?=[A-Za-zÄÖÜäöü])"), (1, " ")),
    (re.compile(r"(?<![\w.,])\d{1,3}(?:\.\d{3})+(?:,\d+)?(?![\d.])"), lambda match: number(match[0])),
    (re.compile(r"(\d)\.(?=\d)"), (1, " Punkt ")),
    (re.compile(_NUMBER), lambda match: number(match[0])),
]
SIGNS: list[Rule] = [
    (re.compile(r"\bz\. ?B\."), "zum Beispiel"),
    (re.compile(r"\bd\. ?h\."), "das heißt"),
    (re.compile(r"\bu\. ?a\."), "unter anderem"),
    (re.compile(r"\bbzw\."), "beziehungsweise"),
    (re.compile(r"\bca\."), "circa"),
    (re.compile(r"\busw\.(?= \w)"), "und so weiter"),
    (re.compile(r"\busw\."), "und so weiter."),
    (re.compile(r"\bC\+\+"), "C plus plus"),
    (re.compile(r"\b([CF])#"), (1, " sharp")),
    (re.compile(r"\s?≤\s?|\s?<=\s?"), " höchstens "),
    (re.compile(r"\s?≥\s?|\s?>=\s?"), " mindestens "),
    (re.compile(r"\s?≠\s?|\s?!=\s?"), " ungleich "),
    (re.compile(r"\s?≈\s?|~(?=\w)"), " etwa "),
    (re.compile(r"\s?±\s?"), " plus minus "),
    (re.compile(r"\s?×\s?|(?<=\w) [*·] (?=\w)"), " mal "),
    (re.compile(r"\s?÷\s?"), " geteilt durch "),
    (re.compile(r" ?(?:->|=>|→|⇒) ?"), ", "),
    (re.compile(r"\s?={1,3}\s?"), " gleich "),
    (re.compile(r"(?<=\w) < (?=\w)|<(?=\d)"), " kleiner als "),
    (re.compile(r"(?<=\w) > (?=\w)|>(?=\d)"), " größer als "),
    (re.compile(r"\s?\+\s?"), " plus "),
    (re.compile(r"√"), " Wurzel aus "),
    (re.compile(r"π"), " Pi "),
    (re.compile(r"∞"), " unendlich "),
    (re.compile(r"°"), " Grad "),
    (re.compile(r"§+ ?"), " Paragraph "),
    (re.compile(r"\s?&\s?"), " und "),
    (re.compile(r"\s?%"), " Prozent"),
    (re.compile(r"©"), " Copyright "),
    (re.compile(r"\$"), " Dollar "),
    (re.compile(r"€"), " Euro "),
    (re.compile(r"£"), " Pfund "),
]

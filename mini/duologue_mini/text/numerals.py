"""English numbers, times, prices and dates in words, as they are read aloud or typed by some users."""
# ruff: noqa: SIM905 (word lists read better as running text)

from random import Random

from duologue_mini.text.words import NUMBERS, TENS

ORDINALS = (
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth"
    " fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
).split()
SCALES = [(1_000_000_000, "billion"), (1_000_000, "million"), (1_000, "thousand")]
DIGITS = NUMBERS[:10]


def in_words(number: int) -> str:
    """A whole number below a thousand billion in words."""
    if number < 0:
        return "minus " + in_words(-number)
    for scale, name in SCALES:
        if number >= scale:
            rest = number % scale
            return f"{in_words(number // scale)} {name}" + (f" {in_words(rest)}" if rest else "")
    if number >= 100:
        hundreds, rest = divmod(number, 100)
        return f"{NUMBERS[hundreds]} hundred" + (f" {in_words(rest)}" if rest else "")
    if number <= 20:
        return NUMBERS[number]
    tens, ones = divmod(number, 10)
    return TENS[tens] + (f"-{NUMBERS[ones]}" if ones else "")


def typed_in_words(random: Random, number: int) -> str:
    """The same as users type it: with or without "and" and hyphens."""
    text = in_words(number)
    if random.random() < 0.5:
        text = text.replace("hundred ", "hundred and ", 1)
    return text.replace("-", " ") if random.random() < 0.3 else text


def ordinal(number: int) -> str:
    """First, second, .. up to ninety-ninth, in words."""
    if number <= 20:
        return ORDINALS[number]
    tens, ones = divmod(number, 10)
    return f"{TENS[tens]}-{ORDINALS[ones]}" if ones else TENS[tens][:-1] + "ieth"


def time_in_words(hour: int, minute: int) -> str:
    """A clock time: nine thirty, ten o'clock, seven oh five."""
    if minute == 0:
        return f"{in_words(hour)} o'clock" if 1 <= hour <= 12 else f"{in_words(hour)} hundred hours"
    return f"{in_words(hour)} {'oh ' if minute < 10 else ''}{in_words(minute)}"


def year_in_words(year: int) -> str:
    """A year: nineteen eighty-four, two thousand six."""
    century, rest = divmod(year, 100)
    if 2000 <= year <= 2009 or rest == 0:
        return in_words(year) if century % 10 == 0 else f"{in_words(century)} hundred"
    return f"{in_words(century)} {'oh ' if rest < 10 else ''}{in_words(rest)}"


def digit_by_digit(text: str) -> str:
    """The digits of a code, one by one."""
    return " ".join(DIGITS[int(letter)] if letter.isdigit() else letter for letter in text)

"""Ranges of numbers as the right sides of GBNF rules. Called by `schema_grammar`.

Whole numbers have at most 16 digits. Numbers in a range are written without an exponent, and with at most 12 digits more behind
the point than the range's bounds have.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

LARGEST = 10**16 - 1
MORE = 12
"""Digits behind the point that may follow those of a bound."""
_TAIL = f"[0-9]{{0,{MORE}}}"
_POSITIVE_TAIL = f"[0-9]{{0,{MORE - 1}}} [1-9]"


def integer_range(low: int | None, high: int | None) -> str:
    """The whole numbers from `low` to `high`, both included; None is no bound. "" if there are none."""
    least = max(-LARGEST if low is None else low, -LARGEST)
    most = min(LARGEST if high is None else high, LARGEST)
    parts: list[str] = []
    if least < 0 and least <= most:
        parts.append(f'"-" ({_either(_naturals(max(-most, 1), -least))})')
    if most >= 0 and least <= most:
        parts += _naturals(max(least, 0), most)
    return _either(parts)


def number_range(
    low: Decimal | None, high: Decimal | None, *, above: bool = False, below: bool = False
) -> str:
    """The numbers from `low` to `high`; `above` and `below` leave out the bound itself. "" if there are none."""
    least = Decimal(-LARGEST) if low is None else low
    most = Decimal(LARGEST) if high is None else high
    parts: list[str] = []
    if least < 0:
        closed = most < 0 and not below
        if negative := _either(_positives(max(-most, Decimal(0)), -least, above=not closed, below=above)):
            parts.append(f'"-" ({negative})')
    if most >= 0:
        parts += _positives(max(least, Decimal(0)), most, above=above and least >= 0, below=below)
    return _either(parts)


def _either(parts: list[str]) -> str:
    return " | ".join(parts)


def _naturals(low: int, high: int) -> list[str]:
    """Numbers from 0 up, one length of them after another."""
    parts = []
    for length in range(len(str(low)), len(str(high)) + 1):
        least, most = max(low, 10 ** (length - 1) if length > 1 else 0), min(high, 10**length - 1)
        if least <= most:
            parts += _between(str(least), str(most))
    return parts


def _between(low: str, high: str) -> list[str]:
    """Texts of digits, as long as both bounds."""
    if low == high:
        return [f'"{low}"'] if low else ['""']
    if set(low) == {"0"} and set(high) == {"9"}:
        return [_any_digits(len(low))]
    first, last = low[0], high[0]
    if first == last:
        return [_after(first, _between(low[1:], high[1:]))]
    rest = len(low) - 1
    parts = []
    if low[1:].strip("0"):
        parts.append(_after(first, _between(low[1:], "9" * rest)))
        first = chr(ord(first) + 1)
    top = ""
    if high[1:].strip("9"):
        top = _after(last, _between("0" * rest, high[1:]))
        last = chr(ord(last) - 1)
    if first <= last:
        digits = f'"{first}"' if first == last else f"[{first}-{last}]"
        parts.append(f"{digits} {_any_digits(rest)}".strip())
    return [*parts, top] if top else parts


def _after(digit: str, rest: list[str]) -> str:
    return f'"{digit}" ({_either(rest)})' if rest != ['""'] else f'"{digit}"'


def _any_digits(count: int) -> str:
    return "" if count == 0 else "[0-9]" if count == 1 else f"[0-9]{{{count}}}"


def _positives(low: Decimal, high: Decimal, *, above: bool, below: bool) -> list[str]:
    """Numbers from 0 up: whole parts strictly between those of the bounds, and fractions behind these two."""
    if low > high or (low == high and (above or below)):
        return []
    (first, start), (last, end) = _split(low), _split(high)
    if first == last:
        fractions = _fractions(start, end, above=above, below=below)
        return [f'"{first}" ({_either(fractions)})'] if fractions else []
    parts = [f'"{first}" ({_either(list(_at_least(start, above=above)))})']
    if last - first > 1:
        parts.append(f'({integer_range(first + 1, last - 1)}) ("." [0-9] {_TAIL})?')
    if most := list(_at_most(end, below=below)):
        parts.append(f'"{last}" ({_either(most)})')
    return parts


def _split(number: Decimal) -> tuple[int, str]:
    """The whole part, and the digits behind the point."""
    whole, _, digits = f"{number:f}".partition(".")
    return int(whole), digits.rstrip("0")


def _at_least(digits: str, *, above: bool) -> Iterator[str]:
    """What may stand behind a whole part so that the fraction is at least that of these digits."""
    if not digits:
        yield f'"." {_POSITIVE_TAIL}' if above else f'("." [0-9] {_TAIL})?'
        return
    for at, digit in enumerate(digits):
        if digit < "9":
            yield f'".{digits[:at]}" [{chr(ord(digit) + 1)}-9] {_TAIL}'
    yield f'".{digits}" {_POSITIVE_TAIL if above else _TAIL}'


def _at_most(digits: str, *, below: bool) -> Iterator[str]:
    if not digits:
        if not below:
            yield '".0"?'
        return
    yield '""'
    for at, digit in enumerate(digits):
        if at:
            yield f'".{digits[:at]}"'
        if digit > "0":
            yield f'".{digits[:at]}" [0-{chr(ord(digit) - 1)}] {_TAIL}'
    if not below:
        yield f'".{digits}"'


def _fractions(start: str, end: str, *, above: bool, below: bool) -> list[str]:
    """Fractions between two of the same whole part."""
    length = max(len(start), len(end))
    low, high = start.ljust(length, "0"), end.ljust(length, "0")
    parts = [] if start or above else ['""']
    for size in range(1, length):  # with fewer digits
        least = int(low[:size]) + bool(low[size:].strip("0") or (above and low[:size] == start))
        most = int(high[:size]) - (below and high[:size] == end)
        parts += [f'"." ({_either(_between(*_padded(least, most, size)))})'] if least <= most else []
    if not length:
        return [*parts, '".0"'] if parts else parts
    inner = (int(low) + 1, int(high) - 1)
    if inner[0] <= inner[1]:
        parts.append(f'"." ({_either(_between(*_padded(*inner, length)))}) {_TAIL}')
    if low != high:
        parts.append(f'".{low}" {_POSITIVE_TAIL if above else _TAIL}')
    if not below:
        parts.append(f'".{high}"')
    return parts


def _padded(low: int, high: int, size: int) -> tuple[str, str]:
    return str(low).rjust(size, "0"), str(high).rjust(size, "0")

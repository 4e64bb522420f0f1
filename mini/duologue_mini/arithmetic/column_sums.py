"""Sums in a fixed scheme: column by column in a thought, part by part in an answer without one.

Addition, subtraction, small products and comparisons of up to three digits. Used by the skill `arithmetic` and by short
exchanges. Every line is computed, never drawn.
"""

COLUMNS = ["ones", "tens", "hundreds", "thousands"]
SIGN_SHOWN = {"+": "+", "-": "-", "*": "×"}


def value(a: int, sign: str, b: int) -> int:
    """The result of the sum."""
    return a + b if sign == "+" else a - b if sign == "-" else a * b


def equation(a: int, sign: str, b: int) -> str:
    """`a + b = c`."""
    return f"{a} {SIGN_SHOWN[sign]} {b} = {value(a, sign, b)}"


def thought(a: int, sign: str, b: int) -> list[str]:
    """The lines of a thought, the equation last; a single line for a sum that needs no steps."""
    if sign == "*":
        return [*_parts(a, b), equation(a, sign, b)]
    if max(a, b) < 10 or (sign == "+" and min(a, b) == 0) or b == 0:
        return [equation(a, sign, b)]
    if sign == "+":
        return [f"{a} + {b}", *_adding(a, b), equation(a, sign, b)]
    if a >= b:
        return [f"{a} - {b}", *_taking(a, b), equation(a, sign, b)]
    start = f"{a} - {b}\n{b} is larger, so it is below zero: {b} - {a}"
    return [start, *_taking(b, a), equation(b, "-", a), equation(a, sign, b)]


def _digits(number: int, count: int) -> list[int]:
    return [number // 10**place % 10 for place in range(count)]


def _adding(a: int, b: int) -> list[str]:
    count = len(str(max(a, b)))
    lines, carry = [], 0
    for place, (top, bottom) in enumerate(zip(_digits(a, count), _digits(b, count), strict=True)):
        total = top + bottom + carry
        line = f"{COLUMNS[place]}: {top} + {bottom}" + (" + 1" if carry else "") + f" = {total}"
        carry = total // 10 if place < count - 1 else 0
        lines.append(f"{line}, write {total % 10}, carry 1" if carry else f"{line}, write {total}")
    return lines


def _taking(a: int, b: int) -> list[str]:
    """Subtraction with a >= b."""
    count = len(str(a))
    lines, carry = [], 0
    for place, (top, bottom) in enumerate(zip(_digits(a, count), _digits(b, count), strict=True)):
        less = f"{bottom}" + (" - 1" if carry else "")
        short = top < bottom + carry
        left = top - bottom - carry + (10 if short else 0)
        top_digit = f"borrow, 1{top}" if short else f"{top}"
        lines.append(f"{COLUMNS[place]}: {top_digit} - {less} = {left}" + (", owe 1" if short else ""))
        carry = int(short)
    return lines


def _parts(a: int, b: int) -> list[str]:
    """A product of a two-digit and a one-digit number, in parts; no lines for one of the multiplication table."""
    large, small = max(a, b), min(a, b)
    if large <= 12 or small <= 1 or large % 10 == 0 or small == 10 or large >= 100:
        return []
    tens, ones = large // 10 * 10, large % 10
    return [
        f"{tens} × {small} = {tens * small}",
        f"{ones} × {small} = {ones * small}",
        f"{tens * small} + {ones * small} = {large * small}",
    ]


def spoken_equations(a: int, sign: str, b: int) -> list[str]:
    """The equations of an answer without a thought.

    One equation if both numbers have up to two digits or one of them has a single digit, otherwise part by part.
    """
    if sign == "*":
        return [*_parts(a, b), equation(a, sign, b)]
    if sign == "-" and a < b:
        steps = spoken_equations(b, "-", a)
        return [equation(a, sign, b)] if len(steps) == 1 else [*steps, equation(a, sign, b)]
    if max(a, b) < 100 or min(a, b) < 10:
        return [equation(a, sign, b)]
    large, small = (max(a, b), min(a, b)) if sign == "+" else (a, b)
    steps, total = [], large
    for place in (100, 10, 1):
        part = small // place % 10 * place
        if part:
            steps.append(equation(total, sign, part))
            total = value(total, sign, part)
    return steps if len(steps) == 1 and large == a else [*steps, equation(a, sign, b)]


def sentence(a: int, sign: str, b: int) -> str:
    """The same as running text that ends in the equation."""
    *steps, last = spoken_equations(a, sign, b)
    return f"{', '.join(steps)}. So {last}." if steps else f"{last}."


def comparing(a: int, b: int) -> str:
    """Why one of two numbers is larger: by length, or by the first digit that differs."""
    first, second = str(a), str(b)
    if a == b:
        return f"{a} and {b} are the same"
    if len(first) != len(second):
        return f"{a} has {_many(len(first))}, {b} has {_many(len(second))}: {max(a, b)} is larger"
    seen = []
    for place, (one, other) in enumerate(zip(first, second, strict=True)):
        column = COLUMNS[len(first) - 1 - place]
        if one != other:
            seen.append(f"{column} {one} and {other}")
            break
        seen.append(f"{column} {one} and {other}, the same")
    return f"{', '.join(seen)}: {max(a, b)} is larger"


def _many(count: int) -> str:
    return "1 digit" if count == 1 else f"{count} digits"

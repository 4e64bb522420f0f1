"""The built-in calculator: exact arithmetic with limits on size and time.

Evaluates Python's expression grammar, restricted to numbers, operators and the functions and constants listed here;
no other names, attributes or function calls. Arithmetic is exact: 0.1 + 0.2 is 0.3.
"""

from __future__ import annotations

import ast
import decimal
import math
import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

from duologue.errors import BadRequest

LONGEST = 1000
DIGITS = 1000
"""Maximum digits of a number, before or after the decimal point."""
SHOWN = 20
"""Decimal places shown of a number without a finite decimal expansion."""
EXACT = 40
"""Maximum decimal places of a finite number shown in full."""
PRECISION = 60
NODES = 200

Number = Fraction | Decimal
# The precision of roots and logarithms; everything else is exact.
CONTEXT = decimal.Context(
    prec=PRECISION, Emax=10_000, Emin=-10_000, traps=[decimal.InvalidOperation, decimal.Overflow]
)
CONSTANTS = {
    "pi": Decimal("3.14159265358979323846264338327950288419716939937511"),
    "e": Decimal("2.71828182845904523536028747135266249775724709369996"),
}


def calculate(expression: str) -> str:
    """The value of `expression` in decimal. Raises BadRequest (bad_expression) with the reason."""
    try:
        text = _normalize(expression)
        return _format(_evaluate(_parse(text), text))
    except ZeroDivisionError:
        raise _bad("Division by zero") from None
    except (decimal.InvalidOperation, ValueError):
        raise _bad("The expression has no real value") from None
    except (decimal.Overflow, OverflowError, RecursionError, MemoryError):
        raise _bad("The result is too large") from None


def _bad(reason: str) -> BadRequest:
    return BadRequest(f"{reason}.", code="bad_expression")


def _normalize(expression: str) -> str:
    """Convert common notation to Python's: × and ÷, ^, √, 5!, 20%, 1,234,567."""
    if len(expression) > LONGEST:
        raise _bad(f"The expression is longer than {LONGEST:,} characters")
    text = " ".join(expression.split()).rstrip("= ")
    for symbol, operator in (("×", "*"), ("·", "*"), ("÷", "/"), ("−", "-"), ("^", "**"), ("π", "pi")):
        text = text.replace(symbol, operator)
    text = re.sub(r"√\s*(\d+(?:\.\d+)?)", r"sqrt(\1)", text).replace("√", "sqrt")
    text = re.sub(r"\b(\d+)!", r"factorial(\1)", text)
    text = re.sub(r"(\d+(?:\.\d+)?)\s*%(?!\s*[\w(.])", r"(\1/100)", text)
    # With functions, commas separate arguments: max(1,234) has two.
    if not re.search(r"[a-z]\s*\(", text):
        text = re.sub(
            r"(?<![\w.,])\d{1,3}(?:,\d{3})+(?![\d,])", lambda match: match[0].replace(",", ""), text
        )
    return text


def _parse(text: str) -> ast.expr:
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _bad(
            "This is not an arithmetic expression; use numbers, + - * / // % ** ( ) and functions"
        ) from None
    if sum(1 for _ in ast.walk(tree)) > NODES:
        raise _bad("The expression has too many parts")
    return tree.body


def _evaluate(node: ast.expr, text: str) -> Fraction:
    match node:
        case ast.Constant(value=bool() | complex() | str() | bytes() | None):
            raise _bad(f"{ast.unparse(node)} is not a number")
        case ast.Constant(value=int() as whole):
            return _check_size(Fraction(whole))
        case ast.Constant(value=float()):
            return _literal(ast.get_source_segment(text, node) or "")
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return -_evaluate(inner, text)
        case ast.UnaryOp(op=ast.UAdd(), operand=inner):
            return _evaluate(inner, text)
        case ast.BinOp(left=left, op=operator, right=right):
            return _check_size(_binary(operator, _evaluate(left, text), _evaluate(right, text)))
        case ast.Name(id=name) if name in CONSTANTS:
            return Fraction(CONSTANTS[name])
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in FUNCTIONS:
            return _check_size(_apply(name, [_evaluate(arg, text) for arg in args]))
    functions = ", ".join(sorted(FUNCTIONS))
    raise _bad(f"{ast.unparse(node)[:60]!r} is not supported; use + - * / // % ** and {functions}, pi, e")


def _literal(text: str) -> Fraction:
    # Parsed from the source text: a float keeps only about seventeen digits.
    value = Decimal(text.replace("_", ""))
    if abs(value.adjusted()) > DIGITS:
        raise _bad(f"A number has more than about {DIGITS:,} digits")
    return Fraction(value)


def _binary(operator: ast.operator, left: Fraction, right: Fraction) -> Fraction:
    match operator:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult():
            return left * right
        case ast.Div():
            return left / right
        case ast.FloorDiv():
            return Fraction(left // right)
        case ast.Mod():
            return left % right
        case ast.Pow():
            return _power(left, right)
    raise _bad("This operator is not supported; use + - * / // % **")


def _power(base: Fraction, exponent: Fraction) -> Fraction:
    if exponent.denominator != 1:
        if base < 0:
            raise _bad("A negative number has no such real root")
        if base == 0 and exponent < 0:
            raise ZeroDivisionError
        return Fraction(CONTEXT.power(_decimal(base), _decimal(exponent)))
    power = int(exponent)
    size = max(abs(base.numerator).bit_length(), base.denominator.bit_length())
    if abs(base.numerator) > 1 or base.denominator > 1:
        if abs(power) * size > DIGITS * 4:
            raise _bad(f"The result would have more than about {DIGITS:,} digits")
    elif abs(power) > 10**6:
        power = power % 2 or 2
    return base**power


def _decimal(value: Fraction) -> Decimal:
    return CONTEXT.divide(Decimal(value.numerator), Decimal(value.denominator))


def _check_size(value: Fraction) -> Fraction:
    if max(abs(value.numerator), value.denominator).bit_length() > DIGITS * 4:
        raise _bad(f"A number has more than about {DIGITS:,} digits")
    return value


def _round(value: Fraction, places: Fraction = Fraction(0)) -> Fraction:
    if places.denominator != 1 or abs(places) > SHOWN:
        raise _bad(f"round() takes a whole number of places, up to {SHOWN}")
    # Half away from zero, the common convention; Python rounds half to even.
    scale = Fraction(10) ** int(places)
    half = Fraction(1, 2) if value >= 0 else Fraction(-1, 2)
    scaled = value * scale + half
    return Fraction(int(scaled)) / scale


def _factorial(value: Fraction) -> Fraction:
    if value.denominator != 1 or not 0 <= value <= 400:
        raise _bad("factorial() takes a whole number from 0 to 400")
    product = 1
    for factor in range(2, int(value) + 1):
        product *= factor
    return Fraction(product)


def _root(value: Fraction) -> Fraction:
    if value < 0:
        raise _bad("A negative number has no real square root")
    above, below = math.isqrt(value.numerator), math.isqrt(value.denominator)
    if above * above == value.numerator and below * below == value.denominator:
        return Fraction(above, below)
    return Fraction(CONTEXT.sqrt(_decimal(value)))


def _logarithm(value: Fraction, base: Fraction | None = None) -> Fraction:
    natural = CONTEXT.ln(_decimal(value))
    if base is None:
        return Fraction(natural)
    return Fraction(CONTEXT.divide(natural, CONTEXT.ln(_decimal(base))))


def _integer_function(function: Callable[..., int]) -> Callable[..., Fraction]:
    def apply(*values: Fraction) -> Fraction:
        if any(value.denominator != 1 for value in values):
            raise _bad("gcd() and lcm() take whole numbers")
        return Fraction(function(*(int(value) for value in values)))

    return apply


# name -> (the function, the least and the most arguments)
FUNCTIONS: dict[str, tuple[Callable[..., Fraction], int, int]] = {
    "abs": (abs, 1, 1),
    "round": (_round, 1, 2),
    "floor": (lambda value: Fraction(value.__floor__()), 1, 1),
    "ceil": (lambda value: Fraction(value.__ceil__()), 1, 1),
    "min": (min, 2, 50),
    "max": (max, 2, 50),
    "sum": (lambda *values: sum(values, Fraction(0)), 1, 50),
    "mean": (lambda *values: sum(values, Fraction(0)) / len(values), 1, 50),
    "sqrt": (_root, 1, 1),
    "ln": (_logarithm, 1, 1),
    "log": (lambda value, base=Fraction(10): _logarithm(value, base), 1, 2),
    "log2": (lambda value: _logarithm(value, Fraction(2)), 1, 1),
    "log10": (lambda value: _logarithm(value, Fraction(10)), 1, 1),
    "exp": (lambda value: Fraction(CONTEXT.exp(_decimal(value))), 1, 1),
    "factorial": (_factorial, 1, 1),
    "gcd": (_integer_function(math.gcd), 2, 50),
    "lcm": (_integer_function(math.lcm), 2, 50),
}


def _apply(name: str, values: list[Fraction]) -> Fraction:
    function, least, most = FUNCTIONS[name]
    if not least <= len(values) <= most:
        expected = str(least) if least == most else f"{least} to {most}"
        raise _bad(f"{name}() takes {expected} numbers, separated by commas")
    return function(*values)


def _format(value: Fraction) -> str:
    if value.denominator == 1:
        return str(value.numerator)
    whole = len(str(abs(value.numerator) // value.denominator))
    rest, places = value.denominator, 0
    for prime in (2, 5):
        count = 0
        while rest % prime == 0:
            rest //= prime
            count += 1
        places = max(places, count)
    # Infinite expansions are cut, and so are roots and logarithms, of which only PRECISION digits are correct.
    digits = places if rest == 1 and places <= EXACT else SHOWN
    context = decimal.Context(prec=whole + digits)
    text = format(context.divide(Decimal(value.numerator), Decimal(value.denominator)), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text

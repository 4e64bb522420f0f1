"""Words, numbers and escapes of Python and JSON literals as JSON text.

Used by `arguments_scanner.py`. Digits are copied, never parsed to a float; only notations that JSON lacks are rewritten.
"""

from __future__ import annotations

import json
import re
from typing import Literal

_WORDS = {
    "True": "true",
    "true": "true",
    "False": "false",
    "false": "false",
    "None": "null",
    "null": "null",
    "none": "null",
}
_DIGITS = r"[0-9](?:_?[0-9])*"
_DECIMAL = re.compile(rf"([+-]?)({_DIGITS})?(?:(\.)({_DIGITS})?)?(?:[eE]([+-]?)({_DIGITS}))?\Z")
_BASES = re.compile(r"([+-]?)0(?:[xX]((?:_?[0-9a-fA-F])+)|[oO]((?:_?[0-7])+)|[bB]((?:_?[01])+))\Z", re.ASCII)
_MOST_DIGITS = 1000
"""Of a number in another base, which has to be converted: Python refuses very long ones."""

_SIMPLE = {**{char: "\\" + char for char in 'nrtbf\\"/'}, "'": "'", "\n": "", "a": "\\u0007", "v": "\\u000b"}
_OCTAL = re.compile(r"[0-7]{1,3}")
_LENGTHS = {"x": 2, "u": 4, "U": 8}
_HEX = re.compile(r"[0-9a-fA-F]*\Z")


def scalar_json(text: str) -> str | None:
    """The JSON of a word or a number; None if it is neither."""
    return _WORDS.get(text) or number_json(text)


def number_json(text: str) -> str | None:
    """A number as JSON: without leading zeros, underscores and other bases. None if it is not one."""
    match = _BASES.match(text)
    if match is not None:
        sign, *bases = match.groups()
        digits, base = next((found, base) for found, base in zip(bases, (16, 8, 2), strict=True) if found)
        if len(digits) > _MOST_DIGITS:
            return None
        return _signed(sign, str(int(digits.replace("_", ""), base)))
    match = _DECIMAL.match(text)
    if match is None or not (match[2] or match[4]):
        return None
    whole = (match[2] or "").replace("_", "").lstrip("0") or "0"
    fraction = f".{(match[4] or '0').replace('_', '')}" if match[3] else ""
    exponent = ""
    if match[6] is not None:
        mark = "e" if "e" in text else "E"
        exponent = f"{mark}{match[5]}{match[6].replace('_', '')}"
    return _signed(match[1], f"{whole}{fraction}{exponent}")


def _signed(sign: str, digits: str) -> str:
    return f"-{digits}" if sign == "-" else digits


def text_json(text: str) -> str:
    """A text as the inside of a JSON string."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


def escape_json(text: str, at: int) -> tuple[str, int] | Literal["more"]:
    """The escape whose backslash is at `at`, as the inside of a JSON string, and where it ends; "more" if the end of the text
    does not tell yet. What Python does not know as an escape is a backslash."""
    if at + 1 >= len(text):
        return "more"
    char = text[at + 1]
    if char in _SIMPLE:
        return _SIMPLE[char], at + 2
    if char in "01234567":
        match = _OCTAL.match(text, at + 1)
        if match is None or (match.end() == len(text) and len(match[0]) < 3):
            return "more"
        return f"\\u{int(match[0], 8):04x}", match.end()
    length = _LENGTHS.get(char)
    if length is not None:
        digits = text[at + 2 : at + 2 + length]
        if _HEX.match(digits):
            if len(digits) < length:
                return "more"
            code = int(digits, 16)
            if code <= 0xFFFF:
                return f"\\u{code:04x}", at + 2 + length
            if code <= 0x10FFFF:
                return chr(code), at + 2 + length
    return "\\\\", at + 1

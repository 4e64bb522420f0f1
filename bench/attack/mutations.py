"""The fuzzer: a real file and a seed in, a damaged file out. Pure and deterministic: the same dice give the same bytes.

Used by `runner` for files and, through `damaged_json`, by `routes` and `frames` for bodies and messages.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

MOST_BYTES = 256 * 1024
"""A mutated file is cut to this: ten thousand of them are sent."""
EXTREMES = (
    0,
    1,
    2,
    0x7F,
    0x80,
    0xFF,
    0x7FFF,
    0x8000,
    0xFFFF,
    0x7FFFFFFF,
    0x80000000,
    0xFFFFFFFF,
    2**63 - 1,
    2**64 - 1,
)


def mutated(data: bytes, dice: Random, tokens: Sequence[bytes] = (), others: Sequence[bytes] = ()) -> bytes:
    """The file after one to four changes."""
    made = bytearray(data)
    for _ in range(dice.choice((1, 1, 2, 2, 3, 4))):
        if not made:
            break
        dice.choice(CHANGES)(made, dice, tokens, others)
    return bytes(made[:MOST_BYTES])


def _flip_bits(data: bytearray, dice: Random, tokens: Sequence[bytes], others: Sequence[bytes]) -> None:
    for _ in range(dice.choice((1, 1, 4, 16))):
        data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)


def _set_bytes(data: bytearray, dice: Random, tokens: Sequence[bytes], others: Sequence[bytes]) -> None:
    at = dice.randrange(len(data))
    data[at : at + dice.choice((1, 2, 4, 8))] = dice.choice((b"\0", b"\xff", b"\x80", b"\x7f")) * dice.choice(
        (1, 2, 4, 8)
    )


def _set_length(data: bytearray, dice: Random, tokens: Sequence[bytes], others: Sequence[bytes]) -> None:
    """An extreme number where a length may be: early in the file most often, of any width and byte order."""
    form = dice.choice((">H", "<H", ">I", "<I", ">I", "<I", ">Q", "<Q"))
    size = struct.calcsize(form)
    value = dice.choice((*EXTREMES, len(data), dice.getrandbits(32))) & ((1 << 8 * size) - 1)
    at = dice.randrange(min(len(data), dice.choice((64, 256, len(data)))))
    data[at : at + size] = struct.pack(form, value)


def _truncate(data: bytearray, dice: Random, tokens: Sequence[bytes], others: Sequence[bytes]) -> None:
    del data[dice.randrange(len(data)) :]


def _remove(data: bytearray, dice: Random, tokens: Sequence[bytes], others: Sequence[bytes]) -> None:
    at = dice.randrange(len(data))
    del data[at : at + dice.choice((1, 3, 16, 200))]


def _repeat(data: bytearray, dice: Random, tokens: Sequence[bytes], others: Sequence[bytes]) -> None:
    at = dice.randrange(len(data))
    piece = bytes(data[at : at + dice.choice((1, 4, 12, 60, 500))])
    data[at:at] = piece * dice.choice((1, 2, 10, 300))


def _insert_token(data: bytearray, dice: Random, tokens: Sequence[bytes], others: Sequence[bytes]) -> None:
    at = dice.randrange(len(data))
    token = dice.choice(tokens) if tokens else dice.randbytes(4)
    end = at + (len(token) if dice.random() < 0.5 else 0)
    data[at:end] = token


def _splice(data: bytearray, dice: Random, tokens: Sequence[bytes], others: Sequence[bytes]) -> None:
    other = dice.choice(others) if others else bytes(data)
    if other:
        at, start = dice.randrange(len(data)), dice.randrange(len(other))
        data[at:] = other[start : start + len(data)]


def _blank(data: bytearray, dice: Random, tokens: Sequence[bytes], others: Sequence[bytes]) -> None:
    at, length = dice.randrange(len(data)), dice.choice((8, 64, 512))
    end = min(len(data), at + length)
    data[at:end] = (b"\0" if dice.random() < 0.5 else b"\xff") * (end - at)


def _append(data: bytearray, dice: Random, tokens: Sequence[bytes], others: Sequence[bytes]) -> None:
    data += dice.randbytes(dice.choice((1, 100, 5000)))


Change = Callable[[bytearray, Random, Sequence[bytes], Sequence[bytes]], None]
CHANGES: tuple[Change, ...] = (
    _flip_bits, _set_bytes, _set_length, _set_length, _truncate, _remove, _repeat, _insert_token, _splice, _blank, _append,
)  # fmt: skip

HOSTILE_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**53 + 1, 2**64, -(2**63), 10**400, 1e308, -0.0, 0.5,
    float("nan"), float("inf"), "", " ", "\0", "\ud800", "a" * 5000, "../../etc/passwd", "' OR 1=1 --", "%s%n{}{{7*7}}",
    "\u202e\u0000\uffff", "🏴" * 50, [], {}, [[]], [None], [[[[[[[[]]]]]]]], {"": {}}, {"__proto__": 1}, ["a"] * 300,
    {"type": "text"}, {"type": "frog"}, "data:image/png;base64,AAAA", "<script>alert(1)</script>", "1e999", "0x10", "-1",
    "NaN", "null", "true", "Ｆｕｌｌ", "ß" * 999,
)  # fmt: skip


def hostile_value(dice: Random) -> Any:
    """A value that no field expects."""
    return dice.choice(HOSTILE_VALUES)


def damaged_json(value: Any, dice: Random, depth: int = 0) -> Any:
    """The value with one or a few of its parts replaced, removed, renamed or repeated."""
    if depth > 6 or dice.random() < 0.25:
        return hostile_value(dice)
    if isinstance(value, dict) and value:
        made = dict(value)
        name = dice.choice(list(made))
        match dice.randrange(5):
            case 0:
                del made[name]
            case 1:
                made[dice.choice(("", "x" * 300, "\0", name + " ", name.upper(), "messages"))] = made.pop(
                    name
                )
            case 2:
                made[f"extra{dice.randrange(99)}"] = hostile_value(dice)
            case _:
                made[name] = damaged_json(made[name], dice, depth + 1)
        return made
    if isinstance(value, list) and value:
        changed = list(value)
        at = dice.randrange(len(changed))
        if dice.random() < 0.3:
            return changed * dice.choice((2, 10, 200))
        changed[at] = damaged_json(changed[at], dice, depth + 1)
        return changed
    return hostile_value(dice)

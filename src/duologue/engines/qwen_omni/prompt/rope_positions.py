"""The positions of tokens for rotary embedding with three axes: time, height and width.

Text and sound go on by one on all three; a picture stands at one time and spans its rows and columns, and what follows begins after
the largest number in it. Kept by each sequence itself: the library's own counter is state of its module, shared by all. Pure. The rule
is that of Qwen2.5-Omni and Qwen3-Omni for pictures and sound that are not of one video.
"""

from __future__ import annotations

from msgspec import Struct


class RopePositions(Struct, frozen=True):
    """Of each token its time, row and column; `next` is where the token behind them goes."""

    times: tuple[int, ...]
    rows: tuple[int, ...]
    columns: tuple[int, ...]
    next: int

    def part(self, start: int, end: int) -> RopePositions:
        """Those of the tokens from `start` to before `end`; `next` as of all."""
        return RopePositions(self.times[start:end], self.rows[start:end], self.columns[start:end], self.next)


def line_positions(start: int, count: int) -> RopePositions:
    """Text or sound of `count` tokens."""
    line = tuple(range(start, start + count))
    return RopePositions(line, line, line, start + count)


def picture_positions(start: int, height: int, width: int) -> RopePositions:
    """A picture of `height` rows of `width` tokens."""
    rows = tuple(start + row for row in range(height) for _ in range(width))
    columns = tuple(start + column for _ in range(height) for column in range(width))
    return RopePositions((start,) * (height * width), rows, columns, start + max(height, width))

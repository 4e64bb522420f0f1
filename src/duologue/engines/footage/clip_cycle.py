"""In which order the frames of a base clip are shown, for ever, and at which rate. Pure.

Used by `clip_store`, `musetalk` and `wan`.
"""

from __future__ import annotations


def cycle(frames: int, *, loops: bool) -> tuple[int, ...]:
    """The frames of a clip in the order in which they are shown again and again. A clip that `loops` ends in its first frame, which is shown
    once; any other goes forth and back, each end twice."""
    if frames < 1:
        raise ValueError("a clip has at least one frame")
    if frames == 1:
        return (0,)
    forth = tuple(range(frames))
    return forth[:-1] if loops else forth + forth[::-1]


def resampled_frames(frames: int, source: int, target: int) -> tuple[int, ...]:
    """Which frames of a clip at `source` frames a second make the same clip at `target`: the nearest ones, with the first and the
    last frame kept."""
    if frames == 1 or source == target:
        return tuple(range(frames))
    # The time between the first and the last frame stays the same.
    wanted = max(2, round((frames - 1) * target / source) + 1)
    return tuple(round(number * (frames - 1) / (wanted - 1)) for number in range(wanted))


def fitted_size(width: int, height: int, *, longest: int, multiple: int) -> tuple[int, int]:
    """Width and height of a picture scaled to `longest` pixels on its longer side, each the nearest multiple of `multiple`."""
    scale = longest / max(width, height)

    def nearest(side: int) -> int:
        return max(multiple, round(side * scale / multiple) * multiple)

    return nearest(width), nearest(height)

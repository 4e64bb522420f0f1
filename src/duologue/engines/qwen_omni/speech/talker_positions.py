"""Where the talker sees what it reads before its first code.

Used by both talkers. It sees tokens where the thinker saw them, and pictures in height and width, but counts from the first that it
reads. Positions are always passed: the library would keep its own count on the model, one for all replies.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from duologue.engines.qwen_omni.thinker_trace import ThinkerTrace


def talker_positions(
    torch: Any, trace: ThinkerTrace, parts: Sequence[tuple[int, int]], more: int, device: Any
) -> Any:
    """[3, 1, n] int64: of the tokens `start` to `end` of each part, one part following the other, and of `more` tokens of text."""
    placed: list[Any] = []
    following = 0
    for start, end in parts:
        if trace.positions is None:
            rows = torch.arange(end - start, device=device)[:, None].expand(-1, 3)
        else:
            rows = trace.positions[start:end].to(device)
            rows = rows - rows[:1].min()
        placed.append(rows + following)
        following += int(rows.max()) + 1
    placed.append(torch.arange(following, following + more, device=device)[:, None].expand(-1, 3))
    return torch.cat(placed).T[:, None].contiguous()


def next_position(torch: Any, position: int, device: Any) -> Any:
    """[3, 1, 1] int64: of one token of text."""
    return torch.full((3, 1, 1), position, dtype=torch.long, device=device)

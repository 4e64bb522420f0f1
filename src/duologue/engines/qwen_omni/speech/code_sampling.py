"""Choosing the next code of speech.

Used by the talkers. The library samples inside its `generate()`, with the state of chance of the whole process; here each
reply has its own (`generator`), so that replies spoken by turns do not change each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from duologue.errors import EngineFailed


class CodeSampling(Struct, frozen=True):
    """As in the library: `temperature` 0 is the likeliest code, `top_k` 0 and `top_p` 1 are all codes."""

    temperature: float = 1.0
    top_k: int = 50
    top_p: float = 1.0
    repetition_penalty: float = 1.0


class CodeSampler:
    """Chooses codes for one reply. `banned`: codes that are no sound; `seen`: those that count as said before the first."""

    def __init__(
        self,
        torch: Any,
        sampling: CodeSampling,
        generator: Any,
        *,
        banned: Any = None,
        seen: Sequence[int] = (),
    ) -> None:
        """`banned` is a tensor of the ids, [k] int64, on the model's device, or None."""
        self._torch, self._sampling, self._generator = torch, sampling, generator
        self._banned = banned
        self._said_first = tuple(seen)
        self._seen: Any = None

    def choose(self, logits: Any) -> int:
        """The next code by its logits, [vocabulary]. Raises EngineFailed where they are not numbers."""
        torch, sampling = self._torch, self._sampling
        scores = logits.float().clone()
        penalty = sampling.repetition_penalty
        if self._seen is None:
            self._seen = torch.zeros(len(scores), dtype=torch.bool, device=scores.device)
            self._seen[list(self._said_first)] = True
        if penalty != 1.0:
            weakened = torch.where(scores < 0, scores * penalty, scores / penalty)
            scores = torch.where(self._seen, weakened, scores)
        if self._banned is not None:
            scores[self._banned] = -torch.inf
        code = int(scores.argmax()) if sampling.temperature == 0 else self._drawn(scores)
        if not bool(torch.isfinite(scores[code])):
            raise EngineFailed("The model's speech went wrong: it is not a number any more. Ask again.")
        self._seen[code] = True
        return code

    def _drawn(self, scores: Any) -> int:
        torch, sampling = self._torch, self._sampling
        count = min(sampling.top_k or len(scores), len(scores))
        best, codes = torch.topk(_numbers(torch, scores / sampling.temperature), count)
        shares = torch.softmax(best, dim=-1)
        # The likeliest codes that have `top_p` together: each whose predecessors have less.
        shares[shares.cumsum(-1) - shares >= sampling.top_p] = 0.0
        if not bool(torch.isfinite(shares).all()):
            return int(codes[0])
        return int(codes[torch.multinomial(shares, 1, generator=self._generator)[0]])


def _numbers(torch: Any, scores: Any) -> Any:
    """What is no number is never drawn."""
    return torch.nan_to_num(scores, nan=-torch.inf, neginf=-torch.inf)

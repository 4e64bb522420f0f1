"""How much of a prompt is read at once, so that one long prompt delays the other users' replies only briefly.

`engine` reads prompts by it. The library evaluates one batch for all slots: a prompt's tokens go first, so another
prompt's first token waits until all of it is read, and every running reply waits for each batch. Read in steps that
take a bounded time, others get their turn after each. Pure: the times are arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

STEP_SECONDS = 0.2
"""How long a step should take while no other slot is busy: a request that arrives in it waits so long."""
SHARED_STEP_SECONDS = 0.05
"""How long a step should take beside other slots, each of which waits for it: about one more first token. With 0.2 s the
others' first token took up to four times as long."""
LEAST = 64
"""Tokens of a step at least: beside four replies, 3,400 tokens took 16.9 s in steps of 64 and 22.3 s in steps of 32."""
FIRST = 256
FIRST_OF_LARGE = 64
"""Tokens of the first step, before any speed was measured; the second is for models that fill a processor."""
WEIGHT = 0.4
"""Weight of the latest step in the moving average of the speed."""
REMEMBERED = 32
"""Prompts."""
BLOCK = 256


class PromptPace:
    """Tokens of a step, by the speed of the steps so far. `batch` is the most; `fixed`: always that, as the operator's
    setting says."""

    def __init__(self, batch: int, *, first: int = FIRST, fixed: bool = False) -> None:
        self._batch, self._fixed = batch, fixed
        self._first = first
        self._speed: float | None = None

    def step(self, is_shared: bool = False) -> int:
        """Tokens of the next step. `is_shared`: other slots are busy."""
        if self._fixed:
            return self._batch
        if self._speed is None:
            return min(self._first, self._batch)
        seconds = SHARED_STEP_SECONDS if is_shared else STEP_SECONDS
        return max(min(LEAST, self._batch), min(self._batch, int(self._speed * seconds)))

    def took(self, tokens: int, seconds: float) -> None:
        """A step of so many new tokens has taken so long. Short ones tell nothing about speed."""
        if tokens < min(LEAST, self._batch) or seconds <= 0:
            return
        speed = tokens / seconds
        self._speed = speed if self._speed is None else (1 - WEIGHT) * self._speed + WEIGHT * speed

    def ends(self, known: int, total: int, is_shared: Callable[[], bool] = lambda: False) -> Iterator[int]:
        """Where each step of a prompt of `total` tokens ends, the last one at `total`. `known` tokens of it are probably
        in the cache: a first step that ended before them would throw the rest away. `is_shared` is asked at each step."""
        end = known
        while total - end > (step := self.step(is_shared())) + LEAST // 2:
            end += step
            yield end
        yield total


class PromptMemory:
    """The prompts that were read lately, each with the number of tokens generated after it: at most `room` tokens in all.

    The library keeps the prompts of other conversations too, as far as its memory goes, and brings back the one that fits.
    """

    def __init__(self, room: int) -> None:
        self._room = room
        self._prompts: tuple[tuple[Sequence[int], int], ...] = ()

    def add(self, tokens: Sequence[int], generated: int = 0) -> None:
        """This prompt was read, and so many tokens generated after it. It replaces the prompts that it continues."""
        kept = [(tokens, generated)]
        room = self._room - len(tokens)
        for prompt, after in self._prompts:
            room -= len(prompt)
            if room < 0 or len(kept) == REMEMBERED:
                break
            if common_prefix(prompt, tokens) < len(prompt):
                kept.append((prompt, after))
        self._prompts = tuple(kept)  # replaced as a whole: several threads read it

    def known(self, tokens: Sequence[int]) -> int:
        """How many of the first `tokens` may be in the cache: an upper bound, as replies are counted and not compared."""
        most = 0
        for prompt, generated in self._prompts:
            common = common_prefix(prompt, tokens)
            most = max(most, common + generated if common == len(prompt) else common)
        return min(most, len(tokens))


def common_prefix(one: Sequence[int], other: Sequence[int]) -> int:
    """How many tokens both begin with. Both are of one type."""
    least = min(len(one), len(other))
    at = 0
    # A slice compares a hundred times faster than a loop.
    while at < least and one[at : at + BLOCK] == other[at : at + BLOCK]:
        at += BLOCK
    while at < least and one[at] == other[at]:
        at += 1
    return min(at, least)

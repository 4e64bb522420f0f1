"""Which codes of speech become sound together, and which samples of that sound are new. Pure.

Used by `reply_speech`. A vocoder that is given a few codes at a time needs some before them, which it has sounded already, and some
models a few after them, or the seams are heard. So each group is a window of codes, of whose sound a part is new. A few samples
after that part are kept, and blended with the same samples of the next window (`fade`).
"""

from __future__ import annotations

from msgspec import Struct


class GroupSize(Struct, frozen=True):
    """`codes` become sound once `ahead` more are there."""

    codes: int
    ahead: int = 0


class GroupRule(Struct, frozen=True):
    """How a vocoder likes its codes.

    `samples` of sound a code; `left` codes before a group that go in with it; the sizes of the `first` groups, and of all `later`
    ones. Windows, and groups after the first ones, begin at a multiple of `block` codes. The sound of a window lacks its last `missing` samples, and
    `fade` samples of one are blended with the next.
    """

    samples: int
    left: int
    first: tuple[GroupSize, ...]
    later: GroupSize
    block: int = 1
    missing: int = 0
    fade: int = 0


class SpeechGroup(Struct, frozen=True):
    """A window of the codes from `begin` to before `end`. Samples `first` to `last` of its sound are new; the first `blend` of them
    are blended with those kept of the group before, and those from `last` to `kept` are kept for the next."""

    begin: int
    end: int
    first: int
    last: int
    kept: int
    blend: int = 0


class SpeechGroups:
    """The groups of one reply, in order. Every sample is in exactly one."""

    def __init__(self, rule: GroupRule) -> None:
        self._rule = rule
        self._number = 0
        self._planned = 0
        self._given = 0
        self._kept = 0

    @property
    def given(self) -> int:
        """The samples in the groups so far."""
        return self._given

    @property
    def oldest(self) -> int:
        """The first code that a later window can have."""
        return self._begin()

    def take(self, codes: int) -> SpeechGroup | None:
        """The next group, where the first `codes` of the reply are enough for it."""
        rule, size = self._rule, self._size()
        target = self._planned + size.codes
        if self._number >= len(rule.first):
            target -= target % rule.block
        end = target + size.ahead
        if codes < end:
            return None
        behind = max(size.ahead * rule.samples, rule.missing + rule.fade)
        group = self._group(end, end * rule.samples - behind, keep=rule.fade)
        self._number += 1
        self._planned = target
        return group

    def finish(self, codes: int) -> SpeechGroup | None:
        """The last group, of a reply of so many codes. None where nothing is left."""
        last = codes * self._rule.samples - self._rule.missing
        if last <= self._given:
            return None
        return self._group(codes, last, keep=0)

    def _size(self) -> GroupSize:
        first = self._rule.first
        return first[self._number] if self._number < len(first) else self._rule.later

    def _begin(self) -> int:
        # The code whose sound comes next: less than planned where the sound of a window lacks its end.
        at = max(0, self._given // self._rule.samples - self._rule.left)
        return at - at % self._rule.block

    def _group(self, end: int, last: int, *, keep: int) -> SpeechGroup:
        begin = self._begin()
        before = begin * self._rule.samples
        blend = min(self._kept, last - self._given)
        group = SpeechGroup(
            begin, end, self._given - before, last - before, last - before + keep, max(0, blend)
        )
        self._given, self._kept = last, keep
        return group

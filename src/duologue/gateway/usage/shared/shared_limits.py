"""The limits of keys while several gateways share a database: what this one may use of them, asked for before it is needed.

The shell around `allotment`: it owns the parts that this gateway holds, when it asks for more, and that it gives back what others need. A request whose
key has enough here begins without waiting; the first one of a key, and one that does not fit any more, wait for one transaction. While the
database cannot be reached, a gateway goes on with what it had last. `UsageMeter` asks `prepare`; `UsageService` runs it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING

import anyio
import anyio.abc
import msgspec
from msgspec import Struct

from duologue.errors import Problem
from duologue.gateway.usage.key_limiter import KeyLimiter, KeyPart, LimitStanding, LimitTime
from duologue.gateway.usage.shared.allotment import Part, PartAsked, PartGranted, allot
from duologue.notifier import Notifier
from duologue.values.cluster.notices import LimitWanted
from duologue.values.usage.key_limits import AppliedLimits
from duologue.values.usage.limit_amounts import NOTHING, LimitAmounts, amounts_of
from duologue.values.usage.usage_counts import day_of

if TYPE_CHECKING:
    from duologue.store.cluster.cluster_link import ClusterLink
    from duologue.store.usage.limit_part_rows import KeyRow, LimitPartRows

log = logging.getLogger(__name__)

RENEW_S = 1.0
"""Seconds between two rounds in which this gateway says what it uses of the keys that it has parts of."""
WAIT_S = 1.5
"""The longest that a request waits for what other gateways hold and do not use."""
AGAIN_S = 0.05
"""Seconds between two looks whether they have given it back."""
REFUSED_S = 0.25
"""Seconds for which a key that has nothing left anywhere is refused without asking again."""
AT_A_TIME = 200
"""Keys of one transaction."""

_decode = msgspec.json.Decoder(dict[str, Part]).decode


class HeldPart(Struct):
    """What this gateway has of a key. `spent`: of the day, in the rows of the usage; `asked`: when, by the limiter's clock; until
    `refused_until` nothing is asked again."""

    grant: PartGranted
    spent: int
    asked: float
    refused_until: float = 0.0
    is_gone: bool = False


class SharedLimits:
    """`limits`: what applies to a key; `unwritten`: its tokens of today that are not in the rows of the usage yet; `gateways`: how many gateways are
    living."""

    def __init__(
        self,
        rows: LimitPartRows,
        link: ClusterLink,
        limiter: KeyLimiter,
        *,
        limits: Callable[[str], AppliedLimits],
        unwritten: Callable[[str], int],
        gateways: Callable[[], int],
        now: Callable[[], LimitTime],
    ) -> None:
        self._rows, self._link, self._limiter = rows, link, limiter
        self._limits, self._unwritten, self._gateways, self._now = limits, unwritten, gateways, now
        self._held: dict[str, HeldPart] = {}
        self._asking: dict[str, anyio.Event] = {}
        self._pressed: set[str] = set()
        self._news = Notifier()
        self._outage = self._leaves = False
        self._was_needed = False
        link.notices.on(LimitWanted, lambda notice: self._press(notice.key))

    @property
    def is_needed(self) -> bool:
        """Whether there has ever been another gateway. From then on the day's use of each key is counted from the database."""
        self._was_needed = self._was_needed or self._gateways() > 1
        return self._was_needed

    # ---- what requests ask

    def part(self, key: str) -> KeyPart | None:
        """What this gateway may use of the limits of a key; None where it has them alone."""
        if not self.is_needed:
            return None
        held = self._held.get(key)
        if held is None:
            return KeyPart(NOTHING, self._unwritten(key))
        limits, now = amounts_of(self._limits(key)), self._now()
        age = now.seconds - held.asked
        reset = min((ms / 1000 - age for ms in held.grant.resets if ms / 1000 > age), default=0.0)
        spent = held.spent + self._unwritten(key)
        return KeyPart(
            held.grant.allowed,
            self._unwritten(key),
            reset,
            bool(limits.tokens_today) and spent >= limits.tokens_today,
        )

    async def prepare(self, key: str, tokens: int) -> None:
        """Have what a request of so many tokens needs, if there is that much: from the others, where they have it and do not use it. What the
        limiter says afterwards is the answer."""
        limits = self._limits(key)
        if not self.is_needed or amounts_of(limits).is_empty:
            return
        has_told = False
        with anyio.move_on_after(WAIT_S):
            while self._is_short(key, limits, tokens):
                held = self._held.get(key)
                if held is not None and self._now().seconds < held.refused_until:
                    return
                if (asking := self._asking.get(key)) is not None:
                    await asking.wait()
                    continue
                if not await self._ask_for(key, _needs(limits, tokens)) or not self._is_short(
                    key, limits, tokens
                ):
                    return
                # What the others said that they use may have ended since: they are asked once in any case.
                if not self._may_come(key, limits, tokens, used_too=not has_told):
                    self._held[key].refused_until = self._now().seconds + REFUSED_S
                    return
                has_told = True
                self._link.notices.post(LimitWanted(key))
                await anyio.sleep(AGAIN_S)

    def standing(self, key: str, limits: AppliedLimits) -> LimitStanding | None:
        """What a key has left at all gateways, as far as it is known here; None where this gateway has the limits alone."""
        held = self._held.get(key)
        if not self.is_needed or held is None:
            return None
        now, whole, grant = self._now(), amounts_of(limits), held.grant
        used = self._limiter.amounts(key, now, self._unwritten(key)).plus(grant.elsewhere)
        age = now.seconds - held.asked
        resets = [
            max(own, ms / 1000 - age)
            for own, ms in zip(self._limiter.resets(key, now), grant.resets, strict=True)
        ]
        today = max(0, whole.tokens_today - held.spent - used.tokens_today)
        return LimitStanding(
            (max(0, whole.requests - used.requests), round(resets[0], 3)) if whole.requests else None,
            (max(0, whole.tokens - used.tokens), round(resets[1], 3)) if whole.tokens else None,
            (today, now.rest_of_day) if whole.tokens_today else None,
        )

    def running_elsewhere(self, key: str) -> int:
        """How many requests of a key run at other gateways."""
        held = self._held.get(key) if self.is_needed else None
        return 0 if held is None else held.grant.elsewhere.concurrent

    def ended(self, key: str) -> None:
        """A request has ended. If other gateways wait for what it used, they get it soon."""
        held = self._held.get(key)
        if held is not None and held.grant.wanted:
            self._press(key)

    def _is_short(self, key: str, limits: AppliedLimits, tokens: int) -> bool:
        part = self.part(key)
        return part is not None and (
            key not in self._held
            or self._limiter.exceeded(key, limits, tokens, self._now(), part) is not None
        )

    def _may_come(self, key: str, limits: AppliedLimits, tokens: int, *, used_too: bool) -> bool:
        """Whether what is missing is held elsewhere and not used there, as far as is known here; `used_too`: or is used there."""
        grant, now = self._held[key].grant, self._now()
        there = grant.free.plus(grant.elsewhere) if used_too else grant.free
        more = KeyPart(grant.allowed.plus(there), self._unwritten(key))
        return self._limiter.exceeded(key, limits, tokens, now, more) is None

    # ---- asking

    async def _ask_for(self, key: str, needs: LimitAmounts) -> bool:
        """PartAsked for a key that a request needs; others who need it wait meanwhile. Whether the database answered."""
        event = self._asking[key] = anyio.Event()
        try:
            return await self._ask([key], needs)
        finally:
            del self._asking[key]
            event.set()

    async def _ask(self, keys: Collection[str], needs: LimitAmounts = NOTHING) -> bool:
        """Say what this gateway uses of these keys, and have what it may use. Whether the database answered."""
        granted: dict[str, HeldPart] = {}
        now = self._now()

        def decide(row: KeyRow) -> str:
            parts, granted[row.key] = self._decided(row, needs, now)
            return msgspec.json.encode(parts, order="sorted").decode()

        try:
            await self._rows.change(keys, day_of(now.unix), decide)
        except Problem as problem:
            if not self._outage:
                log.warning("limits go on with what this gateway had of them: %s", problem.message)
            self._outage = True
            return False
        self._outage = False
        for key, held in granted.items():
            if held.is_gone:
                self._held.pop(key, None)
            else:
                self._held[key] = held
        return True

    def _decided(self, row: KeyRow, needs: LimitAmounts, at: LimitTime) -> tuple[dict[str, Part], HeldPart]:
        now = self._now()
        requests, tokens = self._limiter.resets(row.key, now)
        used = self._limiter.amounts(row.key, now, self._unwritten(row.key))
        limits = amounts_of(self._limits(row.key))
        parts, grant = allot(
            _decode(row.parts),
            self._link.gateway,
            PartAsked(used, needs, (round(requests * 1000), round(tokens * 1000)), self._leaves),
            limits,
            row.now,
            lease_ms=round(self._link.lease_s * 1000),
            gateways=self._gateways(),
            spent=row.spent,
        )
        if (before := self._held.get(row.key)) is not None:
            # What is given back must not be used while the transaction is still under way.
            less = before.grant.allowed.combined(grant.allowed, min)
            before.grant = msgspec.structs.replace(before.grant, allowed=less)
        return parts, HeldPart(grant, row.spent, at.seconds, is_gone=self._link.gateway not in parts)

    # ---- giving back

    def _press(self, key: str) -> None:
        """Another gateway needs a part of what this one holds of a key."""
        if key in self._held:
            self._pressed.add(key)
            self._news.notify()

    async def run(self, *, task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Renew what is held, and give back what others need, until cancelled."""
        task_status.started()
        rounds = float("-inf")
        while True:
            pressed, self._pressed = self._pressed, set()
            if self._now().seconds - rounds >= RENEW_S:
                rounds = self._now().seconds
                pressed = {*self._held, *self._limiter.keys()} if self.is_needed else set()
            await self._renew(pressed)
            if pressed:
                await anyio.sleep(AGAIN_S)
            with anyio.move_on_after(max(AGAIN_S, rounds + RENEW_S - self._now().seconds)):
                while not self._pressed:
                    await self._news.wait()

    async def _renew(self, keys: Iterable[str]) -> None:
        limited = [key for key in sorted(keys) if not amounts_of(self._limits(key)).is_empty]
        for start in range(0, len(limited), AT_A_TIME):
            if not await self._ask(limited[start : start + AT_A_TIME]):
                return

    async def give_back(self) -> None:
        """Give back what is not used: this gateway stops."""
        self._leaves = True
        if self.is_needed:
            await self._renew(self._held)


def _needs(limits: AppliedLimits, tokens: int) -> LimitAmounts:
    """What a request needs of each limit: of tokens no more than there ever are."""
    return LimitAmounts(
        1, 1, min(tokens, limits.tokens_per_minute or tokens), min(tokens, limits.tokens_per_day or tokens)
    )

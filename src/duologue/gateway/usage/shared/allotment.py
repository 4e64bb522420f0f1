"""How gateways divide the limits of one key between them. Pure: values in, values out, the time is an argument.

Each gateway holds a part of each limit and spends it without asking anybody. `allot` is one step, done under a lock on the key's row: a gateway
says what it uses and what it needs, and is given a part; the parts of all never add up to more than the limit. A gateway gives back only
what it does not use, so the use of any minute stays within the limit while parts move. A gateway that needs more than there is says so, and the
others give back what is free, down to an equal part of what they use.

Bound: what all gateways admit exceeds a limit by less than one request of each gateway (as with one gateway, decision 54), and after the
death of a gateway by what that one admitted after it last told its use. `shared_limits` is the shell.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from duologue.gateway.usage.minute_window import MINUTE
from duologue.values.usage.limit_amounts import NOTHING, LimitAmounts

FIELDS = LimitAmounts.__struct_fields__
WINDOW_MS = (MINUTE + 1) * 1000


class Part(Struct, frozen=True):
    """What one gateway has of the limits of a key. `held`: taken out of what the others may use; `used`: of this, what runs, was used in the last
    minute or is reserved; `wanted`: what it needs and did not get; `until`: when its lease ends, in ms of the database's clock; `resets`: ms until nothing
    of its requests and of its tokens counts any more."""

    held: LimitAmounts
    used: LimitAmounts
    wanted: LimitAmounts
    until: int
    resets: tuple[int, int] = (0, 0)


Parts = Mapping[str, Part]
"""By gateway."""


class PartAsked(NamedTuple):
    """What a gateway says: what it uses, what it needs besides to admit what waits (nothing where it only renews its lease), and `resets` as a part
    has them. `leaves`: it stops, and wants no more than it uses."""

    used: LimitAmounts
    needs: LimitAmounts = NOTHING
    resets: tuple[int, int] = (0, 0)
    leaves: bool = False


class PartGranted(Struct, frozen=True):
    """What a gateway may use. `allowed`: as limits are, and 0 is nothing here; `elsewhere`: what all others use; `free`: what the others hold and do not
    use, so that it may come; `wanted`: whether others need something that this one holds; `resets`: the longest of the others'."""

    allowed: LimitAmounts
    elsewhere: LimitAmounts = NOTHING
    free: LimitAmounts = NOTHING
    wanted: bool = False
    resets: tuple[int, int] = (0, 0)


def allot(
    parts: Parts,
    gateway: str,
    ask: PartAsked,
    limits: LimitAmounts,
    now: int,
    *,
    lease_ms: int,
    gateways: int = 2,
    spent: int = 0,
) -> tuple[dict[str, Part], PartGranted]:
    """The parts after a gateway has asked, and what it may use. `gateways`: how many there are; `spent`: tokens of the day that are in the rows of the
    usage, which nobody holds any more. A gateway that neither uses nor needs anything has no part afterwards."""
    others = {name: part for name, part in aged(parts, now).items() if name != gateway}
    own = parts.get(gateway)
    held_before = own.held if own is not None and own.until > now else NOTHING
    rivals = 1 + sum(part.until > now for part in others.values())
    held, allowed, wanted, used = {}, {}, {}, {}
    for field in FIELDS:
        limit = getattr(limits, field)
        if not limit:
            continue
        whole = max(0, limit - spent) if field == "tokens_today" else limit
        step = _Step(
            whole,
            room=max(0, whole - sum(getattr(part.held, field) for part in others.values())),
            held=getattr(held_before, field),
            used=getattr(ask.used, field),
            needs=getattr(ask.needs, field),
            wanted=sum(getattr(part.wanted, field) for part in others.values()),
            rivals=rivals,
            gateways=max(1, gateways, rivals),
            leaves=ask.leaves,
        )
        allowed[field] = target = _target(step)
        held[field] = max(step.used, target)
        # What it needs is about to be used.
        used[field] = max(step.used, min(step.used + step.needs, target))
        wanted[field] = max(0, min(whole, step.used + step.needs) - target) if step.needs else 0
    mine = Part(
        LimitAmounts(**held), LimitAmounts(**used), LimitAmounts(**wanted), now + lease_ms, ask.resets
    )
    after = dict(others)
    if not (mine.used.is_empty and ask.needs.is_empty):
        after[gateway] = mine
    return after, _grant(others, LimitAmounts(**allowed), now)


class _Step(NamedTuple):
    """One limit. `whole`: all there is of it; `room`: what the others do not hold; `wanted`: what they need; `rivals`: gateways that use this key."""

    whole: int
    room: int
    held: int
    used: int
    needs: int
    wanted: int
    rivals: int
    gateways: int
    leaves: bool


def _target(step: _Step) -> int:
    """How much of a limit a gateway may use from now on."""
    demand = step.used + step.needs
    if step.leaves:
        return min(step.room, demand)
    if step.wanted:
        fair = -(-step.whole // step.rivals)
        return min(step.room, max(min(fair, demand), min(step.held - step.wanted, demand)))
    # Some of what no gateway needs, so that the next requests need not ask; the rest is left for the next gateway.
    return min(step.room, demand + max(0, step.room - demand) // step.gateways)


def _grant(others: Parts, allowed: LimitAmounts, now: int) -> PartGranted:
    elsewhere = free = wanted = NOTHING
    requests = tokens = 0
    for part in others.values():
        elsewhere = elsewhere.plus(part.used)
        free = free.plus(part.held.combined(part.used, lambda held, used: max(0, held - used)))
        wanted = wanted.plus(part.wanted)
        requests, tokens = max(requests, part.resets[0]), max(tokens, part.resets[1])
    return PartGranted(allowed, elsewhere, free, not wanted.is_empty, (requests, tokens))


def aged(parts: Parts, now: int) -> dict[str, Part]:
    """The parts that still count. A gateway whose lease has ended runs and needs nothing; what it used of a minute counts until the
    minute is over, and its tokens of the day are in the rows of the usage."""
    kept = {}
    for name, part in parts.items():
        if part.until > now:
            kept[name] = part
        elif now < part.until + WINDOW_MS:
            used = replace(part.used, concurrent=0, tokens_today=0)
            if not used.is_empty:
                kept[name] = replace(part, held=used, used=used, wanted=NOTHING)
    return kept

"""How gateways divide the limits of a key: what all of them admit never exceeds it by more than the stated bound."""

from dataclasses import dataclass, field
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from duologue.gateway.usage.key_limiter import KeyLimiter, KeyPart, LimitTime, Reservation
from duologue.gateway.usage.shared.allotment import WINDOW_MS, Part, PartAsked, PartGranted, aged, allot
from duologue.values.usage.key_limits import AppliedLimits
from duologue.values.usage.limit_amounts import NOTHING, LimitAmounts, amounts_of

LEASE_MS = 6000
KEY = "key"
DAY = 20_000 * 86_400.0


def held(parts, field_name: str) -> int:
    return sum(getattr(part.held, field_name) for part in parts.values())


def ask(parts, gateway, *, used=0, needs=0, limit=100, now=0, gateways=2):
    """One step about requests of a minute."""
    return allot(
        parts,
        gateway,
        PartAsked(LimitAmounts(requests=used), LimitAmounts(requests=needs)),
        LimitAmounts(requests=limit),
        now,
        lease_ms=LEASE_MS,
        gateways=gateways,
    )


def test_a_gateway_gets_what_it_needs_and_some_of_the_rest_and_leaves_the_others_something():
    parts, grant = ask({}, "one", needs=1)
    assert grant.allowed.requests == 1 + 99 // 2
    parts, grant = ask(parts, "two", needs=1)
    assert grant.allowed.requests > 20
    assert held(parts, "requests") < 100


def test_a_key_that_is_used_at_one_gateway_gets_all_of_its_limit_there():
    parts: dict[str, Part] = {}
    parts, _ = ask(parts, "two", used=1)
    used = 0
    for second in range(100):
        parts, grant = ask(parts, "one", used=used, needs=1, now=second * 100)
        parts, _ = ask(parts, "two", used=0, now=second * 100)
        used = grant.allowed.requests
    assert used == 100


def test_who_holds_more_than_it_uses_gives_it_back_when_another_needs_it():
    parts = {"one": Part(LimitAmounts(requests=100), LimitAmounts(requests=10), NOTHING, 5000)}
    parts, grant = ask(parts, "two", needs=30)
    assert grant.allowed.requests == 0
    assert grant.free.requests == 90
    parts, grant = ask(parts, "one", used=10)
    assert grant.allowed.requests == 10
    assert grant.wanted
    _, grant = ask(parts, "two", needs=30)
    assert grant.allowed.requests >= 30


def test_two_gateways_that_both_need_all_of_it_come_to_have_half_each():
    parts: dict[str, Part] = {}
    one = two = 0
    for second in range(40):
        now = second * 1000
        # A tenth of what each uses becomes too old every second, and it takes whatever it may.
        parts, grant = ask(parts, "one", used=one, needs=100, now=now)
        one = max(grant.allowed.requests, one) * 9 // 10
        parts, grant = ask(parts, "two", used=two, needs=100, now=now)
        two = max(grant.allowed.requests, two) * 9 // 10
    assert abs(one - two) <= 10


def test_the_part_of_a_dead_gateway_comes_back_with_its_lease_but_for_what_it_used_of_the_minute():
    parts, _ = ask({}, "one", used=30)
    assert ask(parts, "two", needs=100, now=LEASE_MS - 1)[1].allowed.requests == 100 - 65
    assert ask(parts, "two", needs=100, now=LEASE_MS + 1)[1].allowed.requests == 70
    assert ask(parts, "two", needs=100, now=LEASE_MS + WINDOW_MS + 1)[1].allowed.requests == 100


def test_requests_of_a_dead_gateway_run_no_more():
    part = Part(LimitAmounts(concurrent=4), LimitAmounts(concurrent=4), NOTHING, 1000)
    assert aged({"one": part}, 1001) == {}
    assert aged({"one": part}, 999) == {"one": part}


def test_tokens_of_the_day_that_are_in_the_rows_are_nobodys_to_use_again():
    parts, grant = allot(
        {},
        "one",
        PartAsked(NOTHING, LimitAmounts(tokens_today=50)),
        LimitAmounts(tokens_today=1000),
        0,
        lease_ms=LEASE_MS,
        spent=980,
    )
    assert grant.allowed.tokens_today == 20
    assert parts["one"].wanted.tokens_today == 20 - 20


@dataclass
class Machine:
    """A gateway with a limiter and what it was granted, as the shell has them."""

    name: str
    limiter: KeyLimiter = field(default_factory=KeyLimiter)
    grant: PartGranted = field(default_factory=lambda: PartGranted(NOTHING))
    running: list[Reservation] = field(default_factory=list)
    dead: bool = False

    def used(self, now: LimitTime) -> LimitAmounts:
        return self.limiter.amounts(KEY, now, 0)


STEPS = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.sampled_from(["begin", "begin", "begin", "ask", "end", "renew", "die"]),
        st.integers(1, 300),
        st.floats(0, 9),
    ),
    max_size=120,
)


@settings(max_examples=150, deadline=None)
@given(STEPS, st.integers(1, 12), st.integers(1, 12), st.integers(1, 1000))
def test_what_all_gateways_admit_stays_within_the_bound(steps, concurrent, requests, tokens):
    limits = AppliedLimits(concurrent=concurrent, requests_per_minute=requests, tokens_per_minute=tokens)
    machines = [Machine(name) for name in ("one", "two", "three")]
    parts: dict[str, Part] = {}
    seconds = 1000.0
    admitted: list[float] = []
    largest = 0

    def turn(machine: Machine, needs: LimitAmounts) -> None:
        nonlocal parts
        parts, machine.grant = allot(
            parts,
            machine.name,
            PartAsked(machine.used(now), needs),
            amounts_of(limits),
            round(seconds * 1000),
            lease_ms=LEASE_MS,
            gateways=3,
        )

    for number, step, amount, passed in steps:
        machine = machines[number]
        seconds += passed
        now = LimitTime(seconds, DAY + seconds)
        for other in machines:  # the living renew their leases in time
            if not other.dead:
                turn(other, NOTHING)
        if machine.dead:
            continue
        if step == "begin":
            needs = LimitAmounts(1, 1, min(amount, tokens))
            turn(machine, needs)
            outcome = machine.limiter.begin(KEY, limits, amount, now, KeyPart(machine.grant.allowed))
            if isinstance(outcome, Reservation):
                machine.running.append(outcome)
                admitted.append(seconds)
                largest = max(largest, amount)
        elif step == "end" and machine.running:
            reservation = machine.running.pop(amount % len(machine.running))
            machine.limiter.end(reservation, min(amount, reservation.tokens), now)
        elif step == "die":
            turn(machine, NOTHING)  # its last sign of life
            machine.dead = True
            machine.running.clear()
        else:
            turn(machine, NOTHING)
        living = [one for one in machines if not one.dead]
        assert sum(len(one.running) for one in living) <= concurrent
        used = sum(one.used(now).tokens for one in living)
        assert used < tokens + 3 * max(1, largest)
    for first, last in zip(admitted, admitted[requests:], strict=False):
        assert last - first >= 59.9
    assert all(one <= two for one, two in pairwise(admitted))

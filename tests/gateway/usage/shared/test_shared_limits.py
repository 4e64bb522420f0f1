"""Gateways that hold the limits of a key together, over rows in memory that are changed one after another."""

from __future__ import annotations

from collections.abc import Callable, Collection

import anyio
import pytest

from duologue.errors import Unavailable
from duologue.gateway.usage.key_limiter import KeyLimiter, LimitExceeded, LimitTime, Reservation
from duologue.gateway.usage.shared.shared_limits import SharedLimits
from duologue.notifier import Notifier
from duologue.store.cluster.cluster_link import ClusterLink
from duologue.store.cluster.notices import Notices
from duologue.store.usage.limit_part_rows import KeyRow
from duologue.values.cluster.notices import LimitWanted, Notice
from duologue.values.usage.key_limits import AppliedLimits

pytestmark = pytest.mark.anyio
KEY = "key"
MIDNIGHT = 20_000 * 86_400.0


class Rows:
    """Implements `LimitPartRows` for every gateway of a test."""

    def __init__(self) -> None:
        self.parts: dict[str, str] = {}
        self.spent: dict[str, int] = {}
        self.changes = 0
        self.is_away = False
        self.now = 1_000_000
        self._lock = anyio.Lock()

    async def change(self, keys: Collection[str], day: str, decide: Callable[[KeyRow], str]) -> None:
        await anyio.lowlevel.checkpoint()
        if self.is_away:
            raise Unavailable("The database is away.")
        self.changes += 1
        async with self._lock:
            for key in keys:
                after = decide(KeyRow(key, self.parts.get(key, "{}"), self.spent.get(key, 0), self.now))
                self.parts[key] = after
                await anyio.lowlevel.checkpoint()


class World:
    """Gateways `one` and `two`, whose notices reach each other at once."""

    def __init__(self, limits: AppliedLimits, gateways: int = 2) -> None:
        self.limits, self.rows = limits, Rows()
        self.seconds = 1000.0
        self.gateways = gateways
        self.one, self.two = (Machine(self, name) for name in ("one", "two"))
        self.one.other, self.two.other = self.two, self.one

    def now(self) -> LimitTime:
        return LimitTime(self.seconds, MIDNIGHT + self.seconds)


class Heard(Notices):
    """Notices that reach the other gateway without a database."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(None, "")
        self._machine = machine

    def post(self, notice: Notice) -> None:
        for handler in self._machine.other.link.notices._handlers.get(type(notice), ()):
            handler(notice)


class Machine:
    other: Machine

    def __init__(self, world: World, name: str) -> None:
        self.world, self.limiter = world, KeyLimiter()
        self.link = ClusterLink(name, Heard(self))
        self.unwritten = 0
        self.shared = SharedLimits(
            world.rows,  # type: ignore[arg-type]
            self.link,
            self.limiter,
            limits=lambda key: world.limits,
            unwritten=lambda key: self.unwritten,
            gateways=lambda: world.gateways,
            now=world.now,
        )

    async def ask(self, tokens: int = 10) -> Reservation | LimitExceeded:
        await self.shared.prepare(KEY, tokens)
        return self.limiter.begin(KEY, self.world.limits, tokens, self.world.now(), self.shared.part(KEY))

    def end(self, reservation: Reservation | LimitExceeded, tokens: int = 0) -> None:
        assert isinstance(reservation, Reservation)
        self.limiter.end(reservation, tokens, self.world.now())
        self.shared.ended(KEY)


def admitted(outcomes: Collection[Reservation | LimitExceeded]) -> int:
    return sum(isinstance(outcome, Reservation) for outcome in outcomes)


async def test_a_gateway_that_is_alone_asks_nobody():
    world = World(AppliedLimits(concurrent=1), gateways=1)
    assert world.one.shared.part(KEY) is None
    await world.one.ask()
    assert world.rows.changes == 0


async def test_both_together_admit_what_one_would():
    world = World(AppliedLimits(requests_per_minute=7))
    outcomes = [await machine.ask() for _ in range(7) for machine in (world.one, world.two)]
    assert admitted(outcomes) == 7


async def test_most_requests_begin_without_asking():
    world = World(AppliedLimits(requests_per_minute=1000))
    outcomes = [await world.one.ask() for _ in range(400)]
    assert admitted(outcomes) == 400
    assert world.rows.changes <= 2


async def test_requests_that_come_together_ask_together():
    world = World(AppliedLimits(requests_per_minute=100))
    outcomes: list[Reservation | LimitExceeded] = []

    async def ask() -> None:
        outcomes.append(await world.one.ask())

    async with anyio.create_task_group() as tasks:
        for _ in range(30):
            tasks.start_soon(ask)
    assert admitted(outcomes) == 30
    assert world.rows.changes == 1


async def test_a_place_that_another_gateway_holds_and_does_not_use_comes_over():
    world = World(AppliedLimits(concurrent=2))
    held = [await world.one.ask(), await world.one.ask()]
    for reservation in held:
        world.one.end(reservation)
    async with anyio.create_task_group() as tasks:
        await tasks.start(world.one.shared.run)
        outcomes = [await world.two.ask(), await world.two.ask()]
        tasks.cancel_scope.cancel()
    assert admitted(outcomes) == 2


async def test_a_key_that_has_nothing_left_anywhere_is_refused_without_asking_each_time():
    world = World(AppliedLimits(concurrent=1))
    await world.one.ask()
    before = world.rows.changes
    outcomes = [await world.two.ask() for _ in range(20)]
    assert admitted(outcomes) == 0
    assert world.rows.changes <= before + 2


async def test_what_is_left_is_told_alike_at_both_once_each_has_said_what_it_uses():
    world = World(AppliedLimits(requests_per_minute=10, tokens_per_minute=1000, tokens_per_day=5000))
    world.rows.spent[KEY] = 100
    world.one.end(await world.one.ask(), 50)
    world.two.end(await world.two.ask(), 70)
    for machine in (world.one, world.two, world.one):
        await machine.shared._ask([KEY])
    for machine in (world.one, world.two):
        standing = machine.shared.standing(KEY, world.limits)
        assert standing is not None
        assert (standing.requests or (0, 0))[0] == 8
        assert (standing.tokens or (0, 0))[0] == 880
        assert (standing.tokens_today or (0, 0))[0] == 4900


async def test_tokens_that_are_in_the_rows_of_the_day_count_for_everybody():
    world = World(AppliedLimits(tokens_per_day=1000))
    world.rows.spent[KEY] = 1000
    outcome = await world.two.ask()
    assert isinstance(outcome, LimitExceeded)
    assert outcome.limit == "tokens_per_day"
    assert outcome.retry_after == world.now().rest_of_day


async def test_while_the_database_is_away_a_gateway_goes_on_with_what_it_had():
    world = World(AppliedLimits(requests_per_minute=100))
    await world.one.ask()
    world.rows.is_away = True
    outcomes = [await world.one.ask() for _ in range(100)]
    assert 25 <= admitted(outcomes) < 100


async def test_a_gateway_that_stops_gives_back_what_it_did_not_use():
    world = World(AppliedLimits(concurrent=4))
    world.one.end(await world.one.ask())
    await world.one.shared.give_back()
    assert admitted([await world.two.ask() for _ in range(4)]) == 4


async def test_others_are_told_when_something_is_missing():
    world = World(AppliedLimits(concurrent=1))
    held = await world.one.ask()
    world.one.end(held)
    news, told = Notifier(), list[str]()

    def hear(notice: LimitWanted) -> None:
        told.append(notice.key)
        news.notify()

    world.one.link.notices.on(LimitWanted, hear)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(world.two.ask)
        while not told:
            await news.wait()
        tasks.cancel_scope.cancel()
    assert told[0] == KEY

"""Large requests are read in a thread, one at a time, and users take turns."""

from __future__ import annotations

import threading

import anyio
import pytest
from tests.support.thread_gate import Gate, until

from duologue.errors import Busy
from duologue.request_parsing import parsing
from duologue.threads import LARGE, WAITING

pytestmark = pytest.mark.anyio


async def test_a_large_request_is_read_in_a_thread_and_a_small_one_at_once() -> None:
    here = threading.get_ident()
    assert await parsing(LARGE, threading.get_ident, user="ada") != here
    assert await parsing(LARGE - 1, threading.get_ident, user="ada") == here
    with pytest.raises(ZeroDivisionError):
        await parsing(LARGE, divmod, 1, 0, user="ada")


async def test_a_large_request_that_is_read_slowly_holds_up_no_small_one() -> None:
    gate = Gate()
    async with anyio.create_task_group() as group:
        group.start_soon(_read, gate, "ada")
        await until(lambda: gate.entered == 1)
        assert await parsing(10, divmod, 7, 2, user="ada") == (3, 1)
        gate.open.set()


async def test_the_large_request_of_another_user_is_read_after_the_one_that_is_being_read() -> None:
    gate, order = Gate(), list[str]()
    async with anyio.create_task_group() as group:
        group.start_soon(_read, gate, "ada")
        await until(lambda: gate.entered == 1)
        for user in ("ada",) * 20 + ("ben",):
            group.start_soon(_noted, order, user)
            await anyio.wait_all_tasks_blocked()
        gate.open.set()
    assert order.index("ben") <= 1
    assert order.count("ada") == 20


async def test_a_user_with_too_many_large_requests_is_refused_and_others_are_not() -> None:
    gate, order = Gate(), list[str]()
    async with anyio.create_task_group() as group:
        group.start_soon(_read, gate, "ada")
        await until(lambda: gate.entered == 1)
        for _ in range(WAITING):
            group.start_soon(_noted, order, "ada")
        await anyio.wait_all_tasks_blocked()
        with pytest.raises(Busy, match="Too many large requests") as refused:
            await parsing(LARGE, order.append, "ada", user="ada")
        assert refused.value.code == "busy"
        group.start_soon(_noted, order, "ben")
        await anyio.wait_all_tasks_blocked()
        gate.open.set()
    assert order.count("ben") == 1


async def _read(gate: Gate, user: str) -> None:
    await parsing(LARGE, gate, user=user)


async def _noted(order: list[str], user: str) -> None:
    await parsing(LARGE, order.append, user, user=user)

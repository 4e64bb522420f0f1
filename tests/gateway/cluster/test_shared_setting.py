"""A stored object that several gateways change: what each reads, and when the others are told."""

from collections.abc import Callable
from typing import Any

import anyio
import pytest

from duologue.gateway.cluster.shared_setting import SharedSetting

pytestmark = pytest.mark.anyio


class Rows:
    """The table of settings, which another task may change while one is read."""

    def __init__(self) -> None:
        self.stored: dict[str, dict[str, Any]] = {}

    async def get(self, name: str) -> dict[str, Any]:
        read = self.stored.get(name, {})
        await anyio.lowlevel.checkpoint()
        return read

    async def change(self, name: str, change: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Any]:
        self.stored[name] = change(self.stored.get(name, {}))
        return self.stored[name]


def of(rows: Rows) -> SharedSetting:
    setting = SharedSetting("letters")
    setting.use(rows)
    return setting


def adding(letter: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda old: old | {letter: True}


async def test_without_a_store_nothing_is_read_or_kept():
    setting = SharedSetting("letters")
    assert not setting.is_stored
    assert await setting.change(adding("a")) is None
    assert await setting.read() is None


async def test_a_change_keeps_what_another_gateway_has_stored():
    rows = Rows()
    one, two = of(rows), of(rows)
    await one.change(adding("a"))
    assert await two.change(adding("b")) == {"a": True, "b": True}
    assert await one.read() == {"a": True, "b": True}
    assert list(rows.stored) == ["letters"]


async def test_only_changes_of_this_gateway_are_to_be_told():
    rows, told = Rows(), []
    one, two = of(rows), of(rows)
    one.on_stored = lambda: told.append("one")
    await one.change(adding("a"))
    await two.change(adding("b"))
    await one.read()
    assert told == ["one"]


async def test_what_is_read_is_not_older_than_a_change_of_this_gateway():
    setting = of(Rows())
    read: list[dict[str, Any] | None] = []

    async def reading() -> None:
        read.append(await setting.read())

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(reading)
        tasks.start_soon(setting.change, adding("a"))
    assert read == [{"a": True}]

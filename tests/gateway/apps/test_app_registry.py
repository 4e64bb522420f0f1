"""The switches: kept, told to those that wait, and refused for what does not exist."""

from collections.abc import Callable
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from duologue.errors import Forbidden, NotFound, Unavailable
from duologue.gateway.apps.app_registry import AppRegistry
from duologue.gateway.apps.modes import Abilities

pytestmark = pytest.mark.anyio


class Kept:
    """A store of one object, which may be down."""

    def __init__(self, **stored: Any) -> None:
        self.stored, self.down = stored, False

    async def get(self, name: str) -> dict[str, Any]:
        return self.stored

    async def change(self, name: str, change: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Any]:
        if self.down:
            raise Unavailable("The database is away.")
        self.stored = change(self.stored)
        return self.stored


async def test_a_switch_outlives_a_restart():
    kept = Kept()
    apps = AppRegistry()
    await apps.use(kept)
    assert (await apps.switch("omni", False))["enabled"] is False
    again = AppRegistry()
    await again.use(kept)
    assert [row["app_id"] for row in again.rows() if not row["enabled"]] == ["omni"]
    await again.switch("omni", True)
    assert kept.stored == {"off": []}


async def test_what_a_newer_program_has_stored_is_no_app_here_and_stays_stored():
    kept, apps = Kept(off=["omni", "holodeck"]), AppRegistry()
    await apps.use(kept)
    await apps.switch("omni", True)
    assert all(row["enabled"] for row in apps.rows())
    assert kept.stored == {"off": ["holodeck"]}


async def test_a_switch_keeps_what_another_gateway_has_just_switched():
    kept, one, two = Kept(), AppRegistry(), AppRegistry()
    await one.use(kept)
    await two.use(kept)
    await one.switch("omni", False)
    await two.switch("audio_duplex", False)
    assert kept.stored == {"off": ["audio_duplex", "omni"]}
    assert not two.is_enabled("omni")
    await two.switch("omni", True)
    await one.switch("omni", False)
    assert "omni" in kept.stored["off"]


async def test_a_switch_that_cannot_be_kept_is_not_made():
    kept, apps = Kept(), AppRegistry()
    await apps.use(kept)
    kept.down = True
    with pytest.raises(Unavailable):
        await apps.switch("omni", False)
    assert apps.is_enabled("omni")


async def test_who_uses_it_is_told_when_it_goes_off():
    changes: list[bool] = []
    apps = AppRegistry(on_change=lambda: changes.append(True))
    told: list[str] = []

    async def session() -> None:
        await apps.until_disabled("omni", "audio_duplex")
        told.append("off")

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(session)
            await anyio.wait_all_tasks_blocked()
            await apps.switch("omni", False)
            await anyio.wait_all_tasks_blocked()
            assert told == []
            await apps.switch("audio_duplex", False)
    assert told == ["off"]
    await apps.switch("omni", False)
    assert len(changes) == 2, "nothing changed the last time"


async def test_a_session_may_begin_where_one_of_its_apps_is_on():
    apps = AppRegistry()
    await apps.switch("omni", False)
    apps.require("omni", "audio_duplex")
    with pytest.raises(Forbidden) as refused:
        apps.require("omni")
    assert (refused.value.code, refused.value.status) == ("app_disabled", 403)


async def test_there_are_no_other_apps():
    with pytest.raises(NotFound) as refused:
        await AppRegistry().switch("holodeck", True)
    assert refused.value.code == "app_not_found"
    assert "turnbased, omni, audio_duplex" in refused.value.message


def test_a_row_says_what_is_lacking():
    rows = AppRegistry(lambda: Abilities(image=False)).rows()
    [omni] = [row for row in rows if row["app_id"] == "omni"]
    assert (omni["enabled"], omni["available"], omni["reason"]["code"]) == (
        True,
        False,
        "modality_unsupported",
    )
    assert omni["id"] == "omni"
    assert omni["needs"] == ["text", "voice", "image"]


async def test_a_switch_that_another_gateway_has_stored_ends_the_sessions_here():
    kept = Kept()
    one, two = AppRegistry(), AppRegistry()
    await one.use(kept)
    await two.use(kept)
    stored: list[bool] = []
    one.setting.on_stored = lambda: stored.append(True)
    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(two.until_disabled, "omni")
            await anyio.wait_all_tasks_blocked()
            await one.switch("omni", False)
            await two.reload()
    assert (two.is_enabled("omni"), stored) == (False, [True])
    await two.switch("omni", True)
    await one.reload()
    assert one.is_enabled("omni")


async def test_what_was_read_before_an_own_switch_does_not_undo_it():
    class Slow(Kept):
        async def get(self, name: str) -> dict[str, Any]:
            read = self.stored
            await anyio.lowlevel.checkpoint()
            return read

    apps = AppRegistry()
    await apps.use(Slow())
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(apps.reload)
        tasks.start_soon(apps.switch, "omni", False)
    assert not apps.is_enabled("omni")

"""The whole of it, opened and closed: parts that fit, heavy ones loaded late, an end that loses nothing."""

import json
import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from tests.support.conversation_service import CARD, Model, Site, opened_site

from duologue.config import Settings
from duologue.conversations import service
from duologue.errors import StartFailed

pytestmark = pytest.mark.anyio

HEAVY = ("sqlalchemy", "alembic", "aiosqlite", "mcp", "PIL", "pypdfium2", "pi_heif", "resvg_py", "numpy")


def test_importing_it_loads_nothing_heavy() -> None:
    code = "import sys, json, duologue.conversations.service, duologue.conversations.api; print(json.dumps(list(sys.modules)))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert not {name.partition(".")[0] for name in json.loads(loaded)} & set(HEAVY)


def test_opening_it_loads_neither_migrations_nor_tool_servers_nor_pictures(tmp_path: Path) -> None:
    code = (
        "import sys, json, anyio\n"
        "from duologue.config import Settings\n"
        "from duologue.conversations import api, service\n"
        "async def main():\n"
        f"    async with service.opened(Settings(data={str(tmp_path)!r}), generate=None, resolve=None) as it:\n"
        "        api.router(it)\n"
        "        print(json.dumps(list(sys.modules)))\n"
        "anyio.run(main)\n"
    )
    subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True
    )  # the first one makes the tables
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    rooms = {name.partition(".")[0] for name in json.loads(loaded)}
    assert not rooms & {"alembic", "mcp", "PIL", "pypdfium2", "pi_heif", "resvg_py", "numpy"}
    assert "sqlalchemy" in rooms


async def test_closing_keeps_the_text_of_every_running_reply(tmp_path: Path) -> None:
    async with opened_site(tmp_path) as site:
        for id in ("c", "d"):
            await site.conversation(id)
        site.model.hold = anyio.Event()
        await site.send("hello", 1, "c")
        await site.send("hello", 2, "d")
        while len(site.model.asked) < 2:
            await anyio.lowlevel.checkpoint()
        await anyio.wait_all_tasks_blocked()
        for _ in range(2):
            await site.service.close()
    async with opened_site(tmp_path) as site:
        for id in ("c", "d"):
            assert (await site.texts(id))[-1] == "You "
            assert (await site.whole(id))["messages"][-1]["status"] == "interrupted"


async def test_whoever_looks_on_is_told_that_the_reply_was_interrupted(site: Site) -> None:
    await site.conversation()
    site.model.hold = anyio.Event()
    await site.send("hello", 1)
    seen: list[tuple[int, dict[str, object]]] = []

    async def look() -> None:
        seen.extend(await site.events("r1"))

    async with anyio.create_task_group() as group:
        group.start_soon(look)
        await anyio.wait_all_tasks_blocked()
        await site.service.close()
    assert (seen[-1][1]["type"], seen[-1][1]["outcome"]) == ("run_done", "interrupted")


async def test_closing_ends_the_list_feed(site: Site) -> None:
    heard: list[object] = []

    async def look() -> None:
        heard.extend([told async for told in site.service.feed.events("ann")])

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(look)
            await anyio.wait_all_tasks_blocked()
            await site.service.close()


async def test_two_conversations_are_answered_at_the_same_time(site: Site) -> None:
    for id in ("c", "d"):
        await site.conversation(id)
    site.model.hold = anyio.Event()
    await site.send("one", 1, "c")
    await site.send("two", 2, "d")
    with anyio.fail_after(60):
        while len(site.model.asked) < 2:
            await anyio.lowlevel.checkpoint()
    await site.ann.post("/api/runs/r1/stop")
    site.model.hold.set()
    await site.events("r2")
    assert (await site.texts("d"))[-1] == "You said: two"


async def test_a_conversation_too_long_for_its_model_is_folded_and_goes_on(site: Site) -> None:
    await site.conversation()
    site.model.says = lambda request: "word " * 700
    for number in range(1, 7):
        await site.say("tell me more " * 20, number)
    rows = (await site.whole())["messages"]
    assert any(row.get("kind") == "summary" for row in rows)
    assert all(row.get("status", "done") == "done" for row in rows)
    longest = max(sum(len(message.text) for message in asked.messages) for asked in site.model.asked)
    assert longest / 4 < CARD.context


async def test_a_tool_that_is_built_in_is_offered_and_can_be_switched_off(site: Site) -> None:
    await site.conversation()
    await site.say("hello", 1)
    assert "clock" in " ".join(tool.name for tool in site.model.asked[-1].tools)
    await site.ann.patch("/api/conversations/c", json={"options": {"tools": False}})
    await site.say("again", 2)
    assert site.model.asked[-1].tools == ()


async def test_a_database_that_cannot_be_opened_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "duologue.db").write_text("this is no database" * 100)
    with pytest.raises(StartFailed):
        async with service.opened(Settings(data=tmp_path), generate=Model(), resolve=lambda name: CARD):
            pass


async def test_first_values_of_the_operator_hold_where_a_user_said_nothing(tmp_path: Path) -> None:
    said = {"sampling": {"temperature": 0.2, "top_k": 7}, "thinking": True, "stop": ["END"]}
    ui = {"defaults": {"options": said, "system": "Be brief."}}
    async with opened_site(tmp_path, ui=ui) as site:
        await site.ann.patch("/api/settings", json={"options": {"sampling": {"temperature": 0.9}}})
        await site.conversation()
        await site.ann.patch("/api/conversations/c", json={"options": {"thinking": False}})
        await site.say("hello", 1)
        asked = site.model.asked[-1]
        assert (asked.sampling.temperature, asked.sampling.top_k) == (0.9, 7)
        assert (asked.thinking, asked.stop) == (False, ("END",))
        assert asked.messages[0].text != "Be brief."
        await site.service.stores.durable.settings.merge("bob", {"options": "none"})
        assert (await site.service.defaults("bob")).sampling.temperature == 0.2


async def test_a_first_value_that_no_reply_can_have_stops_the_start(tmp_path: Path) -> None:
    settings = Settings.model_validate(
        {"data": tmp_path, "ui": {"defaults": {"options": {"sampling": {"temperature": "hot"}}}}}
    )
    with pytest.raises(StartFailed, match=r"ui\.defaults\.options: .*temperature") as stopped:
        async with service.opened(settings, generate=Model(), resolve=lambda name: CARD):
            pass
    assert stopped.value.param == "ui.defaults.options.sampling.temperature"

"""The list feed over HTTP: from now on, or from where a viewer was."""

from collections.abc import MutableMapping
from typing import Any

import anyio
import pytest
from tests.support.conversation_service import Site, parsed

pytestmark = pytest.mark.anyio


class Viewer:
    """Reads `/api/events` until `enough` events came, then leaves."""

    def __init__(self, site: Site, user: str, last: int | None = None) -> None:
        headers = [] if last is None else [(b"last-event-id", str(last).encode())]
        self.scope = {
            "type": "http",
            "method": "GET",
            "path": "/api/events",
            "raw_path": b"/api/events",
            "query_string": b"",
            "headers": headers,
            "state": {"user": user},
        }
        self.app = site.app
        self.text = ""
        self.gone = anyio.Event()
        self.opened = anyio.Event()

    async def look(self, enough: int) -> None:
        async def receive() -> dict[str, Any]:
            await self.gone.wait()
            return {"type": "http.disconnect"}

        async def send(message: MutableMapping[str, Any]) -> None:
            self.text += message.get("body", b"").decode()
            self.opened.set()
            if len(parsed(self.text)) >= enough:
                self.gone.set()

        with anyio.fail_after(60):
            await self.app(self.scope, receive, send)

    @property
    def events(self) -> list[dict[str, Any]]:
        return [event for _, event in parsed(self.text)]


async def test_another_tab_hears_of_a_new_conversation_and_of_its_reply(site: Site) -> None:
    viewer, other = Viewer(site, "ann"), Viewer(site, "bob")
    async with anyio.create_task_group() as group:
        group.start_soon(viewer.look, 4)
        group.start_soon(other.look, 1)
        await viewer.opened.wait()
        await anyio.wait_all_tasks_blocked()
        await site.conversation()
        await site.say("hello", 1)
        await site.ann.delete("/api/conversations/c")
        await viewer.gone.wait()
        assert other.events == []
        other.gone.set()
    kinds = [event["type"] for event in viewer.events]
    assert kinds[0] == "changed"
    assert "run" in kinds


async def test_a_viewer_knows_where_it_stands_before_anything_happens(site: Site) -> None:
    viewer = Viewer(site, "ann")
    async with anyio.create_task_group() as group:
        group.start_soon(viewer.look, 1)
        await viewer.opened.wait()
        while "id:" not in viewer.text:
            await anyio.lowlevel.checkpoint()
        viewer.gone.set()
    assert viewer.text == f"id: {site.service.feed.number}\n\n"


async def test_a_viewer_that_comes_back_gets_what_it_missed(site: Site) -> None:
    before = site.service.feed.number
    await site.conversation("a")
    await site.conversation("b")
    viewer = Viewer(site, "ann", last=before)
    await viewer.look(2)
    assert [event["conversation"] for event in viewer.events] == ["a", "b"]


async def test_a_viewer_of_an_earlier_life_of_the_server_reads_the_list_again(site: Site) -> None:
    viewer = Viewer(site, "ann", last=5)
    await viewer.look(1)
    assert viewer.events == [{"type": "reset"}]

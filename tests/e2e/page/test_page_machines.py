"""The admin page with workers of other machines, from a server that needs keys: the list, its buttons, the command for one more, and the
servers of one database. The workers are played here, which is what the server sees of them; `tests/e2e/test_joined_worker.py` has real ones."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from msgspec.structs import replace
from playwright.sync_api import Locator, expect
from tests.e2e.conftest import Server
from tests.support.joined_stand_in import JOIN, JoinedStandIn
from tests.support.tabs import Tab

from duologue.wire.machines.join_protocol import GOING, MachineDevice
from duologue.wire.worker_protocol import Dismiss

pytestmark = pytest.mark.browser

AXE = Path(__file__).parents[3] / "web/node_modules/axe-core/axe.min.js"
ADMIN = "the-key-of-the-admin-of-this-page"
CARD = MachineDevice("cuda:0", "A card", 24_000_000_000, 20_000_000_000)


@pytest.fixture(scope="module")
def without_chats() -> None:
    """The server of this file has none."""


@pytest.fixture(scope="module")
def server(lasting: Callable[..., Server], tmp_path_factory: pytest.TempPathFactory) -> Server:
    key_file = tmp_path_factory.mktemp("keys") / "admin.key"
    key_file.write_text(ADMIN)
    # The lease is longer than a test: who is cut off is out of reach for all of it.
    settings = {"DUOLOGUE_MACHINES__JOIN": "true", "DUOLOGUE_MACHINES__LEASE_S": "600"}
    return lasting("--engine", "scripted", "--key-file", str(key_file), **settings).ready()


@pytest.fixture(scope="module")
def admin(server: Server) -> Iterator[httpx.Client]:
    with httpx.Client(
        base_url=server.url, headers={"Authorization": f"Bearer {ADMIN}"}, timeout=60
    ) as client:
        yield client


@pytest.fixture(scope="module")
def portal() -> Iterator[BlockingPortal]:
    """Where the workers run."""
    with start_blocking_portal() as running:
        yield running


@pytest.fixture
def join(
    server: Server, admin: httpx.Client, portal: BlockingPortal
) -> Iterator[Callable[[str], JoinedStandIn]]:
    """Has the worker `MACHINE/gpu0` join with a key of its own, and be ready."""
    with ExitStack() as stack:

        def joined(machine: str) -> JoinedStandIn:
            key = admin.post("/api/keys", json={"name": machine, "role": "worker"}).raise_for_status().json()
            join = replace(
                JOIN, machine=machine, session=f"session-of-the-machine-{machine}", devices=(CARD,)
            )
            worker = JoinedStandIn(server.url.removeprefix("http://"), key["key"], join)
            stack.enter_context(portal.wrap_async_context_manager(worker.joined()))
            portal.call(worker.ready)
            return worker

        yield joined


@pytest.fixture
def tab(visit: Callable[..., Tab]) -> Tab:
    """The admin page of somebody who has logged in."""
    opened = visit(reduced_motion="reduce")
    opened.context.request.post(opened.url + "api/session", data={"key": ADMIN})
    opened.page.goto(opened.url + "#/admin")
    return opened


def listed(tab: Tab, machine: str) -> Locator:
    return tab.page.get_by_role("group", name=machine, exact=True)


def test_a_machine_is_listed_and_its_worker_drained_by_keyboard(
    tab: Tab, join: Callable[[str], JoinedStandIn]
) -> None:
    join("attic")
    machine = listed(tab, "attic")
    expect(machine).to_contain_text("A card, 20 GB of 24 GB free")
    expect(machine).to_contain_text(re.compile(r"gpu0.*0 of 2 replies"))
    expect(machine).to_contain_text("Idle")
    workers = tab.page.get_by_role("region", name="Workers")
    expect(workers.get_by_text("attic/gpu0")).to_have_count(0)
    tab.button("Drain attic/gpu0").focus()
    tab.page.keyboard.press("Enter")
    expect(machine).to_contain_text("Draining")
    # The same button takes it back: whoever uses the keyboard is still on it.
    expect(tab.button("Resume attic/gpu0")).to_be_focused()
    assert tab.complaints_in_both_themes(AXE) == []
    tab.page.keyboard.press("Enter")
    expect(machine).to_contain_text("Idle")


def test_a_worker_is_told_to_restart_and_shown_as_restarting(
    tab: Tab, join: Callable[[str], JoinedStandIn], portal: BlockingPortal
) -> None:
    worker = join("loft")
    tab.button("Restart loft/gpu0").click()
    tab.page.get_by_role("dialog").get_by_role("button", name="Restart", exact=True).click()
    portal.call(worker.until, lambda: Dismiss(restart=True) in worker.received)
    portal.call(worker.sockets["live"].close, GOING)
    expect(listed(tab, "loft")).to_contain_text("Restarting")
    expect(listed(tab, "loft")).not_to_contain_text("given up in")


def test_a_worker_out_of_reach_cannot_be_restarted_and_is_shown_as_left_when_its_key_is_revoked(
    tab: Tab, join: Callable[[str], JoinedStandIn], portal: BlockingPortal, admin: httpx.Client
) -> None:
    worker = join("shed")
    machine = listed(tab, "shed")
    expect(tab.button("Restart shed/gpu0")).to_be_visible()
    portal.call(worker.cut)
    expect(machine).to_contain_text("Out of reach")
    expect(machine).to_contain_text(re.compile(r"given up in \d+ s"))
    expect(tab.button("Restart shed/gpu0")).to_have_count(0)
    admin.delete("/api/keys/shed").raise_for_status()
    expect(machine).to_contain_text("Left")
    expect(machine).to_contain_text("its key was revoked")
    expect(machine).not_to_contain_text("A card")
    expect(machine.get_by_role("button")).to_have_count(0)


def test_another_machine_gets_a_key_and_the_command_to_join_with(tab: Tab, server: Server) -> None:
    tab.button("Add a machine").focus()
    tab.page.keyboard.press("Enter")
    dialog = tab.page.get_by_role("dialog")
    expect(dialog.get_by_label("Name of the machine")).to_be_focused()
    tab.page.keyboard.type("cellar")
    tab.page.keyboard.press("Enter")
    command = dialog.get_by_label("Command for cellar").last
    expect(command).to_have_value(
        re.compile(
            rf"^DUOLOGUE_JOIN_KEY=\S+ duologue worker --join {re.escape(server.url)} --machine cellar$"
        )
    )
    # The field that had the focus is gone.
    expect(command).to_be_focused()
    assert tab.complaints_in_both_themes(AXE) == []
    found = re.search(r"DUOLOGUE_JOIN_KEY=(\S+)", command.input_value())
    assert found
    # The key of a worker: it opens nothing else.
    refused = httpx.get(server.url + "/api/machines", headers={"Authorization": f"Bearer {found[1]}"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "worker_key")
    dialog.get_by_role("button", name="Done").click()
    expect(tab.button("Add a machine")).to_be_focused()


def test_several_servers_of_one_database_are_listed_with_their_replies(tab: Tab) -> None:
    def row(address: str, **fields: object) -> dict[str, object]:
        known = {"id": address, "address": address, "version": "1.0", "started": 1_790_000_000_000}
        return known | {"living": True, "own": False, "running": 0, "heard_s": 1.2} | fields

    rows = [
        row("http://one:8006", own=True, running=1),
        row("http://two:8006", running=20),
        row("", heard_s=70.0, living=False),
    ]
    tab.fulfil("**/api/gateways", {"gateways": rows})
    servers = tab.page.get_by_role("region", name="Servers").get_by_role("listitem")
    expect(servers).to_have_count(3)
    one, two, lost = servers.all()
    expect(one).to_contain_text(
        re.compile(r"http://one:8006\s*Running.*this server.*1 running reply.*version 1\.0")
    )
    expect(two).to_contain_text(re.compile(r"http://two:8006\s*Running.*20 running replies.*heard 1\s+s ago"))
    expect(lost).to_contain_text(re.compile(r"Without an address\s*Lost.*heard 1\s+min 10\s+s ago"))

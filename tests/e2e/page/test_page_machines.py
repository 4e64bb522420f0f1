"""The admin page with a worker of another machine, from a server that needs keys: the list, its buttons, and the command for one more."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import expect
from tests.e2e.conftest import Server
from tests.support.tabs import Tab

pytestmark = pytest.mark.browser

AXE = Path(__file__).parents[3] / "web/node_modules/axe-core/axe.min.js"
ADMIN = "the-key-of-the-admin-of-this-page"


@pytest.fixture(scope="module")
def without_chats() -> None:
    """The server of this file has none."""


@pytest.fixture(scope="module")
def server(lasting: Callable[..., Server], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that the worker `attic/gpu0` has joined."""
    folder = tmp_path_factory.mktemp("attic")
    key_file = folder / "admin.key"
    key_file.write_text(ADMIN)
    home = lasting(
        *("--engine", "scripted", "--key-file", str(key_file)), DUOLOGUE_MACHINES__JOIN="true"
    ).ready()
    with httpx.Client(base_url=home.url, headers={"Authorization": f"Bearer {ADMIN}"}, timeout=60) as client:
        made = client.post("/api/keys", json={"name": "attic", "role": "worker"}).raise_for_status()
        clean = {name: value for name, value in os.environ.items() if not name.startswith("DUOLOGUE_")}
        worker = subprocess.Popen(
            [
                *(sys.executable, "-m", "duologue", "worker", "--join", home.url, "--engine", "scripted"),
                *("--machine", "attic", "--name", "gpu0", "--data", str(folder / "data")),
            ],
            cwd=folder,
            env=clean | {"DUOLOGUE_JOIN_KEY": made.json()["key"]},
            stdin=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            home.until(lambda: "attic" in _joined(client))
            yield home
        finally:
            worker.terminate()
            worker.wait(60)


def _joined(client: httpx.Client) -> list[str]:
    """The machines with a worker that is ready."""
    machines = client.get("/api/machines").raise_for_status().json()["machines"]
    return [
        machine["machine"]
        for machine in machines
        if any(row["state"] == "ready" for row in machine["workers"])
    ]


@pytest.fixture
def tab(visit: Callable[..., Tab]) -> Tab:
    """The admin page of somebody who has logged in."""
    opened = visit(reduced_motion="reduce")
    opened.context.request.post(opened.url + "api/session", data={"key": ADMIN})
    opened.page.goto(opened.url + "#/admin")
    return opened


def test_a_machine_is_listed_and_its_worker_drained_by_keyboard(tab: Tab) -> None:
    machine = tab.page.get_by_role("group", name="attic", exact=True)
    expect(machine).to_contain_text("attic/gpu0")
    expect(machine).to_contain_text(re.compile(r"0 of \d+ replies"))
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


def test_another_machine_gets_a_key_and_the_command_to_join_with(tab: Tab, server: Server) -> None:
    tab.button("Add a machine").focus()
    tab.page.keyboard.press("Enter")
    dialog = tab.page.get_by_role("dialog")
    expect(dialog.get_by_label("Name of the machine")).to_be_focused()
    tab.page.keyboard.type("cellar")
    tab.page.keyboard.press("Enter")
    command = dialog.get_by_label("Command for cellar").last
    expect(command).to_have_value(
        re.compile(rf"^DUOLOGUE_JOIN_KEY=\S+ duologue worker --join {re.escape(server.url)}$")
    )
    assert tab.complaints_in_both_themes(AXE) == []
    found = re.search(r"DUOLOGUE_JOIN_KEY=(\S+)", command.input_value())
    assert found
    # The key of a worker: it opens nothing else.
    refused = httpx.get(server.url + "/api/machines", headers={"Authorization": f"Bearer {found[1]}"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "worker_key")
    dialog.get_by_role("button", name="Done").click()
    expect(tab.button("Add a machine")).to_be_focused()

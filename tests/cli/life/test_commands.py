"""`duologue drain` and `duologue restart`, against a server that plays its answers."""

import io

import pytest

from duologue.cli.life import commands
from duologue.cli.life.commands import drain, restart
from duologue.client.http import Client
from duologue.errors import Problem

IDLE = {"running": False, "done": [], "current": "", "left": [], "problem": ""}


class Played(Client):
    """Answers with what is left of `views`, the last one for ever."""

    def __init__(self, *views: dict) -> None:
        super().__init__()
        self.views = list(views)
        self.asked: list[tuple] = []

    async def api(self, method, path, body=None):
        self.asked.append((method, path, body) if body is not None else (method, path))
        return self.views.pop(0) if len(self.views) > 1 else self.views[0]


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(commands, "LOOK", 0.0)


def test_a_drain_waits_until_nothing_runs():
    server, asides = Played({}, {"running": 2}, {"running": 2}, {"running": 0}), io.StringIO()
    drain(server, (), undo=False, wait=True, asides=asides)
    assert server.asked[0] == ("POST", "/api/admin/drain")
    assert asides.getvalue() == (
        "Still running: 2.\nThe server takes no new work, and nothing runs any more.\n"
    )


def test_a_drain_of_one_worker_looks_at_that_one():
    rows = {
        "workers": [
            {"worker_id": "w 0", "slots_busy": 0, "seats_busy": 0},
            {"worker_id": "w1", "slots_busy": 3},
        ]
    }
    server, asides = Played({}, rows), io.StringIO()
    drain(server, ("w 0",), undo=False, wait=True, asides=asides)
    assert server.asked == [("POST", "/api/admin/workers/w%200/drain"), ("GET", "/workers")]
    assert asides.getvalue() == "w 0 takes no new work, and nothing runs any more.\n"


def test_a_drain_is_undone():
    server, asides = Played({}), io.StringIO()
    drain(server, (), undo=True, wait=True, asides=asides)
    assert server.asked == [("DELETE", "/api/admin/drain")]
    assert asides.getvalue() == "New work is taken again.\n"


def test_a_rolling_restart_tells_how_far_it_is():
    begun = IDLE | {"running": True, "current": "w0", "left": ["w1"]}
    server = Played({"restart": begun}, {"restart": IDLE | {"done": ["w0", "w1"]}})
    asides = io.StringIO()
    restart(server, ("w0", "w1"), rolling=True, wait=True, asides=asides)
    assert server.asked[0] == ("POST", "/api/admin/restart", {"workers": ["w0", "w1"]})
    assert asides.getvalue() == "w0 is being replaced; 1 are left.\nReplaced: w0, w1.\n"


def test_a_worker_that_does_not_come_back_is_an_error():
    server = Played({"restart": IDLE | {"problem": "The worker w0 is not ready again."}})
    with pytest.raises(Problem, match="not ready again"):
        restart(server, (), rolling=True, wait=True, asides=io.StringIO())


def test_all_workers_can_be_restarted_at_once():
    server, asides = Played({"workers": [{"worker_id": "w0"}, {"worker_id": "w1"}]}), io.StringIO()
    restart(server, (), rolling=False, wait=True, asides=asides)
    assert [path for _, path in server.asked] == [
        "/workers",
        "/api/admin/workers/w0/restart",
        "/api/admin/workers/w1/restart",
    ]
    assert asides.getvalue() == "Restarted: w0, w1.\n"

"""`duologue machines`: what it makes of the server's answer."""

from duologue.cli.joining.machines import device_line, note, rows

WORKER = {"worker": "box/gpu0", "state": "ready", "model": "mini", "device": "cuda:0", "slots": 4, "busy": 1}
WORKER |= {
    "version": "1.0",
    "protocol": 7,
    "lease_left": None,
    "reach": "joined",
    "detail": "",
    "draining": False,
}


def test_each_worker_has_a_row_with_its_machine():
    table = rows(
        {
            "machines": [
                {"machine": "box", "workers": [WORKER], "devices": []},
                {"machine": "", "workers": [], "devices": []},
            ]
        }
    )
    assert table[1] == ("box", "box/gpu0", "ready", "mini", "cuda:0", "1/4", "1.0", "7", "-")


def test_the_note_says_what_an_operator_looks_for():
    assert note(WORKER | {"lease_left": 12.4}) == "unreachable, given up in 12 s"
    assert note(WORKER | {"reach": "gone", "detail": "its key was revoked"}) == "gone: its key was revoked"
    assert note(WORKER | {"draining": True}) == "draining"


def test_a_device_has_its_memory_where_that_is_known():
    assert device_line({"name": "cpu", "description": "", "memory": 0, "free": 0}) == "cpu"
    card = {"name": "cuda:0", "description": "A card", "memory": 24e9, "free": 20e9}
    assert device_line(card) == "cuda:0 A card, 20.0 of 24.0 GB free"
    assert device_line({**card, "memory": 0}) == "cuda:0 A card, 20.0 GB free"

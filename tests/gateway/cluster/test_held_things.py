"""Which requests are about what one gateway alone has."""

import pytest

from duologue.gateway.cluster.held_things import HeldThing, held_thing, mark_of

MARK = "0a1b2c3d"


@pytest.mark.parametrize(
    "line",
    [
        f"PATCH /api/uploads/{MARK}ffff",
        f"HEAD /api/uploads/{MARK}ffff",
        f"GET /api/queue/q_{MARK}_1f",
        f"DELETE /api/queue/q_v{MARK}_2",
        f"GET /api/avatars/drawn/clips/{MARK}ab/events",
        f"GET /v1/responses/resp_{MARK}00",
        f"POST /v1/responses/resp_{MARK}00/cancel",
    ],
)
def test_ids_that_a_gateway_makes_say_whose_they_are(line):
    assert held_thing(*line.split()) == HeldThing("mark", MARK)


def test_what_clients_name_is_claimed():
    assert held_thing("POST", "/api/conversations/abc/runs") == HeldThing("claim", "conversation:abc")
    assert held_thing("GET", "/api/conversations/abc") == HeldThing("claim", "conversation:abc")
    assert held_thing("POST", "/v1/batches/batch_1/cancel") == HeldThing("claim", "batch:batch_1")


def test_runs_and_the_like_are_asked_for_where_they_are_not_known_here():
    assert held_thing("GET", "/api/runs/r/events") == HeldThing("ask")
    assert held_thing("POST", "/v1/chat/completions/control") == HeldThing("ask")
    assert held_thing("GET", "/api/mcp/oauth/callback") == HeldThing("ask", missing=(400, 404))


def test_the_questions_that_wait_are_gathered_from_all_gateways():
    assert held_thing("GET", "/api/approvals") == HeldThing("gather", "approvals")
    assert held_thing("POST", "/api/approvals/p1") == HeldThing("ask")


@pytest.mark.parametrize(
    "line",
    [
        "POST /api/uploads",
        "GET /api/queue",
        "GET /api/queue/q_1",
        "POST /api/conversations",
        "POST /api/conversations/bulk",
        "GET /v1/responses/resp_xyz",
        "POST /v1/responses",
        "GET /v1/batches/batch_1",
        "POST /v1/chat/completions",
        "GET /",
    ],
)
def test_everything_else_is_answered_where_it_arrives(line):
    assert held_thing(*line.split()) is None


def test_a_mark_is_how_an_id_begins():
    assert mark_of(MARK + "0" * 24) == MARK

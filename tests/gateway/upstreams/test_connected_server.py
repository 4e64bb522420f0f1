"""What a connected server is, by what was stored and what it answered."""

from __future__ import annotations

from duologue.errors import Problem
from duologue.gateway.upstreams.connected_server import ConnectedServer
from duologue.store.upstreams import StoredUpstream
from duologue.values.requests import UpstreamModel

SEEN = (UpstreamModel("a", 4096, ("text", "image")), UpstreamModel("b", tools=True))


def connected(**fields: object) -> ConnectedServer:
    return ConnectedServer(StoredUpstream("box", "other", "http://box/v1", seen=SEEN, **fields))  # type: ignore[arg-type]


def test_all_its_models_are_used_or_the_chosen_ones_even_if_it_does_not_list_them() -> None:
    assert connected().models() == SEEN
    assert connected(chosen=("c", "b")).models() == (UpstreamModel("c"), SEEN[1])


def test_what_an_admin_said_of_a_model_wins_and_leaves_the_rest_of_it_as_the_server_says() -> None:
    said = connected(modalities={"a": ("video", "audio"), "b": (), "gone": ("image",)})
    assert said.models() == (
        UpstreamModel("a", 4096, ("text", "audio", "video")),
        UpstreamModel("b", modalities=("text",), tools=True),
    )
    speaks = connected(outputs={"a": ("audio",), "b": ()})
    assert [model.outputs for model in speaks.models()] == [("text", "audio"), ("text",)]
    assert speaks.models()[0].modalities == SEEN[0].modalities
    unlisted = connected(chosen=("c",), modalities={"c": ("image",)})
    assert unlisted.models() == (UpstreamModel("c", modalities=("text", "image")),)


def test_its_state_is_that_of_the_last_question() -> None:
    server = connected()
    assert server.state == "waiting"
    server.asked = True
    assert server.state == "ready"
    server.problem = Problem("It is down.")
    assert server.state == "problem"
    assert connected(enabled=False).state == "off"

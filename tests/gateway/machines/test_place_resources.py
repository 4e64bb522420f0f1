"""What a place takes of a node."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from duologue.gateway.machines.place_resources import fits, in_words, is_placed, on_node, place_resources
from duologue.wire.machines.placement_protocol import Node, Resources
from duologue.wire.worker_protocol import LoadSpec

GB = 10**9


def spec(engine: str = "llama", device: str = "auto", **options: object) -> LoadSpec:
    return LoadSpec("worker_0", engine, "mini", dict(options), device)


def test_connected_servers_and_the_voice_stay_with_the_gateway() -> None:
    assert is_placed(spec())
    assert is_placed(spec("scripted"))
    assert not is_placed(spec("remote"))
    assert not is_placed(spec("voice"))


@pytest.mark.parametrize(
    ("one", "needed", "card_memory", "cards"),
    [
        (spec(), 12 * GB, 0, 1.0),
        (spec(), 0, 24 * GB, 1.0),
        (spec(), 5 * GB, 24 * GB, 0.25),
        (spec(), 7 * GB, 24 * GB, 0.5),
        (spec(), 24 * GB, 24 * GB, 1.0),
        (spec(), 40 * GB, 24 * GB, 2.0),
        (spec(device="cpu"), 12 * GB, 0, 0.0),
        (spec(gpu_layers=0), 12 * GB, 0, 0.0),
        (spec("scripted"), 0, 0, 0.0),
        (spec("scripted", "cuda:3"), 0, 0, 1.0),
    ],
)
def test_a_model_takes_cards_by_its_size(one: LoadSpec, needed: int, card_memory: int, cards: float) -> None:
    assert place_resources(one, needed, cards=True, card_memory=card_memory).gpus == cards


def test_without_cards_in_the_cluster_only_who_names_one_waits_for_it() -> None:
    assert place_resources(spec(), GB, cards=False) == Resources(1.0, 0.0, GB)
    assert place_resources(spec(device="cuda:0"), GB, cards=False).gpus == 1.0
    assert place_resources(spec(threads=6), GB, cards=False).cpus == 6.0


@given(st.integers(1, 10**12), st.integers(10**9, 10**11))
def test_the_cards_that_a_model_takes_hold_it(needed: int, card_memory: int) -> None:
    gpus = place_resources(spec(), needed, cards=True, card_memory=card_memory).gpus
    assert gpus * card_memory >= needed * (1 - 1e-9)
    assert gpus <= max(1.0, needed / card_memory + 1)
    assert gpus in (0.25, 0.5, 0.75) or gpus == int(gpus)


def test_on_the_node_a_worker_sees_the_cards_that_ray_gave_it() -> None:
    without = on_node(spec(device="auto"), Resources(1))
    assert (without.device, without.options["device"]) == ("cpu", "cpu")
    named = on_node(spec(device="cuda:3"), Resources(1, 1.0))
    assert (named.device, named.options["device"]) == ("cuda:0", "cuda:0")
    several = on_node(spec(device="auto"), Resources(1, 2.0))
    assert several.device == "auto"
    assert "device" not in several.options


def test_the_file_of_a_chosen_template_is_not_looked_for_on_the_node() -> None:
    assert on_node(structs.replace(spec(), template="/data/terse.jinja"), Resources(1)).template == ""


def test_what_is_waited_for_in_words() -> None:
    assert in_words(Resources(1, 1, 12 * GB)) == "1 GPU, 12 GB"
    assert in_words(Resources(2, 2, 40 * GB)) == "2 GPUs, 40 GB"
    assert in_words(Resources(1, 0.25, int(4.5 * GB))) == "0.25 GPU, 4.5 GB"
    assert in_words(Resources(1, 0, 700_000_000)) == "1 CPU, 0.7 GB"
    assert in_words(Resources()) == "a node"


def test_room_is_on_one_node_and_not_on_one_that_is_drained() -> None:
    nodes = (
        Node("a", "", Resources(8, 2, 64 * GB), Resources(8, 0, 64 * GB)),
        Node("b", "", Resources(8, 2, 64 * GB), Resources(0, 2, 64 * GB)),
        Node("c", "", Resources(8, 2, 64 * GB), Resources(8, 2, 64 * GB), draining=True),
    )
    assert fits(Resources(8, 0, GB), nodes)
    assert not fits(Resources(1, 1, GB), nodes)
    assert not fits(Resources(0, 0, 65 * GB), nodes)

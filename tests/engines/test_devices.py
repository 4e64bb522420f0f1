"""Names of devices, and those that are not there."""

import pytest

from duologue.engines.devices import Device, describe_devices, numbered_cards, parse_device, require_card
from duologue.errors import StartFailed
from duologue.models.placement import Card

CARDS = (Card(0, "A100", 40_000_000_000), Card(1, "A100", 8_000_000_000))


@pytest.mark.parametrize(
    ("text", "device"),
    [
        ("", Device()),
        ("auto", Device()),
        ("cpu", Device("cpu")),
        ("cuda", Device("cuda")),
        ("CUDA:1", Device("cuda", 1)),
        ("gpu:0", Device("cuda")),
    ],
)
def test_devices_go_by_their_usual_names(text, device):
    assert parse_device(text) == device


def test_a_device_that_is_none_is_said():
    with pytest.raises(StartFailed, match="no device 'tpu'"):
        parse_device("tpu")


def test_only_cards_are_counted():
    assert [Device("cuda", 1).name, Device("cpu").name] == ["cuda:1", "cpu"]


def test_a_device_that_is_there_is_taken():
    for device in (Device(), Device("cpu"), Device("cuda", 1)):
        require_card(device, CARDS)
    require_card(Device("cpu"), ())


def test_a_card_that_is_not_there_is_refused_with_those_that_are():
    with pytest.raises(StartFailed) as caught:
        require_card(Device("cuda", 2), CARDS)
    assert "no device cuda:2" in caught.value.message
    assert "cpu, cuda:0 (A100, 40" in caught.value.message
    assert "cuda:1 (A100, 8" in caught.value.message
    assert caught.value.param == "device"


def test_without_any_card_a_build_for_cards_is_the_advice():
    with pytest.raises(StartFailed, match=r"It has: cpu\..*a build of the engine"):
        require_card(Device("cuda"), ())


def test_cards_of_which_only_the_number_is_known():
    assert [card.device for card in numbered_cards(2)] == ["cuda:0", "cuda:1"]
    assert describe_devices(()) == "cpu"
    assert describe_devices(numbered_cards(2)) == "cpu, cuda:0, cuda:1"

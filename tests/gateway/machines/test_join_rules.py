"""What a worker may say of itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.support.joined_stand_in import JOIN

from duologue.gateway.machines.join_rules import (
    DEVICES,
    Allowance,
    checked_report,
    is_name,
    printable,
    refused,
    told_devices,
)
from duologue.values.requests import ModelCard
from duologue.wire.machines.join_protocol import MachineDevice
from duologue.wire.worker_protocol import Report

CARD = ModelCard("mini", "scripted", 2048)


@pytest.mark.parametrize("name", ["", ".", "../x", "a/b", "x" * 65, "a b", "a\nb", "é", "-x", "a\x00"])
def test_odd_names_are_refused(name: str) -> None:
    for join in (replace(JOIN, machine=name), replace(JOIN, worker=name)):
        refuse = refused(join)
        assert refuse is not None
        assert (refuse.code, refuse.retry_s) == ("join_name", None)


@pytest.mark.parametrize("model", ["server mine", " mini", "a\nb", "x" * 201])
def test_a_model_may_not_take_the_line_of_a_connected_server_or_have_an_odd_name(model: str) -> None:
    assert not is_name(model)
    assert refused(replace(JOIN, model=model)) is not None
    with pytest.raises(ValueError, match="without a name"):
        checked_report(Report("x", "ready", card=replace(CARD, name=model)))


@pytest.mark.parametrize(
    ("worker", "gateway", "code"),
    [
        ((7, 7), (7, 7), ""),
        ((7, 9), (7, 7), ""),
        ((6, 7), (7, 9), ""),
        ((8, 8), (7, 9), ""),
        ((1, 6), (7, 9), "worker_too_old"),
        ((8, 9), (6, 7), "worker_too_new"),
    ],
)
def test_versions_that_overlap_go_together(
    worker: tuple[int, int], gateway: tuple[int, int], code: str
) -> None:
    refuse = refused(replace(JOIN, oldest=worker[0], newest=worker[1]), oldest=gateway[0], newest=gateway[1])
    assert (refuse.code if refuse else "") == code
    if refuse:
        # A server that is upgraded meanwhile lets a newer worker in; an older one needs a person.
        assert (refuse.retry_s is None) == (code == "worker_too_old")


@given(st.lists(st.builds(MachineDevice, st.text(), st.text(), st.integers(-(2**63), 2**63 - 1))))
def test_devices_are_told_in_bounds(devices: list[MachineDevice]) -> None:
    told = told_devices(replace(JOIN, devices=tuple(devices)))
    assert len(told) <= DEVICES
    assert all(
        device.memory >= 0 and len(device.name) <= 40 and device.description.isprintable() for device in told
    )


@given(st.text(), st.integers(0, 50))
def test_texts_of_strangers_are_one_line(text: str, most: int) -> None:
    assert len(printable(text, most)) == min(len(text), most)
    assert printable(text, most).isprintable()


@pytest.mark.parametrize("slots", [0, -1, 1025, 10**9])
def test_slots_are_bounded(slots: int) -> None:
    with pytest.raises(ValueError, match="slots"):
        checked_report(Report("x", "ready", card=replace(CARD, slots=slots)))


def test_a_report_in_bounds_passes_and_its_oddities_are_smoothed() -> None:
    report = Report("x", "loading", detail="a\nb" + "c" * 5000, progress=float("nan"), card=CARD)
    checked = checked_report(report)
    assert checked.progress is None
    assert checked.card == CARD
    assert checked.detail.startswith("a bccc")
    assert len(checked.detail) == 2000


def test_a_report_that_would_fill_every_status_page_is_refused() -> None:
    with pytest.raises(ValueError, match="bytes"):
        checked_report(Report("x", "ready", card=replace(CARD, warnings=("x" * 2000,) * 1000)))


def test_a_device_is_told_in_one_line() -> None:
    checked = checked_report(Report("x", "ready", card=replace(CARD, device="cpu\x1b[2J\n")))
    assert checked.card is not None
    assert checked.card.device == "cpu [2J "


@given(st.lists(st.floats(0, 100), max_size=200))
def test_an_allowance_is_never_exceeded(times: list[float]) -> None:
    allowance = Allowance(5, 2)
    taken = [at for at in sorted(times) if allowance.may(at)]
    for begin in taken:
        within = [at for at in taken if begin <= at <= begin + 10]
        assert len(within) <= 5 + 2 * 10 + 1

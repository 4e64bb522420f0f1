"""The first messages of a worker that joins from another machine."""

import msgspec
import pytest

from duologue.wire.machines.join_protocol import (
    Gateways,
    Join,
    JoinBulk,
    MachineDevice,
    Refuse,
    Welcome,
    agreed,
    decode_gateways,
    decode_opening,
    decode_reply,
    encode_opening,
)


def test_what_a_worker_says_first_is_read_as_it_was():
    join = Join("attic", "qwen", "f00d", 7, 9, devices=(MachineDevice("cuda:0", memory=1 << 40),))
    for message in (join, JoinBulk("f00d", 12)):
        assert decode_opening(encode_opening(message)) == message


def test_what_the_gateway_answers_is_read_as_it_was():
    for message in (Welcome(7, "g1", 20.0, gateways=("https://a",)), Refuse("machines_off", "No.")):
        assert decode_reply(encode_opening(message)) == message


def test_a_field_of_a_newer_side_is_passed_over():
    assert decode_reply('{"type":"welcome","protocol":9,"gateway":"g","lease_s":1,"new":[]}') == Welcome(
        9, "g", 1.0
    )


@pytest.mark.parametrize("frame", ['{"type":"other"}', "[]", "", '{"type":"join"}'])
def test_anything_else_is_refused(frame: str):
    with pytest.raises(msgspec.DecodeError):
        decode_opening(frame)


def test_two_sides_speak_the_newest_version_that_both_know():
    assert agreed(7, 9, 7, 8) == 8
    assert agreed(7, 8, 7, 9) == 8
    assert agreed(9, 9, 7, 8) is None
    assert agreed(7, 7, 8, 9) is None


def test_a_change_of_the_gateways_comes_between_the_frames():
    changed = Gateways(("http://127.0.0.2:8006", "http://127.0.0.3:8006"))
    assert decode_gateways(encode_opening(changed)) == changed

"""Frames that arrive once and in order, however often the connection breaks."""

from __future__ import annotations

from collections import deque

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duologue.wire.machines.frame_link import ACK_FRAMES, HEADER, FrameLink, LinkBroken


def pump(sender: FrameLink, receiver: FrameLink) -> list[bytes]:
    """Everything that the sender writes now, handed over."""
    arrived = []
    while (frame := sender.next_frame()) is not None:
        if (payload := receiver.take(frame)) is not None:
            arrived.append(payload)
    return arrived


def connect(one: FrameLink, other: FrameLink) -> None:
    for_one, for_other = other.received, one.received
    one.resume(for_one)
    other.resume(for_other)


def test_frames_arrive_in_order() -> None:
    one, other = FrameLink(), FrameLink()
    connect(one, other)
    for payload in (b"a", b"", b"c"):
        one.add(payload)
    assert pump(one, other) == [b"a", b"", b"c"]
    assert other.received == 3


def test_frames_that_were_lost_on_the_way_are_written_again() -> None:
    one, other = FrameLink(), FrameLink()
    connect(one, other)
    for payload in (b"a", b"b", b"c"):
        one.add(payload)
    first = one.next_frame()
    assert first is not None
    assert other.take(first) == b"a"
    one.next_frame()  # is lost with the connection
    connect(one, other)
    assert pump(one, other) == [b"b", b"c"]


def test_a_frame_that_comes_twice_is_dropped() -> None:
    one, other = FrameLink(), FrameLink()
    connect(one, other)
    one.add(b"a")
    frame = one.next_frame()
    assert frame is not None
    assert other.take(frame) == b"a"
    assert other.take(frame) is None


def test_a_frame_in_the_other_direction_acknowledges() -> None:
    one, other = FrameLink(), FrameLink()
    connect(one, other)
    one.add(b"a")
    pump(one, other)
    assert one.unacknowledged == 1
    other.add(b"answer")
    pump(other, one)
    assert one.unacknowledged == 0


def test_an_acknowledgement_is_due_after_many_frames_or_when_asked() -> None:
    one, other = FrameLink(), FrameLink()
    connect(one, other)
    for _ in range(ACK_FRAMES - 1):
        one.add(b"a")
    pump(one, other)
    assert not other.ack_due
    other.ask_ack()
    assert other.ack_due
    pump(other, one)
    assert one.unacknowledged == 0
    assert not other.ack_due
    for _ in range(ACK_FRAMES):
        one.add(b"a")
    pump(one, other)
    assert other.ack_due


def test_acknowledgements_are_not_acknowledged() -> None:
    one, other = FrameLink(), FrameLink()
    connect(one, other)
    one.add(b"a")
    pump(one, other)
    other.ask_ack()
    pump(other, one)
    one.ask_ack()
    assert one.next_frame() is None


def test_a_full_memory_has_no_room_until_frames_are_acknowledged() -> None:
    one, other = FrameLink(limit_bytes=10), FrameLink()
    connect(one, other)
    one.add(b"12345678")
    assert one.has_room
    one.add(b"12345678")
    assert not one.has_room
    with pytest.raises(LinkBroken):
        one.add(b"x")
    pump(one, other)
    other.ask_ack()
    pump(other, one)
    assert one.has_room


def test_one_frame_may_be_larger_than_the_memory() -> None:
    link = FrameLink(limit_bytes=10)
    link.add(bytes(100))
    assert not link.has_room


def test_a_peer_that_lost_its_memory_breaks_the_link() -> None:
    one, other = FrameLink(), FrameLink()
    connect(one, other)
    one.add(b"a")
    pump(one, other)
    other.ask_ack()
    pump(other, one)
    with pytest.raises(LinkBroken):
        one.resume(0)
    with pytest.raises(LinkBroken):
        one.resume(2)


@pytest.mark.parametrize(
    "frame",
    [
        b"",
        b"short",
        HEADER.pack(2, 0) + b"a gap",
        HEADER.pack(0, 1),
        HEADER.pack(1, 5) + b"acknowledges more",
    ],
)
def test_what_a_peer_cannot_have_sent_breaks_the_link(frame: bytes) -> None:
    link = FrameLink()
    link.resume(0)
    with pytest.raises(LinkBroken):
        link.take(frame)


STEPS = st.sampled_from(["send", "send other", "write", "write other", "read", "read other", "break", "ask"])


@settings(max_examples=300, deadline=None)
@given(st.lists(STEPS, max_size=120), st.integers(1, 5))
def test_any_run_of_sends_losses_and_reconnects_delivers_every_frame_once_and_in_order(
    steps: list[str], frames: int
) -> None:
    links = (FrameLink(limit_frames=frames), FrameLink(limit_frames=frames))
    lines: tuple[deque[bytes], deque[bytes]] = (deque(), deque())
    """What was written by each and not read by the other."""
    sent: tuple[list[bytes], list[bytes]] = ([], [])
    arrived: tuple[list[bytes], list[bytes]] = ([], [])

    def send(side: int) -> None:
        if links[side].has_room:
            payload = b"%d" % len(sent[side])
            links[side].add(payload)
            sent[side].append(payload)

    def write(side: int) -> None:
        if (frame := links[side].next_frame()) is not None:
            lines[side].append(frame)

    def read(side: int) -> None:
        if lines[1 - side] and (payload := links[side].take(lines[1 - side].popleft())) is not None:
            arrived[side].append(payload)

    def reconnect() -> None:
        lines[0].clear()
        lines[1].clear()
        connect(*links)

    reconnect()
    for step in steps:
        side = 1 if step.endswith("other") else 0
        match step.split()[0]:
            case "send":
                send(side)
            case "write":
                write(side)
            case "read":
                read(side)
            case "ask":
                links[0].ask_ack()
                links[1].ask_ack()
            case _:
                reconnect()
    reconnect()
    for _ in range(2):
        for side in (0, 1):
            links[side].ask_ack()
            while (frame := links[side].next_frame()) is not None:
                lines[side].append(frame)
            while lines[side]:
                read(1 - side)
    assert arrived == (sent[1], sent[0])
    assert all(link.unacknowledged <= frames for link in links)

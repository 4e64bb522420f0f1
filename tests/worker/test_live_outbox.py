"""What a worker writes to the gateway: events in order, and large ones in fragments that let others pass."""

import anyio
import pytest

from duologue.gateway.machines.join_socket import FRAME_BYTES
from duologue.values.call_events import CallSessionEnded, SpeakingClip, State
from duologue.values.events import Embedded, TextDelta
from duologue.wire import worker_protocol
from duologue.wire.worker_protocol import CallEvents, Closed, Emit, Fragment, FragmentJoiner
from duologue.worker.live_outbox import LARGEST_FRAME, LiveOutbox

pytestmark = pytest.mark.anyio

CLIP = SpeakingClip(0, 1, bytes(worker_protocol.PIECE * 3), "one", 10, 64, 64, (), bytes(20))


async def frames_of(outbox: LiveOutbox) -> list[list[worker_protocol.Up]]:
    """Every frame until nothing waits."""
    frames = []
    while not outbox.empty:
        with anyio.fail_after(30):
            frames.append(await outbox.take())
    return frames


def joined(frames: list[list[worker_protocol.Up]]) -> list[worker_protocol.Up]:
    """The messages as the gateway handles them."""
    joiner, messages = FragmentJoiner(), list[worker_protocol.Up]()
    for message in [message for frame in frames for message in frame]:
        if not isinstance(message, Fragment):
            messages.append(message)
        elif (frame := joiner.add(message)) is not None:
            messages.extend(worker_protocol.decode_up(frame))
    return messages


async def test_events_of_a_lease_share_a_message_and_its_end_follows():
    outbox = LiveOutbox()
    outbox.emit(1, TextDelta("a"))
    outbox.emit(1, TextDelta("b"))
    outbox.send(2, State(0, "listening"))
    outbox.post(Closed(1))
    assert await frames_of(outbox) == [
        [Emit(1, (TextDelta("a"), TextDelta("b"))), CallEvents(2, (State(0, "listening"),)), Closed(1)]
    ]


async def test_a_clip_goes_in_fragments_between_which_others_pass():
    outbox = LiveOutbox()
    outbox.send(1, CLIP)
    frames = [await outbox.take()]
    outbox.emit(2, TextDelta("a"))
    frames += await frames_of(outbox)
    sent = [message for frame in frames for message in frame]
    assert all(
        len(message.data) <= worker_protocol.PIECE for message in sent if isinstance(message, Fragment)
    )
    assert sent.index(Emit(2, (TextDelta("a"),))) < len(sent) - 2
    assert CallEvents(1, (CLIP,)) in joined(frames)


async def test_nothing_of_a_lease_overtakes_its_clip():
    outbox = LiveOutbox()
    outbox.send(1, CLIP)
    frames = [await outbox.take()]
    outbox.send(1, State(0, "speaking"))
    outbox.send(1, CallSessionEnded())
    outbox.post(Closed(1))
    outbox.post(Closed(2))
    frames += await frames_of(outbox)
    assert joined(frames) == [
        Closed(2),
        CallEvents(1, (CLIP,)),
        CallEvents(1, (State(0, "speaking"), CallSessionEnded())),
        Closed(1),
    ]


async def test_a_cancelled_lease_ends_after_what_it_has_begun_to_send():
    outbox = LiveOutbox()
    outbox.send(1, CLIP)
    first = [await outbox.take()]
    outbox.send(1, State(0, "speaking"))
    outbox.drop(1)
    outbox.post(Closed(1))
    assert joined(first + await frames_of(outbox)) == [CallEvents(1, (CLIP,)), Closed(1)]


async def test_no_frame_is_larger_than_a_gateway_takes_and_nothing_changes_its_order():
    """Vectors of several requests over a slow line once made a frame that the gateway of a joined worker closed its connection at, again and again."""
    outbox = LiveOutbox()
    vectors = Embedded(bytes(LARGEST_FRAME // 2), 8)
    for lease in (1, 2, 3):
        for _ in range(lease):
            outbox.emit(lease, vectors)
        outbox.post(Closed(lease))
    messages = await outbox.take()
    frames = list(outbox.frames(messages))
    assert all(len(frame) <= LARGEST_FRAME < FRAME_BYTES for frame in frames)
    assert joined([worker_protocol.decode_up(frame) for frame in frames]) == messages
    outbox.emit(4, TextDelta("a"))
    assert len(list(outbox.frames(await outbox.take()))) == 1

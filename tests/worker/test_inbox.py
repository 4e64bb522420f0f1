import logging

import anyio
import pytest

from duologue.errors import Busy
from duologue.values.call_events import (
    CallChunk,
    CallControl,
    CallFrame,
    MicrophoneAudio,
    Played,
    Text,
)
from duologue.values.messages import ImagePart
from duologue.worker.inbox import CONTROLS, MEDIA, SOUND, ControlInbox

pytestmark = pytest.mark.anyio


async def test_what_is_told_is_taken_in_order():
    inbox = ControlInbox()
    controls: list[CallControl] = [MicrophoneAudio(b"ab"), Text(1, "a"), MicrophoneAudio(b"cd")]
    inbox.put(controls[:2])
    inbox.put(controls[2:])
    assert await inbox.take() == controls


async def test_taking_waits_for_something():
    inbox = ControlInbox()
    controls = []

    async def take():
        controls.extend(await inbox.take())

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(take)
        await anyio.wait_all_tasks_blocked()
        assert controls == []
        inbox.put([Played(1, 5)])
    assert controls == [Played(1, 5)]


async def test_the_oldest_sound_is_dropped_and_that_is_logged_once(caplog):
    inbox = ControlInbox()
    second = 32_000
    with caplog.at_level(logging.WARNING):
        for number in range(8):
            inbox.put([MicrophoneAudio(bytes([number]) * second), Text(1, str(number))])
    controls_taken = await inbox.take()
    sound = b"".join(control.pcm for control in controls_taken if isinstance(control, MicrophoneAudio))
    assert len(sound) == SOUND
    assert (sound[0], sound[-1]) == (3, 7)
    assert [control.text for control in controls_taken if isinstance(control, Text)] == list("01234567")
    assert len(caplog.records) == 1


async def test_of_one_very_long_piece_the_end_stays():
    inbox = ControlInbox()
    inbox.put([MicrophoneAudio(bytes(SOUND) + b"\x01" * SOUND)])
    assert await inbox.take() == [MicrophoneAudio(b"\x01" * SOUND)]


async def test_of_too_many_pictures_the_newest_stays_and_every_chunk():
    inbox = ControlInbox()
    pictures = [ImagePart(bytes([number]) * (MEDIA // 4)) for number in range(6)]
    for number, picture in enumerate(pictures):
        inbox.put([CallChunk(bytes([number, 0]), (picture,)) if number % 2 else CallFrame(picture)])
    taken = await inbox.take()
    chunks = [control for control in taken if isinstance(control, CallChunk)]
    assert [chunk.pcm[0] for chunk in chunks] == [1, 3, 5]
    seen = [frame for chunk in chunks for frame in chunk.frames]
    seen += [control.frame for control in taken if isinstance(control, CallFrame)]
    assert pictures[5] in seen
    assert len(seen) * (MEDIA // 4) <= MEDIA
    inbox.put([CallFrame(pictures[0])])
    assert len(await inbox.take()) == 1


async def test_chunks_that_a_session_does_not_read_end_the_call():
    inbox = ControlInbox()
    for _ in range(20):
        inbox.put([CallChunk(bytes(MEDIA // 10))])
    with pytest.raises(Busy):
        await inbox.take()


async def test_too_much_of_anything_else_ends_the_call():
    inbox = ControlInbox()
    inbox.put([Text(1, "a")] * (CONTROLS + 5))
    with pytest.raises(Busy):
        await inbox.take()

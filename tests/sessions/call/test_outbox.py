import anyio
import pytest

from duologue.errors import Busy
from duologue.sessions.call.outbox import SOUNDS, WAITING, EventOutbox
from duologue.values.call_events import (
    AssistantSaid,
    CallEvent,
    Cut,
    ReplyAudio,
    ReplyAudioEnded,
    ReplyText,
    State,
)

pytestmark = pytest.mark.anyio


async def taken(outbox):
    """What a fast reader gets."""
    events = []

    async def send(event):
        events.append(event)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(outbox.run, send)
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
    return events


async def test_events_come_in_order():
    outbox = EventOutbox()
    events: list[CallEvent] = [State(0, "listening"), ReplyAudio(0, 1, b"ab"), State(0, "speaking")]
    for event in events:
        outbox.post(event)
    assert await taken(outbox) == events


async def test_nothing_of_a_dropped_reply_goes_out_any_more():
    outbox = EventOutbox()
    for event in (
        ReplyAudio(0, 1, b"ab"),
        ReplyText(0, 1, "a"),
        ReplyAudio(0, 2, b"cd"),
        ReplyAudioEnded(0, 1, 1),
    ):
        outbox.post(event)
    outbox.drop(1)
    outbox.post(Cut(1, 1))
    outbox.post(AssistantSaid(1, 1, "", "a", "interrupted"))
    assert await taken(outbox) == [
        ReplyAudio(0, 2, b"cd"),
        Cut(1, 1),
        AssistantSaid(1, 1, "", "a", "interrupted"),
    ]


async def test_only_so_much_sound_waits():
    outbox = EventOutbox()
    for _ in range(SOUNDS):
        assert outbox.takes_sound
        outbox.post(ReplyAudio(0, 1, b"ab"))
    assert not outbox.takes_sound
    outbox.drop(1)
    assert outbox.takes_sound


async def test_a_reader_who_is_gone_is_noticed():
    outbox = EventOutbox()
    for _ in range(WAITING + 1):
        outbox.post(State(0, "listening"))
    with pytest.raises(Busy) as refused:
        await outbox.run(lambda event: anyio.sleep_forever())
    assert refused.value.code == "too_slow"


async def test_a_reader_who_takes_nothing_at_all_is_noticed():
    outbox, refused = EventOutbox(), []

    async def read():
        try:
            await outbox.run(lambda event: anyio.sleep_forever())
        except Busy as problem:
            refused.append(problem.code)

    async with anyio.create_task_group() as tasks:
        outbox.post(State(0, "listening"))
        tasks.start_soon(read)
        await anyio.wait_all_tasks_blocked()
        for _ in range(WAITING + 1):
            outbox.post(State(0, "listening"))
    assert refused == ["too_slow"]

"""The chat socket, over real sockets: requests one after the other, cancels, leavings, silences."""

import base64
import json
import logging
from array import array
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import anyio
import pytest
from fastapi import FastAPI
from tests.gateway.fake_seats import FakeLease, FakeSeats
from tests.gateway.fake_voice_worker import WORD, Seats
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from duologue.config.settings import Chat, LimitSettings
from duologue.errors import Problem
from duologue.gateway.apps.app_registry import AppRegistry
from duologue.gateway.calls.call_services import CallServices
from duologue.gateway.dialects import chat_socket
from duologue.gateway.dialects.chat_socket import router
from duologue.gateway.media.fitted_generate import FittedGenerate
from duologue.gateway.media.fitter import MediaFitter
from duologue.gateway.middleware.socket_answers import SOCKET_ANSWERS, SocketAnswers
from duologue.gateway.models.registry import ModelRegistry
from duologue.gateway.speech.service import SpeechService
from duologue.values import call_events
from duologue.values.events import Done, Failed, Prefilled, Queued, Started, TextDelta, Usage
from duologue.values.requests import ModelCard

pytestmark = pytest.mark.anyio

MINI = ModelCard("mini", "scripted", 2048)
HELLO: list[Any] = [{"role": "user", "content": "Hello"}]
REPLY = (Started("mini"), Prefilled(7, 2), TextDelta("Hel"), TextDelta("lo"), Done("stop", Usage(7, 3, 2)))


class Talker:
    """A client of the socket that speaks JSON."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket

    async def asks(self, **fields: Any) -> None:
        await self.says({"messages": HELLO} | fields)

    async def says(self, message: object) -> None:
        await self.socket.send(message if isinstance(message, str | bytes) else json.dumps(message))

    async def hears(self) -> dict[str, Any]:
        with anyio.fail_after(60):
            message: dict[str, Any] = json.loads(await self.socket.recv())
            return message

    async def hears_until(self, kind: str) -> list[dict[str, Any]]:
        heard = [await self.hears()]
        while heard[-1]["type"] != kind:
            heard.append(await self.hears())
        return heard

    async def is_closed(self) -> tuple[int | None, str | None]:
        with anyio.fail_after(60), pytest.raises(ConnectionClosed):
            await self.socket.recv()
        return self.socket.close_code, self.socket.close_reason


def application(script: Any, answers: SocketAnswers | None = None, **options: Any) -> Any:
    app = FastAPI()
    models = ModelRegistry(lambda: [MINI], {"gpt": "mini"})
    fitter = MediaFitter(options.get("speech") or SpeechService(None))
    app.include_router(router(FittedGenerate(script, models.resolve, fitter), models, **options))

    async def with_state(scope: Any, receive: Any, send: Any) -> None:
        scope["state"] = {"request_id": "r-1", "user": "ada", SOCKET_ANSWERS: answers}
        await app(scope, receive, send)

    return with_state


Call = Callable[..., AbstractAsyncContextManager[Talker]]


@pytest.fixture
def call(script: Any, serve: Any) -> Call:
    @asynccontextmanager
    async def called(**options: Any) -> AsyncIterator[Talker]:
        async with (
            serve(application(script, **options)) as address,
            connect(f"ws://{address}/ws/chat") as socket,
        ):
            yield Talker(socket)

    return called


def kinds(messages: list[dict[str, Any]]) -> list[str]:
    return [message["type"] for message in messages]


async def test_a_streamed_reply(script: Any, call: Call) -> None:
    script.plays(*REPLY)
    async with call() as talker:
        await talker.asks(id="q", generation={"max_new_tokens": 5})
        heard = await talker.hears_until("done")
    assert kinds(heard) == ["prefill_done", "chunk", "chunk", "done"]
    assert heard[0]["input_tokens"] == 7
    assert [message["text_delta"] for message in heard[1:3]] == ["Hel", "lo"]
    done = heard[3]
    assert (done["text"], done["generated_tokens"], done["input_tokens"]) == ("Hello", 3, 7)
    assert (done["model"], done["finish_reason"]) == ("mini", "stop")
    assert {message["id"] for message in heard} == {"q"}
    assert script.requests[0].sampling.max_tokens == 5
    assert script.asked == [{"kind": "chat", "count": 1, "request_id": "r-1", "user": "ada"}]


async def test_a_reply_that_is_not_streamed(script: Any, call: Call) -> None:
    script.plays(*REPLY)
    async with call() as talker:
        await talker.asks(streaming=False)
        heard = await talker.hears_until("done")
    assert kinds(heard) == ["prefill_done", "done"]
    assert (heard[1]["text"], heard[1]["audio_data"]) == ("Hello", None)


async def test_done_is_held_back_until_the_slot_is_free(script: Any, call: Call) -> None:
    script.plays(*REPLY)
    script.leaving = anyio.Event()
    async with call() as talker:
        await talker.asks()
        assert kinds([await talker.hears() for _ in range(3)]) == ["prefill_done", "chunk", "chunk"]
        with anyio.move_on_after(0.1) as waited:
            await talker.hears()
        assert waited.cancelled_caught
        script.leaving.set()
        assert (await talker.hears())["type"] == "done"


async def test_a_server_that_stops_can_tell_when_the_last_message_of_a_reply_was_sent(
    script: Any, serve: Any
) -> None:
    script.plays(*REPLY)
    answers, running, ended = SocketAnswers(), [], anyio.Event()
    app = application(script, answers)

    async def watched(scope: Any, receive: Any, send: Any) -> None:
        async def sent(message: Any) -> None:
            if message["type"] == "websocket.send":
                running.append(answers.running)
            await send(message)

        await app(scope, receive, sent)

    answers.on_end = ended.set
    async with serve(watched) as address, connect(f"ws://{address}/ws/chat") as socket:
        talker = Talker(socket)
        await talker.asks()
        heard = await talker.hears_until("done")
        with anyio.fail_after(60):
            await ended.wait()
    assert running == [1] * len(heard)
    assert answers.running == 0


async def test_requests_follow_each_other_on_one_socket(script: Any, call: Call) -> None:
    script.plays(*REPLY)
    async with call() as talker:
        for id in (1, 2, 3):
            await talker.asks(id=id)
            heard = await talker.hears_until("done")
            assert script.running == 0
            assert {message["id"] for message in heard} == {id}
    assert len(script.requests) == 3


async def test_a_second_request_is_told_that_one_is_running_and_disturbs_nothing(
    script: Any, call: Call
) -> None:
    gate = anyio.Event()
    script.plays(TextDelta("Hel"), gate, TextDelta("lo"), Done("stop"))
    async with call() as talker:
        await talker.asks(id=1)
        await talker.hears_until("chunk")
        await talker.asks(id=2)
        busy = await talker.hears()
        gate.set()
        heard = await talker.hears_until("done")
    assert (busy["type"], busy["code"], busy["id"]) == ("error", "busy", 2)
    assert (heard[-1]["text"], heard[-1]["id"]) == ("Hello", 1)
    assert len(script.requests) == 1


async def test_a_cancel_ends_the_running_request_with_what_was_sent(script: Any, call: Call) -> None:
    script.plays(Prefilled(7), TextDelta("Once "), TextDelta("upon"), None)
    async with call() as talker:
        await talker.asks(id=1)
        sent = [(await talker.hears()).get("text_delta", "") for _ in range(3)]
        await talker.says({"type": "cancel"})
        done = await talker.hears()
        assert script.running == 0
        assert (done["type"], done["finish_reason"], done["id"]) == ("done", "cancelled", 1)
        assert (done["text"], done["input_tokens"]) == ("".join(sent), 7)
        assert done["timings"]["generate_ms"] > 0
        script.plays(*REPLY)
        await talker.asks(id=2)
        heard = await talker.hears_until("done")
    assert {message["id"] for message in heard} == {2}


async def test_a_cancel_ends_a_queued_request(script: Any, call: Call) -> None:
    script.plays(Queued("t", 2, 4.0, 2), Queued("t", 1, 2.0, 2), None)
    async with call() as talker:
        await talker.asks()
        assert kinds([await talker.hears(), await talker.hears()]) == ["queued", "queue_update"]
        await talker.says({"type": "cancel"})
        done = await talker.hears()
    assert (done["finish_reason"], done["text"]) == ("cancelled", "")


async def test_a_cancel_of_another_or_of_nothing_is_none(script: Any, call: Call) -> None:
    gate = anyio.Event()
    script.plays(TextDelta("Hi"), gate, Done("stop"))
    async with call() as talker:
        await talker.says({"type": "cancel"})
        await talker.asks(id=1)
        await talker.hears_until("chunk")
        await talker.says({"type": "cancel", "id": 9})
        await talker.asks(id=2)  # its answer shows that the cancel was read
        assert (await talker.hears())["code"] == "busy"
        gate.set()
        done = await talker.hears()
    assert (done["finish_reason"], done["id"]) == ("stop", 1)


async def test_who_waited_hears_that_the_wait_is_over(script: Any, call: Call) -> None:
    script.plays(Queued("t", 1, 4.0, 1), *REPLY)
    async with call() as talker:
        await talker.asks()
        heard = await talker.hears_until("done")
    assert kinds(heard)[:3] == ["queued", "queue_done", "prefill_done"]


@pytest.mark.parametrize("steps", [[Queued("t", 2, 4.0, 2), None], [TextDelta("Hi"), None]])
async def test_a_disconnect_is_noticed_while_queued_and_while_generating(
    script: Any, serve: Any, steps: list[Any]
) -> None:
    script.plays(*steps)
    async with serve(application(script)) as address:
        async with connect(f"ws://{address}/ws/chat") as socket:
            talker = Talker(socket)
            await talker.asks()
            await talker.hears()
            assert script.running == 1
            socket.transport.abort()
        with anyio.fail_after(60):
            await script.left.wait()
    assert script.running == 0


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("nope", "invalid_json"),
        ("[]", "invalid_json"),
        ({"id": 1}, "invalid_request"),
        ({"type": "shout"}, "invalid_request"),
        ({"messages": [], "id": 1}, "invalid_request"),
        ({"messages": HELLO, "model": "gpt-9"}, "model_not_found"),
        ({"messages": HELLO, "tts": {"enabled": True}}, "voice_unavailable"),
        ({"type": "start"}, "voice_unavailable"),
        ({"type": "interrupt"}, "voice_unavailable"),
        (b"\0\0\0\0", "voice_unavailable"),
        (
            {"messages": HELLO, "tools": [{"type": "function", "function": {"name": "f"}}]},
            "unsupported",
        ),
        (
            {"messages": [{"role": "user", "content": [{"type": "image", "data": "iVBORw0KGgo="}]}]},
            "modality_unsupported",
        ),
    ],
)
async def test_a_wrong_message_is_an_error_and_the_socket_stays(
    script: Any, call: Call, message: object, code: str
) -> None:
    script.plays(*REPLY)
    async with call() as talker:
        await talker.says(message)
        error = await talker.hears()
        assert (error["type"], error["code"]) == ("error", code)
        assert error["error"] == error["message"]
        assert error.get("id") == (message.get("id") if isinstance(message, dict) else None)
        await talker.asks(model="gpt")
        assert (await talker.hears_until("done"))[-1]["text"] == "Hello"
    assert len(script.requests) == 1


async def test_a_part_the_model_cannot_take_is_named(call: Call) -> None:
    picture = {"type": "image", "data": "iVBORw0KGgo="}
    async with call() as talker:
        await talker.asks(messages=[{"role": "user", "content": [{"type": "text", "text": "a"}, picture]}])
        error = await talker.hears()
    assert error["param"] == "messages[0].content[1]"
    assert "is image; the model mini takes text" in error["message"]


async def test_a_stream_of_sound_is_told_once_that_nobody_listens(script: Any, call: Call) -> None:
    script.plays(*REPLY)
    async with call() as talker:
        for _ in range(50):
            await talker.says(bytes(640))
        await talker.asks()
        heard = await talker.hears_until("done")
    assert kinds(heard) == ["error", "prefill_done", "chunk", "chunk", "done"]


async def test_a_failure_is_an_error_and_the_next_request_is_answered(script: Any, call: Call) -> None:
    script.plays(TextDelta("Hel"), Failed("worker_lost", "The worker ended.", 503))
    async with call() as talker:
        await talker.asks(id=1)
        heard = await talker.hears_until("error")
        assert (heard[-1]["code"], heard[-1]["error"], heard[-1]["id"]) == (
            "worker_lost",
            "The worker ended.",
            1,
        )
        assert script.running == 0
        script.plays(*REPLY)
        await talker.asks()
        assert (await talker.hears_until("done"))[-1]["text"] == "Hello"


async def test_events_that_break_off_are_an_error(script: Any, call: Call) -> None:
    script.plays(TextDelta("Hel"))
    async with call() as talker:
        await talker.asks()
        heard = await talker.hears_until("error")
    assert heard[-1]["code"] == "reply_incomplete"


async def test_a_bug_is_told_by_the_request_id_and_its_trace_stays_in_the_log(
    script: Any, call: Call, caplog: pytest.LogCaptureFixture
) -> None:
    script.plays(TextDelta("Hi"), ValueError("secret"))
    async with call() as talker:
        with caplog.at_level(logging.ERROR):
            await talker.asks(id=1)
            (_, error) = await talker.hears_until("error")
        assert (error["code"], error["id"]) == ("internal_error", 1)
        assert "r-1" in error["message"]
        assert "secret" not in json.dumps(error)
        assert "secret" in caplog.text
        script.plays(*REPLY)
        await talker.asks()
        assert (await talker.hears_until("done"))[-1]["text"] == "Hello"


async def test_a_bug_after_the_end_is_logged_and_the_reply_stands(script: Any, call: Call) -> None:
    class Broken:
        async def wait(self) -> None:
            raise ValueError("secret")

    script.plays(*REPLY)
    script.leaving = Broken()
    async with call() as talker:
        await talker.asks()
        assert kinds(await talker.hears_until("done"))[-2:] == ["chunk", "done"]
        script.leaving = None
        await talker.asks()
        assert kinds(await talker.hears_until("done"))[0] == "prefill_done"


async def test_a_socket_that_says_nothing_is_closed(call: Call) -> None:
    async with call(timeouts=Chat(first_frame_s=0.01)) as talker:
        assert await talker.is_closed() == (1008, "nothing was sent")


async def test_a_socket_that_is_idle_between_requests_is_closed(script: Any, call: Call) -> None:
    script.plays(*REPLY)
    async with call(timeouts=Chat(idle_s=0.01)) as talker:
        await talker.asks()
        await talker.hears_until("done")
        assert await talker.is_closed() == (1000, "idle")


async def test_a_socket_whose_request_runs_is_not_idle(script: Any, call: Call) -> None:
    script.plays(TextDelta("Hel"), None)
    async with call(timeouts=Chat(first_frame_s=0.2, idle_s=0.01)) as talker:
        await talker.asks()
        await talker.hears_until("chunk")
        await talker.asks()
        assert (await talker.hears())["code"] == "busy"
        with anyio.move_on_after(0.4) as waited:
            await talker.hears()
        assert waited.cancelled_caught
        await talker.says({"type": "cancel"})
        assert (await talker.hears())["finish_reason"] == "cancelled"
        assert await talker.is_closed() == (1000, "idle")


async def test_a_message_over_the_limit_is_told_the_setting_and_closes_the_socket(
    script: Any, call: Call
) -> None:
    script.plays(None)
    async with call(limits=LimitSettings(body_mb=1)) as talker:
        await talker.asks()
        await talker.says("x" * (2**20 + 1))
        error = await talker.hears()
        assert error["code"] == "too_large"
        assert "limits.body_mb" in error["message"]
        assert (await talker.is_closed())[0] == 1009
    assert script.running == 0


async def test_a_client_that_does_not_read_is_not_written_for(script: Any) -> None:
    script.plays(*[TextDelta(str(n)) for n in range(9)], Done("stop"))
    reads, frames = anyio.Event(), [{"type": "websocket.connect"}]
    frames.append({"type": "websocket.receive", "text": json.dumps({"messages": HELLO})})
    sent: list[str] = []
    ended = anyio.Event()

    async def receive() -> dict[str, Any]:
        if frames:
            return frames.pop(0)
        await ended.wait()
        return {"type": "websocket.disconnect", "code": 1000}

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "websocket.send":
            if len(sent) == 2:
                await reads.wait()
            sent.append(message["text"])
            if '"done"' in message["text"]:
                ended.set()

    scope = {
        "type": "websocket", "path": "/ws/chat", "headers": [], "query_string": b"", "subprotocols": [],
        "scheme": "ws", "server": ("test", 80), "asgi": {},
    }  # fmt: skip
    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(application(script), scope, receive, send)
            await anyio.wait_all_tasks_blocked()
            assert (len(sent), script.yielded) == (2, 3)
            reads.set()
    assert len(sent) == 10


@pytest.mark.parametrize("last", [Done("stop"), Failed("worker_lost", "The worker ended.", 503)])
@pytest.mark.parametrize("messages", [0, 1, 2, 3])
async def test_a_client_that_leaves_before_any_message_is_no_error(
    script: Any, last: Done | Failed, messages: int, caplog: pytest.LogCaptureFixture
) -> None:
    """`messages`: how many it takes first, of the four that there are."""
    script.plays(Prefilled(7), TextDelta("one"), TextDelta(" two"), last)
    frames = [{"type": "websocket.connect"}]
    frames.append({"type": "websocket.receive", "text": json.dumps({"messages": HELLO})})
    sent: list[str] = []

    async def receive() -> dict[str, Any]:
        if not frames:
            await anyio.sleep_forever()
        return frames.pop(0)

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "websocket.send":
            if len(sent) == messages:
                raise OSError("The client is gone.")
            sent.append(message["text"])

    scope = {
        "type": "websocket", "path": "/ws/chat", "headers": [], "query_string": b"", "subprotocols": [],
        "scheme": "ws", "server": ("test", 80), "asgi": {},
    }  # fmt: skip
    with anyio.fail_after(30):
        await application(script)(scope, receive, send)
    assert (len(sent), script.running) == (messages, 0)
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


# Spoken replies


SPOKEN = {"tts": {"enabled": True, "voice": "nova"}}


async def test_a_reply_is_spoken_while_it_is_written(script: Any, call: Call) -> None:
    script.plays(Prefilled(7), TextDelta("one two"), TextDelta(" three"), Done("stop", Usage(7, 3)))
    seats = Seats()
    async with call(speech=SpeechService(seats)) as talker:
        await talker.asks(**SPOKEN)
        heard = await talker.hears_until("done")
    sound = [message for message in heard if "audio_data" in message]
    assert [message["words"][0]["text"] for message in sound] == ["one", "two", "three"]
    assert [len(base64.b64decode(message["audio_data"])) for message in sound] == [4 * WORD] * 3
    assert "".join(message.get("text_delta", "") for message in heard) == "one two three"
    assert "audio_data" not in heard[-1]
    assert (seats.requests[0].voice, seats.requests[0].open, seats.lent) == ("high", True, 0)
    assert script.requests[0].spoken


async def test_a_reply_that_is_not_streamed_has_its_sound_at_the_end(script: Any, call: Call) -> None:
    script.plays(Prefilled(7), TextDelta("one two"), Done("stop"))
    async with call(speech=SpeechService(Seats())) as talker:
        await talker.asks(streaming=False, audio_format="s16", **SPOKEN)
        heard = await talker.hears_until("done")
    assert kinds(heard) == ["prefill_done", "done"]
    assert len(base64.b64decode(heard[1]["audio_data"])) == 2 * 2 * WORD


async def test_a_voice_that_fails_leaves_the_text_and_is_told_at_the_end(script: Any, call: Call) -> None:
    script.plays(TextDelta("one two"), Done("stop"))
    async with call(speech=SpeechService(Seats(fails=Problem("It broke.", code="engine_failed")))) as talker:
        await talker.asks(**SPOKEN)
        done = (await talker.hears_until("done"))[-1]
    assert (done["text"], done["finish_reason"]) == ("one two", "stop")
    assert done["audio_error"] == {"code": "engine_failed", "message": "It broke."}


async def test_a_cancel_ends_the_voice_with_the_reply(script: Any, call: Call) -> None:
    script.plays(TextDelta("one two three"), Done("stop"))
    seats = Seats()
    seats.hold = anyio.Event()
    async with call(speech=SpeechService(seats)) as talker:
        await talker.asks(**SPOKEN)
        while "audio_data" not in await talker.hears():
            pass
        await talker.says({"type": "cancel"})
        done = (await talker.hears_until("done"))[-1]
    assert (done["finish_reason"], seats.lent, script.running) == ("cancelled", 0, 0)


async def test_a_client_that_leaves_ends_the_voice(script: Any, serve: Any) -> None:
    script.plays(TextDelta("one two three"), Done("stop"))
    seats = Seats()
    seats.hold = anyio.Event()
    async with serve(application(script, speech=SpeechService(seats))) as address:
        async with connect(f"ws://{address}/ws/chat") as socket:
            talker = Talker(socket)
            await talker.asks(**SPOKEN)
            while "audio_data" not in await talker.hears():
                pass
            assert seats.lent == 1
            socket.transport.abort()
        with anyio.fail_after(60):
            await seats.given_back.wait()
    assert seats.lent == 0


async def test_a_voice_there_is_not_is_an_error_before_anything_runs(script: Any, call: Call) -> None:
    async with call(speech=SpeechService(Seats())) as talker:
        await talker.asks(tts={"enabled": True, "voice": "hal"})
        error = await talker.hears()
    assert (error["code"], error["param"]) == ("voice_not_found", "voice")
    assert script.requests == []


# Sound that is sent


def saying(text: str = "") -> list[Any]:
    sound = {"type": "audio", "data": base64.b64encode(array("f", [0.1] * 1600).tobytes()).decode()}
    return [{"role": "user", "content": [{"type": "text", "text": text}, sound] if text else [sound]}]


async def test_sound_is_written_down_for_a_model_without_ears(script: Any, call: Call) -> None:
    script.plays(Prefilled(7), TextDelta("Hi"), Done("stop"))
    async with call(speech=SpeechService(Seats("hello there"))) as talker:
        await talker.asks(messages=saying("He said:"))
        heard = await talker.hears_until("done")
    said = [{"message": 0, "part": 1, "text": "hello there"}]
    assert heard[0]["transcripts"] == heard[-1]["transcripts"] == said
    assert script.requests[0].messages[0].text == "He said:\nhello there"
    assert script.requests[0].model == "mini"


async def test_sound_that_cannot_be_written_down_is_an_error_and_the_socket_stays(
    script: Any, call: Call
) -> None:
    script.plays(*REPLY)
    async with call(speech=SpeechService(Seats(refuses=Problem("Full.", code="queue_full")))) as talker:
        await talker.asks(messages=saying(), id=1)
        error = await talker.hears()
        assert (error["code"], error["id"]) == ("queue_full", 1)
        await talker.asks()
        assert (await talker.hears_until("done"))[-1]["text"] == "Hello"


async def test_a_cancel_ends_the_writing_down(script: Any, call: Call) -> None:
    seats = Seats("hello there")
    seats.hold = anyio.Event()
    async with call(speech=SpeechService(seats)) as talker:
        await talker.asks(messages=saying())
        await talker.says({"type": "cancel"})
        done = await talker.hears()
    assert (done["finish_reason"], seats.lent, script.requests) == ("cancelled", 0, [])


async def test_without_a_recogniser_sound_is_refused_by_its_place(script: Any, call: Call) -> None:
    async with call() as talker:
        await talker.asks(messages=saying())
        error = await talker.hears()
    assert (error["code"], error["param"]) == ("modality_unsupported", "messages[0].content[0]")


# Calls at this address


def call_services(script: Any, *leases: FakeLease) -> CallServices:
    return CallServices(FakeSeats(*leases), script, ModelRegistry(lambda: [MINI]))  # type: ignore[arg-type]


@pytest.mark.parametrize("first", [b"\1\0\2\0", '{"type": "start"}', '{"type": "text", "text": "hi"}'])
async def test_a_first_frame_of_a_call_makes_the_socket_a_call(
    script: Any, call: Call, first: str | bytes
) -> None:
    seat = FakeLease()
    async with call(call_services=call_services(script, seat)) as talker:
        await talker.says(first)
        assert await talker.hears() == {"type": "status", "epoch": 0, "state": "listening"}
        assert await talker.hears() == {"type": "video_mode", "epoch": 0, "enabled": False}
        await talker.says(b"\3\0")
        with anyio.fail_after(60):
            while not (seat.controls and seat.controls[-1] == call_events.MicrophoneAudio(b"\3\0")):
                await anyio.lowlevel.checkpoint()
        if isinstance(first, bytes):
            assert seat.controls[0] == call_events.MicrophoneAudio(first)


async def test_a_socket_that_says_nothing_is_greeted_once_and_may_still_be_either(
    script: Any, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chat_socket, "GREETING_DELAY", 0.01)
    script.plays(*REPLY)
    async with call(call_services=call_services(script)) as talker:
        greeting = [await talker.hears(), await talker.hears()]
        assert [message["type"] for message in greeting] == ["status", "video_mode"]
        await talker.asks()
        assert (await talker.hears_until("done"))[-1]["text"] == "Hello"
    seat = FakeLease()
    async with call(call_services=call_services(script, seat)) as talker:
        await talker.hears()
        await talker.hears()
        await talker.says({"type": "start", "features": ["pause"]})
        await talker.says(b"\1\0")
        assert await seat.until(1) == [call_events.MicrophoneAudio(b"\1\0")]


async def test_a_first_frame_of_a_chat_is_not_greeted_and_stays_a_chat(script: Any, call: Call) -> None:
    script.plays(*REPLY)
    async with call(call_services=call_services(script)) as talker:
        await talker.asks()
        assert kinds(await talker.hears_until("done"))[0] == "prefill_done"
        await talker.says(b"\0\0")
        error = await talker.hears()
        assert error["code"] == "voice_unavailable"
        assert "/ws/voice" in error["message"]


async def test_the_setting_pins_the_socket(script: Any, call: Call) -> None:
    async with call(call_services=call_services(script), timeouts=Chat(socket="chat")) as talker:
        await talker.says({"type": "start"})
        error = await talker.hears()
        assert (error["type"], error["code"]) == ("error", "voice_unavailable")
        assert "chat.socket" in error["message"]
    seat = FakeLease()
    async with call(call_services=call_services(script, seat), timeouts=Chat(socket="voice")) as talker:
        assert (await talker.hears())["state"] == "listening"
        await talker.hears()
        await talker.says({"messages": HELLO})
        assert (await talker.hears())["type"] == "error"


async def test_a_socket_that_is_greeted_and_then_silent_is_closed(
    script: Any, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chat_socket, "GREETING_DELAY", 0.01)
    async with call(call_services=call_services(script), timeouts=Chat(first_frame_s=0.05)) as talker:
        await talker.hears()
        await talker.hears()
        assert await talker.is_closed() == (1008, "nothing was sent")


async def test_chats_that_are_switched_off_are_refused(script: Any, call: Call) -> None:
    apps = AppRegistry()
    await apps.switch("turnbased", False)
    async with call(apps=apps) as talker:
        await talker.asks(id="q")
        error = await talker.hears()
        assert (error["code"], error["id"]) == ("app_disabled", "q")
        assert await talker.is_closed() == (1008, "app_disabled")
    assert script.requests == []


async def test_the_running_reply_is_finished_when_chats_are_switched_off(script: Any, call: Call) -> None:
    go, apps = anyio.Event(), AppRegistry()
    script.plays(Started("mini"), Prefilled(7, 2), go, TextDelta("Hello"), Done("stop", Usage(7, 3, 2)))
    async with call(apps=apps) as talker:
        await talker.asks()
        await talker.hears_until("prefill_done")
        await apps.switch("turnbased", False)
        told = await talker.hears()
        assert (told["type"], told["app_id"]) == ("app_disabled", "turnbased")
        go.set()
        assert (await talker.hears_until("done"))[-1]["text"] == "Hello"
        assert await talker.is_closed() == (1000, "app_disabled")


async def test_an_idle_socket_is_closed_when_chats_are_switched_off(script: Any, call: Call) -> None:
    apps = AppRegistry()
    script.plays(*REPLY)
    async with call(apps=apps) as talker:
        await talker.asks()
        await talker.hears_until("done")
        await apps.switch("turnbased", False)
        assert (await talker.hears())["type"] == "app_disabled"
        assert await talker.is_closed() == (1000, "app_disabled")

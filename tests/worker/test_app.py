"""The worker's endpoints, which require the gateway's secret."""

import subprocess
import sys

import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect
from tests.support.call_parts import silence, speech

from duologue.engines.scripted.duplex_view import WORD
from duologue.values.call_events import (
    AssistantSaid,
    CallChunk,
    CallSetup,
    Interrupt,
    OmniSetup,
    UnitAnswered,
)
from duologue.values.events import Done, TextDelta
from duologue.values.messages import ImagePart, system, user
from duologue.values.questions.worker_questions import CountPrompt
from duologue.values.requests import ChatRequest
from duologue.wire import worker_protocol
from duologue.worker.app import Worker, build

SECRET = {"Authorization": "Bearer the-secret"}


@pytest.fixture
def client(monkeypatch):
    async def stay() -> None:
        """The gateway of a test does not go away."""

    monkeypatch.setattr("duologue.worker.app.end_with_parent", stay)
    worker = Worker(worker_protocol.LoadSpec("w", "scripted", "m"))
    with TestClient(build(worker, "the-secret")) as test_client:
        yield test_client


def receive(socket, enough) -> list[worker_protocol.Up]:
    messages: list[worker_protocol.Up] = []
    while not enough(messages):
        messages.extend(worker_protocol.decode_up(socket.receive_bytes()))
    return messages


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": "the-secret"}])
def test_without_the_secret_every_endpoint_is_closed(client, headers):
    for path in ("/health", "/metrics"):
        assert client.get(path, headers=headers).status_code == 403
    for path in ("/live", "/bulk"):
        with pytest.raises(WebSocketDisconnect), client.websocket_connect(path, headers=headers):
            pass


def test_the_health_tells_the_state_and_what_runs(client):
    with client.websocket_connect("/live", headers=SECRET) as socket:
        receive(socket, lambda messages: any(report.state == "ready" for report in messages))
    body = client.get("/health", headers=SECRET).json()
    assert (body["worker_status"], body["model_loaded"], body["running"]) == ("ready", True, 0)


def test_the_metrics_are_prometheus_text(client):
    assert "duologue_worker_requests_total 0" in client.get("/metrics", headers=SECRET).text


def test_a_request_over_the_socket_is_answered(client):
    with client.websocket_connect("/live", headers=SECRET) as socket:
        receive(socket, lambda messages: any(report.state == "ready" for report in messages))
        socket.send_bytes(
            worker_protocol.encode([worker_protocol.Begin(1, 0, ChatRequest((user("/say hi"),)))])
        )
        messages = receive(socket, lambda messages: worker_protocol.Closed(1) in messages)
    events = [
        event for message in messages if isinstance(message, worker_protocol.Emit) for event in message.events
    ]
    assert TextDelta("hi") in events
    assert isinstance(events[-1], Done)


def test_a_prompt_is_counted_over_the_socket_as_the_reply_will_begin(client):
    request = ChatRequest((user("/say hi"),))
    with client.websocket_connect("/live", headers=SECRET) as socket:
        receive(socket, lambda messages: any(report.state == "ready" for report in messages))
        socket.send_bytes(
            worker_protocol.encode(
                [worker_protocol.Ask(9, CountPrompt(request)), worker_protocol.Begin(1, 0, request)]
            )
        )
        messages = receive(
            socket,
            lambda messages: (
                worker_protocol.Closed(1) in messages
                and any(isinstance(one, worker_protocol.AskAnswered) for one in messages)
            ),
        )
    [answered] = [message for message in messages if isinstance(message, worker_protocol.AskAnswered)]
    events = [
        event for message in messages if isinstance(message, worker_protocol.Emit) for event in message.events
    ]
    counted = answered.answer
    assert answered.ask == 9
    assert counted.tokens == events[-1].usage.input
    assert counted.context == events[0].context
    assert not counted.estimated


def test_a_worker_without_its_model_says_so_when_it_is_asked_to_count(monkeypatch):
    async def stay() -> None:
        """The gateway of a test does not go away."""

    monkeypatch.setattr("duologue.worker.app.end_with_parent", stay)
    worker = Worker(worker_protocol.LoadSpec("w", "nothing", "m"))
    with (
        TestClient(build(worker, "the-secret")) as client,
        client.websocket_connect("/live", headers=SECRET) as socket,
    ):
        receive(socket, lambda messages: any(report.state == "failed" for report in messages))
        socket.send_bytes(
            worker_protocol.encode([worker_protocol.Ask(9, CountPrompt(ChatRequest((user("hi"),))))])
        )
        [counted] = receive(socket, lambda messages: bool(messages))
    assert (counted.code, counted.status) == ("unavailable", 503)
    assert counted.message


def test_a_worker_that_starts_after_its_gateway_has_died_ends_before_anything_else():
    # Standard input at its end is what such a worker finds; it needs nothing of what a gateway would have handed over.
    done = subprocess.run(
        [sys.executable, "-m", "duologue.worker"], stdin=subprocess.DEVNULL, capture_output=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_an_omni_model_holds_a_call_over_the_socket_and_is_free_for_a_chat_afterwards(monkeypatch):
    async def stay() -> None:
        """The gateway of a test does not go away."""

    monkeypatch.setattr("duologue.worker.app.end_with_parent", stay)
    worker = Worker(worker_protocol.LoadSpec("w", "scripted", "m", options={"duplex": True}))
    chunk = CallChunk(speech(0.5) + silence(0.5), (ImagePart(b"frame"),))
    setup = CallSetup(marks=True, fills=False, omni=OmniSetup((system("be kind"),)))

    def called(messages, kind):
        return [
            event
            for message in messages
            if isinstance(message, worker_protocol.CallEvents)
            for event in message.events
            if isinstance(event, kind)
        ]

    with (
        TestClient(build(worker, "the-secret")) as client,
        client.websocket_connect("/live", headers=SECRET) as socket,
    ):
        [*_, report] = receive(socket, lambda messages: any(report.state == "ready" for report in messages))
        assert "duplex" in report.card.verbs
        socket.send_bytes(
            worker_protocol.encode(
                [worker_protocol.Open(1, 0, setup), worker_protocol.SendControls(1, (chunk,))]
            )
        )
        messages = receive(socket, lambda messages: called(messages, UnitAnswered))
        [answer] = called(messages, UnitAnswered)
        assert (answer.samples, answer.slices, answer.listens) == (16_000, 1, False)
        socket.send_bytes(worker_protocol.encode([worker_protocol.SendControls(1, (Interrupt(None, WORD),))]))
        messages = receive(socket, lambda messages: called(messages, AssistantSaid))
        [said] = called(messages, AssistantSaid)
        assert (said.heard, said.ending) == ("heard", "interrupted")
        begin = worker_protocol.Begin(2, 0, ChatRequest((user("/say hi"),)))
        socket.send_bytes(worker_protocol.encode([worker_protocol.Cancel(1)]))
        receive(socket, lambda messages: worker_protocol.Closed(1) in messages)
        socket.send_bytes(worker_protocol.encode([begin]))
        messages = receive(socket, lambda messages: worker_protocol.Closed(2) in messages)
    events = [
        event for message in messages if isinstance(message, worker_protocol.Emit) for event in message.events
    ]
    assert TextDelta("hi") in events

"""The client, against a small server on loopback that answers by the first word it is told."""

import json
import socket
from contextlib import aclosing, asynccontextmanager

import anyio
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse, PlainTextResponse, StreamingResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect
from tests.support.ports import free_port

from duologue.client.http import Client
from duologue.config import Settings
from duologue.errors import Problem, Unauthorized, Unavailable
from duologue.gateway import tls

KEY = "secret"


class Server:
    """What was asked of it, and when a client left in the middle."""

    def __init__(self) -> None:
        self.asked: list[dict] = []
        self.left = anyio.Event()
        self.app = Starlette(
            routes=[
                Route("/base/v1/chat/completions", self.completions, methods=["POST"]),
                Route("/base/status", self.status),
                Route("/base/api/capabilities", self.nonsense),
                WebSocketRoute("/base/ws/chat", self.chat),
            ]
        )

    async def status(self, request):
        if request.headers.get("authorization") != f"Bearer {KEY}":
            error = {"message": "This server needs a key.", "code": "unauthorized"}
            return JSONResponse({"error": error}, 401)
        return JSONResponse({"total_workers": 1})

    async def nonsense(self, request):
        return PlainTextResponse("hello")

    async def completions(self, request):
        body = await request.json()
        self.asked.append(body)
        word = body["messages"][0]["content"]
        if word == "refuse":
            return PlainTextResponse("gone", 502)
        if not body.get("stream"):
            return JSONResponse({"choices": [{"message": {"content": word}}]})
        return StreamingResponse(self.pieces(word), media_type="text/event-stream")

    async def pieces(self, word):
        yield ": keep-alive\n\n"
        yield f"data: {json.dumps({'choices': [{'delta': {'content': word}}]})}\n\n"
        if word == "fail":
            yield f"data: {json.dumps({'error': {'message': 'Lost.', 'code': 'worker_lost'}})}\n\n"
        if word != "cut":
            yield "data: [DONE]\n\n"

    async def chat(self, websocket: WebSocket):
        if websocket.headers.get("authorization") != f"Bearer {KEY}":
            await websocket.close()
            return
        await websocket.accept()
        body = await websocket.receive_json()
        self.asked.append(body)
        word = body["messages"][0]["content"]
        await websocket.send_json({"type": "prefill_done", "input_tokens": 3})
        await websocket.send_json({"type": "chunk", "text_delta": word})
        if word == "fail":
            error = {
                "type": "error",
                "message": "Too long.",
                "code": "context_length_exceeded",
                "param": "messages",
            }
            await websocket.send_json(error)
        elif word == "cut":
            await websocket.close(1001, "going down")
        elif word == "wait":
            try:
                await websocket.receive_text()
            except WebSocketDisconnect:
                self.left.set()
        else:
            await websocket.send_json({"type": "done", "text": word})


@asynccontextmanager
async def served(**tls_files):
    server = Server()
    listener = socket.create_server(("127.0.0.1", 0))
    program = uvicorn.Server(
        uvicorn.Config(server.app, log_config=None, ws="websockets-sansio", lifespan="off", **tls_files)
    )
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: program.serve(sockets=[listener]))
        try:
            yield server, f"http{'s' if tls_files else ''}://127.0.0.1:{listener.getsockname()[1]}/base"
        finally:
            program.should_exit = True


@pytest.fixture
async def at(anyio_backend):
    async with served() as (server, url), Client(url, KEY) as client:
        yield server, client


def said(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]


@pytest.mark.anyio
async def test_a_chat_gives_the_messages_up_to_done(at):
    server, client = at
    kinds = [
        message["type"] async for message in client.chat(said("hi"), generation={"seed": 1}, streaming=True)
    ]
    assert kinds == ["prefill_done", "chunk", "done"]
    assert server.asked == [{"messages": said("hi"), "generation": {"seed": 1}, "streaming": True}]


@pytest.mark.anyio
async def test_a_chat_that_fails_raises_the_servers_own_problem(at):
    _, client = at
    with pytest.raises(Problem, match=r"Too long\.") as raised:
        async for _ in client.chat(said("fail")):
            pass
    assert (raised.value.code, raised.value.param) == ("context_length_exceeded", "messages")


@pytest.mark.anyio
async def test_a_socket_lost_in_the_middle_is_told(at):
    _, client = at
    with pytest.raises(Unavailable, match=r"before the reply was complete\. going down"):
        async for _ in client.chat(said("cut")):
            pass


@pytest.mark.anyio
async def test_leaving_a_chat_early_closes_its_socket(at):
    server, client = at
    async with aclosing(client.chat(said("wait"))) as reply:
        async for message in reply:
            if message["type"] == "chunk":
                break
    with anyio.fail_after(60):
        await server.left.wait()


@pytest.mark.anyio
async def test_cancelling_a_chat_closes_its_socket(at):
    server, client = at

    async def talk(scope):
        async with aclosing(client.chat(said("wait"))) as reply:
            async for message in reply:
                if message["type"] == "chunk":
                    scope.cancel()

    with anyio.fail_after(60):
        with anyio.CancelScope() as scope:
            await talk(scope)
        await server.left.wait()


@pytest.mark.anyio
async def test_a_completion_comes_whole_or_in_chunks(at):
    server, client = at
    whole = await client.complete(said("hi"), max_tokens=5)
    assert whole["choices"][0]["message"]["content"] == "hi"
    chunks = [chunk async for chunk in client.stream(said("hi"))]
    assert [chunk["choices"][0]["delta"]["content"] for chunk in chunks] == ["hi"]
    assert server.asked[0]["max_tokens"] == 5
    assert server.asked[1]["stream"] is True


@pytest.mark.anyio
async def test_a_stream_that_fails_or_is_cut_raises(at):
    _, client = at
    with pytest.raises(Problem, match="Lost") as raised:
        async for _ in client.stream(said("fail")):
            pass
    assert raised.value.code == "worker_lost"
    with pytest.raises(Unavailable, match="before the reply was complete"):
        async for _ in client.stream(said("cut")):
            pass


@pytest.mark.anyio
async def test_an_error_that_is_not_ours_still_gives_a_sentence(at):
    _, client = at
    with pytest.raises(Problem, match="answered with status 502") as raised:
        await client.complete(said("refuse"))
    assert raised.value.status == 502
    with pytest.raises(Problem, match="status 502"):
        async for _ in client.stream(said("refuse")):
            pass


@pytest.mark.anyio
async def test_the_key_is_sent_and_a_missing_one_is_told():
    async with served() as (_, url):
        async with Client(url, KEY) as client:
            assert await client.status() == {"total_workers": 1}
        async with Client(url) as client:
            with pytest.raises(Unauthorized, match="needs a key") as raised:
                await client.status()
            assert (raised.value.code, raised.value.status) == ("unauthorized", 401)
            with pytest.raises(Problem, match="status 403"):
                async for _ in client.chat(said("hi")):
                    pass


@pytest.mark.parametrize("address", ["localhost:8006", "http://localhost:8006/", "http://localhost:8006/v1/"])
def test_an_address_is_taken_as_people_paste_it(address):
    assert Client(address).base_url == "http://localhost:8006"
    for pasted in ("https://chat.example.org/talk", "https://chat.example.org/talk/#/c/17"):
        assert Client(pasted).base_url == "https://chat.example.org/talk"


@pytest.mark.anyio
async def test_what_is_no_duologue_server_is_told(at):
    _, client = at
    with pytest.raises(Unavailable, match="is not a Duologue server"):
        await client.capabilities()


@pytest.mark.anyio
async def test_no_server_at_all_is_told():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    async with Client(url) as client:
        for call in (
            client.status(),
            client.complete(said("hi")),
            anext(client.chat(said("hi"))),
            anext(client.stream([])),
        ):
            with pytest.raises(Unavailable) as raised:
                await call
            assert raised.value.code == "unreachable"
            assert url in raised.value.message


@pytest.mark.anyio
async def test_a_stream_of_events_that_breaks_in_the_middle_is_a_lost_connection_and_can_be_followed_again():
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    event = b'id: 3\ndata: {"type": "delta"}\n\n'

    async def breaking(stream) -> None:
        async with stream:
            await stream.receive()
            await stream.send(head + b"%x\r\n%b\r\n" % (len(event), event))

    port = free_port()
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=port)
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, breaking)
        async with Client(f"http://127.0.0.1:{port}") as client:
            following = client.follow("r")
            assert await anext(following) == (3, {"type": "delta"})
            with pytest.raises(Problem) as raised:
                await anext(following)
        assert raised.value.code == "connection_lost"
        tasks.cancel_scope.cancel()


@pytest.mark.anyio
async def test_a_certificate_that_is_not_trusted_is_said_and_can_be_by_the_environment(tmp_path, monkeypatch):
    settings = Settings.model_validate({"data": tmp_path, "tls": {"enabled": True}})
    chain, key = tls.tls_files(settings)
    async with served(ssl_certfile=chain, ssl_keyfile=key) as (_, url):
        async with Client(url, KEY) as client:
            with pytest.raises(Unavailable, match="SSL_CERT_FILE") as refused:
                await client.status()
        assert refused.value.code != "unreachable"
        (tmp_path / "ca.crt").write_bytes(tls.authority_certificate(settings) or b"")
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.crt"))
        async with Client(url, KEY) as client:
            assert await client.status() == {"total_workers": 1}

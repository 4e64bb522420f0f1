"""The floor for bench_relay.py: two bare processes that only relay.

One produces chunks for STREAMS streams in turn and sends each as a msgpack frame over one persistent socket; the other is a
bare ASGI application on uvicorn that encodes each as a server-sent event. No queue, no leases, no credit, no cancel.
Run by bench_relay.py: `relay_floor.py worker PORT` and `relay_floor.py gateway PORT WORKER_PORT`.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import msgspec
import uvicorn

CHUNK = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "floor"}


async def work(port: int) -> None:
    encode = msgspec.msgpack.Encoder().encode

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = await reader.readline()
        if not line:  # somebody only looked whether it listens
            return
        order = json.loads(line)
        for _ in range(order["chunks"]):
            for stream in range(order["streams"]):
                frame = encode({"stream": stream, "text": "token "})
                writer.write(len(frame).to_bytes(4, "big") + frame)
            await writer.drain()
            await asyncio.sleep(0)
        writer.write((0).to_bytes(4, "big"))
        await writer.drain()

    server = await asyncio.start_server(connected, "127.0.0.1", port)
    await server.serve_forever()


class Gateway:
    """Collects `streams` requests, then relays one run to all of them."""

    def __init__(self, worker_port: int) -> None:
        self.worker_port = worker_port
        self.inboxes: list[asyncio.Queue[str | None]] = []

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        body = json.loads((await receive())["body"])
        inbox: asyncio.Queue[str | None] = asyncio.Queue(256)
        self.inboxes.append(inbox)
        if len(self.inboxes) == body["streams"]:
            asyncio.get_running_loop().create_task(self.relay(body))
        headers = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        while (text := await inbox.get()) is not None:
            choice = {"index": 0, "delta": {"content": text}, "finish_reason": None}
            data = b"data: " + msgspec.json.encode({**CHUNK, "choices": [choice]}) + b"\n\n"
            await send({"type": "http.response.body", "body": data, "more_body": True})
        await send({"type": "http.response.body", "body": b"data: [DONE]\n\n"})

    async def relay(self, body: dict[str, Any]) -> None:
        inboxes, self.inboxes = self.inboxes, []
        reader, writer = await asyncio.open_connection("127.0.0.1", self.worker_port)
        writer.write(json.dumps(body).encode() + b"\n")
        while size := int.from_bytes(await reader.readexactly(4), "big"):
            message = msgspec.msgpack.decode(await reader.readexactly(size))
            await inboxes[message["stream"]].put(message["text"])
        for inbox in inboxes:
            await inbox.put(None)
        writer.close()


if __name__ == "__main__":
    if sys.argv[1] == "worker":
        asyncio.run(work(int(sys.argv[2])))
    else:
        app = Gateway(int(sys.argv[3]))
        uvicorn.run(app, port=int(sys.argv[2]), log_level="error", access_log=False, lifespan="off")

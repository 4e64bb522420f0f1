"""Subject a real server repeatedly to misbehaving clients and dying processes, then check for leaks.

    python bench/chaos.py [--seconds 100] [--rounds 2] [--seed 1] [--brief] [--only NAME]

Clients disconnect in every phase of a request and in every way a connection can end, cancel in bursts, send garbage and
oversized messages, and read a byte at a time; the worker is killed, suspended and resumed. After each kind of trouble the
server must become idle: no slot in use, no request waiting. At the end it must answer, hold no more open files and no more
memory than after the first round, have logged no stack trace, and exit within three seconds although its worker is suspended.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import contextlib
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from load import free_port, wait_ready

SLOTS = 4
PNG = b"\x89PNG\r\n\x1a\n"
REST_SECONDS = 40.0
"""How long anything may take: a worker that was killed again and again waits half a minute for its next start."""
FILES_MORE = 3
MEMORY_MORE = 25 * 2**20
"""What the processes may hold in the end beyond what they held after the first round, in files and bytes."""

Json = dict[str, Any]


class Disorder(Exception):
    """Something leaked or took too long."""


class Server:
    """The server under trouble: its processes, its address, what it logged."""

    def __init__(self, folder: str) -> None:
        self.port = free_port()
        self.log = Path(folder, "log")
        command = [sys.executable, "-m", "duologue", "serve", "--port", str(self.port), "--data", folder]
        command += ["--engine", "scripted", "--slots", str(SLOTS), "--log-level", "warning"]
        # The process whose memory and files are compared is the gateway.
        command += ["--no-supervise"]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                command,
                stdout=log,
                stderr=log,
                cwd=folder,
                env={key: value for key, value in os.environ.items() if not key.startswith("DUOLOGUE_")},
            )
        wait_ready(f"http://127.0.0.1:{self.port}/ready", self.process)

    async def get(self, path: str) -> Json:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
        answer = await reader.read()
        writer.close()
        body: Json = json.loads(answer.partition(b"\r\n\r\n")[2])
        return body

    async def worker(self) -> int:
        """The process id of the model's worker, waiting for it to be ready."""
        return await self._process("scripted")

    async def voice_worker(self) -> int:
        """The process id of the voice worker, waiting for it to be ready."""
        return await self._process("voice")

    async def _process(self, engine: str) -> int:
        await self.rest()
        rows = (await self.get("/workers"))["workers"]
        return next(int(row["process"]) for row in rows if row["engine"] == engine)

    async def rest(self) -> None:
        """Wait until the workers are ready, every slot and seat is free and no request waits."""
        end = time.monotonic() + REST_SECONDS
        while True:
            status = await self.get("/status")
            busy = status["slots_busy"] or status["seats_busy"] or status["queue_length"]
            if status["idle_workers"] == status["total_workers"] == 2 and status["seats_total"] and not busy:
                return
            if time.monotonic() > end:
                kinds = ("idle_workers", "slots_busy", "seats_total", "seats_busy", "queue_length")
                told = {key: status[key] for key in kinds}
                raise Disorder(f"no rest after {REST_SECONDS:.0f} s: {told} {status['running_tasks'][:3]}")
            await asyncio.sleep(0.02)

    async def until(self, true: Callable[[Json], bool], what: str) -> None:
        end = time.monotonic() + REST_SECONDS
        while not true(await self.get("/status")):
            if time.monotonic() > end:
                raise Disorder(f"never: {what}")
            await asyncio.sleep(0.02)


def open_files(process: int) -> int:
    return len(os.listdir(f"/proc/{process}/fd"))


def memory(process: int) -> int:
    """Resident bytes."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def processor_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def chat(text: str, **more: object) -> Json:
    return {"messages": [{"role": "user", "content": text}], **more}


def post(body: Json | bytes, path: str = "/v1/chat/completions") -> bytes:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(data)}\r\n\r\n".encode() + data


class Caller:
    """A TCP connection to the server that knows the rude ways to leave."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def until(self, mark: bytes) -> bytes:
        try:
            return await asyncio.wait_for(self.reader.readuntil(mark), REST_SECONDS)
        except TimeoutError:
            raise Disorder(f"{mark!r} never came") from None
        except asyncio.IncompleteReadError as error:
            raise Disorder(f"the answer ended before {mark!r}: {error.partial[-300:]!r}") from None

    async def leave(self, how: str) -> None:
        """`close` says goodbye, `reset` slams the door, `half` says only that nothing more will be sent."""
        raw = self.writer.get_extra_info("socket")
        if how == "half":
            raw.shutdown(socket.SHUT_WR)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.reader.read(), 0.2)
        elif how == "reset":
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        self.writer.transport.abort() if how == "reset" else self.writer.close()


async def call(server: Server, sent: bytes, limit: int = 2**20) -> Caller:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port, limit=limit)
    writer.write(sent)
    return Caller(reader, writer)


@contextlib.asynccontextmanager
async def chat_socket(server: Server, **more: Any) -> AsyncIterator[ClientConnection]:
    url = f"ws://127.0.0.1:{server.port}/ws/chat"
    async with connect(url, max_size=None, ping_interval=None, proxy=None, close_timeout=1, **more) as opened:
        yield opened


async def hear(opened: ClientConnection, *kinds: str) -> Json:
    """The next message of one of these kinds. Frames of sound are passed over."""
    while True:
        frame = await asyncio.wait_for(opened.recv(), REST_SECONDS)
        if isinstance(frame, bytes):
            continue
        message: Json = json.loads(frame)
        if message["type"] in kinds:
            return message


@contextlib.asynccontextmanager
async def all_slots_taken(server: Server) -> AsyncIterator[None]:
    """Every slot runs something that never ends."""
    held = [await call(server, post(chat("/say Hello\n/hang", stream=True))) for _ in range(SLOTS)]
    for one in held:
        await one.until(b"Hello")
    yield
    for one in held:
        await one.leave("close")


# ---- the troubles: each returns how often it did what it does

PHASES = {
    "prefill": ("/read 1000 5\n/say Hello", None),
    "generate": ("/repeat 1000000 word", b"word"),
    "hang": ("/say Hello\n/hang", b"Hello"),
    "done": ("/say Hello", b"[DONE]"),
}
WAYS = ("close", "reset", "half")


async def leaving(server: Server, dice: random.Random) -> int:
    """Clients of streams leave in every phase, in every way."""

    async def one(phase: str, way: str) -> None:
        text, mark = PHASES[phase]
        caller = await call(server, post(chat(text, stream=True)))
        if mark is not None:
            await caller.until(mark)
        else:
            await asyncio.sleep(dice.random() / 10)
        await caller.leave(way)

    await asyncio.gather(*(one(phase, way) for phase in PHASES for way in WAYS))
    return len(PHASES) * len(WAYS)


async def leaving_whole_replies(server: Server, dice: random.Random) -> int:
    """The same without a stream, and with several choices."""
    count = 0
    for way in WAYS:
        for body in (chat("/say Hello\n/hang"), chat("/say Hello\n/wait 300", n=16), chat("/hang", n=3)):
            caller = await call(server, post(body))
            await asyncio.sleep(dice.random() / 20)
            await caller.leave(way)
            count += 1
    return count


async def leaving_the_queue(server: Server, dice: random.Random) -> int:
    """Clients leave while they wait, on both doors, and some just when they are lent their slot."""
    callers: list[Caller] = []
    async with all_slots_taken(server), chat_socket(server) as waiting:
        await waiting.send(json.dumps(chat("/say Hello")))
        await hear(waiting, "queued")
        for _ in range(30):
            callers.append(await call(server, post(chat("/say Hello", stream=dice.random() < 0.5))))
        await server.until(lambda status: status["queue_length"] == 31, "31 wait")
        for caller in callers[:20]:
            await caller.leave(dice.choice(WAYS[:2]))
        await server.until(lambda status: status["queue_length"] == 11, "11 still wait")
    for caller in callers[20:]:
        await caller.leave("reset")
    return 31


async def a_long_queue(server: Server, dice: random.Random) -> int:
    """Nine hundred wait; half of them leave, the others are answered."""
    async with all_slots_taken(server):
        callers = [await call(server, post(chat("/say Hello"))) for _ in range(900)]
        await server.until(lambda status: status["queue_length"] == 900, "900 wait")
        dice.shuffle(callers)
        for caller in callers[:450]:
            await caller.leave("reset")
    for caller in callers[450:]:
        await caller.until(b'"total_tokens"')
        await caller.leave("close")
    return len(callers)


async def slamming(server: Server, dice: random.Random) -> int:
    """Two hundred sockets are opened at once and slammed, at whatever point of the handshake they are."""
    head = "GET /ws/chat HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    head += "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"

    async def one() -> None:
        caller = await call(server, head[: dice.choice((20, len(head), len(head), len(head)))].encode())
        await asyncio.sleep(dice.random() / 5)
        await caller.leave(dice.choice(WAYS[:2]))

    await asyncio.gather(*(one() for _ in range(200)))
    return 200


async def garbage(server: Server, dice: random.Random) -> int:
    """Frames and bodies that are none; the socket either says what is wrong or closes."""
    frames = [
        "",
        "{",
        "[]",
        "null",
        '{"messages": 1}',
        '{"type": "what"}',
        "[" * 100_000,
    ]
    frames += [
        json.dumps({"messages": [{"role": "user", "content": {"a": "b"}}]}),
        '{"messages":[' + "9" * 5000,
    ]
    frames += [
        json.dumps(chat("/repeat x y")),
        json.dumps(chat("/wait inf")),
        json.dumps(chat("/fail on purpose")),
    ]
    for frame in frames:
        async with chat_socket(server) as opened:
            await opened.send(frame)
            await hear(opened, "error")
    async with chat_socket(server) as opened:
        opened.transport.write(dice.randbytes(5000))  # no WebSocket frames at all
        with contextlib.suppress(ConnectionClosed):
            await asyncio.wait_for(opened.recv(), 5)
    for body in (b"{", b"[" * 100_000, b"\xff\xfe", b'{"messages": 7}', b""):
        caller = await call(server, post(body))
        await caller.until(b'"error"')
        await caller.leave("close")
    caller = await call(
        server, b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99\r\n\r\n{"
    )
    await caller.leave("half")
    caller = await call(server, dice.randbytes(3000))
    await caller.leave("close")
    return len(frames) + 8


async def cancelling(server: Server, dice: random.Random) -> int:
    """Five hundred requests on one socket, each cancelled at some moment of its life; each ends exactly once."""
    async with chat_socket(server) as opened:
        for number in range(500):
            text = dice.choice(("/repeat 100000 word", "/hang", "/read 100 1\n/say Hello", "/say Hello"))
            await opened.send(json.dumps(chat(text, id=number)))
            if dice.random() < 0.5:
                await asyncio.sleep(dice.random() / 200)
            await opened.send(json.dumps({"type": "cancel", "id": number}))
            end = await hear(opened, "done", "error")
            if end["id"] != number or end["type"] != "done":
                raise Disorder(f"request {number} ended with {end}")
    return 500


SOUND = bytes(random.Random(1).randbytes(3200))
"""A tenth of a second of noise, 16 bit at 16 kHz."""
CALLED = ("greeted", "begun", "heard", "spoken to", "stopped")


async def calling(server: Server, dice: random.Random) -> int:
    """Calls on both doors, left in every phase and in every way, with frames between that no call understands."""

    async def one(path: str, phase: str, way: str) -> None:
        url = f"ws://127.0.0.1:{server.port}{path}"
        async with connect(url, max_size=None, ping_interval=None, proxy=None, close_timeout=1) as opened:
            if path == "/ws/voice":
                await hear(opened, "status")
            if phase != "greeted":
                await opened.send(json.dumps({"type": "start", "features": ["pause", "played"]}))
                for frame in ("{", '{"type": "what"}', bytes(200_000), '{"type": "played", "samples": -1}'):
                    await opened.send(frame)
                    await hear(opened, "error")
            if phase == "heard":
                for _ in range(5):
                    await opened.send(SOUND + b"\0")
            if phase == "spoken to":
                await opened.send(
                    json.dumps({"type": "text", "text": "/say " + "Hello there, my friend. " * 20})
                )
                await hear(opened, "audio_start")
                await asyncio.sleep(dice.random() / 5)
            if phase == "stopped":
                await opened.send(json.dumps({"type": "stop"}))
            if way == "close":
                await opened.close()
            else:
                opened.transport.abort()

    kinds = [(path, phase) for path in ("/ws/voice", "/ws/chat") for phase in CALLED]
    await asyncio.gather(*(one(*kind, way) for kind in kinds for way in ("close", "reset")))
    return 2 * len(kinds)


async def reading_slowly(server: Server, dice: random.Random) -> int:
    """A byte at a time from replies without end: the worker must stop writing, and nothing may grow meanwhile."""
    worker, gateway = await server.worker(), server.process.pid
    loop = asyncio.get_running_loop()
    stream, silent = await narrow(server), await narrow(server)
    async with chat_socket(server, sock=silent) as opened:
        endless = "/repeat 1000000 " + "x" * 500
        await loop.sock_sendall(stream, post(chat(endless, stream=True)))
        await opened.send(json.dumps(chat(endless)))
        await hear(opened, "chunk")
        await asyncio.sleep(0.5)
        held, busy, end = memory(gateway) + memory(worker), 1.0, time.monotonic() + 20
        while busy > 0.02:  # until the kernel's own buffers are full
            spent = processor_seconds(worker)
            for _ in range(50):
                await loop.sock_recv(stream, 1)
                await asyncio.sleep(0.01)
            busy = processor_seconds(worker) - spent
            if time.monotonic() > end:
                raise Disorder(
                    f"slow readers did not slow the worker: it still works {busy:.2f} s in half a second"
                )
        if (more := memory(gateway) + memory(worker) - held) > 8 * 2**20:
            raise Disorder(f"slow readers made the server grow by {more / 2**20:.1f} MB")
        opened.transport.abort()
    stream.close()
    return 2


async def narrow(server: Server) -> socket.socket:
    """A connection with little room for what was not read."""
    raw = socket.socket()
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    raw.setblocking(False)
    await asyncio.get_running_loop().sock_connect(raw, ("127.0.0.1", server.port))
    return raw


async def much_at_once(server: Server, dice: random.Random) -> int:
    """A picture of 40 MB for a model of text, and a text over the limit: refused by the gateway, in words."""
    picture = {"url": "data:image/png;base64," + base64.b64encode(PNG + dice.randbytes(40 * 2**20)).decode()}
    message = {"role": "user", "content": [{"type": "image_url", "image_url": picture}]}
    for body, said in (({"messages": [message]}, b"is image"), (chat("x" * 5_000_000), b"text_mb")):
        caller = await call(server, post(body))
        await caller.until(said)
        await caller.leave("close")
    return 2


async def killing(server: Server, dice: random.Random) -> int:
    """The worker is killed while it reads, writes and hangs, and others wait: every reply ends, who waits is served."""
    worker = await server.worker()
    texts = ("/say Hello\n/hang", "/repeat 1000000 word", "/read 1000 5", "/say Hello\n/hang")
    running = [await call(server, post(chat(text, stream=True))) for text in texts]
    await server.until(lambda status: status["slots_busy"] == SLOTS, "every slot is busy")
    several = await call(server, post(chat("/say Hello", n=16)))
    waiting = await call(server, post(chat("/say served")))
    await server.until(lambda status: status["queue_length"] == 2, "two wait")
    await running[3].leave("reset")  # its cancel and the kill cross
    os.kill(worker, signal.SIGKILL)
    for one in running[:3]:
        await one.until(b"worker_lost")
    await several.until(b'"total_tokens"')
    await waiting.until(b"served")
    for one in (*running[:3], several, waiting):
        await one.leave("close")
    return 1


async def killing_the_voice(server: Server, dice: random.Random) -> int:
    """The voice worker is killed while it speaks; the call takes a seat at the next one and speaks again."""
    voice = await server.voice_worker()
    text = json.dumps({"type": "text", "text": "/say " + "Hello there, my friend. " * 20})
    url = f"ws://127.0.0.1:{server.port}/ws/voice"
    async with connect(url, max_size=None, ping_interval=None, proxy=None, close_timeout=1) as opened:
        await opened.send(json.dumps({"type": "start", "features": ["pause", "played"]}))
        for _ in range(2):
            await opened.send(text)
            await hear(opened, "audio_start")
            with contextlib.suppress(ProcessLookupError):  # it is dead the second time
                os.kill(voice, signal.SIGKILL)
    return 1


async def stopping(server: Server, dice: random.Random) -> int:
    """Suspend the worker briefly while clients connect, cancel and disconnect, then resume it."""
    worker = await server.worker()
    os.kill(worker, signal.SIGSTOP)
    try:
        callers = [await call(server, post(chat("/say Hello", stream=True))) for _ in range(10)]
        async with chat_socket(server) as opened:
            await opened.send(json.dumps(chat("/hang")))
            await opened.send(json.dumps({"type": "cancel"}))
            await asyncio.sleep(0.3)
        for caller in callers[:5]:
            await caller.leave("reset")
    finally:
        os.kill(worker, signal.SIGCONT)
    for caller in callers[5:]:
        await caller.until(b"[DONE]")
        await caller.leave("close")
    return 10


async def hanging(server: Server, dice: random.Random) -> int:
    """Suspend the worker: it is given up after half a minute, its replies end, and a new worker answers."""
    worker = await server.worker()
    caller = await call(server, post(chat("/say Hello\n/hang", stream=True)))
    await caller.until(b"Hello")
    os.kill(worker, signal.SIGSTOP)
    began = time.monotonic()
    await caller.until(b"worker_lost")
    await caller.leave("close")
    caller = await call(server, post(chat("/say Hello again")))
    await caller.until(b"Hello again")
    await caller.leave("close")
    print(f"  a worker that hangs was replaced after {time.monotonic() - began:.1f} s")
    return 1


Trouble = Callable[[Server, random.Random], Awaitable[int]]
TROUBLES: tuple[Trouble, ...] = (
    leaving,
    leaving_whole_replies,
    leaving_the_queue,
    a_long_queue,
    slamming,
    garbage,
    cancelling,
    calling,
    reading_slowly,
    much_at_once,
    killing,
    killing_the_voice,
    stopping,
)


class Held:
    """What gateway and worker hold at rest."""

    def __init__(self, gateway: int, worker: int) -> None:
        self.files = (open_files(gateway), open_files(worker))
        self.memory = (memory(gateway), memory(worker))

    def __str__(self) -> str:
        shown = zip(("gateway", "worker"), self.files, self.memory, strict=True)
        return ", ".join(f"{name} {files} files {size / 2**20:.1f} MB" for name, files, size in shown)


async def rounds(
    server: Server, troubles: tuple[Trouble, ...], least: int, seconds: float, dice: random.Random
) -> None:
    """Trouble until the time is over, with so many rounds at least, and the comparison of what is held."""
    end = time.monotonic() + seconds
    done: dict[str, tuple[int, float]] = {}
    first: Held | None = None
    number = 0
    while number < least or time.monotonic() < end:
        for trouble in troubles:
            began = time.monotonic()
            count = await trouble(server, dice)
            await server.rest()
            times, spent = done.get(trouble.__name__, (0, 0.0))
            done[trouble.__name__] = (times + count, spent + time.monotonic() - began)
        await asyncio.sleep(0.5)
        held = Held(server.process.pid, await server.worker())
        first = first or held
        number += 1
        print(f"round {number:2}: {held}", flush=True)
    assert first is not None
    for name, (times, spent) in done.items():
        print(f"  {name.replace('_', ' '):24} {times:6} times in {spent:5.1f} s")
    if any(now > before + FILES_MORE for now, before in zip(held.files, first.files, strict=True)):
        raise Disorder(f"files were left open: {first} -> {held}")
    if any(now > before + MEMORY_MORE for now, before in zip(held.memory, first.memory, strict=True)):
        raise Disorder(f"memory was not given back: {first} -> {held}")


async def run(server: Server, options: argparse.Namespace) -> None:
    dice = random.Random(options.seed)
    everything = (*TROUBLES, hanging)
    chosen = TROUBLES
    if options.only:
        chosen = tuple(one for one in everything if one.__name__ == options.only)
    if not chosen:
        raise SystemExit(f"no such trouble; there are {', '.join(one.__name__ for one in everything)}")
    await rounds(server, chosen, options.rounds, options.seconds, dice)
    if not options.only and not options.brief:
        await hanging(server, dice)
        await server.rest()
    os.kill(await server.worker(), signal.SIGSTOP)
    began = time.monotonic()
    server.process.send_signal(signal.SIGTERM)
    code = await asyncio.to_thread(server.process.wait, 10)
    took = time.monotonic() - began
    print(f"  ended in {took:.1f} s with a stopped worker, exit code {code}")
    if took > 3.0 or code != 0:
        raise Disorder(f"the end took {took:.1f} s, exit code {code}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=100.0, help="how long the rounds go on")
    parser.add_argument("--rounds", type=int, default=2, help="how many there are at least")
    parser.add_argument("--brief", action="store_true", help="without the worker that hangs for good")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="one trouble alone, by its name")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = Server(folder)
        try:
            asyncio.run(run(server, options))
        except Disorder as disorder:
            print("\n".join(server.log.read_text(errors="replace").splitlines()[-30:]))
            raise SystemExit(f"chaos: {disorder}") from None
        finally:
            if server.process.poll() is None:
                server.process.kill()
                server.process.wait()
        if "Traceback" in (logged := server.log.read_text(errors="replace")):
            raise SystemExit("chaos: the log has a trace\n" + logged[-5000:])
    print("chaos: no leaks found")


if __name__ == "__main__":
    main()

"""The attacks that once succeeded, one function each, to be measured before and after they are bounded.

A `Finding` has the arguments of the server it needs and a coroutine that attacks it. `before_after` runs them, each on a
server of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable, Sequence
from time import monotonic
from typing import NamedTuple

from attack.answer_counts import AnswerCounts
from attack.bombs import archives, drawings, papers, pictures
from attack.delivery import Sender
from attack.exchange import HOST, NoAnswer, ask, read_answer
from attack.frames import raw
from attack.server import Server

SCRIPTED = ("--engine", "scripted", "--slots", "4")
QUIET_VOICE = "voice: {enabled: false}\n"
SCRIPTED_VOICE = (
    "voice: {recogniser: {engine: scripted}, speaker: {engine: scripted}, detector: {engine: energy}}\n"
)
HEAD = f"Host: {HOST}\r\n"


class Attack(NamedTuple):
    """What an attack works with."""

    server: Server
    answers: AnswerCounts

    def sender(self) -> Sender:
        return Sender(self.server.port, self.server.keys["mallory"], self.answers)


class Finding(NamedTuple):
    """`number` is that of the review. `model`: what the probe chats with, empty for the scripted engine."""

    number: str
    name: str
    attack: Callable[[Attack], Awaitable[None]]
    arguments: Sequence[str] = SCRIPTED
    settings: str = QUIET_VOICE
    files: int | None = None
    model: str = ""


def picture(make: Callable[[], bytes], name: str) -> Callable[[Attack], Awaitable[None]]:
    """Upload it and ask for its thumbnail."""

    async def run(attack: Attack) -> None:
        await attack.sender().deliver(make(), name, "svg", ("upload", "thumbnail"))

    return run


def document(make: Callable[[], bytes], name: str) -> Callable[[Attack], Awaitable[None]]:
    async def run(attack: Attack) -> None:
        await attack.sender().deliver(make(), name, "pdf", ("upload", "thumbnail", "message"))

    return run


def archive(make: Callable[[], bytes], name: str) -> Callable[[Attack], Awaitable[None]]:
    async def run(attack: Attack) -> None:
        await attack.sender().deliver(make(), name, "zip", ("import",))

    return run


async def stream_bytes(
    attack: Attack, head: bytes, piece: bytes, count: int, what: str, seconds: float = 40.0
) -> None:
    """Send a head and then the same piece again and again, until the server answers, hangs up, or all is sent."""
    server = attack.server
    reader, writer = await asyncio.open_connection(HOST, server.port, limit=2**20)
    sent = 0
    try:
        async with asyncio.timeout(seconds):
            writer.write(head)
            reading = asyncio.ensure_future(read_answer(reader))
            try:
                while sent < count and not reading.done():
                    writer.write(piece)
                    await writer.drain()
                    sent += 1
                attack.answers.answer(await asyncio.wait_for(asyncio.shield(reading), 3.0), what)
            finally:
                reading.cancel()
    except TimeoutError:
        attack.answers.note(f"no answer to {sent * len(piece) / 2**20:.0f} MB")
    except (OSError, asyncio.IncompleteReadError):
        # Bytes that were still on their way when the server hung up also take back the answer it had sent.
        attack.answers.note(f"hung up after {sent * len(piece) / 2**20:.1f} MB")
    finally:
        writer.transport.abort()


async def endless_headers(attack: Attack) -> None:
    """Headers of three bytes, 60 MB of them, without a key."""
    await stream_bytes(
        attack, f"GET / HTTP/1.1\r\n{HEAD}".encode(), b"a:b\r\n" * 13_000, 1000, "endless headers"
    )


async def long_address(attack: Attack) -> None:
    await stream_bytes(attack, b"GET /", b"a" * 65_536, 1600, "a request line of 100 MB")


async def idle_connections(attack: Attack) -> None:
    """Eighty connections that send nothing, half a header or half a body, where the server may open 96 files."""
    writers = []
    beginnings = (
        b"",
        b"GET / HTTP/1.1\r\nHos",
        f"POST /api/session HTTP/1.1\r\n{HEAD}Content-Length: 99\r\n\r\n{{".encode(),
    )
    readers = []
    for number in range(80):
        try:
            reader, writer = await asyncio.wait_for(asyncio.open_connection(HOST, attack.server.port), 2)
        except (OSError, TimeoutError):
            attack.answers.note("a connection was refused")
            continue
        writer.write(beginnings[number % 3])
        writers.append(writer)
        readers.append(reader)
    began = monotonic()
    ends = await asyncio.gather(
        *(asyncio.wait_for(reader.read(), 75) for reader in readers), return_exceptions=True
    )
    closed = [end for end in ends if isinstance(end, bytes) or not isinstance(end, TimeoutError)]
    attack.answers.note(f"{len(closed)} of {len(ends)} were closed within {monotonic() - began:.0f} s")
    for writer in writers:
        writer.transport.abort()


async def login_body(attack: Attack) -> None:
    """60 MB of a login, without a key."""
    head = f"POST /api/session HTTP/1.1\r\n{HEAD}Content-Type: application/json\r\nContent-Length: 63000000\r\n\r\n"
    await stream_bytes(attack, head.encode(), b'{"key":"' + b" " * 65_528, 950, "a login of 60 MB")


async def broken_uploads(attack: Attack) -> None:
    """Twenty uploads and logins whose sender leaves in the middle."""
    for number in range(20):
        path = ("/api/blobs", "/api/session", "/api/import", "/v1/chat/completions")[number % 4]
        key = attack.server.keys["mallory"]
        _, writer = await asyncio.open_connection(HOST, attack.server.port)
        head = f"POST {path} HTTP/1.1\r\n{HEAD}Authorization: Bearer {key}\r\nContent-Length: 99999\r\n\r\n"
        writer.write(head.encode() + b"{" * 500)
        await asyncio.sleep(0.05)
        writer.transport.abort()
    await asyncio.sleep(1.0)
    attack.answers.note(f"{attack.server.traces()} traces in the log")


async def import_slot(attack: Attack) -> None:
    """One user begins imports and never ends their bodies; another imports a small file meanwhile."""
    head = (
        f"POST /api/import HTTP/1.1\r\n{HEAD}Authorization: Bearer {attack.server.keys['mallory']}\r\n"
        "Content-Length: 1000\r\n\r\n["
    )
    writers = []
    for _ in range(8):
        _, writer = await asyncio.open_connection(HOST, attack.server.port)
        writer.write(head.encode())
        writers.append(writer)
    await asyncio.sleep(1.0)
    answer = await ask(
        attack.server.port, "POST", "/api/import", key=attack.server.keys["alice"], body=b"[]", seconds=20
    )
    attack.answers.note(f"another user's import meanwhile: {attack.answers.answer(answer, 'import')}")
    for writer in writers:
        writer.transport.abort()


async def bearer_guesses(attack: Attack) -> None:
    """Wrong keys for five seconds, and then the right one from the same address."""
    began, count = monotonic(), 0
    while monotonic() - began < 5:
        answer = await ask(attack.server.port, "GET", "/api/settings", key=f"dl_wrong_{count:040d}")
        attack.answers.answer(answer, "a wrong key")
        count += 1
    attack.answers.note(f"{count / (monotonic() - began):.0f} guesses a second")
    for path, body in (
        ("/api/settings", None),
        ("/api/session", json.dumps({"key": attack.server.keys["alice"]}).encode()),
    ):
        answer = await ask(
            attack.server.port,
            "POST" if body else "GET",
            path,
            key="" if body else attack.server.keys["alice"],
            body=body,
        )
        attack.answers.note(f"then the right key at {path}: {answer.status}")


async def event_streams(attack: Attack) -> None:
    """Sixty event streams of one user."""
    head = f"GET /api/events HTTP/1.1\r\n{HEAD}Authorization: Bearer {attack.server.keys['mallory']}\r\n\r\n"
    writers, statuses = [], []
    for _ in range(60):
        reader, writer = await asyncio.open_connection(HOST, attack.server.port)
        writer.write(head.encode())
        writers.append(writer)
        with contextlib.suppress(OSError, TimeoutError, asyncio.IncompleteReadError):
            answer = await asyncio.wait_for(read_answer(reader, only_head=True), 5)
            statuses.append(answer.status)
    for status in sorted(set(statuses)):
        attack.answers.note(f"{statuses.count(status)} streams: {status}")
    for writer in writers:
        writer.transport.abort()


async def large_frames(attack: Attack) -> None:
    """Six sockets, each with a message of 60 MB."""
    from websockets.asyncio.client import connect
    from websockets.exceptions import WebSocketException

    text = '{"messages":[{"role":"user","content":"' + "a" * 60_000_000 + '"}]}'

    async def one() -> None:
        url = f"ws://{HOST}:{attack.server.port}/ws/chat"
        headers = {"Authorization": f"Bearer {attack.server.keys['mallory']}"}
        try:
            async with connect(
                url, additional_headers=headers, proxy=None, max_size=None, compression=None
            ) as socket:
                await socket.send(text)
                attack.answers.message(json.loads(await asyncio.wait_for(socket.recv(), 30)), "60 MB")
        except (WebSocketException, OSError, TimeoutError) as error:
            attack.answers.note(f"socket ended: {type(error).__name__} {str(error)[:60]}")

    await asyncio.gather(*(one() for _ in range(6)))


async def bad_frames(attack: Attack) -> None:
    """JSON that is none, and a text frame that is not UTF-8, on the sockets of calls."""
    from websockets.asyncio.client import connect
    from websockets.exceptions import ConnectionClosed, WebSocketException

    for path in ("/ws/voice", "/ws/duplex/adx_x", "/ws/chat"):
        for data in (b"{", b"\xff\xfe\xff"):
            headers = {"Authorization": f"Bearer {attack.server.keys['mallory']}"}
            try:
                async with connect(
                    f"ws://{HOST}:{attack.server.port}{path}", additional_headers=headers, proxy=None
                ) as socket:
                    socket.transport.write(raw(1, data).data)
                    async with asyncio.timeout(5):
                        async for message in socket:
                            if '"error"' in str(message):
                                attack.answers.message(json.loads(message), path)
                    attack.answers.note(f"{path} {data!r}: closed {socket.close_code}")
            except ConnectionClosed as error:
                attack.answers.note(
                    f"{path} {data!r}: closed {error.rcvd.code if error.rcvd else 'abruptly'}"
                )
            except (WebSocketException, OSError, TimeoutError) as error:
                attack.answers.note(f"{path} {data!r}: {type(error).__name__}")
    await asyncio.sleep(1)
    attack.answers.note(f"{attack.server.traces()} traces in the log")


async def many_messages(attack: Attack) -> None:
    """9,999 messages of one letter for a model on this machine, twice."""
    body = json.dumps({"messages": [{"role": "user", "content": "a"}] * 9999, "max_tokens": 1}).encode()
    for _ in range(2):
        await attack.sender().send("POST", "/v1/chat/completions", body, "application/json", "9,999 messages")


async def long_prompt(attack: Attack) -> None:
    """Three prompts that fill the context."""
    for number in range(3):
        text = f"{number} " + "the river and the hill are far away " * 340
        body = json.dumps({"messages": [{"role": "user", "content": text}], "max_tokens": 1}).encode()
        await attack.sender().send("POST", "/v1/chat/completions", body, "application/json", "a long prompt")


async def grammar_alternatives(attack: Attack) -> None:
    """A grammar of 12,000 alternatives, and a schema of as many properties."""
    words = " | ".join(f'"w{number}"' for number in range(12_000))
    chat = {"messages": [{"role": "user", "content": "hello"}], "max_tokens": 4}
    properties = {f"p{number}": {"type": "string", "enum": ["a", "b", "c"]} for number in range(3000)}
    schema = {
        "type": "json_schema",
        "json_schema": {"name": "s", "schema": {"type": "object", "properties": properties}},
    }
    for more in ({"grammar": f"root ::= {words}"}, {"response_format": schema}):
        await attack.sender().send(
            "POST", "/v1/chat/completions", json.dumps(chat | more).encode(), "application/json", "a grammar"
        )


TEMPLATES = {
    "format": "{{ '%*s'|format(1500000000,'a') }}",
    "tojson": "{{ [1]|tojson(indent=1000000000) }}",
    "join": "{% set a = 'x' * 1000000 %}{{ ([a] * 3000)|join(a) }}",
    "batch": "{{ range(100)|batch(100000000)|list }}",
    "slice": "{{ range(100)|slice(100000000)|list }}",
    "sum": "{{ ([[1] * 100000] * 30000)|sum(start=[]) }}",
    "tilde": "{% set ns = namespace(a='x') %}{% for i in range(60) %}{% set ns.a = ns.a ~ ns.a %}{% endfor %}",
}


def template(name: str) -> Callable[[Attack], Awaitable[None]]:
    """A model whose template never ends or takes all memory, loaded by an admin and asked by a user."""

    async def run(attack: Attack) -> None:
        from tests.support.tiny_model import TinyModel, write_tiny_model

        folder, port = attack.server.data / "models", attack.server.port
        folder.mkdir(exist_ok=True)
        text = "{% for message in messages %}{{ message.content }}{% endfor %}" + TEMPLATES[name]
        await asyncio.to_thread(
            write_tiny_model, folder / f"{name}.gguf", TinyModel(name=name, template=text)
        )
        load = json.dumps({"name": name, "stream": False, "context": 256}).encode()
        chat = json.dumps({"model": name, "messages": [{"role": "user", "content": "x"}], "max_tokens": 1})
        try:
            answer = await ask(
                port, "POST", "/v1/model/load", key=attack.server.keys["root"], body=load, seconds=15
            )
            attack.answers.note(f"load: {attack.answers.answer(answer, name)}")
            if answer.status < 400:
                answer = await ask(
                    port,
                    "POST",
                    "/v1/chat/completions",
                    key=attack.server.keys["mallory"],
                    body=chat.encode(),
                    seconds=15,
                )
                attack.answers.note(f"chat: {attack.answers.answer(answer, name)}")
        except NoAnswer as error:
            attack.answers.note(f"no answer within 15 s ({error})")

    return run


async def storage(attack: Attack) -> None:
    """One user stores 12 files of 50 MB, in memory as those of temporary chats are."""
    sender = attack.sender()
    for number in range(12):
        data = bytes([number]) * 50_000_000
        await sender.send(
            "POST", f"/api/blobs?name={number}&temporary=true", data, "application/octet-stream", "50 MB"
        )
    sender.close()


def _drawing(number: str, *names: str) -> list[Finding]:
    return [Finding(number, f"SVG {name}", picture(drawings.DRAWINGS[name], f"{name}.svg")) for name in names]


FINDINGS: list[Finding] = [
    *_drawing("1", "opacity", "groups deep"),
    *_drawing(
        "2", "patterns", "clip paths", "masks", "markers", "dashes", "masked rects", "blur by comment",
        "in data", "in data opacity",
    ),
    Finding("3", "PDF of 13 forms", document(papers.PAPERS["pdf forms"], "forms.pdf")),
    Finding("3", "PDF of 400,000 fills", document(papers.PAPERS["pdf fills"], "fills.pdf")),
    Finding("4", "endless headers, 60 MB", endless_headers),
    Finding("4", "request line of 100 MB", long_address),
    Finding("5", "80 idle connections, 96 files", idle_connections, files=96),
    Finding("6", "login of 60 MB", login_body),
    Finding("6", "20 broken uploads", broken_uploads),
    Finding("7", "zip of blanks", archive(archives.ARCHIVES["import blanks"], "blanks.zip")),
    Finding("7", "zip of brackets", archive(archives.ARCHIVES["import brackets"], "brackets.zip")),
    Finding("8", "imports that never end", import_slot),
    Finding("9", "wrong Bearer keys", bearer_guesses),
    *(Finding("10", f"template {name}", template(name)) for name in TEMPLATES),
    Finding("11", "60 event streams", event_streams),
    Finding("11", "6 frames of 60 MB", large_frames),
    Finding("11", "PNG of 99.9 megapixels", picture(pictures.PICTURES["png huge"], "huge.png")),
    Finding("11", "600 MB of temporary files", storage),
    Finding("12", "frames that are none", bad_frames, settings=SCRIPTED_VOICE),
    Finding("13", "9,999 messages", many_messages, (), QUIET_VOICE, None, "default"),
    Finding("13", "3 long prompts", long_prompt, (), QUIET_VOICE, None, "default"),
    Finding("13", "grammars", grammar_alternatives, (), QUIET_VOICE, None, "default"),
]  # fmt: skip

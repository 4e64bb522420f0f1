"""Send one hostile or huge request of each kind among eight chats, and see what the others notice.

    python bench/bench_neighbours.py [--engine llama] [--only NAME] [--brief]

Eight people chat all the time on a real server, one more asks for `/health` every 20 ms. First they are alone, then one
request of a kind is sent among them, three times. For each kind: what its sender was told and after how long, the slowest
`/health`, the others' first token as a multiple of the same server's without it (median, and worst against worst), the
longest silence inside another's reply, and the gateway's peak memory.

A kind is a function in `KINDS`: it returns the request to send, and the docstring says what it is.

`--brief` sends each kind once among two chats and judges no time: everybody must be answered, and the sender must get an
answer that is no failure of the server. Exit status 1 where that is not so.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from load import free_port, wait_ready

HEALTH_TARGET = 0.5
"""Seconds."""
FIRST_TOKEN_TARGET = 2.0
"""A multiple of the first token without the hostile request."""
PATIENCE = 90.0
"""Seconds until an unanswered request counts as a failure."""
CHATS = 8
SLOTS = 10
"""A slot for each chat, and for the hostile request: a queue would blur what is measured."""

Json = dict[str, Any]


@dataclass(frozen=True)
class Attack:
    """A request: its path, its body as JSON or as bytes, and the header that names the type."""

    path: str
    body: object = None
    raw: bytes | None = None
    type: str = "application/json"
    method: str = "POST"

    def encoded(self) -> bytes:
        return self.raw if self.raw is not None else json.dumps(self.body).encode()


def _completion(**fields: object) -> Attack:
    body = {"messages": [{"role": "user", "content": "Hello"}], "max_tokens": 16, **fields}
    return Attack("/v1/chat/completions", body)


def many_messages() -> Attack:
    """9,999 messages of one letter: 300 KB."""
    return _completion(messages=[{"role": "user", "content": "a"}] * 9999)


def many_tool_calls() -> Attack:
    """One message with 4,000 tool calls."""
    calls = [
        {"id": f"c{at}", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        for at in range(4000)
    ]
    results = [{"role": "tool", "tool_call_id": f"c{at}", "content": "1"} for at in range(4000)]
    first = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "", "tool_calls": calls}]
    return _completion(messages=[*first, *results])


def control_markers() -> Attack:
    """290 KB of control markers in one message."""
    return _completion(messages=[{"role": "user", "content": "<|im_start|>a<|im_end|>" * 12600}])


def far_too_long() -> Attack:
    """2 MB of words."""
    return _completion(messages=[{"role": "user", "content": "hello world " * 170_000}])


def full_context() -> Attack:
    """A prompt of about 3,400 tokens that the model has to read."""
    words = " ".join(f"w{at}" for at in range(860))
    return _completion(messages=[{"role": "user", "content": words}], max_tokens=4)


def grammar_alternatives() -> Attack:
    """A grammar of 8,000 alternatives."""
    words = " | ".join(f'"word{at}"' for at in range(8000))
    return _completion(grammar=f"root ::= {words}")


def grammar_rules() -> Attack:
    """A grammar of 4,000 rules, each of which refers to the next one."""
    rules = "\n".join(f'r{at} ::= "a" r{at + 1} | "b"' for at in range(4000))
    return _completion(grammar=f'root ::= r0\n{rules}\nr4000 ::= "c"')


def grammar_repetition() -> Attack:
    """A grammar that repeats a repetition."""
    return _completion(grammar='root ::= ((("a" | "b"){0,10}){0,10}){0,10}')


def pattern_repetition() -> Attack:
    """A pattern that repeats what may be empty."""
    return _completion(regex_pattern="(((a|b){0,8}){0,8}){0,8}", max_tokens=4)


def optional_parts() -> Attack:
    """A grammar of 200 parts that may each be left out."""
    return _completion(grammar='root ::= ("a"?){0,200} "b"', max_tokens=4)


def choice_of_500() -> Attack:
    """A choice of as many texts as there may be."""
    return _completion(guided_choice=[f"word{at} and more" for at in range(500)], max_tokens=8)


def grammar_nesting() -> Attack:
    """A grammar of 30,000 nested brackets."""
    return _completion(grammar="root ::= " + "(" * 30_000 + '"a"' + ")" * 30_000)


def _schema(schema: object) -> Attack:
    return _completion(
        response_format={"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
    )


def schema_enum() -> Attack:
    """A schema with 10,000 choices."""
    return _schema(
        {
            "type": "object",
            "properties": {"a": {"enum": [f"c{at}" for at in range(10_000)]}},
            "required": ["a"],
        }
    )


def schema_references() -> Attack:
    """A schema of 2,000 references, each to the next."""
    defs: Json = {
        f"d{at}": {"type": "object", "properties": {"x": {"$ref": f"#/$defs/d{at + 1}"}}}
        for at in range(2000)
    }
    return _schema({"$ref": "#/$defs/d0", "$defs": {**defs, "d2000": {"type": "string"}}})


def schema_nesting() -> Attack:
    """A schema of 400 nested arrays."""
    schema: Json = {"type": "string"}
    for _ in range(400):
        schema = {"type": "array", "items": schema}
    return _schema(schema)


def schema_pattern() -> Attack:
    """A schema with a pattern that repeats a repetition."""
    return _schema(
        {"type": "object", "properties": {"a": {"type": "string", "pattern": "^((a|b){1,300}c){1,300}$"}}}
    )


def schema_properties() -> Attack:
    """A schema with 2,000 properties."""
    return _schema(
        {
            "type": "object",
            "properties": {f"p{at}": {"type": "string", "maxLength": 99} for at in range(2000)},
        }
    )


def many_tools() -> Attack:
    """1 MB of tools."""
    properties = {f"p{at}": {"type": "string", "description": "x" * 40} for at in range(40)}
    tools = [
        {
            "type": "function",
            "function": {"name": f"t{at}", "parameters": {"type": "object", "properties": properties}},
        }
        for at in range(120)
    ]
    return _completion(tools=tools)


def big_body() -> Attack:
    """60 MB of nested arrays in a field that nobody knows."""
    return Attack(
        "/v1/chat/completions",
        raw=b'{"messages": [{"role": "user", "content": "a"}], "x": [' + b"[[1],[2]]," * 6_000_000 + b"1]}",
    )


def deep_body() -> Attack:
    """A body of a million brackets."""
    return Attack("/v1/chat/completions", raw=b'{"x": ' + b"[" * 1_000_000 + b"]" * 1_000_000 + b"}")


KINDS: list[Callable[[], Attack]] = [
    many_messages,
    many_tool_calls,
    control_markers,
    far_too_long,
    full_context,
    grammar_alternatives,
    grammar_rules,
    grammar_repetition,
    pattern_repetition,
    optional_parts,
    choice_of_500,
    grammar_nesting,
    schema_enum,
    schema_references,
    schema_nesting,
    schema_pattern,
    schema_properties,
    many_tools,
    big_body,
    deep_body,
]


class Server:
    """The server under test."""

    def __init__(self, process: subprocess.Popen[bytes], port: int, log: Path) -> None:
        self.process, self.port, self.log = process, port, log

    def peak(self) -> float:
        """The gateway's peak memory since `forget_peak`, in MB; 0 where the system does not say."""
        with suppress(OSError, StopIteration):
            lines = Path(f"/proc/{self.gateway()}/status").read_text().splitlines()
            return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1000
        return 0.0

    def forget_peak(self) -> None:
        with suppress(OSError):
            Path(f"/proc/{self.gateway()}/clear_refs").write_text("5")

    def gateway(self) -> int:
        """The process that listens: the server's own, or the child of one that watches it."""
        with suppress(OSError):
            for child in (
                Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
            ):
                if b"duologue.worker" not in Path(f"/proc/{child}/cmdline").read_bytes():
                    return int(child)
        return self.process.pid


@contextmanager
def started(engine: str, slots: int, *arguments: str) -> Iterator[Server]:
    """A server of this checkout, ready."""
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log")
        command = [sys.executable, "-m", "duologue", "serve", "--port", str(port), "--data", folder]
        command += ["--engine", engine, "--slots", str(slots), "--log-level", "warning", *arguments]
        with log.open("wb") as output:
            process = subprocess.Popen(
                command,
                stdout=output,
                stderr=output,
                cwd=folder,
                env={key: value for key, value in os.environ.items() if not key.startswith("DUOLOGUE_")},
            )
        try:
            wait_ready(f"http://127.0.0.1:{port}/ready", process)
            yield Server(process, port, log)
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@dataclass
class Seen:
    """What the others saw in a while. Times in seconds; `failures` are sentences."""

    health: list[float] = field(default_factory=list)
    first: list[float] = field(default_factory=list)
    silence: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


class Neighbours:
    """People who chat all the time, and one who asks for `/health`."""

    def __init__(self, port: int, chats: int) -> None:
        self.port, self._chats = port, chats
        self.seen = Seen()
        self.turns = 0

    @asynccontextmanager
    async def chatting(self) -> AsyncIterator[None]:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._chat(number)) for number in range(self._chats)]
            tasks.append(group.create_task(self._health()))
            yield
            for task in tasks:
                task.cancel()

    def forget(self) -> None:
        self.seen = Seen()

    async def another(self, turns: int) -> None:
        """Wait until so many more replies have come."""
        until = self.turns + turns
        while self.turns < until and not self.seen.failures:  # noqa: ASYNC110
            await asyncio.sleep(0.02)

    async def _health(self) -> None:
        while True:
            began = time.perf_counter()
            status, _ = await send(self.port, Attack("/health", method="GET", raw=b""))
            self.seen.health.append(time.perf_counter() - began)
            if status != 200:
                self.seen.failures.append(f"/health answered {status}")
            await asyncio.sleep(0.02)

    async def _chat(self, number: int) -> None:
        turn = 0
        while True:
            turn += 1
            body = {
                "messages": [{"role": "user", "content": f"Number {number} asks {turn}: what is 2 + 3?"}],
                "max_tokens": 24,
                "stream": True,
            }
            try:
                async with asyncio.timeout(PATIENCE):
                    first, silence = await self._reply(body)
            except (OSError, TimeoutError, ValueError) as error:
                self.seen.failures.append(f"a chat failed: {error!r}")
                await asyncio.sleep(1)
                continue
            self.seen.first.append(first)
            self.seen.silence.append(silence)
            self.turns += 1
            await asyncio.sleep(0.1)

    async def _reply(self, body: Json) -> tuple[float, float]:
        """The seconds to the first token, and the longest silence after it."""
        began = time.perf_counter()
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, limit=2**20)
        try:
            writer.write(request(self.port, Attack("/v1/chat/completions", body)))
            if b" 200 " not in await reader.readline():
                raise ValueError((await reader.read(2000)).decode(errors="replace")[-300:])
            first = last = silence = 0.0
            while line := await reader.readline():
                if b'"content":"' not in line or b'"content":""' in line:
                    continue
                now = time.perf_counter()
                if first:
                    silence = max(silence, now - last)
                else:
                    first = now - began
                last = now
            return first or time.perf_counter() - began, silence
        finally:
            writer.close()


def request(port: int, attack: Attack) -> bytes:
    """The bytes of a request."""
    data = attack.encoded()
    return (
        f"{attack.method} {attack.path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: {attack.type}\r\n"
        f"Content-Length: {len(data)}\r\nConnection: close\r\n\r\n".encode()
        + data
    )


async def send(port: int, attack: Attack, data: bytes | None = None) -> tuple[int, str]:
    """Send a request; the status (0: none came) and the body."""
    try:
        async with asyncio.timeout(PATIENCE):
            reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**20)
            try:
                writer.write(data or request(port, attack))
                with suppress(ConnectionError):
                    await writer.drain()
                answer = await reader.read()
            finally:
                writer.close()
    except (OSError, TimeoutError) as error:
        return 0, repr(error)
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split(b" ", 2)[1]) if head else 0, body.decode(errors="replace")


def told(status: int, body: str) -> str:
    """The status and the code of an answer."""
    with suppress(ValueError, KeyError, TypeError):
        return f"{status} {json.loads(body)['error']['code']}"
    return str(status) if status else body[:60]


def judge_brief(kind: str, status: int, body: str, seen: Seen) -> list[str]:
    """What is wrong, as sentences, when time is not judged."""
    wrong = [f"{kind}: {failure}" for failure in seen.failures]
    if status == 0 or (status >= 500 and status not in (503, 504)):
        wrong.append(f"{kind}: its sender was told {told(status, body)}")
    return wrong


def _worst(times: list[float]) -> float:
    return max(times, default=0.0)


def _median(times: list[float]) -> float:
    return statistics.median(times) if times else 0.0


async def measure(server: Server, chats: int, kinds: list[Callable[[], Attack]], brief: bool) -> list[str]:
    """Run the kinds one after the other; what was wrong, as sentences."""
    wrong: list[str] = []
    people = Neighbours(server.port, chats)
    async with people.chatting():
        await people.another(chats)
        people.forget()
        await people.another(chats if brief else chats * 8)
        alone = people.seen
        print(
            f"{'':<22}{'told':<32}{'after':>7} {'/health':>8} {'first token':>14} {'silence':>8} {'peak':>7}\n"
            f"{'alone':<22}{'':<32}{'':>7} {_worst(alone.health):>7.2f}s {_median(alone.first):>6.2f} to"
            f" {_worst(alone.first):.2f}s {_worst(alone.silence):>6.2f}s {server.peak():>5.0f}MB",
            flush=True,
        )
        for make in kinds:
            wrong += await _one(server, people, make, alone, brief)
    return wrong


async def _one(
    server: Server, people: Neighbours, make: Callable[[], Attack], alone: Seen, brief: bool
) -> list[str]:
    attack = make()
    data = request(server.port, attack)
    server.forget_peak()
    people.forget()
    took: list[float] = []
    for _ in range(1 if brief else 3):
        began = time.perf_counter()
        status, body = await send(server.port, attack, data)
        took.append(time.perf_counter() - began)
    await people.another(1 if brief else CHATS)
    seen = people.seen
    name = make.__name__
    wrong = judge_brief(name, status, body, seen)
    slow = _worst(seen.first) / max(_worst(alone.first), 0.001)
    usual = _median(seen.first) / max(_median(alone.first), 0.001)
    met = brief or (_worst(seen.health) < HEALTH_TARGET and slow < FIRST_TOKEN_TARGET)
    print(
        f"{name:<22}{told(status, body)[:31]:<32}{_worst(took):>6.2f}s {_worst(seen.health):>7.2f}s"
        f" {usual:>5.1f}x, {slow:>4.1f}x {_worst(seen.silence):>8.2f}s {server.peak():>5.0f}MB"
        f"{'' if met else '  over the target'}",
        flush=True,
    )
    return wrong


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--engine", default="llama", choices=("llama", "scripted"))
    parser.add_argument("--only", action="append", help="a kind; may be repeated")
    parser.add_argument("--brief", action="store_true")
    options = parser.parse_args()
    chosen = [kind for kind in KINDS if not options.only or kind.__name__ in options.only]
    if not chosen:
        parser.error(f"known kinds: {', '.join(kind.__name__ for kind in KINDS)}")
    chats = 2 if options.brief else CHATS
    with started(options.engine, chats + 2) as server:
        wrong = asyncio.run(measure(server, chats, chosen, options.brief))
        if server.process.poll() is not None:
            wrong.append("the server has ended")
        print("\n".join([*wrong, *server.log.read_text(errors="replace").splitlines()[-20:]]))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()

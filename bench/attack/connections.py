"""Hostile connections: slow ones, silent ones, floods of headers, half bodies, smuggling, half handshakes of TLS.

`one` does one of them; each is bounded in bytes and seconds. What may come back is an answer, a closed connection, or
nothing within the time the sender waits.
"""

from __future__ import annotations

import asyncio
from random import Random

from attack.answer_counts import AnswerCounts
from attack.exchange import HOST, read_answer

WAIT_SECONDS = 2.0
HEAD = f"Host: {HOST}\r\n"
TLS_HELLO = (
    bytes.fromhex("16030100c4010000c00303")
    + bytes(32)
    + b"\x20"
    + bytes(32)
    + b"\x00\x02\x13\x01\x01\x00\x00\x75"
)
HTTP2 = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(9)


def beginnings(dice: Random) -> tuple[str, bytes]:
    """A name and the bytes of one hostile connection."""
    post = f"POST /api/session HTTP/1.1\r\n{HEAD}Content-Type: application/json\r\n"
    made: dict[str, bytes] = {
        "nothing": b"",
        "half a line": b"GET /hea",
        "half a header": f"GET /health HTTP/1.1\r\n{HEAD}X-A".encode(),
        "half a body": f"{post}Content-Length: 50\r\n\r\n{{".encode(),
        "many headers": f"GET /health HTTP/1.1\r\n{HEAD}".encode() + b"a:b\r\n" * 50_000 + b"\r\n",
        "long header": f"GET /health HTTP/1.1\r\n{HEAD}X-A: ".encode() + b"a" * 300_000 + b"\r\n\r\n",
        "long line": b"GET /" + b"a" * 300_000 + b" HTTP/1.1\r\n\r\n",
        "no host": b"GET /health HTTP/1.1\r\n\r\n",
        "two hosts": f"GET /health HTTP/1.1\r\n{HEAD}Host: evil\r\n\r\n".encode(),
        "old version": b"GET /health HTTP/0.9\r\n\r\n",
        "unknown version": f"GET /health HTTP/9.9\r\n{HEAD}\r\n".encode(),
        "bare lines": f"GET /health HTTP/1.1\n{HEAD}\n\n".encode(),
        "folded": f"GET /health HTTP/1.1\r\n{HEAD} folded\r\n\tmore\r\n\r\n".encode(),
        "nul": b"GET /\0 HTTP/1.1\r\nHost: a\0b\r\n\r\n",
        "two lengths": f"{post}Content-Length: 2\r\nContent-Length: 9\r\n\r\n{{}}".encode(),
        "length and chunks": f"{post}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /x HTTP/1.1\r\n\r\n".encode(),
        "negative length": f"{post}Content-Length: -1\r\n\r\n".encode(),
        "huge length": f"{post}Content-Length: {'9' * 30}\r\n\r\n{{".encode(),
        "bad chunk": f"{post}Transfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n".encode(),
        "huge chunk": f"{post}Transfer-Encoding: chunked\r\n\r\n{'f' * 16}\r\nabc".encode(),
        "chunk extension": f"{post}Transfer-Encoding: chunked\r\n\r\n1;{'a' * 200_000}\r\n".encode(),
        "tiny chunks": f"{post}Transfer-Encoding: chunked\r\n\r\n".encode() + b"1\r\n \r\n" * 20_000,
        "trailers": f"{post}Transfer-Encoding: chunked\r\n\r\n0\r\n".encode() + b"a:b\r\n" * 20_000,
        "pipeline": f"GET /health HTTP/1.1\r\n{HEAD}\r\n".encode() * 300,
        "tls": TLS_HELLO,
        "http2": HTTP2,
        "noise": dice.randbytes(3000),
        "proxy line": b"PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\nGET /health HTTP/1.1\r\n\r\n",
        "socket without key": f"GET /ws/chat HTTP/1.1\r\n{HEAD}Upgrade: websocket\r\nConnection: Upgrade\r\n\r\n".encode(),
        "socket of version 1": f"GET /ws/chat HTTP/1.1\r\n{HEAD}Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 1\r\nSec-WebSocket-Key: x\r\n\r\n".encode(),
    }  # fmt: skip
    name = dice.choice(list(made))
    return name, made[name]


async def one(port: int, dice: Random, answers: AnswerCounts) -> None:
    """One hostile connection, whole or byte by byte, that then leaves."""
    name, data = beginnings(dice)
    try:
        async with asyncio.timeout(WAIT_SECONDS):
            reader, writer = await asyncio.open_connection(HOST, port, limit=2**20)
    except (OSError, TimeoutError):
        answers.note("connection refused")
        return
    try:
        async with asyncio.timeout(WAIT_SECONDS if dice.random() < 0.2 else 0.3):
            if len(data) < 300 and dice.random() < 0.3:
                for byte in data:
                    writer.write(bytes([byte]))
                    await asyncio.sleep(0.002)
            else:
                writer.write(data)
            answer = await read_answer(reader)
            answers.note(f"{name}: {answer.status}")
            if answer.status >= 500:
                answers.answer(answer, name)
    except TimeoutError:
        answers.note("left without an answer")
    except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        answers.note("hung up")
    finally:
        writer.transport.abort()


async def hold(port: int, count: int, seconds: float, answers: AnswerCounts) -> None:
    """Slow senders, all at once: a byte of a header every half second, each until it is cut off or the time is over."""

    async def slow(number: int) -> None:
        try:
            reader, writer = await asyncio.open_connection(HOST, port)
        except OSError:
            answers.note("slow: connection refused")
            return
        text = f"GET /health HTTP/1.1\r\n{HEAD}X-Slow: ".encode() + b"a" * 10_000
        try:
            async with asyncio.timeout(seconds):
                reading = asyncio.ensure_future(reader.read())
                for byte in text[number % 20 :]:
                    if reading.done():
                        break
                    writer.write(bytes([byte]))
                    await asyncio.sleep(0.5)
            answers.note("slow: cut off by the server")
            reading.cancel()
        except TimeoutError:
            answers.note("slow: held to the end")
        except OSError:
            answers.note("slow: cut off by the server")
        finally:
            writer.transport.abort()

    await asyncio.gather(*(slow(number) for number in range(count)))

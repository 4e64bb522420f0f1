"""Hostile frames for the sockets of docs/protocols.md: messages that are nearly right, binary noise, broken framing.

`frame` makes one from dice; `speak` opens a socket, sends some, and counts what comes back.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import struct
from random import Random
from typing import Any, NamedTuple

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus, WebSocketException
from websockets.frames import Opcode

from attack.answer_counts import AnswerCounts
from attack.exchange import HOST, Answer
from attack.mutations import damaged_json
from attack.routes import CHAT

SILENCE = base64.b64encode(bytes(6400)).decode()
MESSAGES: dict[str, list[dict[str, Any]]] = {
    "/ws/chat": [
        {"id": "r", "messages": CHAT["messages"], "streaming": True, "generation": {"max_new_tokens": 4, "temperature": 1}},
        {"messages": [{"role": "user", "content": [{"type": "audio", "data": SILENCE, "sample_rate": 16000}]}]},
        {"messages": [{"role": "user", "content": [{"type": "image", "data": "iVBORw0KGgo="}, {"type": "text", "text": "x"}]}]},
        {"messages": [{"role": "user", "content": [{"type": "video", "data": "AAAA", "stack_frames": 2}]}], "tts": {"enabled": True}},
        {"type": "cancel", "id": "r"},
    ],
    "/ws/voice": [
        {"type": "start", "features": ["pause", "played"], "instructions": "Be brief.", "mode": "hold", "tools": []},
        {"type": "interrupt", "last_chunk_id": 3}, {"type": "interrupt", "reply_id": 1, "samples": 5},
        {"type": "played", "reply_id": 1, "samples": 100}, {"type": "text", "text": "/say Hi"}, {"type": "hold", "down": True},
        {"type": "video_frame", "frame": "iVBORw0KGgo="}, {"type": "tool_result", "call_id": "c", "content": "x", "is_error": False},
        {"type": "approval", "id": "p", "decision": "once"}, {"type": "stop"},
    ],
    "/ws/duplex/adx_fuzz": [
        {"type": "prepare", "system_prompt": "Be brief.", "config": {"temperature": 0.5, "top_k": 3}, "language": "en"},
        {"type": "audio_chunk", "audio_base64": SILENCE, "force_listen": False},
        {"type": "audio_chunk", "audio": SILENCE, "frame_base64_list": ["iVBORw0KGgo="]},
        {"type": "video_frame", "frame": "x"}, {"type": "pause", "timeout": 1}, {"type": "resume"}, {"type": "interrupt"},
        {"type": "client_diagnostic", "x": [1]}, {"type": "stop"},
    ],
}  # fmt: skip
ANSWER_SECONDS = 5.0
END_GRACE = 0.3


def frame(path: str, dice: Random) -> str | bytes | Raw:
    """One thing to send: a text, binary data, or a frame that breaks the rules of framing."""
    how = dice.random()
    if how < 0.70:
        message = dice.choice(MESSAGES[path])
        return json.dumps(message if how < 0.1 else damaged_json(message, dice))
    if how < 0.80:
        return dice.choice(
            (
                "",
                "{",
                "[]",
                "null",
                "7",
                '"x"',
                "[" * 50_000,
                '{"type":' * 999,
                "{}",
                '{"type":"' + "x" * 9999 + '"}',
            )
        )
    if how < 0.97:
        return sound(dice)
    return broken_frame(dice)


def sound(dice: Random) -> bytes:
    """Samples: noise, silence, an odd number of bytes, floats that are no numbers, far too many."""
    match dice.randrange(7):
        case 0:
            return b""
        case 1:
            return b"\0"
        case 2:
            return struct.pack("<ff", float("nan"), float("inf")) * 200
        case 3:
            return bytes(70_000)
        case 4:
            return dice.randbytes(641)
    return dice.randbytes(640)


class Raw(NamedTuple):
    """The bytes of a frame as they are written, whatever the rules say."""

    data: bytes


def raw(opcode: int, data: bytes, *, fin: bool = True, reserved: int = 0, masked: bool = True) -> Raw:
    first = (0x80 if fin else 0) | reserved << 4 | opcode
    size = bytes([len(data)]) if len(data) < 126 else b"\x7e" + struct.pack(">H", len(data))
    return Raw(
        bytes([first, size[0] | (0x80 if masked else 0)]) + size[1:] + (bytes(4) if masked else b"") + data
    )


def broken_frame(dice: Random) -> Raw:
    """Unfinished, unmasked, reserved, too long for its kind, or not UTF-8."""
    opcode = dice.choice((Opcode.TEXT, Opcode.CONT, Opcode.PING, Opcode.CLOSE, Opcode.BINARY, 0x3, 0xF))
    data = dice.choice(
        (
            b"\xff\xfe",
            b"\x03",
            b"\x00\x01bye",
            struct.pack(">H", 4999) + b"\xff",
            bytes(125),
            bytes(3000),
            b"\xed\xa0\x80",
        )
    )
    return raw(
        opcode, data, fin=dice.random() < 0.7, reserved=dice.choice((0, 0, 4, 7)), masked=dice.random() < 0.9
    )


class Speaker:
    """One attacker's sockets. `sent` counts frames."""

    def __init__(self, port: int, key: str, answers: AnswerCounts) -> None:
        self._port, self._key, self._answers = port, key, answers
        self.sent = 0

    async def speak(self, path: str, count: int, dice: Random) -> None:
        """Open a socket, send up to `count` frames, and leave in some way."""
        address = path if "duplex" not in path else f"{path}{dice.randrange(10**6)}"
        try:
            async with (
                connect(
                    f"ws://{HOST}:{self._port}{address}",
                    additional_headers={"Authorization": f"Bearer {self._key}"},
                    proxy=None,
                    max_size=None,
                    ping_interval=None,
                    close_timeout=1,
                    open_timeout=20,
                    compression=dice.choice(("deflate", None)),
                ) as socket,
                asyncio.TaskGroup() as group,
            ):
                hearing = group.create_task(self._hear(socket))
                await self._send(socket, path, count, dice)
                if dice.random() < 0.3:
                    socket.transport.abort()
                await asyncio.wait([hearing], timeout=END_GRACE)
                hearing.cancel()
        except InvalidStatus as error:
            response = error.response
            headers = {name.lower(): value for name, value in response.headers.raw_items()}
            self._answers.answer(Answer(response.status_code, headers, bytes(response.body or b"")), path)
            await asyncio.sleep(0.05)
        except (InvalidHandshake, WebSocketException, OSError, TimeoutError) as error:
            self._answers.note(f"no socket: {type(error).__name__}")
            await asyncio.sleep(0.05)

    async def _send(self, socket: ClientConnection, path: str, count: int, dice: Random) -> None:
        for _ in range(count):
            made = frame(path, dice)
            self.sent += 1
            try:
                async with asyncio.timeout(ANSWER_SECONDS):
                    if isinstance(made, Raw):
                        socket.transport.write(made.data)
                    else:
                        await socket.send(made)
            except (
                ConnectionClosed,
                TimeoutError,
                OSError,
                RuntimeError,
            ):  # a raw write after the end of file
                break
            if dice.random() < 0.1:
                await asyncio.sleep(0.005)
        code = socket.close_code
        if code is not None:
            self._answers.note(f"closed {code}")

    async def _hear(self, socket: ClientConnection) -> None:
        with contextlib.suppress(WebSocketException, OSError):
            async for message in socket:
                if isinstance(message, str):
                    with contextlib.suppress(ValueError):
                        self._answers.message(json.loads(message), "a frame")

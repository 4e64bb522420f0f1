"""`duologue call`: what is written down of a call, and what a typed line does."""

import io
import os
from typing import Any

import anyio
import pytest

from duologue.cli.call import Setup, TerminalCall, _type

pytestmark = pytest.mark.anyio


def shown(*messages: dict) -> tuple[str, str]:
    output, asides = io.StringIO(), io.StringIO()
    page = TerminalCall(output, asides)
    for message in messages:
        page.show(message)
    return output.getvalue(), asides.getvalue()


def test_what_both_sides_said_goes_to_the_output():
    output, asides = shown(
        {"type": "status", "state": "listening"},
        {"type": "status", "state": "listening"},
        {"type": "transcript", "text": "what is", "final": False},
        {"type": "transcript", "text": "what is the time", "final": True},
        {"type": "reply_done", "reply_id": 1, "text": "It is late.", "ending": "spoken"},
    )
    assert output == "You: what is the time\nDuologue: It is late.\n"
    assert asides == "listening\n"


def test_of_an_interrupted_reply_only_what_was_heard_stands():
    output, _ = shown(
        {"type": "reply_done", "reply_id": 1, "text": "It is", "unheard": " late.", "ending": "interrupted"},
        {"type": "reply_done", "reply_id": 2, "text": "", "unheard": "No.", "ending": "interrupted"},
    )
    assert output == "Duologue: It is …\n"


def test_what_was_not_understood_and_what_went_wrong_is_said():
    output, asides = shown(
        {"type": "queued", "position": 2},
        {"type": "transcript", "text": "", "final": True, "understood": False},
        {"type": "transcript", "text": "", "final": True},
        {"type": "error", "code": "x", "message": "It broke."},
    )
    assert output == "You: (not understood)\n"
    assert asides == "waiting, position 2 in the queue\nIt broke.\n"


def test_a_setup_asks_for_what_was_given_and_nothing_else():
    assert Setup().start() == {}
    assert Setup(voice="en-gb", conversation="c1").start() == {"voice": "en-gb", "conversation_id": "c1"}


class Line:
    """A call of which only what it is told matters."""

    def __init__(self, count: int) -> None:
        self.told: list[str] = []
        self.all = anyio.Event()
        self._count = count

    async def send(self, type: str, **fields: str) -> None:
        self._take(f"{type} {fields['text']}")

    async def interrupt(self) -> None:
        self._take("interrupt")

    def _take(self, what: str) -> None:
        self.told.append(what)
        if len(self.told) == self._count:
            self.all.set()


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def test_a_typed_line_is_said_and_an_empty_one_interrupts():
    reading, writing = os.pipe()
    call: Any = Line(2)
    with os.fdopen(reading) as lines, os.fdopen(writing, "w", buffering=1) as keyboard:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_type, call, lines)
            await anyio.lowlevel.checkpoint()
            keyboard.write("good morning\n")
            keyboard.write("\n")
            with anyio.fail_after(60):
                await call.all.wait()
            tasks.cancel_scope.cancel()
    assert call.told == ["text good morning", "interrupt"]

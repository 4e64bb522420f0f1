"""The program that compiles a template and renders with it, with the other ends of its sockets here."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

import pytest

from duologue import landlock
from duologue.engines.message_stream import MessageReader, pack
from duologue.engines.templates.render_messages import (
    CompileAnswer,
    CompileTemplate,
    PromptRendered,
    RenderAnswer,
    RendererReady,
    RenderLimits,
    TemplateCompiled,
    TemplateFailed,
    render_prompt,
    rendered_prompt,
)
from duologue.text.templates.prompt_request import PromptRequest
from duologue.values.messages import user

pytestmark = pytest.mark.system

PATIENCE = 60.0


class Program:
    """The process, and the other end of its standard input."""

    def __init__(self, *arguments: str) -> None:
        self.control, theirs = socket.socketpair()
        self.control.settimeout(PATIENCE)
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-P", *(arguments or ("-m", "duologue.engines.templates.template_process"))],
                stdin=theirs.fileno(),
                stderr=subprocess.PIPE,
            )

    def compile(self, source: str, **limits: float) -> object:
        self.control.sendall(pack(CompileTemplate(source, "", "", RenderLimits(**limits))))  # type: ignore[arg-type]
        return receive(self.control, CompileAnswer)

    @contextmanager
    def renderer(self) -> Iterator[socket.socket]:
        ours, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(self.control, [b"+"], [theirs.fileno()])
        ours.settimeout(PATIENCE)
        with ours:
            assert receive(ours, RenderAnswer) == RendererReady()
            yield ours

    def errors(self) -> str:
        """Standard error, until the last process that has it is gone."""
        assert self.process.stderr is not None
        with self.process.stderr as errors:
            return errors.read().decode()


def receive(connection: socket.socket, union: object) -> object:
    """The next message; None at the end."""
    reader: MessageReader[object] = MessageReader(union)
    while (message := reader.take()) is None:
        data = connection.recv(65536)
        if not data:
            return None
        reader.add(data)
    return message


def render(connection: socket.socket, text: str) -> object:
    request = PromptRequest((user(text),), form="full")
    connection.sendall(pack(render_prompt(request, datetime(2031, 5, 4))))
    return receive(connection, RenderAnswer)


@pytest.fixture
def program() -> Iterator[Program]:
    program = Program()
    yield program
    program.control.close()
    program.process.wait(PATIENCE)


ECHO = (
    "{% if messages[0].content == 'much' %}{% set much = ['漢' * 16000000, '字' * 16000000, '語' * 16000000] %}{{ much[0][:3] }}"
    "{% elif messages[0].content == 'refuse' %}{{ raise_exception('No.') }}"
    "{% elif messages[0].content == 'for ever' %}"
    "{% for i in range(99999) %}{% set x = ('ba' * 8000000) | reverse %}{% endfor %}"
    "{% else %}{{ messages[0].content }}{% endif %}"
)


def test_a_renderer_answers_one_request_after_another(program: Program) -> None:
    assert isinstance(program.compile(ECHO), TemplateCompiled)
    with program.renderer() as connection:
        for text in ("a", "refuse", "b"):
            said = render(connection, text)
            if text == "refuse":
                assert isinstance(said, TemplateFailed)
                assert (said.message[-3:], said.last) == ("No.", False)
            else:
                assert isinstance(said, PromptRendered)
                assert (rendered_prompt(said).text, said.last) == (text, False)


def test_a_renderer_that_grew_says_that_it_ends(program: Program) -> None:
    program.compile(ECHO)
    with program.renderer() as connection:
        said = render(connection, "much")
        assert isinstance(said, PromptRendered)
        assert (rendered_prompt(said).text, said.last) == ("漢漢漢", True)
        assert connection.recv(1) == b""


def test_a_renderer_that_takes_too_long_is_gone_and_the_others_stay(program: Program) -> None:
    program.compile(ECHO, render_seconds=0.2)
    with program.renderer() as slow, program.renderer() as other:
        assert render(slow, "for ever") is None
        assert isinstance(render(other, "x"), PromptRendered)
    assert program.process.poll() is None


def test_what_cannot_be_compiled_is_said_and_the_process_ends(program: Program) -> None:
    said = program.compile("{% if %}")
    assert isinstance(said, TemplateFailed)
    assert (said.code, said.status) == ("template_error", 400)
    assert program.errors() == ""
    assert program.process.wait(PATIENCE) == 0


def test_compiling_for_too_long_ends_the_process(program: Program) -> None:
    assert program.compile("{{ [1] | slice(10000000000) | list }}", compile_seconds=0.2) is None
    assert program.process.wait(PATIENCE) < 0


def test_no_process_is_left_when_the_worker_is_gone(program: Program) -> None:
    program.compile(ECHO)
    with program.renderer() as connection:
        program.control.close()
        connection.close()
    assert program.errors() == ""  # and so the renderer is gone too: standard error has no writer any more
    assert program.process.wait(PATIENCE) == 0


def test_a_worker_that_is_gone_at_once_is_no_error(program: Program) -> None:
    program.control.close()
    assert program.errors() == ""
    assert program.process.wait(PATIENCE) == 0


# In the place of a template that has broken out of its sandbox: what it may do in this process.
ESCAPED = """
import socket
from duologue.engines.templates import template_process
from duologue.errors import Unsupported

def attempt(action):
    try:
        action()
    except OSError as error:
        return type(error).__name__
    return "done"

def escape(source, bos, eos, special):
    read = attempt(lambda: open("/etc/passwd"))
    connect = attempt(lambda: socket.create_connection(("127.0.0.1", int(source))))
    raise Unsupported(f"{read} {connect}")

template_process.ChatTemplate = escape
template_process.main()
"""


@pytest.mark.skipif(
    landlock.version() < landlock.NETWORK_VERSION,
    reason="this kernel's Landlock is missing or has no network rules",
)
def test_a_template_that_escapes_its_sandbox_opens_no_file_and_no_connection() -> None:
    program = Program("-c", ESCAPED)
    with program.control, socket.create_server(("127.0.0.1", 0)) as server:
        said = program.compile(str(server.getsockname()[1]))
    assert isinstance(said, TemplateFailed)
    assert said.message == "PermissionError PermissionError"
    assert program.errors() == ""
    program.process.wait(PATIENCE)


def test_little_is_imported() -> None:
    """It starts beside a model's loading and stays in memory."""
    code = "import sys, json, duologue.engines.templates.template_process; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert not {"anyio", "asyncio", "pydantic", "starlette", "httpx", "ssl"} & set(loaded.split())
    rooms = {name.split(".")[1] for name in loaded.split() if name.startswith("duologue.")}
    assert rooms == {"engines", "errors", "landlock", "process_limits", "text", "values"}

"""The program that compiles a chat template and renders with it: `python -m duologue.engines.templates.template_process`.

Started by `template_renderer`. A template comes with a model from strangers and may do anything that a program without input
and output can: so it runs here, where address space is limited, Landlock (where the kernel has it) refuses files and TCP, and a
timer of the kernel ends whatever takes too long, even inside a C function. The process compiles the template, and forks a renderer for each socket it is sent (`fork_server`), which
is in a millisecond and has the compiled template already. A renderer answers one request after another; it ends itself
when one has used much memory.
"""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial

from duologue import landlock, process_limits
from duologue.engines.fork_server import serve
from duologue.engines.message_stream import CHUNK, MessageReader, pack
from duologue.engines.templates.render_messages import (
    CompileAnswer,
    CompileTemplate,
    PromptRendered,
    RendererReady,
    RenderLimits,
    RenderPrompt,
    TemplateCompiled,
    TemplateFailed,
    local_time,
    prompt_rendered,
    template_failed,
)
from duologue.errors import BadRequest, Problem, Unsupported
from duologue.process_limits import peak_memory
from duologue.text.templates.chat_template import ChatTemplate
from duologue.text.templates.prompt_request import TEMPLATE_ERROR

GROWTH = 64 * 1024 * 1024
"""Bytes by which a renderer may grow before it ends: the allocator seldom gives memory back."""


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """The kernel ends this process if what is inside takes longer: no code here can prevent or delay that."""
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def compiled(order: CompileTemplate) -> tuple[ChatTemplate | None, CompileAnswer]:
    """The template, and the answer about it."""
    try:
        template = ChatTemplate(order.source, bos=order.bos, eos=order.eos, special=order.special)
    except Problem as problem:
        return None, template_failed(problem)
    except MemoryError:
        words = f"it takes more than {order.limits.memory >> 20} MB of memory."
    except Exception as error:  # noqa: BLE001 (a template can make Jinja fail in any way)
        words = f"{type(error).__name__}."
    else:
        return template, TemplateCompiled(template.facts)
    unreadable = Unsupported(f"The model's chat template cannot be read: {words}", code=TEMPLATE_ERROR)
    return None, template_failed(unreadable)


def answer(
    template: ChatTemplate, limits: RenderLimits, most: int, request: RenderPrompt
) -> PromptRendered | TemplateFailed:
    """The answer to one request. `most`: bytes of peak memory from which this renderer ends."""
    try:
        prompt = template.prompt(request.request, local_time(request))
        return prompt_rendered(prompt, last=peak_memory() > most)
    except Problem as problem:
        return template_failed(problem, last=peak_memory() > most)
    except MemoryError:
        words = f"needed more than {limits.memory >> 20} MB of memory for these messages, and was stopped."
    except Exception as error:  # noqa: BLE001 (a template can make Jinja fail in any way)
        words = f"failed on these messages: {type(error).__name__}."
    refusal = BadRequest(f"The model's chat template {words}", code=TEMPLATE_ERROR, param="messages")
    return template_failed(refusal, last=True)


def render_requests(connection: socket.socket, template: ChatTemplate, limits: RenderLimits) -> None:
    """In a renderer: answer the requests on this socket, until its other end is closed or a request has used much memory."""
    connection.sendall(pack(RendererReady()))
    reader = MessageReader[RenderPrompt](RenderPrompt)
    most = peak_memory() + GROWTH
    while data := connection.recv(CHUNK):
        reader.add(data)
        while (request := reader.take()) is not None:
            with deadline(limits.render_seconds):
                result = answer(template, limits, most, request)
            connection.sendall(pack(result))
            if result.last:
                return


def main() -> None:
    """Compile the template, say what it is, and serve."""
    control = socket.socket(fileno=0)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    process_limits.set_oom_score(os.getpid(), process_limits.READER)
    reader = MessageReader[CompileTemplate](CompileTemplate)
    while (order := reader.take()) is None:
        data = control.recv(CHUNK)
        if not data:
            return
        reader.add(data)
    process_limits.limit_process(memory=order.limits.memory)
    landlock.restrict(landlock.library_places())
    with suppress(OSError):  # the worker may be gone already
        _serve(control, order)


def _serve(control: socket.socket, order: CompileTemplate) -> None:
    with deadline(order.limits.compile_seconds):
        template, said = compiled(order)
    control.sendall(pack(said))
    if template is not None:
        serve(control, partial(render_requests, template=template, limits=order.limits))


if __name__ == "__main__":
    main()

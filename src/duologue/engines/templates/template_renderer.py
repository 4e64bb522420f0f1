"""The chat template of one model, rendered in processes of its own.

Made by an engine when it loads a model; `sessions/chat` renders with it. Owns the process of the template
(`template_process`), which is started beside the loading of the model, and restarted when it is found dead; and the renderers forked
from it, one for each prompt that is rendered at the same time. A renderer that takes too long ends itself: its request is refused,
and the next one gets another renderer. All of them end with this process.
"""

from __future__ import annotations

import logging
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from types import MappingProxyType

import anyio
from anyio.abc import Process

from duologue.engines.message_socket import MessageSocket
from duologue.engines.message_stream import pack
from duologue.engines.templates.render_messages import (
    PROMPT,
    CompileAnswer,
    PromptRendered,
    RenderAnswer,
    RenderLimits,
    TemplateCompiled,
    TemplateFailed,
    as_problem,
    compile_template,
    render_prompt,
    rendered_prompt,
)
from duologue.errors import BadRequest, EngineFailed, Problem, StartFailed, Unsupported
from duologue.process_limits import inherited_environment
from duologue.text.output.reasoning_tags import ReasoningTags
from duologue.text.templates.prompt_request import (
    TEMPLATE_ERROR,
    PromptRequest,
    RenderedPrompt,
    TemplateFacts,
)

START_TIMEOUT = 30.0
"""Seconds the process may take to start; it takes a fifth of one."""
GRACE = 10.0
"""Seconds beyond its deadline in which a process must have ended itself."""
END_GRACE = 1.0
"""Seconds the process may take to end when its socket is closed."""
RENDERERS = 4
"""Prompts that are rendered at the same time: so many hostile ones must come together before another waits, and then it waits
for the deadline at most."""
IDLE = 2
"""Renderers that are kept for the next prompts; each has a few megabytes."""
ANSWER = 4 * PROMPT + 65536
"""Bytes of an answer: a prompt, with four bytes for each character."""

log = logging.getLogger(__name__)

_Renderer = MessageSocket[RenderAnswer]


class TemplateRenderer:
    """The template of one model. `start`, then `compiled`, then `render` from any number of tasks; `close` ends it. `bos` and
    `eos` are the texts of those tokens, `special` those of others (`ChatTemplate`). Implements `contracts.PromptTemplate`."""

    def __init__(
        self,
        source: str,
        *,
        bos: str = "",
        eos: str = "",
        special: Mapping[str, str] = MappingProxyType({}),
        limits: RenderLimits | None = None,
    ) -> None:
        self.source, self.bos, self.eos = source, bos, eos
        self._special = special
        self._limits = limits or RenderLimits()
        self._places = anyio.Semaphore(RENDERERS, fast_acquire=True)
        self._idle: list[_Renderer] = []
        self._control: socket.socket | None = None
        self._starting: anyio.Event | None = None
        self._facts: TemplateFacts | None = None
        self.process: Process | None = None

    @property
    def facts(self) -> TemplateFacts:
        """What the template's source tells; only once it is compiled."""
        assert self._facts is not None, "the template is not compiled yet"
        return self._facts

    @property
    def reasoning(self) -> ReasoningTags | None:
        """The markers that the template puts around thoughts."""
        return self.facts.reasoning

    @property
    def stop_strings(self) -> tuple[str, ...]:
        """Texts at which a reply ends, as the template itself sets them."""
        return self.facts.stop_strings

    async def start(self) -> None:
        """Start the process and send it the template, without waiting until it is compiled. Raises StartFailed."""
        near, far = socket.socketpair()
        self._control = near
        try:
            with far:
                self.process = await anyio.open_process(
                    # -P: do not import from the folder the server was started in, where a file may have a library's name.
                    [sys.executable, "-P", "-m", "duologue.engines.templates.template_process"],
                    stdin=far.fileno(),
                    stdout=subprocess.DEVNULL,
                    stderr=None,
                    # Ctrl-C goes to the whole process group; this process ends with the worker instead, by its socket.
                    start_new_session=True,
                    # It runs what strangers wrote: no key of an upstream, and not the worker's secret.
                    env=inherited_environment(),
                )
            order = compile_template(self.source, self.bos, self.eos, self._limits, self._special)
            with suppress(OSError):  # if it has ended, `compiled` says why
                await MessageSocket[CompileAnswer](near, CompileAnswer).send(pack(order))
        except OSError as error:
            await self._end()
            raise StartFailed(f"The process of the chat template did not start: {error}.") from error
        except BaseException:
            await self._end()
            raise

    async def compiled(self) -> TemplateFacts:
        """Wait for the process to have compiled the template; what the template tells. Raises Unsupported
        (`template_error`) where it cannot be compiled, or not within its limits; the process has ended then. Raises
        StartFailed where the process does not work at all."""
        assert self._control is not None, "the process was not started"
        answer: CompileAnswer | None = None
        try:
            with anyio.move_on_after(START_TIMEOUT):
                answer = await MessageSocket[CompileAnswer](self._control, CompileAnswer).receive()
        except EOFError:
            problem = await self._compiling_ended()
            await self._end()
            raise problem from None
        except BaseException:
            await self._end()
            raise
        if isinstance(answer, TemplateCompiled):
            self._facts = answer.facts
            if (renderer := await self._fork()) is not None:  # so that the first prompt finds one
                self._release(renderer, last=False)
            return answer.facts
        await self._end()
        if answer is None:
            raise StartFailed("The process of the chat template did not start in time.")
        raise Unsupported(answer.message, code=answer.code)

    async def replace(self, source: str) -> TemplateFacts:
        """Use another template in the place of one that cannot be compiled. Raises as `start` and `compiled`."""
        self.source = source
        await self.start()
        return await self.compiled()

    async def other(self, source: str) -> TemplateRenderer:
        """A renderer of another template of the same model, compiled. Raises as `compiled`, and closes it then."""
        made = TemplateRenderer(
            source, bos=self.bos, eos=self.eos, special=self._special, limits=self._limits
        )
        await made.start()
        await made.compiled()
        return made

    async def retire(self) -> None:
        """End it once the prompts are rendered that it was asked for; it is asked for no more."""
        for _ in range(RENDERERS):
            await self._places.acquire()
        await self.close()

    async def render(self, request: PromptRequest, now: datetime) -> RenderedPrompt:
        """The prompt. Raises BadRequest (`template_error`) where the template refuses the messages, or takes more time or
        memory for them than it may."""
        try:
            message = pack(render_prompt(request, now))
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            raise BadRequest(
                f"These messages cannot be given to the model's chat template: {error}.",
                code=TEMPLATE_ERROR,
                param="messages",
            ) from error
        async with self._places:
            renderer = await self._take()
            try:
                answer = await self._exchange(renderer, message)
            except BaseException:
                renderer.close()
                raise
            self._release(renderer, last=answer.last)
        if isinstance(answer, TemplateFailed):
            raise as_problem(answer)
        return rendered_prompt(answer)

    async def close(self) -> None:
        """End the process and every renderer."""
        for renderer in self._idle:
            renderer.close()
        self._idle.clear()
        await self._end()

    async def _exchange(self, renderer: _Renderer, message: bytes) -> PromptRendered | TemplateFailed:
        """Send a request and return its answer. A caller who is cancelled waits for it too: it comes in a moment, or the
        renderer ends at its deadline."""
        began = anyio.current_time()
        answer: RenderAnswer | None = None
        with anyio.CancelScope(shield=True, deadline=began + self._limits.render_seconds + GRACE):
            try:
                await renderer.send(message)
                answer = await renderer.receive()
            except (EOFError, OSError):
                pass
        if isinstance(answer, PromptRendered | TemplateFailed):
            return answer
        problem = self._stopped(anyio.current_time() - began)
        log.warning("%s", problem.message)
        raise problem

    def _stopped(self, seconds: float) -> Problem:
        limit = self._limits.render_seconds
        words = (
            f"took longer than {limit:g} s for these messages, and was stopped."
            if seconds >= limit
            else "ended the process that renders it with these messages."
        )
        return BadRequest(f"The model's chat template {words}", code=TEMPLATE_ERROR, param="messages")

    def _release(self, renderer: _Renderer, *, last: bool) -> None:
        """Keep a renderer for the next requests, unless it ends or there are enough."""
        if last or len(self._idle) >= IDLE:
            renderer.close()
        else:
            self._idle.append(renderer)

    async def _take(self) -> _Renderer:
        """A renderer for one request."""
        while self._idle:
            renderer = self._idle.pop()
            if renderer.alive:
                return renderer
            renderer.close()
        # A process that is starting must be sent the template first.
        while self._starting is not None:
            await self._starting.wait()
        process = self.process
        if (forked := await self._fork()) is None:
            await self._restart(process)
            forked = await self._fork()
        if forked is None:
            raise EngineFailed(
                "The process of the model's chat template cannot be kept running. The server's log may say why."
            )
        return forked

    async def _fork(self) -> _Renderer | None:
        """A new renderer. None if the process has ended."""
        near, far = socket.socketpair()
        renderer = _Renderer(near, RenderAnswer, ANSWER)
        try:
            with far:
                if self._control is not None:
                    socket.send_fds(self._control, [b"+"], [far.fileno()])
            with anyio.fail_after(GRACE):
                await renderer.receive()
        except (EOFError, OSError):
            renderer.close()
            return None
        except BaseException:
            renderer.close()
            raise
        return renderer

    async def _restart(self, dead: Process | None) -> None:
        """Restart the process, once for all requests that found it dead."""
        if self._starting is not None:
            await self._starting.wait()
        elif self.process is dead:
            log.warning("the process of the chat template has ended; starting it again")
            self._starting = restarted = anyio.Event()
            try:
                await self._end()
                await self.start()
                await self.compiled()
            finally:
                self._starting = None
                restarted.set()

    async def _compiling_ended(self) -> Problem:
        """Why the process ended before it had compiled the template."""
        code: int | None = None
        if self.process is not None:
            with anyio.move_on_after(END_GRACE):
                code = await self.process.wait()
        if code is None or code >= 0:
            return StartFailed(
                "The process of the chat template did not start. The server's log has the reason."
            )
        why = (
            f"that takes longer than {self._limits.compile_seconds:g} s."
            if code == -signal.SIGALRM
            else f"reading it ended its process (signal {-code})."
        )
        return Unsupported(f"The model's chat template cannot be read: {why}", code=TEMPLATE_ERROR)

    async def _end(self) -> None:
        process, self.process = self.process, None
        if self._control is not None:
            self._control.close()
            self._control = None
        if process is None:
            return
        with anyio.CancelScope(shield=True):
            with anyio.move_on_after(END_GRACE):
                await process.wait()
            if process.returncode is None:
                process.kill()
                await process.wait()
            await process.aclose()

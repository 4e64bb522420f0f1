"""The chat template that an admin chose, at workers of other machines that come, come back, or come again."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from msgspec.structs import replace
from tests.gateway.machines.join_server import NAME, PATIENCE, JoinServer, granted
from tests.support.joined_stand_in import JOIN, JoinedStandIn

from duologue.values.questions.worker_answers import TemplateUsed
from duologue.values.questions.worker_questions import UseTemplate
from duologue.wire import worker_protocol
from duologue.wire.machines.join_protocol import FOR_GOOD, GOING

pytestmark = pytest.mark.anyio

CHOSEN = "{{ messages[0].content }}"


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "chosen.jinja"
    path.write_text(CHOSEN)
    return str(path)


def asked(worker: JoinedStandIn) -> list[tuple[int, str]]:
    """The templates that the worker was told, with the numbers of the questions."""
    return [
        (message.ask, message.question.source)
        for message in worker.received
        if isinstance(message, worker_protocol.Ask) and isinstance(message.question, UseTemplate)
    ]


async def answer(worker: JoinedStandIn, count: int = 1) -> str:
    """The worker uses the template that it was told as the one of this number."""
    await worker.until(lambda: len(asked(worker)) >= count)
    number, source = asked(worker)[count - 1]
    await worker.send(worker_protocol.AskAnswered(number, TemplateUsed()))
    return source


async def choose(server: JoinServer, worker: JoinedStandIn, path: str) -> None:
    """An admin chooses the template in a file, and the worker uses it."""
    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(server.pool.use_template, "mini", path, CHOSEN)
            assert await answer(worker) == CHOSEN


def again(server: JoinServer) -> JoinedStandIn:
    """Another process of the worker."""
    return JoinedStandIn(server.address, join=replace(JOIN, session="another-session-of-it"))


@pytest.mark.parametrize("reason", [FOR_GOOD, ""])
async def test_a_process_that_comes_again_uses_it_before_requests_go_there(file: str, reason: str):
    server = JoinServer()
    async with server.running():
        worker = JoinedStandIn(server.address)
        async with worker.joined():
            await worker.ready()
            await server.until(NAME, "ready")
            await choose(server, worker, file)
            await worker.sockets["live"].close(GOING, reason)
            await server.until(NAME, "" if reason else "offline")
        second = again(server)
        async with second.joined():
            await second.ready()
            await second.until(lambda: bool(asked(second)))
            assert server.state(NAME) == "loading"
            with server.pool.lease("mini") as lease:
                assert server.pool.scheduler.is_waiting(lease.ticket)
                assert await answer(second) == CHOSEN
                await granted(lease)
            assert server.state(NAME) == "ready"


async def test_a_worker_whose_line_was_broken_meanwhile_uses_it_when_it_is_back(file: str):
    server = JoinServer()
    async with server.running():
        away, here = JoinedStandIn(server.address), again(server)
        async with away.joined(), here.joined(), anyio.create_task_group() as tasks:
            for worker in (away, here):
                await worker.ready(slots=1)
            await server.until(NAME, "ready")
            await server.until(f"{NAME}.2", "ready")
            away.cut()
            await server.until(NAME, "unreachable")
            await choose(server, here, file)
            await away.dial(tasks)
            await away.until(lambda: bool(asked(away)))
            with server.pool.lease("mini") as one, server.pool.lease("mini") as two:
                await granted(one)
                assert server.pool.scheduler.is_waiting(two.ticket)
                assert await answer(away) == CHOSEN
                await granted(two)
            tasks.cancel_scope.cancel()


async def test_one_that_joins_a_model_of_others_uses_their_template(file: str):
    server = JoinServer()
    async with server.running():
        first, second = JoinedStandIn(server.address), again(server)
        async with first.joined():
            await first.ready()
            await server.until(NAME, "ready")
            await choose(server, first, file)
            async with second.joined():
                await second.ready()
                assert await answer(second) == CHOSEN
                await server.until(f"{NAME}.2", "ready")


async def test_a_worker_that_cannot_use_it_serves_with_a_warning(file: str):
    server = JoinServer()
    async with server.running():
        first, second = JoinedStandIn(server.address), again(server)
        async with first.joined():
            await first.ready()
            await server.until(NAME, "ready")
            await choose(server, first, file)
            async with second.joined():
                await second.ready()
                await second.until(lambda: bool(asked(second)))
                [(number, _)] = asked(second)
                await second.send(worker_protocol.AskAnswered(number, None, "template_error", "No.", 400))
                await server.until(f"{NAME}.2", "ready")
                card = server.pool.workers[f"{NAME}.2"].card
                assert card is not None
                assert card.warnings == ("The chosen chat template chosen.jinja is not used: No.",)


async def test_a_file_that_is_gone_is_a_warning(file: str):
    server = JoinServer()
    async with server.running():
        worker = JoinedStandIn(server.address)
        async with worker.joined():
            await worker.ready()
            await server.until(NAME, "ready")
            await choose(server, worker, file)
            await worker.sockets["live"].close(GOING)
            await server.until(NAME, "offline")
        Path(file).unlink()  # noqa: ASYNC240
        second = again(server)
        async with second.joined():
            await second.ready()
            await server.until(NAME, "ready")
            card = server.pool.workers[NAME].card
            assert card is not None
            assert "cannot be read" in card.warnings[0]
            assert asked(second) == []

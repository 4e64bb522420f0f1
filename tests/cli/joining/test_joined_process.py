"""The process of a joined worker: started again when it dies, and told to finish when this one stops."""

from __future__ import annotations

import os
import signal

import anyio
import pytest
from tests.support.join_gateway import KEY, JoinGateway
from tests.support.joined_parts import PATIENCE, begin, spec
from tests.support.processes import process_ended

from duologue.cli.joining.joined_process import JoinedProcess
from duologue.wire.worker_protocol import LoadSpec
from duologue.worker.joined.exit_codes import NOT_LET_IN

pytestmark = [pytest.mark.anyio, pytest.mark.system]


async def test_a_worker_that_was_killed_is_started_again_and_one_that_stops_finishes_its_reply() -> None:
    gateway = JoinGateway()
    async with gateway.serving():
        process = JoinedProcess(spec(gateway, drain_s=PATIENCE), "info:text")
        with anyio.fail_after(2 * PATIENCE):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(process.keep)
                await (await gateway.session()).until_ready()
                assert process.pid
                killed = process.pid
                os.kill(killed, signal.SIGKILL)
                session = await gateway.session(1)
                await session.until_ready()
                await session.send(begin(1, "/pace 5\n/repeat 100 word "))
                await session.until(lambda session: session.text(1))
                tasks.cancel_scope.cancel()
            await process_ended(killed)
        await session.until(lambda session: session.gone)
        assert session.text(1) == "word " * 100


async def test_a_key_that_is_refused_is_not_tried_for_ever() -> None:
    gateway = JoinGateway()
    async with gateway.serving():
        with anyio.fail_after(PATIENCE):
            process = JoinedProcess(spec(gateway, key=KEY + "?"), "info:text")
            assert await process.keep() == NOT_LET_IN


async def test_a_model_that_cannot_be_loaded_is_tried_again_after_it_was_told() -> None:
    gateway = JoinGateway()
    broken = LoadSpec("attic_0", "llama", "m", {"model": "/nowhere.gguf"})
    async with gateway.serving():
        process = JoinedProcess(spec(gateway, load_spec=broken, retry_s=0.1), "info:text")
        with anyio.fail_after(PATIENCE):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(process.keep)
                first = await gateway.session()
                await first.until(lambda session: session.reports and session.reports[-1].state == "stopping")
                assert any(report.state == "failed" for report in first.reports)
                await gateway.session(1)
                tasks.cancel_scope.cancel()


async def test_a_process_that_cannot_be_started_is_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    gateway = JoinGateway()
    async with gateway.serving():
        nowhere = LoadSpec("attic_0", "scripted", "scripted", python="/nowhere/bin/python")
        process = JoinedProcess(spec(gateway, load_spec=nowhere), "info:text")
        with anyio.fail_after(PATIENCE):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(process.keep)
                while caplog.text.count("cannot be started by /nowhere/bin/python") < 2:  # noqa: ASYNC110
                    await anyio.sleep(0.01)
                tasks.cancel_scope.cancel()

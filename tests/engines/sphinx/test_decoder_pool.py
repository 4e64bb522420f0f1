"""The process that decodes, from this side."""

import os
import signal
from collections.abc import AsyncIterator

import anyio
import pytest

from duologue.engines.sphinx.decoder_pool import DecoderPool
from duologue.engines.sphinx.engine import HEARING
from duologue.errors import EngineFailed, StartFailed

pytest.importorskip("pocketsphinx", reason="the recogniser needs: pip install 'duologue[voice]'")
pytestmark = [pytest.mark.anyio, pytest.mark.system]

PIECE = bytes(3200)


@pytest.fixture
async def ears() -> AsyncIterator[DecoderPool]:
    made = DecoderPool(HEARING, cores=2)
    await made.start()
    yield made
    await made.close()


async def test_an_ear_is_lent_for_an_utterance(ears):
    async with ears.lent() as ear:
        await ear.begin(-20.0)
        assert await ear.hear(PIECE) == ""
        assert await ear.end() == ((), 0.0)


async def test_more_listen_than_work_at_once(ears):
    async def listen(patient: bool) -> None:
        async with ears.lent(patient=patient) as ear:
            await ear.begin(-20.0)
            for _ in range(3):
                assert await ear.hear(PIECE) == ""

    async with anyio.create_task_group() as tasks:
        for number in range(6):
            tasks.start_soon(listen, number % 2 == 0)


async def test_an_ear_that_dies_fails_and_the_next_listens(ears):
    process = ears.process
    async with ears.lent() as ear:
        await ear.begin(-20.0)
        os.killpg(process.pid, signal.SIGKILL)
        with pytest.raises(EngineFailed, match="started again"):
            await ear.hear(PIECE)
    async with ears.lent() as ear:
        await ear.begin(-20.0)
    assert ears.process is not process


async def test_a_process_that_died_between_two_utterances_is_started_again_once_for_all(ears):
    begun, both = [], anyio.Event()

    async def listen() -> None:
        async with ears.lent() as ear:
            await ear.begin(-20.0)
            begun.append(ears.process)
            if len(begun) == 2:
                both.set()
            await both.wait()

    dead = ears.process
    dead.kill()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(listen)
        tasks.start_soon(listen)
    assert begun[0] is begun[1]
    assert begun[0] is not dead


async def test_who_hangs_up_in_the_middle_harms_nobody(ears):
    async with ears.lent() as ear:
        await ear.begin(-20.0)
        with anyio.CancelScope() as scope:
            scope.cancel()
            await ear.hear(PIECE)
    async with ears.lent() as ear:
        await ear.begin(-20.0)
        assert await ear.hear(PIECE) == ""


async def test_a_closed_engine_has_no_process(ears):
    process = ears.process
    await ears.close()
    assert process.returncode == 0
    assert ears.process is None


async def test_what_it_cannot_load_is_said(tmp_path):
    with pytest.raises(StartFailed, match="did not start"):
        await DecoderPool(tmp_path).start()

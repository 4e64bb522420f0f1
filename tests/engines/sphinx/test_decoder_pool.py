"""Decoders from the pool, and what happens when their process dies."""

import os
import signal
from collections.abc import AsyncIterator

import anyio
import pytest
from tests.support.synthetic_voices import ADAPTATION

from duologue.engines.sphinx.decoder_pool import DecoderPool
from duologue.engines.sphinx.ipc import FinalWords
from duologue.errors import EngineFailed, StartFailed

pytest.importorskip("pocketsphinx", reason="the recogniser needs: pip install 'duologue[voice]'")
pytestmark = [pytest.mark.anyio, pytest.mark.system]

PIECE = bytes(3200)


@pytest.fixture
async def pool() -> AsyncIterator[DecoderPool]:
    pool = DecoderPool(ADAPTATION, cores=2)
    await pool.start()
    yield pool
    await pool.close()


async def test_a_decoder_is_acquired_for_an_utterance(pool):
    async with pool.acquire() as decoder:
        await decoder.begin(-20.0)
        assert await decoder.decode(PIECE) == ""
        assert await decoder.end() == FinalWords((), 0.0)


async def test_more_utterances_than_cores_take_turns(pool):
    async def listen(background: bool) -> None:
        async with pool.acquire(background=background) as decoder:
            await decoder.begin(-20.0)
            for _ in range(3):
                assert await decoder.decode(PIECE) == ""

    async with anyio.create_task_group() as tasks:
        for number in range(6):
            tasks.start_soon(listen, number % 2 == 0)


async def test_a_decoder_that_dies_fails_and_the_next_one_works(pool):
    process = pool.process
    async with pool.acquire() as decoder:
        await decoder.begin(-20.0)
        os.killpg(process.pid, signal.SIGKILL)
        with pytest.raises(EngineFailed, match="started again"):
            await decoder.decode(PIECE)
    async with pool.acquire() as decoder:
        await decoder.begin(-20.0)
    assert pool.process is not process


async def test_a_process_that_died_between_utterances_is_restarted_once(pool):
    begun, both = [], anyio.Event()

    async def listen() -> None:
        async with pool.acquire() as decoder:
            await decoder.begin(-20.0)
            begun.append(pool.process)
            if len(begun) == 2:
                both.set()
            await both.wait()

    dead = pool.process
    dead.kill()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(listen)
        tasks.start_soon(listen)
    assert begun[0] is begun[1]
    assert begun[0] is not dead


async def test_leaving_in_the_middle_affects_no_other(pool):
    async with pool.acquire() as decoder:
        await decoder.begin(-20.0)
        with anyio.CancelScope() as scope:
            scope.cancel()
            await decoder.decode(PIECE)
    async with pool.acquire() as decoder:
        await decoder.begin(-20.0)
        assert await decoder.decode(PIECE) == ""


async def test_a_closed_engine_has_no_process(pool):
    process = pool.process
    await pool.close()
    assert process.returncode == 0
    assert pool.process is None


async def test_models_that_cannot_be_loaded_are_an_error(tmp_path):
    with pytest.raises(StartFailed, match="did not start"):
        await DecoderPool(tmp_path).start()

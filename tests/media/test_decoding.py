"""The threads files are decoded in: how many, and which of them may run together."""

import threading

import anyio
import pytest
from tests.support.thread_gate import Gate, until

from duologue.errors import Busy
from duologue.media import decoding
from duologue.media.decoding import decode, decode_alone, encode
from duologue.threads import WAITING, disk_io

pytestmark = pytest.mark.anyio


async def test_a_call_runs_in_another_thread_and_gives_its_result() -> None:
    assert await decode(threading.get_ident) != threading.get_ident()
    assert await decode(divmod, 7, 2) == (3, 1)
    assert await encode(divmod, 7, 2) == (3, 1)


async def test_what_a_call_raises_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        await decode(divmod, 1, 0)


async def test_a_library_that_is_not_thread_safe_runs_once_at_a_time() -> None:
    gate = Gate()
    async with anyio.create_task_group() as group:
        for _ in range(3):
            group.start_soon(decode_alone, gate)
        await until(lambda: gate.entered == 1)
        gate.open.set()
    assert gate.most == 1


async def test_a_disk_is_read_and_sound_encoded_while_every_decoder_is_busy() -> None:
    gate = Gate()
    async with anyio.create_task_group() as group:
        for _ in range(decoding.DECODERS):
            group.start_soon(decode, gate)
        await until(lambda: gate.entered == decoding.DECODERS)
        assert await disk_io(divmod, 7, 2) == (3, 1)
        assert await encode(divmod, 7, 2) == (3, 1)
        gate.open.set()


async def test_a_full_queue_is_refused_by_the_name_of_files() -> None:
    gate = Gate()
    async with anyio.create_task_group() as group:
        for _ in range(decoding.DECODERS + WAITING):
            group.start_soon(decode, gate)
        await until(lambda: gate.entered == decoding.DECODERS)
        await anyio.wait_all_tasks_blocked()
        with pytest.raises(Busy, match="Too many files are being read") as refused:
            await decode(gate)
        assert refused.value.code == "files_busy"
        gate.open.set()

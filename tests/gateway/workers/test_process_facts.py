"""What the system says about a process, and the end of its log."""

import os

import pytest

from duologue.gateway.workers.process_facts import LINE_BYTES, LogTail, out_of_memory_kills, waits_for_disk


def test_kills_for_want_of_memory_are_counted_where_they_are_listed(tmp_path):
    (tmp_path / "memory.events").write_text("low 0\noom 3\noom_kill 2\noom_group_kill 0\n")
    (tmp_path / "vmstat").write_text("nr_free_pages 10\noom_kill 5\n")
    assert out_of_memory_kills([tmp_path / "memory.events", tmp_path / "vmstat"]) == 7
    assert out_of_memory_kills([tmp_path / "absent"]) == 0


def test_a_process_that_runs_does_not_wait_for_the_disk():
    assert not waits_for_disk(os.getpid())
    assert not waits_for_disk(2**22 + 1)


@pytest.mark.anyio
async def test_a_log_is_passed_on_whole_and_its_last_line_kept():
    passed: list[bytes] = []
    log = LogTail(passed.append)
    with log:
        os.write(log.write_end, b"INFO loading\nRuntimeError: ")
        os.write(log.write_end, b"no memory\n\n")
    assert b"".join(passed) == b"INFO loading\nRuntimeError: no memory\n\n"
    assert log.last_line == "RuntimeError: no memory"


@pytest.mark.anyio
async def test_a_line_without_an_end_counts_and_stays_small():
    log = LogTail(lambda data: None)
    with log:
        log.feed(b"first\n" + b"x" * 3 * LINE_BYTES)
    assert log.last_line == "x" * LINE_BYTES

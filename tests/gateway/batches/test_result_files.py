"""The results of a batch, which survive whatever ends the server."""

import pytest

from duologue.errors import Unavailable
from duologue.gateway.batches.result_files import ResultFiles, ResultProgress
from duologue.values.batches.stored_batch import BatchUsage
from duologue.wire.batches.batch_lines import answered, line_key, unanswered

pytestmark = pytest.mark.anyio

GOOD = answered("batch_req_1", "a", 200, "req_1", b'{"usage":{"prompt_tokens":3,"completion_tokens":2}}')
BAD = answered("batch_req_2", "b", 400, "req_2", b'{"error":{}}')
OTHER = answered("batch_req_4", "d", 200, "req_4", b"{}")
LATE = unanswered("batch_req_3", "c", "batch_expired", "Too late.")


async def test_what_was_written_is_found_again(tmp_path):
    files = ResultFiles(tmp_path / "batch_1")
    assert await files.recover() == ResultProgress(set())
    size = await files.append([GOOD]) + await files.append([BAD, LATE])
    assert files.output.stat().st_mode & 0o777 == 0o600
    assert files.output.read_bytes() == GOOD.encode()
    assert files.errors.read_bytes() == BAD.encode() + LATE.encode()
    assert sum(await files.sizes()) == size
    keys = {line_key(id) for id in "abc"}
    assert await ResultFiles(tmp_path / "batch_1").recover() == ResultProgress(
        keys, 1, 2, BatchUsage(3, 0, 2, 0), size
    )
    await files.remove()
    assert not (tmp_path / "batch_1").exists()
    assert await files.sizes() == (0, 0)


@pytest.mark.parametrize("left", [0, 1, 20, len(OTHER.encode()) - 1])
async def test_a_result_that_was_cut_off_is_dropped_and_the_next_is_whole(tmp_path, left):
    files = ResultFiles(tmp_path)
    await files.append([GOOD])
    with files.output.open("ab") as file:
        file.write(OTHER.encode()[:left])
    recovered = await files.recover()
    assert recovered.keys == {line_key("a")}
    await files.append([OTHER])
    assert files.output.read_bytes() == GOOD.encode() + OTHER.encode()


async def test_a_folder_that_cannot_be_written_is_said(tmp_path):
    (tmp_path / "batch_1").write_bytes(b"a file in its place")
    with pytest.raises(Unavailable) as caught:
        await ResultFiles(tmp_path / "batch_1").append([GOOD])
    assert caught.value.code == "storage_unavailable"


async def test_a_write_that_fails_leaves_no_half_of_a_line(tmp_path, monkeypatch):
    files = ResultFiles(tmp_path)
    await files.append([GOOD])

    def fail(descriptor: int) -> None:
        raise OSError("the disk is full")

    with monkeypatch.context() as broken:
        broken.setattr("os.fsync", fail)
        with pytest.raises(Unavailable):
            await files.append([answered("batch_req_4", "d", 200, "req_4", b"{}")])
    assert files.output.read_bytes() == GOOD.encode()

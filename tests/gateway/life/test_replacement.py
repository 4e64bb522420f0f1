"""How a worker is replaced, by the memory that was measured."""

import pytest

from duologue.gateway.life.replacement import SPARE, WorkerMemory, choose_way

GB = 2**30


@pytest.mark.parametrize(
    ("memory", "way"),
    [
        (WorkerMemory(4 * GB, 0, 4 * GB + SPARE), "beside"),
        (WorkerMemory(4 * GB, 0, 4 * GB + SPARE - 1), "after"),
        # What it really has counts if that is more.
        (WorkerMemory(4 * GB, 6 * GB, 5 * GB + SPARE), "after"),
        (WorkerMemory(4 * GB, 6 * GB, 6 * GB + SPARE), "beside"),
        # Nobody measures, or the model has no weights here.
        (WorkerMemory(4 * GB, 0, None), "beside"),
        (WorkerMemory(0, 0, 0), "beside"),
    ],
)
def test_a_new_worker_starts_beside_the_old_one_where_memory_permits(memory, way):
    assert choose_way(memory, stays=False)[0] == way


def test_a_voice_and_a_connected_server_keep_their_place():
    assert choose_way(WorkerMemory(0, 0, None), stays=True)[0] == "after"

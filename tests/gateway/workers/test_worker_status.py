"""What a worker's status says of its device and of the line of its requests."""

import msgspec
import pytest

from duologue.gateway.workers.worker_status import WorkerStatus
from duologue.values.requests import ModelCard, Task


def status(device: str = "") -> WorkerStatus:
    one = WorkerStatus("worker_0", "mini", "llama", "auto")
    one.card = ModelCard("mini", "llama", 512, device=device)
    return one


def test_until_a_worker_says_where_it_runs_it_is_the_device_of_the_settings() -> None:
    assert status().runs_on == "auto"
    assert status("cuda:1").runs_on == "cuda:1"
    waiting = msgspec.structs.replace(status(), card=None)
    assert (waiting.runs_on, waiting.gpu) == ("auto", None)


@pytest.mark.parametrize(("device", "gpu"), [("cuda:1", 1), ("cuda:0,cuda:1", None), ("cpu", None)])
def test_its_card_is_a_number_only_where_it_is_exactly_one(device: str, gpu: int | None) -> None:
    assert status(device).gpu == gpu


def test_requests_wait_for_a_model_or_for_a_whole_server() -> None:
    assert status().queue == "mini"
    assert msgspec.structs.replace(status(), upstream="box").queue == "server box"


def for_task(card: ModelCard | None = None, task: Task = "chat") -> WorkerStatus:
    return WorkerStatus("w", "m", "llama", "auto", card=card, task=task)


def test_what_a_model_is_for_is_known_before_it_is_loaded_and_its_card_says_it_better() -> None:
    assert for_task().chats
    assert not for_task(task="embed").chats
    assert not for_task(ModelCard("m", "llama", 1, verbs=("embed",))).chats
    assert for_task(ModelCard("m", "llama", 1), task="embed").chats

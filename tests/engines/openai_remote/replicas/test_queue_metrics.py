from hypothesis import given
from hypothesis import strategies as st

from duologue.engines.openai_remote.replicas.queue_metrics import QueueLengths, queue_lengths

VLLM = """# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="m"} 3.0
vllm:num_requests_running{engine="1",model_name="m"} 2.0
# TYPE vllm:num_requests_waiting gauge
vllm:num_requests_waiting{engine="0",model_name="m"} 0.0
vllm:num_requests_waiting{engine="1",model_name="m"} 4.0
vllm:num_requests_waiting_by_reason{engine="1",model_name="m",reason="capacity"} 4.0
"""


def test_the_engines_of_a_server_are_added_up() -> None:
    assert queue_lengths(VLLM) == QueueLengths(5, 4)


def test_other_servers_have_other_names() -> None:
    sglang = 'sglang:num_running_reqs{model_name="m"} 8\nsglang:num_queue_reqs{model_name="m"} 4\n'
    assert queue_lengths(sglang) == QueueLengths(8, 4)
    assert queue_lengths("llamacpp:requests_processing 1\nllamacpp:requests_deferred 0\n") == QueueLengths(1)
    assert queue_lengths("tgi_batch_current_size 2\ntgi_queue_size 7\n") == QueueLengths(2, 7)


def test_a_page_without_them_says_nothing() -> None:
    assert queue_lengths("python_gc_objects_collected_total 1\n") is None
    assert queue_lengths("<html>no</html>") is None


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    queue_lengths(text)
    assert queue_lengths(f"vllm:num_requests_running {text}\n") is None or True

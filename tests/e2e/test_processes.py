"""The life of the processes: starting, dying, being restarted, ending. Everything here is real but the model."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.sync.client import connect

pytestmark = pytest.mark.system

HANG = {"stream": True, "messages": [{"role": "user", "content": "/say Hello\n/hang"}]}


def ask(url: str, text: str) -> str:
    body = {"messages": [{"role": "user", "content": text}]}
    answer = httpx.post(f"{url}/v1/chat/completions", json=body, timeout=30)
    assert answer.status_code == 200, answer.text
    return answer.json()["choices"][0]["message"]["content"]


def events(response: httpx.Response):
    for line in response.iter_lines():
        if line.startswith("data: {"):
            yield json.loads(line[6:])


def until_hello(stream) -> None:
    for event in stream:
        if event["choices"][0]["delta"].get("content"):
            return
    raise AssertionError("the reply never began")


@pytest.mark.skipif(not Path("/proc/self/oom_score_adj").exists(), reason="this system has no such score")
def test_the_kernel_would_end_a_worker_before_the_gateway(serve):
    server = serve("--engine", "scripted").ready()

    def score(process):
        return int(Path(f"/proc/{process}/oom_score_adj").read_text())

    assert score(server.worker()["process"]) > score(server.process.pid)


def test_a_killed_worker_ends_its_stream_with_a_sentence_and_is_back(serve):
    server = serve("--engine", "scripted").ready()
    with httpx.stream("POST", f"{server.url}/v1/chat/completions", json=HANG, timeout=30) as response:
        stream = events(response)
        until_hello(stream)
        killed = server.worker()["process"]
        os.kill(killed, signal.SIGKILL)
        last = list(stream)[-1]
    assert last["error"]["code"] == "worker_lost"
    assert ask(server.url, "still there?") == "You said: still there?"
    assert server.status()["restarts"] == 1
    assert server.status()["slots_busy"] == 0


def test_a_worker_is_started_anew_on_demand_and_who_waits_is_answered_by_the_next(serve):
    server = serve("--engine", "scripted", "--slots", "1").ready()
    first = server.worker()
    with httpx.stream("POST", f"{server.url}/v1/chat/completions", json=HANG, timeout=30) as response:
        stream = events(response)
        until_hello(stream)
        with connect(f"ws://127.0.0.1:{server.port}/ws/chat") as socket:
            socket.send(json.dumps({"messages": [{"role": "user", "content": "hi"}]}))
            assert json.loads(socket.recv(timeout=60))["type"] == "queued"
            answer = httpx.post(f"{server.url}/api/admin/workers/{first['worker_id']}/restart")
            assert (answer.status_code, answer.json()) == (202, {"worker": first["worker_id"]})
            assert list(stream)[-1]["error"]["code"] == "worker_restarted"
            heard: list[dict[str, Any]] = []
            while not heard or heard[-1]["type"] not in ("done", "error"):
                heard.append(json.loads(socket.recv(timeout=60)))
    assert heard[-1]["text"] == "You said: hi"
    assert server.worker()["process"] != first["process"]
    assert server.status()["restarts"] == 1
    unknown = httpx.post(f"{server.url}/api/admin/workers/nobody/restart")
    assert unknown.status_code == 404
    assert first["worker_id"] in unknown.json()["error"]["message"]
    assert httpx.get(f"{server.url}/api/admin/figures").json()["step"] == 5


def test_a_request_that_comes_while_the_worker_restarts_waits_for_it(serve):
    server = serve("--engine", "scripted").ready()
    with connect(f"ws://127.0.0.1:{server.port}/ws/chat") as socket:
        os.kill(server.worker()["process"], signal.SIGKILL)
        server.until(lambda: server.status()["idle_workers"] == 0)
        socket.send(json.dumps({"messages": [{"role": "user", "content": "hi"}]}))
        heard: list[dict[str, Any]] = []
        while not heard or heard[-1]["type"] not in ("done", "error"):
            heard.append(json.loads(socket.recv(timeout=60)))
    assert heard[-1]["text"] == "You said: hi"


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_ending_the_server_ends_running_streams_with_a_sentence_and_everything(serve, how):
    server = serve("--engine", "scripted").ready()
    worker = os.pidfd_open(server.worker()["process"])
    with (
        connect(f"ws://127.0.0.1:{server.port}/ws/chat") as socket,
        httpx.stream("POST", f"{server.url}/v1/chat/completions", json=HANG, timeout=30) as response,
    ):
        stream = events(response)
        until_hello(stream)
        socket.send(json.dumps({"messages": HANG["messages"]}))
        while json.loads(socket.recv(timeout=60))["type"] != "chunk":
            pass
        server.process.send_signal(how)
        assert list(stream)[-1]["error"]["code"] == "server_stopping"
        assert json.loads(socket.recv(timeout=30))["code"] == "server_stopping"
        assert server.process.wait(60) == 0
    import select

    assert select.select([worker], [], [], 0)[0], "the worker outlived the gateway"
    os.close(worker)
    assert "Traceback" not in server.output


def test_a_worker_that_stands_still_does_not_hold_up_the_end(serve):
    server = serve("--engine", "scripted").ready()
    with httpx.stream("POST", f"{server.url}/v1/chat/completions", json=HANG, timeout=30) as response:
        stream = events(response)
        until_hello(stream)
        os.kill(server.worker()["process"], signal.SIGSTOP)
        server.process.send_signal(signal.SIGTERM)
        assert list(stream)[-1]["error"]["code"] == "server_stopping"
        assert server.process.wait(60) == 0


def test_a_worker_whose_gateway_was_killed_is_gone_soon(serve):
    import select

    server = serve("--engine", "scripted").ready()
    worker = os.pidfd_open(server.worker()["process"])
    server.process.kill()
    assert select.select([worker], [], [], 30)[0]
    os.close(worker)


def test_a_vanished_client_frees_its_slot(serve):
    server = serve("--engine", "scripted").ready()
    with httpx.stream("POST", f"{server.url}/v1/chat/completions", json=HANG, timeout=30) as response:
        stream = events(response)
        until_hello(stream)
        assert server.status()["slots_busy"] == 1
    server.until(lambda: server.status()["slots_busy"] == 0)


def test_a_vanished_client_in_the_queue_leaves_no_trace(serve):
    server = serve("--engine", "scripted", "--slots", "1").ready()
    with httpx.stream("POST", f"{server.url}/v1/chat/completions", json=HANG, timeout=30) as response:
        stream = events(response)
        until_hello(stream)
        with connect(f"ws://127.0.0.1:{server.port}/ws/chat") as socket:
            socket.send(json.dumps({"messages": [{"role": "user", "content": "hi"}]}))
            queued = json.loads(socket.recv(timeout=60))
            assert (queued["type"], queued["position"]) == ("queued", 1)
            assert server.status()["queue_length"] == 1
        server.until(lambda: server.status()["queue_length"] == 0)
        assert server.status()["slots_busy"] == 1


def test_a_second_server_on_the_same_port_says_who_has_it(serve, tmp_path):
    server = serve("--engine", "scripted").ready()
    second = serve("--engine", "scripted", "--port", str(server.port))
    assert second.process.wait(60) == 1
    second.wait_for(f"Port {server.port} is in use by process {server.process.pid}")
    assert "Traceback" not in second.output


def test_a_second_server_on_the_same_data_folder_says_who_has_it(serve):
    server = serve("--engine", "scripted").ready()
    second = serve("--engine", "scripted", "--data", str(server.data))
    assert second.process.wait(60) == 1
    second.wait_for(rf"in use by a Duologue server: process {server.process.pid}, at {server.url}")


def test_a_missing_model_file_is_one_sentence(serve):
    server = serve("--model", "nowhere.gguf")
    assert server.process.wait(60) == 1
    server.wait_for(r"nowhere\.gguf")
    assert "Traceback" not in server.output


def test_an_open_address_without_a_key_does_not_start(serve):
    server = serve("--engine", "scripted", "--host", "0.0.0.0")
    assert server.process.wait(60) == 1
    server.wait_for("DUOLOGUE_KEY")


def test_copies_of_a_model_share_its_requests_and_say_where_they_run(serve):
    server = serve(DUOLOGUE_COPIES="2", DUOLOGUE_DEVICE="cpu", DUOLOGUE_SLOTS="1").ready()

    def workers() -> list[dict[str, Any]]:
        return httpx.get(f"{server.url}/workers", timeout=60).json()["workers"]

    server.until(lambda: [row["status"] for row in workers()] == ["idle", "idle"])
    assert [(row["worker_id"], row["device"], row["gpu_id"]) for row in workers()] == [
        ("worker_0", "cpu", None),
        ("worker_0.2", "cpu", None),
    ]
    assert len({row["process"] for row in workers()}) == 2
    assert [model["id"] for model in httpx.get(f"{server.url}/v1/models").json()["data"]] == ["duologue-mini"]
    assert server.status()["slots_total"] == 2
    assert ask(server.url, "Hello")


def test_while_one_copy_is_busy_the_other_answers(serve):
    server = serve("--engine", "scripted", "--slots", "1", "--copies", "2").ready()
    server.until(lambda: server.status()["idle_workers"] == 2)
    with httpx.stream("POST", f"{server.url}/v1/chat/completions", json=HANG, timeout=30) as response:
        until_hello(events(response))
        assert ask(server.url, "still there?") == "You said: still there?"


def test_a_card_that_is_not_there_is_told_with_the_devices_that_are(serve):
    server = serve("--device", "cuda:77")

    def refusal() -> str:
        try:
            return httpx.get(f"{server.url}/ready", timeout=60).text
        except httpx.HTTPError:
            return ""

    server.until(lambda: "There is no device cuda:77" in refusal())
    assert "It has: cpu" in refusal()
    assert server.worker()["status"] == "error"

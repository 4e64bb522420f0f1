"""The life of the server and its workers: drains, replacements, hangs, models that rest. Everything here is real but the model."""

import json
import os
import signal
import subprocess
import sys
import threading
from typing import Any

import httpx
import pytest
from tests.e2e.test_processes import HANG, ask, events, until_hello
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

pytestmark = pytest.mark.system

SLOW = {"stream": True, "messages": [{"role": "user", "content": "/say Hello\n/wait 4000\n/say to the end."}]}
LONG = "600"
"""A grace that no test waits for."""


def reply(server: Any, body: dict[str, Any]) -> Any:
    return httpx.stream("POST", f"{server.url}/v1/chat/completions", json=body, timeout=120)


def text_of(stream: Any) -> str:
    return "".join(event["choices"][0]["delta"].get("content") or "" for event in stream if event["choices"])


def drained(server: Any) -> bool:
    answer = httpx.get(f"{server.url}/ready", timeout=60)
    return answer.status_code == 503 and answer.json()["error"]["code"] == "server_draining"


@pytest.mark.parametrize("supervise", ["false", "true"])
def test_a_server_that_is_stopped_takes_nothing_new_and_lets_a_reply_end(serve, supervise):
    server = serve(
        "--engine", "scripted", DUOLOGUE_LIFECYCLE__DRAIN_S=LONG, DUOLOGUE_SUPERVISE=supervise
    ).ready()
    with reply(server, SLOW) as response:
        stream = events(response)
        until_hello(stream)
        server.process.send_signal(signal.SIGTERM)
        assert text_of(stream) == "to the end."
    assert server.process.wait(60) == 0
    assert "Still running: 1, for up to 600 s" in server.output
    assert "Traceback" not in server.output


def test_while_it_drains_it_says_so_and_a_second_signal_stops_it_at_once(serve):
    server = serve("--engine", "scripted", DUOLOGUE_LIFECYCLE__DRAIN_S=LONG).ready()
    with reply(server, HANG) as response, connect(f"ws://127.0.0.1:{server.port}/ws/chat") as socket:
        stream = events(response)
        until_hello(stream)
        server.process.send_signal(signal.SIGTERM)
        server.until(lambda: drained(server))
        assert httpx.get(f"{server.url}/health").status_code == 200
        refused = httpx.post(f"{server.url}/v1/chat/completions", json=SLOW, timeout=30)
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "server_draining")
        assert int(refused.headers["retry-after"]) > 0
        anthropic = httpx.post(f"{server.url}/v1/messages", json={}, timeout=30)
        assert (anthropic.status_code, anthropic.json()["type"]) == (503, "error")
        with pytest.raises(InvalidStatus), connect(f"ws://127.0.0.1:{server.port}/ws/chat"):
            pass
        socket.send(json.dumps({"messages": [{"role": "user", "content": "hi"}]}))
        assert json.loads(socket.recv(timeout=30))["code"] == "server_draining"
        assert httpx.delete(f"{server.url}/api/admin/drain").status_code == 409
        server.process.send_signal(signal.SIGTERM)
        assert list(stream)[-1]["error"]["code"] == "server_stopping"
    assert server.process.wait(60) == 0


def test_a_run_of_the_page_that_outlives_the_grace_is_kept_and_can_be_continued(serve):
    server = serve("--engine", "scripted", DUOLOGUE_LIFECYCLE__DRAIN_S="0.3").ready()
    message = {"id": "said", "content": [{"type": "text", "text": "/say Hello\n/hang"}]}
    with httpx.Client(base_url=f"{server.url}/api", timeout=60) as client:
        client.post("/conversations", json={"id": "c1"}).raise_for_status()
        run = {"verb": "send", "run": "r1", "message": message}
        begun = client.post("/conversations/c1/runs", json=run)
        assert begun.status_code < 300, begun.text

        def written() -> bool:
            return "Hello" in client.get("/conversations/c1").text

        server.until(written)
    assert server.stop() == 0
    again = serve("--engine", "scripted", "--data", str(server.data)).ready()
    shown = httpx.get(f"{again.url}/api/conversations/c1", timeout=60).text
    assert '"interrupted"' in shown
    assert "Hello" in shown


def test_an_admin_drains_the_server_by_command_and_undoes_it(serve, tmp_path):
    server = serve("--engine", "scripted").ready()
    command = [sys.executable, "-m", "duologue"]
    clean = {key: value for key, value in os.environ.items() if not key.startswith("DUOLOGUE_")}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command, *arguments, "--server", server.url],
            capture_output=True,
            text=True,
            timeout=120,
            cwd=tmp_path,
            env=clean,
        )

    with reply(server, SLOW) as response:
        stream = events(response)
        until_hello(stream)
        done = run("drain")
        assert (done.returncode, text_of(stream)) == (0, "to the end."), done.stderr
    assert "nothing runs any more" in done.stderr
    assert drained(server)
    assert run("drain", "--undo").returncode == 0
    assert ask(server.url, "hi") == "You said: hi"


def test_a_drained_worker_leaves_its_requests_to_the_other_one(serve):
    server = serve("--engine", "scripted", "--copies", "2").ready()
    rows = httpx.get(f"{server.url}/workers").json()["workers"]
    first, second = (row["worker_id"] for row in rows)
    httpx.post(f"{server.url}/api/admin/workers/{first}/drain").raise_for_status()
    for _ in range(4):
        assert ask(server.url, "hi") == "You said: hi"
    served = {
        row["worker_id"]: row["total_requests"]
        for row in httpx.get(f"{server.url}/workers").json()["workers"]
    }
    assert served == {first: 0, second: 4}
    httpx.post(f"{server.url}/api/admin/workers/{second}/drain").raise_for_status()
    refused = httpx.post(f"{server.url}/v1/chat/completions", json=SLOW, timeout=30)
    assert refused.status_code == 503
    assert "an admin drains it" in refused.text
    httpx.delete(f"{server.url}/api/admin/workers/{first}/drain").raise_for_status()
    assert ask(server.url, "hi") == "You said: hi"


def test_a_rolling_restart_replaces_every_process_and_cuts_no_reply(serve):
    server = serve("--engine", "scripted", "--copies", "2", DUOLOGUE_LIFECYCLE__DRAIN_S=LONG).ready()

    def processes() -> set[int]:
        return {row["process"] for row in httpx.get(f"{server.url}/workers", timeout=60).json()["workers"]}

    before, replies = processes(), list[str]()

    def talk() -> None:
        with reply(server, SLOW) as response:
            replies.append(text_of(events(response)))

    talkers = [threading.Thread(target=talk) for _ in range(4)]
    for talker in talkers:
        talker.start()
    assert httpx.post(f"{server.url}/api/admin/restart", timeout=60).status_code == 202

    def progress() -> dict[str, Any]:
        view: dict[str, Any] = httpx.get(f"{server.url}/api/admin/life", timeout=60).json()["restart"]
        return view

    server.until(lambda: not progress()["running"])
    for talker in talkers:
        talker.join(120)
    assert progress()["problem"] == ""
    assert replies == ["Helloto the end."] * 4
    assert not before & processes()
    assert len(processes()) == 2
    server.stop()


def test_a_worker_that_stands_still_is_replaced_and_its_clients_are_told(serve):
    server = serve("--engine", "scripted").ready()
    stopped = server.worker()["process"]
    with reply(server, HANG) as response:
        stream = events(response)
        until_hello(stream)
        os.kill(stopped, signal.SIGSTOP)
        assert list(stream)[-1]["error"]["code"] == "worker_lost"
    assert ask(server.url, "hi") == "You said: hi"
    assert server.worker()["process"] != stopped
    assert "did not answer" in server.worker()["last_end"]


def test_an_engine_that_is_stuck_is_replaced_and_its_clients_are_told(serve):
    server = serve("--engine", "scripted", DUOLOGUE_LIFECYCLE__ENGINE_STALL_S="1").ready()
    stuck = server.worker()["process"]
    body = {"stream": True, "messages": [{"role": "user", "content": "/say Hello\n/freeze"}]}
    with reply(server, body) as response:
        last = list(events(response))[-1]
    assert last["error"]["code"] == "engine_stalled"
    server.until(lambda: server.worker()["process"] not in (0, stuck))
    assert "gave no step" in str(server.worker()["last_end"])
    assert ask(server.url, "hi") == "You said: hi"


def test_a_worker_that_keeps_falling_is_given_up_with_its_cause_until_an_admin_restarts_it(serve):
    server = serve("--engine", "scripted").ready()
    crash = {"messages": [{"role": "user", "content": "/crash"}]}

    def crashed() -> bool:
        httpx.post(f"{server.url}/v1/chat/completions", json=crash, timeout=120)
        return server.worker()["status"] == "error"

    server.until(crashed)
    assert "soon after it was ready, 5 times in a row" in server.worker()["detail"]
    refused = httpx.post(f"{server.url}/v1/chat/completions", json=crash, timeout=120)
    if server.worker()["status"] == "error":  # it may have been tried again by now
        assert refused.status_code == 503
    httpx.post(f"{server.url}/api/admin/workers/{server.worker()['worker_id']}/restart").raise_for_status()
    server.until(lambda: server.worker()["status"] == "idle")
    assert ask(server.url, "hi") == "You said: hi"


def test_a_model_that_nobody_uses_rests_and_is_loaded_for_the_next_request(serve):
    server = serve("--engine", "scripted", DUOLOGUE_LOADING__IDLE_UNLOAD_S="0.5").ready()

    def workers() -> list[Any]:
        rows: list[Any] = httpx.get(f"{server.url}/workers", timeout=60).json()["workers"]
        return rows

    for _ in range(2):
        server.until(lambda: not workers())
        assert httpx.get(f"{server.url}/ready", timeout=60).status_code == 200
        offered = httpx.get(f"{server.url}/api/capabilities", timeout=60).json()
        assert (offered["state"], offered["default_model"]) == ("ready", "scripted")
        assert [row["state"] for row in offered["models"]] == ["unloaded"]
        listed = httpx.get(f"{server.url}/v1/models", timeout=60).json()["data"]
        assert "scripted" in [row["id"] for row in listed]
        with connect(f"ws://127.0.0.1:{server.port}/ws/chat") as socket:
            socket.send(json.dumps({"messages": [{"role": "user", "content": "hi"}]}))
            heard = [json.loads(socket.recv(timeout=60))]
            while heard[-1]["type"] not in ("done", "error"):
                heard.append(json.loads(socket.recv(timeout=60)))
        assert heard[-1].get("text") == "You said: hi", heard


def test_a_model_gets_another_worker_while_its_queue_is_long(serve):
    server = serve(
        "--engine",
        "scripted",
        "--slots",
        "1",
        DUOLOGUE_MODELS=json.dumps({"scripted": {"workers": {"max": 2}}}),
        DUOLOGUE_LIFECYCLE__SCALE_WAIT_S="1",
    ).ready()

    def rows() -> int:
        return len(httpx.get(f"{server.url}/workers", timeout=60).json()["workers"])

    with reply(server, HANG) as first, connect(f"ws://127.0.0.1:{server.port}/ws/chat") as socket:
        stream = events(first)
        until_hello(stream)
        socket.send(json.dumps({"messages": [{"role": "user", "content": "hi"}]}))
        server.until(lambda: rows() == 2)
        heard = [json.loads(socket.recv(timeout=60))]
        while heard[-1]["type"] not in ("done", "error"):
            heard.append(json.loads(socket.recv(timeout=60)))
    assert heard[-1]["text"] == "You said: hi"
    scaling = httpx.get(f"{server.url}/api/admin/life").json()["scaling"]
    assert "requests were waiting for" in scaling[0]["note"]

"""The examples do what they say, as people run them: as programs of their own."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
import yaml

pytestmark = pytest.mark.system

EXAMPLES = Path(__file__).parents[2] / "examples"
CALL = '/say <think>I need a clock.</think><tool_call>{"name": "get_time", "arguments": {"city": "Oslo"}}</tool_call>'


def run(server, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The example against this server."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith("DUOLOGUE_")}
    return subprocess.run(
        [sys.executable, EXAMPLES / name, *arguments],
        env=clean | {"DUOLOGUE_SERVER": server.url},
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_chat_once_streams_a_reply_and_tells_its_rate(server):
    ended = run(server, "chat_once.py", "/say Once upon a time.")
    assert (ended.returncode, ended.stderr) == (0, "")
    reply, rate = ended.stdout.splitlines()
    assert reply == "Once upon a time."
    assert rate.startswith("[4 tokens, ")


def test_chat_once_tells_a_failure_in_a_sentence(server):
    ended = run(server, "chat_once.py", "/fail The model tripped.")
    assert ended.returncode == 1
    assert ended.stderr == "scripted_failure: The model tripped.\n"


def test_openai_client_streams_an_answer_and_its_reasoning(server):
    ended = run(server, "openai_client.py", "/say <think>Easy.</think>It is five.")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "It is five.\n", "Easy.")


def test_openai_client_calls_its_tool_until_it_must_answer(server):
    ended = run(server, "openai_client.py", CALL)
    assert ended.returncode == 0, ended.stderr
    calls = [line for line in ended.stdout.splitlines() if line.startswith("[get_time ")]
    assert len(calls) == 3
    assert all("Oslo" in call and " -> " in call for call in calls)
    assert "do not know" not in ended.stdout


def test_openai_client_tells_a_failure_in_a_sentence(server):
    ended = run(server, "openai_client.py", "/fail The model tripped.")
    assert ended.returncode == 1
    assert ended.stderr == "scripted_failure: The model tripped.\n"


@pytest.fixture
def with_tools(serve, tmp_path):
    """Starts a server that knows the MCP server for times, and waits until that is there."""

    def start(*arguments):
        settings = yaml.safe_load((EXAMPLES / "mcp_servers.yaml").read_text())
        settings["mcp"]["servers"]["time"]["command"] = sys.executable
        (tmp_path / "with_tools.yaml").write_text(yaml.safe_dump(settings))
        server = serve(*arguments, "--config", str(tmp_path / "with_tools.yaml")).ready()

        def phases():
            rows = httpx.get(f"{server.url}/api/mcp").json()["servers"]
            return {row["name"]: row["phase"] for row in rows}

        server.until(lambda: phases()["time"] == "ready", 60)
        return server

    return start


def test_a_conversation_with_the_bundled_model_and_a_tool_server_goes_through_every_verb(with_tools):
    ended = run(with_tools(), "conversation.py")
    assert (ended.returncode, ended.stderr) == (0, ""), ended.stderr
    lines = [line.split(maxsplit=2) for line in ended.stdout.splitlines()]
    verbs = [(verb, outcome) for verb, outcome, *_ in lines if outcome in ("done", "stopped", "limit")]
    assert verbs[0] == ("send", "done")
    going_on = [] if verbs[1] == ("send", "done") else ["continue"]
    assert [verb for verb, _ in verbs] == ["send", "send", *going_on, "regenerate", "edit", "send", "send"]
    assert any(line[0] == "search" and line[1] != "0" for line in lines)
    assert any(line[0] == "tree" for line in lines)


def test_a_conversation_runs_a_tool_of_a_server_until_its_turns_are_used_up(with_tools):
    call = '<tool_call>{"name": "get_current_time", "arguments": {"timezone": "Europe/Oslo"}}</tool_call>'
    ended = run(
        with_tools("--engine", "scripted"), "conversation.py", f"/say {call}", "/pace 50\n/repeat 100 and "
    )
    assert (ended.returncode, ended.stderr) == (0, ""), ended.stderr
    assert "send        stopped" in ended.stdout
    assert "\ncontinue " in ended.stdout
    # The script calls its tool at every turn, until it is asked whether to go on.
    assert "10 called in 10 turns" in ended.stdout


def test_two_workers_are_two_models_and_an_alias(serve):
    running = serve("--config", str(EXAMPLES / "two_workers.yaml")).ready()
    running.until(lambda: len(httpx.get(f"{running.url}/v1/models").json()["data"]) == 3)
    with openai.OpenAI(base_url=f"{running.url}/v1", api_key="any") as client:
        roots = {model.id: model.model_dump()["root"] for model in client.models.list()}
        assert roots == {
            "duologue-mini": "duologue-mini",
            "scripted": "scripted",
            "gpt-4o-mini": "duologue-mini",
        }
        assert next(iter(roots)) == "duologue-mini", "the first worker's model is the default"
        for asked, answers in (
            ("gpt-4o-mini", "duologue-mini"),
            ("scripted", "scripted"),
            ("", "duologue-mini"),
        ):
            said: Any = [{"role": "user", "content": "Hello"}]
            reply = client.chat.completions.create(model=asked, messages=said, max_tokens=20)
            assert reply.model == answers
            assert reply.choices[0].message.content


def test_a_second_server_asks_the_first(server):
    ended = run(server, "upstream_to_itself.py", "/say From the first one.")
    assert ended.returncode == 0, ended.stderr
    ready, models, reply = ended.stdout.splitlines()
    assert ready.startswith("Duologue is ready at http://127.0.0.1:")
    assert models == "It answers with: scripted"
    assert reply == "From the first one."

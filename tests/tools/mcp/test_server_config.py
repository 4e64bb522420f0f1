import json

import pytest
from tests.tools.fakes import Row

from duologue.config.sections.mcp import Mcp, McpServer
from duologue.errors import BadRequest, Forbidden, StartFailed
from duologue.tools.mcp.server_config import dump, load, parse_new, parse_rows


def file(tmp_path, content):
    path = tmp_path / "servers.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_servers_of_the_settings_and_of_the_file_come_together(tmp_path):
    path = file(tmp_path, {"mcpServers": {"time": {"command": "time"}, "web": {"command": "other"}}})
    found = load(Mcp(servers={"web": McpServer(url="https://web.example/mcp")}, file=path))
    assert [(one.name, one.server.command, one.source) for one in found] == [
        ("time", "time", "config"),
        ("web", "", "config"),
    ]


def test_variables_of_the_environment_are_filled_in(tmp_path):
    path = file(
        tmp_path,
        {
            "mcpServers": {
                "a": {"command": "${HOME_OF}/run", "args": ["${LEVEL:-low}"], "env": {"KEY": "${KEY}"}}
            }
        },
    )
    (found,) = load(Mcp(file=path), {"HOME_OF": "/opt", "KEY": "k-123456"})
    assert found.server.command == "/opt/run"
    assert found.server.args == ("low",)
    assert found.server.env == {"KEY": "k-123456"}


def test_a_variable_there_is_not_is_said_at_the_start():
    with pytest.raises(StartFailed) as failed:
        load(Mcp(servers={"a": McpServer(url="https://a.example/?k=${NO_SUCH}")}), {})
    assert "NO_SUCH" in failed.value.message


def test_other_programs_spellings_are_understood(tmp_path):
    path = file(
        tmp_path,
        {
            "mcpServers": {
                "a": {"serverUrl": "https://a.example", "transport": "streamableHttp", "timeout": 60},
                "b": {"command": "b", "enabled": False, "env": {"N": 1}, "autoApprove": ["x"]},
            }
        },
    )
    a, b = load(Mcp(file=path), {})
    assert (a.server.url, a.server.type, a.transport) == (
        "https://a.example",
        "streamable-http",
        "streamable-http",
    )
    assert b.server.disabled
    assert b.server.env == {"N": "1"}


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("{", "not valid JSON"),
        ("[]", "must contain"),
        ({"mcpServers": {"a": 1}}, "must contain"),
        ({"mcpServers": {"a": {"command": "x", "url": "https://y"}}}, "either a command or a url"),
        ({"mcpServers": {"a": {"comand": "x"}}}, "comand"),
        ({"mcpServers": {"builtin": {"command": "x"}}}, "builtin"),
        ({"mcpServers": {"a/b": {"command": "x"}}}, "a/b"),
    ],
)
def test_a_file_that_makes_no_sense_stops_the_start_with_a_sentence(tmp_path, content, sentence):
    with pytest.raises(StartFailed) as failed:
        load(Mcp(file=file(tmp_path, content)), {})
    assert sentence in failed.value.message


def test_a_file_that_is_not_there_stops_the_start(tmp_path):
    with pytest.raises(StartFailed):
        load(Mcp(file=tmp_path / "none.json"))


def test_an_added_server_gets_nothing_of_the_environment(monkeypatch):
    monkeypatch.setenv("SECRET", "s3cret")
    config = parse_new("web", {"url": "https://web.example/?k=${SECRET}"}, keyed=False, taken=())
    assert config.server.url.endswith("${SECRET}")
    assert config.source == "admin"


def test_a_command_is_added_only_with_a_key():
    with pytest.raises(Forbidden) as refused:
        parse_new("run", {"command": "sh"}, keyed=False, taken=())
    assert refused.value.code == "key_needed"
    assert parse_new("run", {"command": "sh"}, keyed=True, taken=()).server.command == "sh"


def test_a_name_of_the_configuration_cannot_be_taken():
    with pytest.raises(BadRequest) as refused:
        parse_new("web", {"url": "https://x.example"}, keyed=True, taken=("web",))
    assert refused.value.code == "name_taken"


@pytest.mark.parametrize("config", [{}, {"url": "ftp://x"}, {"url": "https://x", "shell": True}])
def test_a_server_that_makes_no_sense_is_refused(config):
    with pytest.raises(BadRequest):
        parse_new("x", config, keyed=True, taken=())


def test_what_is_kept_can_be_read_again():
    config = parse_new("x", {"url": "https://x", "headers": {"A": "secret-1"}}, keyed=False, taken=())
    (loaded,) = parse_rows([Row("x", dump(config.server))])
    assert loaded == config


def test_a_row_nobody_understands_is_passed_over():
    assert parse_rows([Row("x", {"future": 1}), Row("y", {"url": "https://y"})])[0].name == "y"


def test_what_people_see_of_a_server_has_no_secret_in_it():
    config = parse_new("x", {"url": "https://ann:pa55word@x.example/mcp?key=abc123"}, keyed=False, taken=())
    assert config.address == "https://x.example/mcp"
    assert {"pa55word", "abc123"} <= set(config.secrets)

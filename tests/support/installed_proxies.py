"""nginx and Caddy with the files of `deploy/`, where they are installed: our addresses in them, and nothing else changed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.support.deployment_files import DEPLOY

NGINX, CADDY = DEPLOY / "nginx" / "duologue.conf", DEPLOY / "caddy" / "Caddyfile"
LONG = 60.0


def nginx_for(folder: Path, port: int, gateways: list[int], base_path: str = "") -> list[str]:
    """The command that starts nginx with our file, of which the addresses are changed and the certificate left out."""
    text = NGINX.read_text()
    for address, gateway in zip(("10.0.0.11:8006", "10.0.0.12:8006"), gateways, strict=True):
        text = text.replace(f"server {address}", f"server 127.0.0.1:{gateway}")
    text = re.sub(r"server \{\n    listen 80;.*?\n\}\n", "", text, flags=re.DOTALL)
    text = text.replace("listen 443 ssl;", f"listen 127.0.0.1:{port};").replace(
        "chat.example.org", "localhost"
    )
    text = re.sub(r"    ssl_certificate.*\n", "", text)
    text = text.replace("location /", f"location {base_path}/")
    (folder / "duologue.conf").write_text(text)
    paths = " ".join(
        f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    user = "user root;" if os.geteuid() == 0 else ""
    (folder / "nginx.conf").write_text(
        f"{user} daemon off; pid {folder}/pid; error_log stderr; worker_processes 1; events {{}}\n"
        f"http {{ access_log off; {paths} include {folder}/duologue.conf; }}\n"
    )
    return ["nginx", "-e", "stderr", "-p", str(folder), "-c", str(folder / "nginx.conf")]


def caddy_for(folder: Path, port: int, gateways: list[int], base_path: str = "") -> list[str]:
    text = "{\n\tadmin off\n}\n" + CADDY.read_text()
    (folder / "Caddyfile").write_text(text)
    variables = {
        "DUOLOGUE_DOMAIN": f"http://127.0.0.1:{port}",
        "DUOLOGUE_GATEWAYS": " ".join(f"127.0.0.1:{gateway}" for gateway in gateways),
        "DUOLOGUE_BASE_PATH": base_path,
        "HOME": str(folder),
    }
    command = ["caddy", "run", "--config", str(folder / "Caddyfile"), "--adapter", "caddyfile"]
    return ["env", *(f"{name}={value}" for name, value in variables.items()), *command]


PROXIES = {"nginx": nginx_for, "caddy": caddy_for}
INSTALLED = [
    pytest.param(
        name, marks=pytest.mark.skipif(shutil.which(name) is None, reason=f"{name} is not installed")
    )
    for name in PROXIES
]


@contextmanager
def running(command: list[str]) -> Iterator[None]:
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()
        process.wait(LONG)

"""Makes typed clients of Duologue's own API from its description: a Python wheel and an npm package, in build/client.

    scripts/typed_clients.py [python] [typescript]      by default both

A server of this checkout is started for its /openapi.json. The generators are pinned below, and installed into folders of build/client.
What is made is not committed; `make test-clients NAMES="typed_python typed_typescript"` installs and uses it.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

from clients import ROOT, our_server

BUILD = ROOT / "build" / "client"
TEMPLATES = ROOT / "scripts" / "typed_client"
PYTHON_TOOLS = ("openapi-python-client==0.29.1", "pdm-backend==2.4.6")


def run(*command: str | Path, cwd: Path = BUILD) -> None:
    """Run a command. Ends the script with its output if it fails."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{command[0]} failed:\n{done.stdout}\n{done.stderr}")


def fetch_document() -> dict[str, Any]:
    """The API's description, also as build/client/openapi.json."""
    with our_server() as server, urllib.request.urlopen(f"{server['SERVER_URL']}/openapi.json") as answer:
        document: dict[str, Any] = json.load(answer)
    (BUILD / "openapi.json").write_text(json.dumps(document, indent=1))
    return document


def make_python(version: str) -> Path:
    """The wheel `duologue_client`."""
    tools, source = BUILD / "python-tools", BUILD / "python"
    marker = tools / ".done"
    if not marker.exists() or marker.read_text() != repr(PYTHON_TOOLS):
        shutil.rmtree(tools, ignore_errors=True)
        run(sys.executable, "-m", "venv", tools)
        run(tools / "bin/python", "-m", "pip", "install", "-qq", *PYTHON_TOOLS)
        marker.write_text(repr(PYTHON_TOOLS))
    config = BUILD / "python.json"
    config.write_text(
        json.dumps(
            {
                "project_name_override": "duologue-client",
                "package_name_override": "duologue_client",
                "package_version_override": version,
                "post_hooks": [],
                "generate_all_tags": False,
                # An enumeration has no two names that differ in case alone, and some values do.
                "literal_enums": True,
            }
        )
    )
    generator = tools / "bin/openapi-python-client"
    shutil.rmtree(source, ignore_errors=True)
    run(
        *(generator, "generate", "--path", BUILD / "openapi.json", "--config", config),
        *("--meta", "pdm", "--output-path", source, "--overwrite"),
    )
    for old in BUILD.glob("duologue_client-*.whl"):
        old.unlink()
    run(
        *(tools / "bin/python", "-m", "pip", "wheel", "-qq", "--no-deps", "--no-build-isolation"),
        *("--wheel-dir", BUILD, source),
    )
    return next(BUILD.glob("duologue_client-*.whl"))


def make_typescript(version: str) -> Path:
    """The npm package `duologue-client`."""
    source = BUILD / "typescript"
    wanted = json.loads((TEMPLATES / "package.json").read_text())
    marker = source / ".done"
    if not marker.exists() or marker.read_text() != json.dumps(wanted):
        shutil.rmtree(source, ignore_errors=True)
        source.mkdir(parents=True)
        (source / "package.json").write_text(json.dumps(wanted))
        run("npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--silent", cwd=source)
        marker.write_text(json.dumps(wanted))
    (source / "package.json").write_text(json.dumps({**wanted, "version": version}, indent=2))
    for name in ("index.ts", "README.md"):
        shutil.copy(TEMPLATES / name, source)
    tools = source / "node_modules/.bin"
    shutil.rmtree(source / "dist", ignore_errors=True)
    run(tools / "openapi-typescript", BUILD / "openapi.json", "--output", source / "schema.ts", cwd=source)
    run(
        *(tools / "tsc", "--strict", "--declaration", "--outDir", "dist", "--target", "es2022"),
        *("--module", "nodenext", "--skipLibCheck", "false", "index.ts"),
        cwd=source,
    )
    for old in BUILD.glob("duologue-client-*.tgz"):
        old.unlink()
    run("npm", "pack", "--silent", "--pack-destination", BUILD, cwd=source)
    return next(BUILD.glob("duologue-client-*.tgz"))


MAKERS = {"python": make_python, "typescript": make_typescript}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=" or ".join(MAKERS))
    chosen = parser.parse_args().kinds or list(MAKERS)
    if unknown := set(chosen) - set(MAKERS):
        raise SystemExit(f"There is no kind {', '.join(sorted(unknown))}; choose from {', '.join(MAKERS)}.")
    BUILD.mkdir(parents=True, exist_ok=True)
    version = fetch_document()["info"]["version"]
    for kind in chosen:
        print(os.path.relpath(MAKERS[kind](version)))


if __name__ == "__main__":
    main()

"""Runs published clients, unmodified, against a server, and writes what works into docs/compatibility.md.

    scripts/clients.py [NAME ...]            each client in an environment of its own in build/clients; without a name all of them
    scripts/clients.py --table               also write the table of docs/compatibility.md from the results of all runs so far
    scripts/clients.py --server URL NAME ... against another server (with --model MODEL and --label NAME)

A client is a script in tests/clients, `check_NAME.py` or `check_NAME.mjs`, and its pinned packages, `NAME.txt` or a folder of
`package.json`. A script without packages of its own reproduces the calls of a program with httpx. Only
packages are downloaded. The server is Duologue with the bundled model unless one is named. The results of a
run replace those of the same clients in build/clients/LABEL.json and leave the others.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
CHECKS = ROOT / "tests" / "clients"
BUILD = ROOT / "build" / "clients"
TABLE = ROOT / "docs" / "compatibility.md"
BEGIN, END = "<!-- clients: begin -->", "<!-- clients: end -->"
MODEL = "duologue-mini"
CLIENT = ROOT / "build" / "client"
GENERATED = {"{wheel}": "duologue_client-*.whl", "{package}": "duologue-client-*.tgz"}
"""What stands for a built client in lists of packages -> its file in build/client."""
ALONE = {"schemathesis": ("--engine", "scripted")}
"""Clients that have a server of their own -> its arguments: this one sends whatever is allowed, and leaves a mess."""
START_SECONDS = 60
CLIENT_SECONDS = 1800
"""The longest takes four minutes on a quiet machine."""


def names() -> list[str]:
    """The clients there are."""
    scripts = [*CHECKS.glob("check_*.py"), *CHECKS.glob("check_*.mjs")]
    return sorted(script.stem.removeprefix("check_") for script in scripts)


@contextmanager
def our_server(*arguments: str) -> Iterator[dict[str, str]]:
    """A server of this checkout with an empty data folder. Gives the environment of its clients."""
    from tests.support.ports import free_port

    port, ollama = free_port(), free_port()
    BUILD.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as data:
        environment = os.environ | {
            "DUOLOGUE_DATA": data,
            "DUOLOGUE_COMPAT__OLLAMA__ENABLED": "true",
            "DUOLOGUE_COMPAT__OLLAMA__PORT": str(ollama),
        }
        command = [ROOT / ".venv/bin/duologue", "serve", "--port", str(port), *arguments]
        with (
            (BUILD / "server.log").open("w") as log,
            subprocess.Popen(command, env=environment, stdout=log, stderr=log) as server,
        ):
            url = f"http://127.0.0.1:{port}"
            try:
                wait_until_ready(f"{url}/ready", server)
                yield {
                    "SERVER_URL": url,
                    "SERVER_MODEL": MODEL,
                    "OLLAMA_URL": f"http://127.0.0.1:{ollama}",
                }
            finally:
                server.terminate()


def wait_until_ready(url: str, server: subprocess.Popen[Any]) -> None:
    until = time.monotonic() + START_SECONDS
    while server.poll() is None and time.monotonic() < until:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise SystemExit(f"The server did not start; {BUILD / 'server.log'} has the reason.")


def make_environment(name: str) -> list[str] | None:
    """The command that runs a client's script, in its environment, which is made if its packages changed; None if that failed."""
    packages = CHECKS / name / "package.json"
    if packages.exists():
        return _node_environment(BUILD / name, packages)
    requirements = CHECKS / f"{name}.txt"
    if not requirements.exists():
        requirements = CHECKS / "httpx.txt"
    # Clients of the same packages share an environment.
    text = requirements.read_text()
    place = BUILD / max(file.stem for file in CHECKS.glob("*.txt") if file.read_text() == text)
    filled = _filled(text)
    if filled is None:
        return None
    wanted, done = filled, place / ".done"
    if not done.exists() or done.read_text() != wanted.done:
        shutil.rmtree(place, ignore_errors=True)
        print(f"== {name}: installing", file=sys.stderr)
        made = subprocess.run([sys.executable, "-m", "venv", place], check=False)
        (place / "requirements.txt").write_text(wanted.text)
        pip = [place / "bin/python", "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
        installed = subprocess.run([*pip, "-r", place / "requirements.txt"], check=False)
        if made.returncode or installed.returncode:
            return None
        done.write_text(wanted.done)
    return [str(place / "bin/python"), str(CHECKS / f"check_{name}.py")]


@dataclass
class Wanted:
    """Packages to install. `done` is what an environment that has them remembers: their text, and what is in built files."""

    text: str
    done: str


def _filled(text: str) -> Wanted | None:
    """The packages with the files that `make client` built in place of their names; None if it has not."""
    done = text
    for name, pattern in GENERATED.items():
        if name in text:
            file = next(CLIENT.glob(pattern), None)
            if file is None:
                print("There is no generated client: run make client first.", file=sys.stderr)
                return None
            text = text.replace(name, str(file))
            done += hashlib.sha256(file.read_bytes()).hexdigest()
    return Wanted(text, done)


def _node_environment(place: Path, packages: Path) -> list[str] | None:
    wanted, done = _filled(packages.read_text()), place / ".done"
    if wanted is None:
        return None
    script = packages.parent.parent / f"check_{packages.parent.name}.mjs"
    if not done.exists() or done.read_text() != wanted.done:
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        (place / "package.json").write_text(wanted.text)
        print(f"== {packages.parent.name}: installing", file=sys.stderr)
        command = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"]
        if subprocess.run(command, cwd=place, check=False).returncode:
            return None
        done.write_text(wanted.done)
    # Packages are looked for beside the script.
    for source in (script, CHECKS / "features.mjs"):
        shutil.copy(source, place)
    return ["node", str(place / script.name)]


def run_client(name: str, environment: dict[str, str]) -> list[dict[str, Any]] | None:
    """The results of a client's features, which are printed too; None if it could not be installed."""
    command = make_environment(name)
    if command is None:
        return None
    print(f"== {name} (its errors: {BUILD / name}.log)", file=sys.stderr)
    began = time.monotonic()
    with (BUILD / f"{name}.log").open("w") as log:
        try:
            run = subprocess.run(
                command,
                env=os.environ | environment,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                timeout=CLIENT_SECONDS,
                check=False,
            )
            output, ended = run.stdout, run.returncode
        except subprocess.TimeoutExpired as late:
            # What it printed so far, which is bytes even where text was asked for.
            output, ended = (late.stdout or b"").decode(), None
    took = time.monotonic() - began
    results = [json.loads(line) for line in output.splitlines() if line.startswith('{"client"')]
    if ended is None:
        results.append(_broken(name, results, f"did not end within {CLIENT_SECONDS} seconds"))
    elif not results or (ended and all(row["works"] for row in results)):
        results.append(_broken(name, results, f"ended with status {ended}; {name}.log has the reason"))
    for result in results:
        print(f"{'works' if result['works'] else 'FAILS':6} {result['feature']} {result['detail']}")
    print(f"       {name}: {took:.0f} seconds", flush=True)
    return results


def _broken(name: str, results: list[dict[str, Any]], detail: str) -> dict[str, Any]:
    """A row about a script that did not come to its end."""
    known = results[0] if results else {"client": name, "version": "?"}
    return {
        "client": known["client"],
        "version": known["version"],
        "feature": "the rest",
        "works": False,
        "detail": detail,
    }


def keep_results(label: str, results: dict[str, list[dict[str, Any]]]) -> dict[str, list[dict[str, Any]]]:
    """The results of all runs so far, in which these replace older ones of the same clients."""
    BUILD.mkdir(parents=True, exist_ok=True)
    file = BUILD / f"{label}.json"
    older = json.loads(file.read_text()) if file.exists() else {}
    merged = dict(sorted((older | results).items()))
    file.write_text(json.dumps(merged, indent=1))
    return merged


def write_table(results: dict[str, list[dict[str, Any]]]) -> None:
    """Replace the table between its marks in docs/compatibility.md."""
    lines = ["| client | version | works | does not work |", "|---|---|---|---|"]
    for rows in results.values():
        works = [row["feature"] for row in rows if row["works"]]
        fails = [f"{row['feature']} ({' '.join(row['detail'].split())})" for row in rows if not row["works"]]
        client, version = rows[0]["client"], rows[0]["version"]
        cells = (client, version, f"{len(works)}: {'; '.join(works)}", "; ".join(fails).replace("|", "\\|"))
        lines.append("| " + " | ".join(cells) + " |")
    text = TABLE.read_text()
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    TABLE.write_text(f"{before}{BEGIN}\n" + "\n".join(lines) + f"\n{END}{after}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").splitlines()[0], formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--table", action="store_true", help="write the table of docs/compatibility.md")
    parser.add_argument("--server", help="the address of another server")
    parser.add_argument("--model", default=MODEL, help="the model there")
    parser.add_argument("--label", default="ours", help="the name of the file with the results")
    arguments = parser.parse_args()
    known = names()
    if unknown := set(arguments.names) - set(known):
        raise SystemExit(f"There is no client {', '.join(sorted(unknown))}; choose from {', '.join(known)}.")
    chosen = arguments.names or known
    if arguments.server:
        environment = {"SERVER_URL": arguments.server, "SERVER_MODEL": arguments.model}
        outcomes = {name: run_client(name, environment) for name in chosen}
    else:
        outcomes = {}
        with our_server() as environment:
            for name in chosen:
                if name not in ALONE:
                    outcomes[name] = run_client(name, environment)
        for name in set(chosen) & ALONE.keys():
            with our_server(*ALONE[name]) as environment:
                outcomes[name] = run_client(name, environment)
    results = {name: rows for name, rows in outcomes.items() if rows is not None}
    kept = keep_results(arguments.label, results)
    if arguments.table:
        write_table(kept)
    broken = sorted(outcomes.keys() - results.keys())
    failed = [name for name, rows in results.items() if not all(row["works"] for row in rows)]
    total = [row["works"] for rows in results.values() for row in rows]
    print(f"\n{sum(total)} of {len(total)} features of {len(results)} clients work.")
    if broken:
        print(f"Could not be installed: {', '.join(broken)}.")
    raise SystemExit(1 if broken or failed else 0)


if __name__ == "__main__":
    main()

"""Whether a worker can be run by another Python: the interpreter of an environment whose packages exclude those of this one.

`load_specs` asks before anything starts, so that what is missing is an error of the start with the command that mends it. Blocks
for a second or two.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import duologue
from duologue import process_limits
from duologue.errors import StartFailed
from duologue.wire.worker_protocol import PROTOCOL

OLDEST = (3, 11)
PATIENCE = 120.0
"""Seconds the interpreter may take to import the worker: disks are slow the first time."""
CODE = "interpreter_unusable"
WORKER_PACKAGES = ("anyio>=4.9", "msgspec>=0.19", "starlette>=0.46", "uvicorn>=0.54", "websockets>=14")
"""What a worker imports besides its engine's library. The server's other packages would exclude the pins of such an environment."""
PROBE = """
import json, sys
answer = {"python": list(sys.version_info[:2])}
if sys.version_info >= (3, 11):
    try:
        import duologue.worker.app, websockets
        from duologue.wire.worker_protocol import PROTOCOL
        answer["protocol"] = PROTOCOL
    except ImportError as error:
        answer["missing"] = error.name or str(error)
print(json.dumps(answer))
"""


def check_interpreter(worker: str, python: str) -> None:
    """Raises StartFailed (`interpreter_unusable`) unless `python` can run the worker of this name: it starts, is new enough, and has
    this version of Duologue and what a worker imports."""
    try:
        # -I: neither this process's environment nor the current folder. -P, which workers are started with, is not older than 3.11.
        ended = subprocess.run(
            [python, "-I", "-c", PROBE],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE,
            env=environment(python),
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise _unusable(worker, python, f"did not answer within {PATIENCE:.0f} s") from None
    except OSError as error:
        raise _unusable(
            worker,
            python,
            f"cannot be started ({error.strerror or error})",
            f"Make its environment: {_venv_command(python)} && {_install(python)}",
        ) from None
    answer = _answer(ended.stdout)
    if answer is None:
        last = (ended.stderr.decode(errors="replace").strip().splitlines() or ["it said nothing"])[-1]
        raise _unusable(worker, python, f"cannot run Python code ({last[:200]})")
    version = tuple(answer["python"])
    if version < OLDEST:
        raise _unusable(
            worker,
            python,
            f"is Python {version[0]}.{version[1]}, and Duologue needs {OLDEST[0]}.{OLDEST[1]} or newer",
            f"Make its environment with a newer one, such as: {_venv_command(python)} && {_install(python)}",
        )
    if missing := answer.get("missing"):
        package = str(missing).partition(".")[0]
        what = (
            "the duologue package"
            if package == "duologue"
            else f"the package {package}, which a worker imports"
        )
        raise _unusable(worker, python, f"lacks {what}", f"Install it there: {_install(python)}")
    if answer.get("protocol") != PROTOCOL:
        raise _unusable(
            worker, python, "has another version of Duologue", f"Update it there: {_install(python)}"
        )


def environment(python: str) -> dict[str, str]:
    """The environment for a process of this interpreter, "" for our own: the paths of our own packages are not for another."""
    inherited = process_limits.inherited_environment()
    if python:
        inherited = {
            name: value for name, value in inherited.items() if name not in ("PYTHONPATH", "PYTHONHOME")
        }
    return inherited


def _answer(output: bytes) -> dict[str, Any] | None:
    """The last line of the probe's output; what a library prints when it is imported may come before it."""
    lines = output.decode(errors="replace").strip().splitlines()
    try:
        answer = json.loads(lines[-1])
    except (IndexError, ValueError):
        return None
    return answer if isinstance(answer, dict) and isinstance(answer.get("python"), list) else None


def _unusable(worker: str, python: str, why: str, advice: str = "") -> StartFailed:
    sentence = f"The worker {worker} is to be run by {python}, which {why}. {advice}".rstrip()
    return StartFailed(
        f"{sentence.removesuffix('.')}. The setting is `python` of the worker.", code=CODE, param="python"
    )


def _venv_command(python: str) -> str:
    """The command that makes an environment with this interpreter in it: FOLDER/bin/python."""
    return f"{sys.executable} -m venv {Path(python).parent.parent}"


def _install(python: str) -> str:
    """The commands that install this version of Duologue there, from the checkout that runs or from the index, and what a worker
    imports: without the server's other packages."""
    checkout = Path(duologue.__file__).resolve().parents[2]
    what = str(checkout) if (checkout / "pyproject.toml").is_file() else f"duologue=={duologue.__version__}"
    packages = shlex.join(WORKER_PACKAGES)
    return f"{python} -m pip install --no-deps {what} && {python} -m pip install {packages}"

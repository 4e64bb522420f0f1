"""A real Ray cluster of several nodes on this machine: a head without room, and nodes at other addresses of the loopback range.

Each node is a process group, so that a test can end a whole machine at once. Used by the tests of `pool: ray` and by `bench/bench_machines.py`.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from duologue.placement.loss_detection import loss_detection

STARTING = 180.0
"""Seconds that a node may take to start on a busy machine."""
OBJECT_STORE = 80_000_000


class RayNodes:
    """The cluster. `lost_s`: as the setting `ray.lost_s`."""

    def __init__(self, lost_s: float = 5.0) -> None:
        # The paths of Ray's sockets are in it, and must be short.
        self.folder = Path(tempfile.mkdtemp(prefix="ray-nodes-"))
        self.token = self.folder / "token"
        self.token.write_text(secrets.token_hex(32))
        self.token.chmod(0o600)
        self.address = ""
        """Of the head, which is this machine's own: Ray does not take loopback for it."""
        clean = {
            name: value for name, value in os.environ.items() if not name.startswith(("RAY_", "DUOLOGUE_"))
        }
        self._environment = clean | {
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN_PATH": str(self.token),
            "RAY_USAGE_STATS_ENABLED": "0",
            **{f"RAY_{name}": str(value) for name, value in loss_detection(lost_s).items()},
        }
        self._nodes: dict[str, subprocess.Popen[bytes]] = {}
        said = self._start(
            "head", "--head", "--port=0", "--include-dashboard=false", "--num-cpus=0", "--num-gpus=0"
        )
        self.address = re.findall(r"--address='([^']+)'", said)[0]

    def add(self, number: int, *, cpus: int = 2, gpus: int = 0, memory: int = 4 * 2**30) -> str:
        """Start a node at 127.0.0.`number`; its address."""
        address = f"127.0.0.{number}"
        self._start(
            address,
            f"--address={self.address}",
            f"--node-ip-address={address}",
            f"--num-cpus={cpus}",
            f"--num-gpus={gpus}",
            f"--memory={memory}",
        )
        return address

    def kill(self, address: str) -> None:
        """The machine at this address loses its power."""
        node = self._nodes.pop(address)
        for process in self._processes(node):
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        node.wait()

    def processes(self) -> set[int]:
        """The processes of all nodes."""
        return {process for node in self._nodes.values() for process in self._processes(node)}

    def stop(self) -> None:
        """End every node, and remove its files."""
        for address in list(self._nodes):
            self.kill(address)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _start(self, name: str, *arguments: str) -> str:
        """Start a node; what it said."""
        log = (self.folder / f"{name}.log").open("wb")
        with log:
            self._nodes[name] = node = subprocess.Popen(
                [
                    str(Path(sys.executable).parent / "ray"),
                    "start",
                    "--block",
                    "--disable-usage-stats",
                    f"--object-store-memory={OBJECT_STORE}",
                    # Ray's own range is where the tests' servers listen.
                    "--min-worker-port=0",
                    "--max-worker-port=0",
                    *((f"--temp-dir={self.folder}",) if name == "head" else ()),
                    *arguments,
                ],
                stdout=log,
                stderr=subprocess.STDOUT,
                env=self._environment,
                start_new_session=True,
            )
        end = time.monotonic() + STARTING
        while b"Ray runtime started" not in (said := (self.folder / f"{name}.log").read_bytes()):
            assert node.poll() is None, said.decode(errors="replace")
            assert time.monotonic() < end, said.decode(errors="replace")
            time.sleep(0.1)
        return said.decode(errors="replace")

    def _processes(self, node: subprocess.Popen[bytes]) -> list[int]:
        """The node's process and all below it, and those that its raylet left when it ended."""
        found, left = [node.pid], [node.pid]
        children: dict[int, list[int]] = {}
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError, IndexError, ValueError):
                parent, group = (folder / "stat").read_text().rpartition(")")[2].split()[1:3]
                children.setdefault(int(parent), []).append(int(folder.name))
                if int(group) == node.pid and int(folder.name) not in found:
                    found.append(int(folder.name))
                    left.append(int(folder.name))
        while left:
            below = [process for process in children.get(left.pop(), []) if process not in found]
            found += below
            left += below
        return found

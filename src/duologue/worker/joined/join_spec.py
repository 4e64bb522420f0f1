"""What a joined worker is told when it starts, in its environment; never in its arguments, which other users of the machine can read.

    DUOLOGUE_JOIN_URL            the address of a gateway: https://gateway:8006, with the path that it is served under
    DUOLOGUE_JOIN_KEY            a key of the role `worker`, or
    DUOLOGUE_JOIN_KEY_FILE       the file that contains it
    DUOLOGUE_JOIN_FINGERPRINT    SHA-256 of the gateway's authority or certificate; several gateways: several, with commas
    DUOLOGUE_JOIN_INSECURE_HTTP  `1`: plain HTTP over a network is allowed
    DUOLOGUE_JOIN_MACHINE        the name of this machine; the host name without it
    DUOLOGUE_JOIN_PLACED         the name of the place that the gateway made for the worker (`pool: ray`)
    DUOLOGUE_JOIN_SERVE          the name of the gateway's model that it serves with the gateway's adapters, and
    DUOLOGUE_JOIN_FOLDER         the folder for models of this machine
    DUOLOGUE_JOIN_DEVICES        the devices of this machine, as JSON of a list of `MachineDevice`
    DUOLOGUE_JOIN_DRAIN_S        seconds that running work may take to end after SIGTERM; 20 without it
    DUOLOGUE_JOIN_RETRY_S        seconds that it stays joined after its model could not be loaded, to say why; 30 without it
    DUOLOGUE_JOIN_STATE_FD       a file descriptor for lines that say how it is: `ready` and `failed`
    DUOLOGUE_WORKER_LOAD_SPEC    what it loads, as JSON of a `LoadSpec`
    DUOLOGUE_WORKER_LOG          level and format of its log, such as `info:json`; and the other variables of a local worker

Standard input is a pipe whose other end the starter holds: the worker ends when that closes. `cli/joining` and Ray's actors start it.
"""

from __future__ import annotations

import socket
from collections.abc import MutableMapping
from pathlib import Path

import msgspec
from msgspec import Struct

from duologue.errors import StartFailed
from duologue.wire.machines.join_protocol import MachineDevice
from duologue.wire.worker_protocol import LoadSpec
from duologue.worker.joined.certificate_pin import parse_fingerprint

PREFIX = "DUOLOGUE_JOIN_"
DRAIN, RETRY = 20.0, 30.0


class JoinSpec(Struct, frozen=True):
    """Where a worker joins and what it is there. The fields are those of the variables."""

    url: str
    key: str
    load_spec: LoadSpec
    fingerprints: tuple[str, ...] = ()
    insecure_http: bool = False
    machine: str = ""
    placed: str = ""
    serve: str = ""
    folder: str = ""
    devices: tuple[MachineDevice, ...] = ()
    drain_s: float = DRAIN
    retry_s: float = RETRY
    state_fd: int = -1

    def environment(self) -> dict[str, str]:
        """The variables that say this."""
        told = {
            "URL": self.url,
            "KEY": self.key,
            "FINGERPRINT": ",".join(self.fingerprints),
            "INSECURE_HTTP": "1" if self.insecure_http else "",
            "MACHINE": self.machine,
            "PLACED": self.placed,
            "SERVE": self.serve,
            "FOLDER": self.folder,
            "DEVICES": msgspec.json.encode(self.devices).decode() if self.devices else "",
            "DRAIN_S": str(self.drain_s),
            "RETRY_S": str(self.retry_s),
            "STATE_FD": str(self.state_fd) if self.state_fd >= 0 else "",
        }
        variables = {f"{PREFIX}{name}": value for name, value in told.items() if value}
        return variables | {"DUOLOGUE_WORKER_LOAD_SPEC": msgspec.json.encode(self.load_spec).decode()}


def take_join_spec(environ: MutableMapping[str, str]) -> JoinSpec:
    """The join spec of the variables, which are removed, so that programs which the worker starts do not get the key. Raises StartFailed."""

    def take(name: str, otherwise: str = "") -> str:
        return environ.pop(f"{PREFIX}{name}", "") or otherwise

    key, key_file = take("KEY"), take("KEY_FILE")
    try:
        return JoinSpec(
            url=take("URL"),
            key=read_key(key, Path(key_file) if key_file else None),
            load_spec=msgspec.json.decode(environ.pop("DUOLOGUE_WORKER_LOAD_SPEC"), type=LoadSpec),
            fingerprints=tuple(parse_fingerprint(one) for one in take("FINGERPRINT").split(",") if one),
            insecure_http=take("INSECURE_HTTP") == "1",
            machine=take("MACHINE", socket.gethostname()),
            placed=take("PLACED"),
            serve=take("SERVE"),
            folder=take("FOLDER"),
            devices=msgspec.json.decode(take("DEVICES", "[]"), type=tuple[MachineDevice, ...]),
            drain_s=float(take("DRAIN_S", str(DRAIN))),
            retry_s=float(take("RETRY_S", str(RETRY))),
            state_fd=int(take("STATE_FD", "-1")),
        )
    except KeyError as error:
        raise StartFailed(f"A joined worker needs {error.args[0]} in its environment.") from None
    except ValueError as error:  # msgspec's are ValueErrors too
        raise StartFailed(f"The environment of this worker cannot be read: {error}.") from None


def read_key(key: str, file: Path | None) -> str:
    """The key, or what its file contains. Raises StartFailed. Blocks."""
    if not key and file is not None:
        try:
            key = file.expanduser().read_text("utf-8")
        except (OSError, UnicodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not text"
            raise StartFailed(f"The key file {file} cannot be read: {reason}.", param="key_file") from None
    if not key.strip():
        raise StartFailed(
            "A worker needs a key to join: make one on the gateway with `duologue key add NAME --role worker`, and pass it with "
            "--key-file FILE.",
            param="key",
        )
    return key.strip()

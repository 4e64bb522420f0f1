"""Landlock, the Linux kernel's sandbox for a process: the files it may still open, and no TCP.

`restrict` is called by the processes that read what strangers sent, a decoder's child and the process of a chat template,
once they have what they need. What is open stays open, so they can answer. Only the standard library is used: the three
system calls have no function in C libraries. A kernel without Landlock restricts nothing; `duologue doctor` says so.

Not covered by any version: UDP, sockets at a path, and asking for a file's size or dates.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
import sys
from collections.abc import Iterable

# The same numbers on every architecture but Alpha.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_GET_VERSION = 1
_PATH_BENEATH = 1
_PR_SET_NO_NEW_PRIVS = 38
_READ_FILE, _READ_DIRECTORY = 1 << 2, 1 << 3

NETWORK_VERSION = 4
"""The first version that refuses TCP (Linux 6.7)."""
_SCOPE_VERSION = 6

_libc = ctypes.CDLL(None, use_errno=True)


def version() -> int:
    """The version of the kernel's Landlock; 0 where there is none, or a container forbids it."""
    if sys.platform != "linux":
        return 0
    try:
        return _call(_CREATE_RULESET, None, 0, _GET_VERSION)
    except OSError:
        return 0


def library_places() -> list[str]:
    """Where Python, its packages and the libraries of the system are. A job may import something late."""
    system = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache")
    return [*sys.path, os.path.join(sys.base_exec_prefix, "lib"), *system]


def restrict(readable: Iterable[str]) -> None:
    """From now on this process, and what it forks, opens no file, except to read at or below a place of `readable`; uses no
    TCP; and sends no signal to processes outside. There is no way back. Raises OSError where the kernel has Landlock and
    refuses."""
    supported = version()
    if not supported:
        return
    # A kernel takes fields that it does not know yet, if they are zero.
    rights = struct.pack(
        "=QQQ",
        _file_rights(supported),
        0b11 if supported >= NETWORK_VERSION else 0,  # bind, connect
        0b11 if supported >= _SCOPE_VERSION else 0,  # abstract Unix sockets, signals
    )
    ruleset = _call(_CREATE_RULESET, rights, len(rights), 0)
    try:
        for place in readable:
            _allow_reading(ruleset, place)
        if _libc.prctl(_PR_SET_NO_NEW_PRIVS, *map(ctypes.c_ulong, (1, 0, 0, 0))):
            raise _error()
        _call(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _file_rights(supported: int) -> int:
    """Everything that this version can refuse: what the first one knew; renaming to other folders; truncating; devices."""
    return (1 << (13 + (supported >= 2) + (supported >= 3) + (supported >= 5))) - 1


def _allow_reading(ruleset: int, place: str) -> None:
    try:
        beneath = os.open(place, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # this system does not have it
    try:
        is_folder = stat.S_ISDIR(os.fstat(beneath).st_mode)
        rights = _READ_FILE | _READ_DIRECTORY if is_folder else _READ_FILE
        _call(_ADD_RULE, ruleset, _PATH_BENEATH, struct.pack("=Qi", rights, beneath), 0)
    finally:
        os.close(beneath)


def _call(*arguments: int | bytes | None) -> int:
    """A system call. Raises OSError."""
    long = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    result = int(_libc.syscall(*long))
    if result < 0:
        raise _error()
    return result


def _error() -> OSError:
    number = ctypes.get_errno()
    return OSError(number, f"Landlock: {os.strerror(number)}")

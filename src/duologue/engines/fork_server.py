"""A process that forks itself for every socket it is sent: what is loaded is loaded once, and shared.

Run by the recogniser's decoder process and the process of a chat template. One byte with a socket on it starts a child for that
socket; the end of `control` is the end of the process. A child ends with its socket. So no process is left behind when the
worker ends, however it ended. There is no event loop and no thread: a process with threads cannot fork safely.

`decoder/fork_server.py` is another one: its children do one job each and are killed and reported on, and end with it, where
these serve a socket for as long as it is open; one for both would be a switch at nearly every line.
"""

from __future__ import annotations

import gc
import os
import signal
import socket
import traceback
from collections.abc import Callable
from contextlib import suppress


def serve(control: socket.socket, handle: Callable[[socket.socket], None]) -> None:
    """Fork for every socket that arrives, until the other end of `control` is closed; the child runs `handle`."""
    signal.signal(signal.SIGCHLD, _reap_children)
    # A collection writes to every object, which would copy the pages that children share.
    gc.collect()
    gc.freeze()
    while True:
        _, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if not descriptors:
            return
        with socket.socket(fileno=descriptors[0]) as connection:
            try:
                child = os.fork()
            except OSError:
                traceback.print_exc()
                continue  # the other end sees the socket close
            if not child:
                # Never returns: the child must not run any of the parent's code after this, such as its cleanup.
                _run_child(control, connection, handle)


def _run_child(
    control: socket.socket, connection: socket.socket, handle: Callable[[socket.socket], None]
) -> None:
    """In the child: handle the socket, and exit."""
    status = 1
    try:
        control.close()
        handle(connection)
        status = 0
    except OSError:
        status = 0  # the other end is gone
    except BaseException:  # noqa: BLE001 (the child must not continue as its parent)
        traceback.print_exc()
    finally:
        os._exit(status)


def _reap_children(signal_number: int, frame: object) -> None:
    """On SIGCHLD: collect the children that have ended, so that none stays a zombie. (SIG_IGN would lose their processor
    time, which the benchmarks read.)"""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass

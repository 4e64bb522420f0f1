"""The small process that `duologue serve` is: it starts the gateway, watches it, and starts it again when it falls.

`duologue/__main__.py` calls `run` before anything large is imported. `restart_policy` decides; here are the process, the signals
and the clock. The parent keeps the gateway's listening socket, so that the next gateway has the same port and connections made
meanwhile wait for it.
"""

from __future__ import annotations

import math
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING

from duologue.supervisor.link import VARIABLE, GatewayMessages, GatewayRestarts, Launch
from duologue.supervisor.restart_policy import End, RestartPolicy, ending
from duologue.supervisor.service_notifier import ServiceNotifier

if TYPE_CHECKING:
    from duologue.telemetry import Format

FLAG = "--no-supervise"
SETTING = "DUOLOGUE_SUPERVISE"
FALSE = frozenset({"false", "no", "off", "0", "f", "n"})
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
STOP_SECONDS = 20.0
"""Seconds a gateway that was asked to stop has until it is killed, besides those that running work has to finish. It needs three, more on
a machine that is busy."""


def is_wanted(arguments: Sequence[str], environ: Mapping[str, str]) -> bool:
    """Whether this command line starts a gateway that is to be watched. The settings file is the gateway's to read: if it says
    `supervise: false`, the gateway says so to its parent, which then only waits for the end."""
    return (
        list(arguments[:1]) == ["serve"]
        and not {FLAG, "--help", "-h"} & set(arguments)
        and environ.get(SETTING, "").strip().lower() not in FALSE
        and VARIABLE not in environ
    )


def run(arguments: Sequence[str]) -> None:
    """Run `duologue` with these arguments as a child until it is stopped; then end as it ended. Does not return."""
    # -P: do not import from the current folder, where a file may shadow a library.
    code = Supervisor([sys.executable, "-P", "-m", "duologue", *arguments]).run()
    if -code in STOP_SIGNALS:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    sys.exit(code if code >= 0 else 128 - code)


class Supervisor:
    """The gateway's process over its restarts."""

    def __init__(self, command: Sequence[str]) -> None:
        self._command = command
        self._policy = RestartPolicy()
        self._service = ServiceNotifier.from_environment(os.environ)
        self._restarts = GatewayRestarts()
        self._listener: socket.socket | None = None
        self._host = ""
        self._log: tuple[str, Format] = ("info", "text")
        self._is_watched = True
        self._stop_signal: int | None = None
        self._stop_by: float | None = None
        self._drain = 0.0

    def run(self) -> int:
        """Start the gateway, and again after each unexpected end. Returns how the last one ended: its exit code, or a negative signal."""
        with _wakeups() as wakeups:
            while True:
                code, reason = self._one_gateway(wakeups)
                decision = self._policy.ended(
                    code, time.monotonic(), stopping=self._stop_signal is not None, watched=self._is_watched
                )
                if isinstance(decision, End):
                    # A gateway that exits with a code has logged the reason itself.
                    if reason != ending(code) or (code < 0 and self._stop_signal is None):
                        self._say(f"The gateway ended: {reason}. It is not started again.")
                    return self._last_code(code)
                self._restarts = GatewayRestarts(self._policy.restarts, reason, time.time())
                self._service.restarting(reason)
                later = f" in {decision.pause:g} s" if decision.pause else ""
                self._say(f"The gateway ended: {reason}. It is started again{later}.")
                if not self._pause(decision.pause, wakeups):
                    return self._last_code(0)

    def _one_gateway(self, wakeups: socket.socket) -> tuple[int, str]:
        """Start a gateway and wait for its end. Returns its exit code, or the negative signal, and that in words."""
        try:
            process, end = self._launch()
        except OSError as error:
            return 1, f"it could not be started, {error.strerror}"
        with end:
            code = self._until_it_ends(process, GatewayMessages(end), wakeups)
        return code, ending(code)

    def _last_code(self, code: int) -> int:
        """The exit code of this process. For the gateway a closed terminal is a clean end; the program that started this one sees
        the signal, as it would without a parent."""
        return -signal.SIGHUP if self._stop_signal == signal.SIGHUP and code == 0 else code

    def _launch(self) -> tuple[subprocess.Popen[bytes], socket.socket]:
        ours, theirs = socket.socketpair()
        listener = None if self._listener is None else self._listener.fileno()
        launch = Launch(theirs.fileno(), listener, self._host, self._restarts)
        # Before the attempt: one that fails for want of memory is a quick end too, or it would be repeated without a pause.
        self._policy.launched()
        self._service.starting()
        with theirs:
            process = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                pass_fds=[descriptor for descriptor in (launch.link, listener) if descriptor is not None],
                # Ctrl-C goes to the whole process group of the terminal, and a second one means "at once". In a session of its own
                # the gateway gets it only from this parent, once.
                start_new_session=True,
                env={**os.environ, VARIABLE: launch.encode()},
            )
        return process, ours

    def _until_it_ends(
        self, process: subprocess.Popen[bytes], messages: GatewayMessages, wakeups: socket.socket
    ) -> int:
        """Forward signals and take in what the gateway says, until it has ended. Returns its exit code, or the negative signal."""
        while True:
            code = _reap(process)
            # After a look at the process, so that its last words count.
            self._read(messages)
            if code is not None:
                return code
            for number in self._signals(messages, wakeups):
                with suppress(ProcessLookupError):
                    # A closed terminal is no reason to lose the end of a reply: the gateway stops cleanly.
                    process.send_signal(signal.SIGTERM if number == signal.SIGHUP else number)
            if self._stop_by is not None and time.monotonic() >= self._stop_by:
                self._stop_by = None
                self._say("The gateway did not stop in time. It is killed.")
                process.kill()

    def _read(self, messages: GatewayMessages) -> None:
        for message in messages.read():
            if "host" in message:
                self._host = message["host"]
                self._log = (message["log"][0], message["log"][1])
                self._drain = float(message.get("drain", 0.0))
            if message.get("watched") is False:
                self._is_watched = False
            if message.get("ready"):
                self._policy.ready(time.monotonic())
                self._service.ready()
            if message.get("alive"):
                self._service.alive()
        if (listener := messages.take_listener()) is not None:
            if self._listener is not None:
                self._listener.close()
            self._listener = listener

    def _signals(self, messages: GatewayMessages, wakeups: socket.socket) -> list[int]:
        """Wait until something happens. Returns the signals to stop that came."""
        now = time.monotonic()
        waits = (None if self._stop_by is None else max(0.0, self._stop_by - now), self._service.wait(now))
        sources = [wakeups.fileno(), *([messages.fileno()] if messages.is_open else [])]
        select.select(sources, [], [], min((wait for wait in waits if wait is not None), default=None))
        return self._taken(wakeups)

    def _taken(self, wakeups: socket.socket) -> list[int]:
        numbers: list[int] = []
        with suppress(BlockingIOError):
            numbers = [number for number in wakeups.recv(256) if number in STOP_SIGNALS]
        if numbers and self._stop_signal is None:
            self._service.stopping()
            self._stop_signal = numbers[0]
            self._stop_by = time.monotonic() + self._drain + STOP_SECONDS
        elif numbers:
            # A second one means "at once", for the gateway and for the wait.
            self._stop_by = min(self._stop_by or math.inf, time.monotonic() + STOP_SECONDS)
        return numbers

    def _pause(self, seconds: float, wakeups: socket.socket) -> bool:
        """Wait before the next start. False: a signal to stop came."""
        until = time.monotonic() + seconds
        while True:
            self._taken(wakeups)
            if self._stop_signal is not None:
                return False
            now = time.monotonic()
            if (left := until - now) <= 0:
                return True
            select.select([wakeups], [], [], min(left, self._service.wait(now) or left))

    def _say(self, sentence: str) -> None:
        """One line in the gateway's log, in its format."""
        import logging

        from duologue import telemetry

        telemetry.set_up_logging(*self._log)
        logging.getLogger(__name__).error(sentence)


def _reap(process: subprocess.Popen[bytes]) -> int | None:
    """The code of the process if it has ended. Also takes in whatever else has ended: in a container this may be process 1, which
    inherits the workers of a gateway that was killed."""
    with suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                break
            if pid == process.pid:
                process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode


def _nothing(number: int, frame: FrameType | None) -> None:
    """A handler: the number arrives at the wake-up socket."""


@contextmanager
def _wakeups() -> Iterator[socket.socket]:
    """A socket that receives the number of each signal that arrives."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setblocking(False)
        theirs.setblocking(False)
        signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)
        for number in (*STOP_SIGNALS, signal.SIGCHLD):
            # `nohup` has us ignore SIGHUP, and so it stays, here and in the gateway.
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, _nothing)
        yield ours

"""A placement process without Ray, as a program: it says what a script of a test tells it to, and writes the orders it gets into a file.

    python -m tests.support.placement_stand_in ORDERS [NODES]

The first line of its standard output is `Connected`, the second one names its node, unless NODES is `later`. An order `place` is answered with `waiting`, and with `running` where the place asks for less than
ten processors; `remove` with `gone`. A file ORDERS.say is read again and again, and its new lines are passed on as news.
"""

from __future__ import annotations

import os
import selectors
import sys
from pathlib import Path

from duologue.wire.machines.placement_protocol import (
    ClusterNews,
    Connected,
    News,
    Node,
    Place,
    PlaceNews,
    Remove,
    Resources,
    decode_order,
    encode_line,
)

ROOM = 10.0


def say(news: News) -> None:
    sys.stdout.buffer.write(encode_line(news))
    sys.stdout.buffer.flush()


def main() -> None:
    orders = Path(sys.argv[1])
    said, process = orders.with_suffix(".say"), 1000
    said.touch()
    say(Connected("127.0.0.1:6379", "0", local=True))
    if sys.argv[2:] != ["later"]:
        say(ClusterNews((Node("node-a", "127.0.0.2", Resources(ROOM), Resources(ROOM)),)))
    waiting, told, pending = selectors.DefaultSelector(), 0, b""
    waiting.register(sys.stdin, selectors.EVENT_READ)
    while True:
        if waiting.select(0.05):
            read = os.read(sys.stdin.fileno(), 65536)
            if not read:
                return
            *lines, pending = (pending + read).split(b"\n")
            for line in lines:
                with orders.open("ab") as file:
                    file.write(line + b"\n")
                match decode_order(line):
                    case Place(name, resources):
                        say(PlaceNews(name, "waiting"))
                        if resources.cpus < ROOM:
                            process += 1
                            say(PlaceNews(name, "running", "node-a", process))
                    case Remove(name):
                        say(PlaceNews(name, "gone"))
        lines = said.read_bytes().splitlines(keepends=True)
        for line in lines[told:]:
            if line == b"end\n":
                sys.exit(1)
            sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
        told = len(lines)


if __name__ == "__main__":
    main()

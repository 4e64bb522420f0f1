"""Measure when a reply of a call begins to sound, and when its lips are there: sound alone, pictures beside it, and clips.

    python bench/bench_video_calls.py [--turns 10]

A server with the scripted model, the bundled voice and the video engine `portrait` is told by text what to say, so nothing of the figures
is recognition. "Lips" is the arrival of the first pictures of the reply: at or before its first sound, the lips are there with it.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from statistics import median
from time import perf_counter

import httpx
from websockets.sync.client import ClientConnection, connect

from duplex.server import Server, machine_load, serving
from duplex.table import Row, printed

SENTENCE = "Father bought many apples, and above all a large warm loaf, number {}."
WAIT = 120
"""Seconds for a message on a slow machine."""
VIDEO = {"DUOLOGUE_VIDEO__ENABLED": "true"}
MODES = {
    "off": "sound alone",
    "stream": "pictures beside the sound",
    "clip": "clips",
}


def turn(socket: ClientConnection, number: int) -> dict[str, float]:
    """One reply: milliseconds from the request to the first frame of sound, the first pictures, the clip, and its first words."""
    socket.send(json.dumps({"type": "text", "text": "/say " + SENTENCE.format(number)}))
    began, seen = perf_counter(), dict[str, float]()
    while True:
        frame = socket.recv(WAIT)
        at = (perf_counter() - began) * 1000
        if isinstance(frame, bytes):
            seen.setdefault("sound", at)
            continue
        message = json.loads(frame)
        kind = message["type"]
        if kind == "video_segment" and message["reply_id"] is not None and message["sizes"]:
            seen.setdefault("lips", at)
        elif kind == "speaking_clip":
            seen.setdefault("clip", at)
            seen["length"] = message["duration_ms"]
        elif kind == "reply_done":
            return seen
        elif kind == "error":
            raise SystemExit(message["message"])


def measured(server: Server, mode: str, turns: int) -> list[dict[str, float]]:
    with connect(f"ws://127.0.0.1:{server.port}/ws/voice", max_size=2**26) as socket:
        socket.send(json.dumps({"type": "start", "features": ["mouth"], "video": mode}))
        if mode != "off":
            while json.loads(socket.recv(WAIT)).get("mode") != mode:
                pass
        # The first reply loads what the others find.
        return [turn(socket, number) for number in range(turns + 1)][1:]


def rows(mode: str, turns: list[dict[str, float]]) -> Iterator[Row]:
    for what in ("sound", "lips", "clip"):
        times = [seen[what] for seen in turns if what in seen]
        if times:
            yield Row(
                f"{MODES[mode]}: first {what}", "", f"{median(times):.0f} ms ({max(times):.0f} at most)"
            )
    behind = [seen["lips"] - seen["sound"] for seen in turns if "lips" in seen]
    if behind:
        yield Row(
            f"{MODES[mode]}: lips after the sound",
            "0 ms",
            f"{median(behind):.0f} ms ({max(behind):.0f} at most)",
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=10, help="replies of each kind")
    options = parser.parse_args()
    with serving("scripted", **VIDEO) as server:
        print(f"{machine_load()}\n")
        state = httpx.get(f"{server.url}/api/capabilities", timeout=30).json()["voice"]
        print(f"the voice is {state['state']}\n")
        printed(row for mode in MODES for row in rows(mode, measured(server, mode, options.turns)))


if __name__ == "__main__":
    main()

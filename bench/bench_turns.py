"""Compare the time to first token of early and late turns of a chat, with and without a reused prefix.

    python bench/bench_turns.py [--chats 8] [--turns 20]

The same chat runs twice: with its history growing (the beginning of each turn is in the slot's cache) and, for comparison, with
each turn's whole prompt sent as a new conversation (another first message, nothing cached).
"""

from __future__ import annotations

import argparse
import http.client
import json
import statistics
import time

from load import duologue

QUESTION = "Tell me something short about the number {number}, please, in a sentence or two."


def turn(connection: http.client.HTTPConnection, messages: list[dict[str, str]]) -> tuple[float, str]:
    """Milliseconds to the first content, and the reply's text."""
    body = {"messages": messages, "stream": True, "max_tokens": 40, "temperature": 0.5}
    began = time.perf_counter()
    connection.request("POST", "/v1/chat/completions", json.dumps(body), {"Content-Type": "application/json"})
    first, text = 0.0, ""
    answer = connection.getresponse()
    while line := answer.readline():
        if not line.startswith(b"data: {"):
            continue
        for choice in json.loads(line[6:])["choices"]:
            content = choice["delta"].get("content")
            if content and not first:
                first = time.perf_counter() - began
            text += content or ""
    return first * 1000, text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chats", type=int, default=8)
    parser.add_argument("--turns", type=int, default=20)
    options = parser.parse_args()
    kept: dict[int, list[float]] = {}
    cold: dict[int, list[float]] = {}
    with duologue() as port:
        connection = http.client.HTTPConnection("127.0.0.1", port)
        for chat in range(options.chats + 1):
            messages: list[dict[str, str]] = []
            for number in range(1, options.turns + 1):
                messages.append({"role": "user", "content": QUESTION.format(number=chat * 100 + number)})
                first, text = turn(connection, messages)
                messages.append({"role": "assistant", "content": text})
                if chat:
                    kept.setdefault(number, []).append(first)
            if chat:
                stranger = [{"role": "user", "content": f"Chat {chat} again."}, *messages[:-1]]
                cold.setdefault(options.turns, []).append(turn(connection, stranger)[0])
    first, last = statistics.median(kept[1]), statistics.median(kept[options.turns])
    print(f"turn 1               {first:>8.2f} ms to first token, median")
    print(
        f"turn {options.turns:<2}, kept        {last:>8.2f} ms   {last / first:.2f} of turn 1   (budget: 1.2)"
    )
    print(f"turn {options.turns:<2}, not cached  {statistics.median(cold[options.turns]):>8.2f} ms")


if __name__ == "__main__":
    main()

"""Ask one question over the chat socket and print the reply as it is written.

    python examples/chat_once.py "Tell me a little story."

DUOLOGUE_SERVER is the server's address (default: http://127.0.0.1:8006), DUOLOGUE_KEY its key, if it needs one.
"""

import asyncio
import os
import sys
from contextlib import aclosing

from duologue.client.http import Client
from duologue.errors import Problem

SERVER = os.environ.get("DUOLOGUE_SERVER", "http://127.0.0.1:8006")


async def ask(question: str) -> None:
    async with Client(SERVER, os.environ.get("DUOLOGUE_KEY")) as client:
        messages = [{"role": "user", "content": question}]
        # Leaving this block early cancels the generation and frees its slot.
        async with aclosing(client.chat(messages, generation={"max_new_tokens": 300})) as reply:
            async for message in reply:
                match message["type"]:
                    case "queued" | "queue_update":
                        print(f"[position {message['position']} in the queue]", file=sys.stderr)
                    case "chunk":
                        print(message.get("text_delta", ""), end="", flush=True)
                    case "done":
                        rate = message["generated_tokens"] / max(message["timings"]["generate_ms"], 1) * 1000
                        print(f"\n[{message['generated_tokens']} tokens, {rate:.0f} per second]")


if __name__ == "__main__":
    try:
        asyncio.run(ask(" ".join(sys.argv[1:]) or "Hello! Who are you?"))
    except Problem as problem:
        sys.exit(f"{problem.code}: {problem.message}")

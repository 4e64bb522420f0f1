"""Put a second Duologue in front of the first: what it is asked, it asks the first one.

    python examples/upstream_to_itself.py

This is how a machine without a graphics card lends its page and its keys to one that has some. Any server that speaks
OpenAI's API can stand where the first one stands. The first one is at http://127.0.0.1:8006, or named by
DUOLOGUE_SERVER; DUOLOGUE_KEY is its key where it needs one.
"""

import asyncio
import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager

from duologue.client.http import Client

SERVER = os.environ.get("DUOLOGUE_SERVER", "http://127.0.0.1:8006")


@contextmanager
def second_server(upstream: str):
    """A server of its own data folder and a free port; gives its address."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("DUOLOGUE_")}
    environment["DUOLOGUE_UPSTREAM__KEY"] = os.environ.get("DUOLOGUE_KEY", "")
    with tempfile.TemporaryDirectory() as data:
        command = [sys.executable, "-m", "duologue", "serve", "--port", "0", "--data", data, "--no-ui"]
        server = subprocess.Popen(
            [*command, "--upstream", upstream], stdout=subprocess.PIPE, text=True, env=environment
        )
        try:
            line = server.stdout.readline()  # Duologue is ready at http://... (...)
            print(line.strip())
            address = next((word for word in line.split() if word.startswith("http://")), None)
            if address is None:
                sys.exit("The second server did not start.")
            yield address
        finally:
            server.terminate()
            server.wait()


async def ask(server: str, question: str) -> None:
    async with Client(server) as client:
        models = (await client.capabilities())["models"]
        print("It answers with:", ", ".join(model["name"] for model in models))
        reply = await client.complete([{"role": "user", "content": question}], max_tokens=200)
        print(reply["choices"][0]["message"]["content"])


if __name__ == "__main__":
    with second_server(SERVER) as address:
        asyncio.run(ask(address, " ".join(sys.argv[1:]) or "Hello! Who are you?"))

"""Put a second Duologue in front of the first: it forwards every request to the first one.

    python examples/upstream_to_itself.py

In this way a machine without a graphics card can provide the page and the keys for a machine that has one. Any server with
OpenAI's API can take the place of the first one. DUOLOGUE_SERVER is the first server's address (default:
http://127.0.0.1:8006), DUOLOGUE_KEY its key, if it needs one.
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
    """Start a server with its own data folder on a free port; yields its address."""
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

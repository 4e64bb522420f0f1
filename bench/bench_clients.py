"""Count the features of clients that work here and on other servers: the same scripts as `make test-clients`, against ours, against
llama.cpp's own server, and against LiteLLM's proxy before that.

    python bench/bench_clients.py [--rivals llama_cpp litellm] [NAME ...]

All serve the bundled model. The results of each are kept in build/clients/LABEL.json; ours are those of the last `make test-clients`, or
are made here. The proxy is installed into build/clients, with the version that is pinned below.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from load import free_port, root, wait_ready

NAMES = (
    "openai_python",
    "anthropic_python",
    "llama_server",
    "continue",
    "litellm",
    "instructor",
    "openai_agents",
)
MODEL = "duologue-mini"
PROXY = "litellm[proxy]==1.99.4"
BUILD = root() / "build" / "clients"
RUNNER = root() / "scripts" / "clients.py"


@contextmanager
def running(command: list[str], ready: str, **environment: str) -> Iterator[None]:
    """A server, until it is left."""
    BUILD.mkdir(parents=True, exist_ok=True)
    with (BUILD / "rival.log").open("a") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=os.environ | environment)
        try:
            wait_ready(ready, process, 120)
            yield
        finally:
            process.terminate()
            process.wait(20)


@contextmanager
def llama_cpp() -> Iterator[str]:
    """llama.cpp's own server, as its program is by default."""
    port = free_port()
    model = root() / "src" / "duologue" / "models" / f"{MODEL}.gguf"
    command = [sys.executable, str(root() / "bench" / "llama_server.py"), str(port), str(model)]
    with running(command, f"http://127.0.0.1:{port}/health"):
        yield f"http://127.0.0.1:{port}"


@contextmanager
def litellm() -> Iterator[str]:
    """LiteLLM's proxy before llama.cpp's server."""
    place = BUILD / "litellm_proxy"
    if not (place / "bin" / "litellm").exists():
        subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
        subprocess.run([str(place / "bin" / "python"), "-m", "pip", "install", "-qq", PROXY], check=True)
    port = free_port()
    with llama_cpp() as upstream:
        model = {"model": f"openai/{MODEL}", "api_base": f"{upstream}/v1", "api_key": "none"}
        config = BUILD / "litellm_proxy.yaml"
        config.write_text(json.dumps({"model_list": [{"model_name": MODEL, "litellm_params": model}]}))
        command = [str(place / "bin" / "litellm"), "--config", str(config), "--port", str(port)]
        ready = f"http://127.0.0.1:{port}/health/liveliness"
        with running([*command, "--host", "127.0.0.1"], ready, LITELLM_LOCAL_MODEL_COST_MAP="True"):
            yield f"http://127.0.0.1:{port}"


RIVALS: dict[str, Callable[[], AbstractContextManager[str]]] = {"llama_cpp": llama_cpp, "litellm": litellm}


def results(label: str) -> dict[str, list[dict[str, object]]]:
    file = BUILD / f"{label}.json"
    found: dict[str, list[dict[str, object]]] = json.loads(file.read_text()) if file.exists() else {}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", default=[])
    parser.add_argument("--rivals", nargs="*", choices=list(RIVALS), default=list(RIVALS))
    options = parser.parse_args()
    names = options.names or list(NAMES)
    missing = sorted(set(names) - results("ours").keys())
    runner = [sys.executable, str(RUNNER)]
    if missing:
        subprocess.run([*runner, *missing], check=False, stdout=subprocess.DEVNULL)
    for rival in options.rivals:
        with RIVALS[rival]() as url:
            command = [*runner, "--server", url, "--model", MODEL, "--label", rival, *names]
            subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
    labels = ["ours", *options.rivals]
    print("| features that work | " + " | ".join(labels) + " |")
    print("|---" * (len(labels) + 1) + "|")
    for name in names:
        counts = [count(results(label).get(name, [])) for label in labels]
        print(f"| {name} | " + " | ".join(counts) + " |")


def count(rows: list[dict[str, object]]) -> str:
    return f"{sum(bool(row['works']) for row in rows)} of {len(rows)}" if rows else "not tried"


if __name__ == "__main__":
    main()

"""llama.cpp's own server, as xllamacpp carries it, with a model: `llama_server.py PORT MODEL.gguf`. Run by bench_clients.py.

As its program is by default: with the model's template, four slots, and /slots and /props open.
"""

from __future__ import annotations

import sys
import threading

import xllamacpp


def main() -> None:
    port, model = int(sys.argv[1]), sys.argv[2]
    params = xllamacpp.CommonParams()
    params.model.path = model
    params.model_alias = {"duologue-mini"}
    params.hostnames = ["127.0.0.1"]
    params.port = port
    params.use_jinja = True
    params.n_parallel = 4
    params.n_ctx = 16_384
    params.endpoint_slots = True
    params.endpoint_props = True
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()

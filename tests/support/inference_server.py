"""Stand-ins for the servers that others run models with: vLLM, SGLang, Ray Serve, llama.cpp, Ollama. Each has the addresses, lists, chunks and
error bodies of the real one, as its documentation and source have them.

What goes wrong a test sets on the `InferenceServer`. It runs in the test's event loop, at an address that stays the same while it is away.
"""

from __future__ import annotations

import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import anyio
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

Kind = Literal["vllm", "sglang", "ray", "llamacpp", "ollama"]
CONTEXT = 32_768


@dataclass
class InferenceServer:
    kind: Kind = "vllm"
    model: str = "qwen"
    host: str = "127.0.0.1"
    healthy: bool = True
    status: int = 200
    """Of chats, if not 200."""
    headers: dict[str, str] = field(default_factory=dict)
    breaks: Literal["", "first", "middle", "told"] = ""
    """Whether a reply breaks off before its first token, or in the middle; `told`: with an error as an event, before the first."""
    held: anyio.Event | None = None
    """Replies wait for it before their end."""
    arrived: anyio.Semaphore = field(default_factory=lambda: anyio.Semaphore(0))
    """Released by each reply that waits for it."""
    running: int = 0
    others: int = 0
    """Requests of others, in the metrics."""
    waiting: int = 0
    chats: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    prefixes: set[str] = field(default_factory=set)
    """What it has read: the cache that `cached_tokens` speaks of."""
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[InferenceServer]:
        """The server until the context is left. Entered again, it is at the same address."""
        listener = socket.create_server((self.host, self.port))
        self.port = listener.getsockname()[1]
        config = uvicorn.Config(self._application(), log_level="critical", lifespan="off")
        server = uvicorn.Server(config)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(server.serve, [listener])
            try:
                yield self
            finally:
                server.should_exit = server.force_exit = True

    def reserve(self) -> None:
        """An address at which nobody answers yet."""
        with socket.create_server((self.host, 0)) as listener:
            self.port = listener.getsockname()[1]

    def _application(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/v1/models", self._models),
                Route("/v1/chat/completions", self._chat, methods=["POST"]),
                Route("/v1/embeddings", self._embeddings, methods=["POST"]),
                Route("/{path:path}", self._beside, methods=["GET", "POST"]),
            ]
        )

    async def _beside(self, request: Request) -> Response:
        path = request.url.path
        self.paths.append(path)
        if path == "/health" and self.kind in ("vllm", "sglang"):
            return Response(status_code=200 if self.healthy else 503)
        if path == "/health" and self.kind == "llamacpp":
            loading = {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}}
            return JSONResponse({"status": "ok"}) if self.healthy else JSONResponse(loading, 503)
        if path == "/metrics" and self.kind in _METRICS:
            running, waiting = _METRICS[self.kind]
            label = "" if self.kind == "llamacpp" else '{engine="0",model_name="qwen"}'
            busy = self.running + self.others
            return PlainTextResponse(f"{running}{label} {busy}.0\n{waiting}{label} {self.waiting}.0\n")
        if path == "/props" and self.kind == "llamacpp":
            return JSONResponse({"default_generation_settings": {"n_ctx": CONTEXT}, "total_slots": 4})
        if self.kind == "ray":
            return PlainTextResponse(f"Path '{path}' not found. Ping the routes for available routes.", 404)
        return JSONResponse({"detail": "Not Found"}, 404)

    async def _models(self, request: Request) -> Response:
        self.paths.append(request.url.path)
        if not self.healthy and self.kind in ("ray", "ollama"):
            return PlainTextResponse("no healthy replicas", 503)
        entry: dict[str, Any] = {"id": self.model, "object": "model", "created": 1_764_000_000}
        owner = {"vllm": "vllm", "sglang": "sglang", "llamacpp": "llamacpp", "ollama": "library"}
        entry["owned_by"] = owner.get(self.kind, "organization-owner")
        if self.kind in ("vllm", "sglang"):
            entry |= {"root": self.model, "max_model_len": CONTEXT}
        if self.kind == "llamacpp":
            entry |= {"meta": {"n_ctx_train": 131_072, "n_vocab": 32_000}}
        if self.kind == "ray":
            entry |= {"permission": [], "metadata": {"engine_config": {}, "input_modality": "text"}}
        return JSONResponse({"object": "list", "data": [entry]})

    async def _embeddings(self, request: Request) -> Response:
        if self.status != 200:
            return self._error(self.status, "no capacity")
        inputs = (await request.json())["input"]
        self.chats.append({"input": inputs})
        rows = [{"index": index, "embedding": [1.0, 0.0]} for index in range(len(inputs))]
        return JSONResponse({"data": rows, "usage": {"prompt_tokens": len(inputs)}})

    async def _chat(self, request: Request) -> Response:
        body = await request.json()
        self.chats.append(body)
        if self.status != 200:
            return self._error(self.status, "no capacity")
        if sum(len(str(message["content"])) for message in body["messages"]) > 4 * CONTEXT:
            return self._error(
                400, f"This model's maximum context length is {CONTEXT} tokens. Please reduce it."
            )
        return StreamingResponse(self._chunks(body), media_type="text/event-stream")

    def _error(self, status: int, message: str) -> Response:
        if self.kind == "sglang":
            body: dict[str, Any] = {"object": "error", "message": message, "type": "Error", "code": status}
        else:
            body = {"error": {"message": message, "type": "Error", "param": None, "code": status}}
        return JSONResponse(body, status, headers=self.headers)

    async def _chunks(self, body: dict[str, Any]) -> AsyncIterator[str]:
        self.running += 1
        try:
            yield self._chunk({"role": "assistant", "content": ""})
            if self.breaks == "first":
                raise ConnectionResetError
            if self.breaks == "told":
                yield _event({"error": {"message": "EngineCore encountered an issue.", "code": 500}})
                yield "data: [DONE]\n\n"
                return
            thought = "reasoning" if self.kind in ("vllm", "ollama") else "reasoning_content"
            yield self._chunk({thought: "Hm."})
            yield self._chunk({"content": "Hello"})
            if self.breaks == "middle":
                raise ConnectionResetError
            if self.held is not None:
                self.arrived.release()
                await self.held.wait()
            yield self._chunk({}, "stop")
            if body.get("stream_options", {}).get("include_usage"):
                yield _event(self._head() | {"choices": [], "usage": self._usage(body)})
            yield "data: [DONE]\n\n"
        finally:
            self.running -= 1

    def _usage(self, body: dict[str, Any]) -> dict[str, Any]:
        texts = [str(message["content"]) for message in body["messages"]]
        known = max(
            (
                sum(map(len, texts[:end]))
                for end in range(len(texts) + 1)
                if "".join(texts[:end]) in self.prefixes
            ),
            default=0,
        )
        self.prefixes |= {"".join(texts[:end]) for end in range(1, len(texts) + 1)}
        prompt = sum(map(len, texts))
        details = {"cached_tokens": known} if self.kind != "ollama" else None
        return {
            "prompt_tokens": prompt,
            "completion_tokens": 2,
            "total_tokens": prompt + 2,
            "prompt_tokens_details": details,
        }

    def _head(self) -> dict[str, Any]:
        return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": self.model}

    def _chunk(self, delta: dict[str, Any], finish: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return _event(self._head() | {"choices": [choice]})


def _event(content: dict[str, Any]) -> str:
    return f"data: {json.dumps(content)}\n\n"


_METRICS = {
    "vllm": ("vllm:num_requests_running", "vllm:num_requests_waiting"),
    "sglang": ("sglang:num_running_reqs", "sglang:num_queue_reqs"),
    "llamacpp": ("llamacpp:requests_processing", "llamacpp:requests_deferred"),
}

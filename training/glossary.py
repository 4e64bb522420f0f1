"""The names Duologue gives to things, and what each means: settings, addresses, error codes, flags, figures.

Plain tables, held to the code by a test. Knows no question.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Knob:
    """A setting: what it does, its default in words, and the flag that sets it ("" for none)."""

    name: str
    does: str
    default: str = ""
    flag: str = ""

    @property
    def variable(self) -> str:
        """Its environment variable."""
        return "DUOLOGUE_" + self.name.replace(".", "__").upper()


KNOBS = [
    Knob("engine", "chooses the engine: llama, remote or scripted", flag="--engine"),
    Knob("model", "says which model answers: a GGUF file or a name", "the bundled model", "--model"),
    Knob("upstream.url", "is the address of a server that answers instead", flag="--upstream"),
    Knob("upstream.key", "is the key that the upstream wants", flag="--upstream-key"),
    Knob(
        "upstream.model",
        "says which of the upstream's models answers",
        "the first it names",
        "--upstream-model",
    ),
    Knob("device", "is the device a worker owns, such as `cpu` or `cuda:0`", "`auto`"),
    Knob(
        "slots", "is how many replies are written at the same time", "chosen by the model's size", "--slots"
    ),
    Knob(
        "context",
        "is how many tokens one chat may have",
        "what the model was trained for, up to 16,384",
        "--context",
    ),
    Knob(
        "threads",
        "is how many threads the engine takes",
        "one for a small model, else all cores but one",
        "--threads",
    ),
    Knob(
        "gpu_layers",
        "is how many layers go to the graphics card; -1 is all",
        "as many as fit",
        "--gpu-layers",
    ),
    Knob("batch", "is how many prompt tokens are read in one step", "the engine's own"),
    Knob("options", "holds further options of the engine"),
    Knob("host", "is the address to listen on; anything but loopback needs a key", "`127.0.0.1`", "--host"),
    Knob("port", "is the port of the page and the APIs; 0 is any free one", "8006", "--port"),
    Knob("data", "is the folder for everything the server writes", flag="--data"),
    Knob("key", "is the key every request must bring"),
    Knob("key_file", "is a file that holds the key", flag="--key-file"),
    Knob("insecure_http", "allows plain HTTP on an address others can reach", "false", "--insecure-http"),
    Knob("host_names", "lists further names the server is reached by", flag="--host-name"),
    Knob("allow_origins", "lists other web origins whose pages may use the server", flag="--allow-origin"),
    Knob("ui", "says whether the page is served", "true", "--no-ui"),
    Knob("aliases", "gives models further names"),
    Knob("workers", "lists the workers, one for each model", "one worker"),
    Knob("worker_port_base", "is the first port that workers listen on", "22400"),
    Knob("queue.limit", "is how many requests may wait for a slot", "1000"),
    Knob("limits.body_mb", "is how many megabytes one request may have", "64"),
    Knob("limits.text_mb", "is how many megabytes of text one request may have", "1"),
    Knob("limits.messages", "is how many messages one request may bring", "10000"),
    Knob("limits.tools", "is how many tools one request may bring", "128"),
    Knob("limits.choices", "is how many choices one request may ask for", "16"),
    Knob("limits.sockets_per_user", "is how many WebSockets one user may hold open", "20"),
    Knob("chat.first_frame_s", "is after how many seconds a chat socket that sent nothing is closed", "120"),
    Knob("chat.idle_s", "is after how many idle seconds a chat socket is closed", "600"),
    Knob("eta.chat_s", "is how many seconds a chat is expected to take at first", "15"),
    Knob("eta.alpha", "is the weight of the newest duration in the estimate", "0.3"),
    Knob("log.level", "is the least that is logged: debug, info, warning or error", "`info`", "--log-level"),
    Knob("log.format", "is the shape of the log: text or json", "`text`", "--log-format"),
]

ADDRESSES = {
    "/health": "says that the gateway is alive; it is open to everyone",
    "/ready": "answers 200 once a chat would be answered, else 503 with the reason",
    "/status": "tells how many workers, slots and waiting requests there are, and what runs",
    "/workers": "shows each worker: its state, model, process, port and restarts",
    "/api/queue": "tells who waits, where and about how long, and what runs",
    "/api/capabilities": "lists the models and what they can do, for the page",
    "/api/session": "is for logging in and out, and says who is asking",
    "/metrics": "has figures in Prometheus' text format",
    "/openapi.json": "describes the HTTP APIs for programs",
    "/ws/chat": "is the chat socket: requests follow each other on one WebSocket",
    "/v1/chat/completions": "is OpenAI's chat API, streaming or not",
    "/v1/models": "lists the loaded models and their aliases",
}

CODES = {
    "invalid_request": "a field of the request has a wrong type or value; `param` names it",
    "invalid_json": "the body or frame is not JSON, or not an object",
    "unsupported": "this model, engine or version cannot do what was asked",
    "voice_unavailable": "sound was sent or asked for, and there is no voice engine",
    "unknown_tool_format": "`duologue parse` was asked for a format nobody wrote yet",
    "context_length_exceeded": "the conversation is longer than the context of this chat",
    "unauthorized": "a key is needed, or the one that came is wrong",
    "forbidden": "this user is not allowed to do that",
    "host_refused": "the request came under a host name the server does not know; `--host-name` adds one",
    "origin_refused": "the request came from a web page of somebody else; `--allow-origin` lists those that may",
    "not_found": "nothing is at this address",
    "model_not_found": "there is no such model; the sentence lists those there are",
    "method_not_allowed": "the address exists, but not with this method",
    "too_large": "the request is larger than a limit; the sentence names the setting",
    "busy": "this socket already runs a request",
    "too_many_sockets": "the user holds as many sockets as `limits.sockets_per_user` allows",
    "rate_limited": "there were too many wrong keys; the sentence says how long to wait",
    "queue_full": "as many requests wait already as `queue.limit` allows; try again later",
    "unavailable": "nobody can answer now; try again later",
    "model_loading": "the default model is still being loaded; wait a moment",
    "model_restarting": "the model's worker ended and is being started again; wait a moment",
    "worker_lost": "the worker ended in the middle of the reply; it is started anew, so ask again",
    "server_stopping": "the server is shutting down",
    "connection_lost": "the connection broke in the middle",
    "unreachable": "no server answers at this address",
    "start_failed": "the server or a model could not start; the sentence says why",
    "model_failed": "the default model cannot be loaded; `/ready` says why",
    "model_unavailable": "every worker of that model has failed to load it",
    "unknown_engine": "a worker was told to load an engine that does not exist",
    "engine_missing": "a library that the engine needs is not installed",
    "engine_failed": "the engine broke",
    "upstream_unreachable": "the upstream server does not answer at its address",
    "upstream_refused": "the upstream did not accept the request, or the key for it",
    "upstream_failed": "the upstream broke, or its answer did",
    "reply_incomplete": "the reply broke off and nobody said why",
    "internal_error": "it is a bug; the log has more under the request's id",
}

FLAGS = {
    "--config": "names the settings file, instead of `duologue.yaml`",
    "--yes": "makes `duologue setup` ask nothing",
    "--dry-run": "makes `duologue setup` only look and change nothing",
    "--available": "makes `duologue models list` show the models worth downloading",
    "--version": "says the version",
    "--help": "lists the flags of a command",
    "--server": "tells `duologue say` which server to ask",
    "--system": "puts a system message before what `duologue say` says",
    "--thinking": "makes the model think first in `duologue say`",
    "--no-thinking": "keeps the model from thinking first in `duologue say`",
    "--chunk": "feeds `duologue parse` that many characters at a time",
}
"""Flags that set no setting."""

FIGURES = {
    "duologue_requests_total": "requests, by endpoint and outcome",
    "duologue_request_seconds": "the seconds from a request to the end of its answer",
    "duologue_first_token_seconds": "the seconds from a request to its first token",
    "duologue_queue_wait_seconds": "the seconds spent waiting for a slot",
    "duologue_tokens_total": "tokens, by kind: input, cached, output",
    "duologue_active_leases": "the slots lent now",
    "duologue_queue_length": "the requests waiting now",
    "duologue_worker_restarts_total": "workers started anew",
    "duologue_stage_seconds": "the seconds of a turn's stages: prefill and generate",
}

COMMANDS = {
    "duologue serve": "starts the server",
    "duologue setup": "finds a model that fits this machine, downloads it and makes it the one that answers",
    "duologue say": "asks the running server from a terminal",
    "duologue doctor": "looks whether a server can run here and says what to do",
    "duologue parse": "splits a model's raw output into reasoning, content and tool calls",
    "duologue models list": "lists the models that are here",
    "duologue models pull": "downloads a model",
    "duologue models rm": "removes a downloaded model",
    "make serve": "starts the server from the project's folder; the first time it installs what is needed",
    "make test": "runs all tests that can run on this machine",
    "make check": "checks format, lint, types and layout",
    "make web": "builds the page",
    "make install": "makes the environment in `.venv` with what the server needs",
    "make format": "formats the Python sources",
    "make clean": "removes the environment, the built page and caches",
    "make wheel": "builds an installable wheel with the page and the model inside",
}

FRAMES = {
    "queued": "a request has to wait; it tells the position and the estimated wait",
    "queue_update": "the place in the queue has changed",
    "queue_done": "the wait is over",
    "progress": "part of the prompt is read; it comes only when asked for",
    "prefill_done": "the prompt is read",
    "chunk": "a piece of the reply",
    "done": "the reply has ended, with its whole text",
    "error": "something was wrong; it carries a code and a sentence",
}
"""Types of messages on the chat socket."""

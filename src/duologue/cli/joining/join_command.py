"""The implementation of `duologue worker`: reads the settings of this machine, and keeps its workers running until it is stopped.

Owns what is decided once: the gateway's certificate, the key, the model that the gateway offers, the load specs. Each worker is a process
of its own (`joined_process.py`), which dies with this one.
"""

from __future__ import annotations

import hashlib
import logging
import os
import signal
import socket
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import TextIO

import anyio
import msgspec
from msgspec import Struct

from duologue import telemetry
from duologue.cli.joining.joined_process import JoinedProcess
from duologue.cli.progress import watch_on
from duologue.config import Settings, load
from duologue.config.sections.tracing import TracingSettings
from duologue.engines.hardware import list_cards, machine_limits
from duologue.errors import StartFailed
from duologue.gateway.workers.load_specs import copy_name, load_specs, voice_load_spec
from duologue.models.installed_packs import chosen_pack
from duologue.models.placement import CPU, Card
from duologue.tracing.spans import TraceSettings
from duologue.values.requests import ModelPreset
from duologue.wire.machines.join_protocol import MachineDevice
from duologue.wire.worker_protocol import LoadSpec
from duologue.worker.joined.certificate_pin import parse_fingerprint, trust_for
from duologue.worker.joined.exit_codes import NOT_LET_IN
from duologue.worker.joined.fetched_model import ADAPTERS, FOLDER, FetchedModel, fetch_model, unreachable
from duologue.worker.joined.gateway_address import GatewayAddress, parse_gateway
from duologue.worker.joined.join_spec import PREFIX, JoinSpec, read_key

log = logging.getLogger(__name__)


class JoinFlags(Struct, frozen=True):
    """The flags of the command. `settings`: those that are settings of this machine, by their dotted names."""

    url: str
    key: str = ""
    key_file: Path | None = None
    fingerprints: tuple[str, ...] = ()
    insecure_http: bool = False
    serve: str = ""
    voice: bool = False
    name: str = ""
    machine: str = ""
    config: Path | None = None
    settings: Mapping[str, object] = {}


def join(flags: JoinFlags, environ: Mapping[str, str], asides: TextIO) -> int:
    """Join with the workers of this machine, and keep them joined until a signal. Returns the exit code. Raises StartFailed and other
    Problems for what a person has to fix."""
    told = {name: value for name, value in environ.items() if name.startswith(PREFIX)}
    others = {name: value for name, value in environ.items() if name not in told}
    address = parse_gateway(flags.url, insecure_http=flags.insecure_http)
    key = read_key(
        flags.key or told.get(f"{PREFIX}KEY", ""), flags.key_file or _path(told.get(f"{PREFIX}KEY_FILE", ""))
    )
    fingerprints = tuple(map(parse_fingerprint, flags.fingerprints))
    settings = load(flags.config, others, flags.settings)
    telemetry.set_up_logging(settings.log.level, settings.log.format)
    tracing = _tracing(settings.tracing)
    cards = list_cards()
    specs = _specs(flags, settings, others, address, key, fingerprints, cards, asides)
    models = settings.data / "models"
    joins = [
        JoinSpec(
            str(address),
            key,
            spec,
            fingerprints,
            flags.insecure_http,
            flags.machine or socket.gethostname(),
            serve=flags.serve if _has_offered_adapters(spec, models) else "",
            folder=str(models),
            devices=_devices(cards),
            drain_s=settings.lifecycle.drain_s,
        )
        for spec in specs
    ]
    log_settings = f"{settings.log.level}:{settings.log.format}"
    return anyio.run(keep, [JoinedProcess(one, log_settings, tracing) for one in joins])


def _tracing(settings: TracingSettings) -> TraceSettings | None:
    """How the workers trace; None: not at all. Raises StartFailed where the extra is not installed."""
    if not settings.enabled:
        return None
    from duologue.tracing.opentelemetry_export import check_installed

    check_installed()
    return TraceSettings(settings.endpoint, settings.ratio, settings.service_name)


async def keep(processes: Sequence[JoinedProcess]) -> int:
    """Keep the workers running until a signal, until admins have removed all of them, or until one is refused. Returns the exit code."""
    left, code = len(processes), 0

    async def keep_one(process: JoinedProcess, scope: anyio.CancelScope) -> None:
        nonlocal left, code
        ended = await process.keep()
        left -= 1
        if ended == NOT_LET_IN:
            # They share the key and the gateway, so the others would be refused too.
            code = 1
        if code or not left:
            scope.cancel()

    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as signals:
        async with anyio.create_task_group() as listening:
            async with anyio.create_task_group() as tasks:
                for process in processes:
                    tasks.start_soon(keep_one, process, tasks.cancel_scope)
                listening.start_soon(_obey, signals, tasks.cancel_scope)
            listening.cancel_scope.cancel()
    return code


async def _obey(signals: AsyncIterator[signal.Signals], scope: anyio.CancelScope) -> None:
    """The first signal lets the workers finish, the second one ends everything at once."""
    asked = False
    async for number in signals:
        if asked:
            log.warning("%s again: the workers end at once", signal.Signals(number).name)
            logging.shutdown()
            os._exit(1)  # the workers die with this process
        asked = True
        log.info("%s: the workers finish what they are doing, then stop", signal.Signals(number).name)
        scope.cancel()


def _specs(
    flags: JoinFlags,
    settings: Settings,
    environ: Mapping[str, str],
    address: GatewayAddress,
    key: str,
    fingerprints: tuple[str, ...],
    cards: tuple[Card, ...],
    asides: TextIO,
) -> list[LoadSpec]:
    """The load specs of this machine's workers. Raises Problem."""
    if flags.voice:
        spec = voice_load_spec(settings, chosen_pack(settings.data))
        if spec is None:
            raise StartFailed(
                "This machine has no voice to serve: install it with pip install 'duologue[voice]'.",
                param="voice",
            )
        return [_named(spec, flags.name, 0)]
    served = None
    if flags.serve:
        try:
            trust = anyio.run(trust_for, address, fingerprints)
        except OSError as error:
            raise unreachable(address) from error
        served = fetch_model(address, key, trust, flags.serve, settings.data / "models", watch_on(asides))
        settings = load(flags.config, environ, {**flags.settings, **_flags_of(served)})
    elif fingerprints:
        _check_early(address, fingerprints)
    specs = load_specs(settings, lambda: cards)
    if served is not None:
        specs = [as_offered(spec, served, settings.data) for spec in specs]
    return [_named(spec, flags.name, number) for number, spec in enumerate(specs)]


def _check_early(address: GatewayAddress, fingerprints: tuple[str, ...]) -> None:
    """Reports a wrong fingerprint before a model is loaded. A gateway that cannot be reached yet is tried again later."""
    try:
        anyio.run(trust_for, address, fingerprints)
    except (OSError, TimeoutError) as error:
        log.warning("%s cannot be reached yet: %s", address, error or type(error).__name__)


def _flags_of(served: FetchedModel) -> dict[str, object]:
    """The settings that load the files of an offered model."""
    paths = {option: str(path) for option, path in served.paths.items()}
    return {"engine": served.offer.engine, "model": paths.get("model"), "mmproj": paths.get("mmproj")}


def as_offered(spec: LoadSpec, served: FetchedModel, data: Path) -> LoadSpec:
    """A load spec of this machine with the name, the preset and the options of the offer; flags of this machine take precedence. Writes the
    chat template that the gateway's admin chose."""
    offer = served.offer
    own = {name: value for name, value in spec.options.items() if value is not None}
    template = ""
    if offer.template:
        digest = hashlib.sha256(offer.template.encode()).hexdigest()
        file = data / "models" / FOLDER / f"{digest}.jinja"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(offer.template, "utf-8")
        template = str(file)
    return msgspec.structs.replace(
        spec,
        model=offer.name,
        options={**offer.options, **({ADAPTERS: served.loras} if served.loras else {}), **own},
        preset=spec.preset if spec.preset != ModelPreset() else offer.preset,
        template=template,
        task=offer.task,
    )


def _has_offered_adapters(spec: LoadSpec, models: Path) -> bool:
    """Whether the adapters are those of the offer, if it has some: those of this machine's own settings stay as they are."""
    adapters = spec.options.get(ADAPTERS) or {}
    return isinstance(adapters, dict) and all(
        Path(str(path)).is_relative_to(models / FOLDER) for path in adapters
    )


def _named(spec: LoadSpec, name: str, number: int) -> LoadSpec:
    """The spec with the name that a person gave its worker."""
    return msgspec.structs.replace(spec, worker=copy_name(name, number)) if name else spec


def _devices(cards: Sequence[Card]) -> tuple[MachineDevice, ...]:
    processor = MachineDevice(CPU, "processor", free=machine_limits().memory)
    return (processor, *(MachineDevice(card.device, card.name, free=card.free) for card in cards))


def _path(text: str) -> Path | None:
    return Path(text) if text else None

"""A scenario: what one caller does, step by step, read from a small YAML file.

    about: One sentence of what it is for.
    caller: {voice: en-us, noise: 30, echo: {level: -20, delay_ms: 120}, holds: true}
    start: {instructions: "..."}            # further fields of the call's first message
    vary: {voice: [en-us, en-us+f3]}        # run once for each
    times: 5
    steps:
      - say: What is [0.7] the capital of France?
        tag: [answered]
      - wait: spoken                        # until the reply to it is over
      - type: /say A long known text.
      - wait: {heard: 1.5}                  # until so many seconds of a reply were heard
      - cough: 0.2                          # seconds of it; hum: 0.45 is an mhm, or hum: {seconds: 0.6, pitch: 200}
      - press: button                       # or: chunk
      - mark: here                          # nothing is done; what is measured begins here
      - wait: 0.8                           # seconds

Unknown keys are refused: a scenario that does not do what it says would be worse than none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parent / "scenarios"
ACTIONS = ("say", "murmur", "cough", "hum", "type", "press", "mark", "wait")
WAITS = ("spoken", "speaking", "quiet", "answered")


@dataclass(frozen=True)
class Caller:
    """How the caller sounds and plays. `noise` is dB under their speech; `echo` (dB, seconds) is their loudspeaker in their
    microphone; `holds` False is a client of few words."""

    voice: str = "en-us"
    speed: float = 1.0
    noise: float | None = None
    echo: tuple[float, float] | None = None
    holds: bool = True


@dataclass(frozen=True)
class Step:
    """One thing the caller does. `value` is the text, the seconds, the wait; `tags` say what is measured of it."""

    action: str
    value: Any
    tags: frozenset[str] = frozenset()
    voice: str = ""
    gain: float = 0.0


@dataclass(frozen=True)
class Scenario:
    name: str
    about: str
    server: str = "bundled"
    """`bundled`: duologue-mini; `scripted`: the engine that answers by script."""
    caller: Caller = Caller()
    start: Mapping[str, Any] = field(default_factory=dict)
    times: int = 1
    steps: tuple[Step, ...] = ()


def read(folder: Path = FOLDER) -> list[Scenario]:
    """Every scenario of a folder, by name, each variation of it on its own."""
    return [
        each
        for file in sorted(folder.glob("*.yaml"))
        for each in variations(file.stem, yaml.safe_load(file.read_text("utf-8")))
    ]


def variations(name: str, body: Mapping[str, Any]) -> Iterator[Scenario]:
    """The scenarios of one file."""
    _known(name, body, ("about", "server", "caller", "start", "vary", "times", "steps"))
    base = Scenario(
        name,
        body["about"],
        body.get("server", "bundled"),
        _caller(name, body.get("caller", {})),
        body.get("start", {}),
        int(body.get("times", 1)),
        tuple(_step(name, step) for step in body["steps"]),
    )
    vary: Mapping[str, list[Any]] = body.get("vary", {})
    for step in base.steps:
        if step.action == "wait":
            _check_wait(name, step.value)
    varied = [base]
    for key, values in vary.items():
        varied = [_varied(each, key, value) for each in varied for value in values]
    yield from varied


def _varied(base: Scenario, key: str, value: Any) -> Scenario:
    told = f"{base.name} {key}={value}"
    if key == "say":
        steps = tuple(replace(step, value=value) if step.value == "$say" else step for step in base.steps)
        return replace(base, name=told, steps=steps)
    caller = _caller(base.name, {**_plain(base.caller), key: value})
    return replace(base, name=told, caller=caller)


def _plain(caller: Caller) -> dict[str, Any]:
    plain = {name: getattr(caller, name) for name in Caller.__dataclass_fields__}
    if caller.echo is not None:
        plain["echo"] = {"level": caller.echo[0], "delay_ms": caller.echo[1] * 1000}
    return plain


def _caller(name: str, body: Mapping[str, Any]) -> Caller:
    _known(name, body, tuple(Caller.__dataclass_fields__))
    given = dict(body)
    if echo := given.get("echo"):
        given["echo"] = (float(echo["level"]), float(echo["delay_ms"]) / 1000)
    return Caller(**given)


def _step(name: str, body: Mapping[str, Any]) -> Step:
    _known(name, body, (*ACTIONS, "tag", "voice", "gain"))
    [action] = [key for key in body if key in ACTIONS]
    tags = body.get("tag", [])
    return Step(
        action,
        body[action],
        frozenset([tags] if isinstance(tags, str) else tags),
        body.get("voice", ""),
        float(body.get("gain", 0.0)),
    )


def _check_wait(name: str, value: Any) -> None:
    if isinstance(value, Mapping):
        _known(name, value, ("heard",))
    elif not isinstance(value, int | float) and value not in WAITS:
        raise SystemExit(
            f"{name}: there is no wait {value!r}; there are {', '.join(WAITS)}, seconds and {{heard: seconds}}."
        )


def _known(name: str, body: Mapping[str, Any], keys: tuple[str, ...]) -> None:
    if odd := [key for key in body if key not in keys]:
        raise SystemExit(f"{name}: unknown {', '.join(map(str, odd))}; known are {', '.join(keys)}.")

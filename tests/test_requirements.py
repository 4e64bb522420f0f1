"""The lock in requirements/: it covers pyproject.toml and what the packages themselves need, wherever Duologue runs."""

from __future__ import annotations

import importlib.metadata
import re
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
REFRESH = "run make lock"
FILES = ("runtime", "voice", "postgres", "tracing", "s3", "development", "node")

PLATFORMS = {
    "linux": {"sys_platform": "linux", "platform_system": "Linux", "os_name": "posix"},
    "macos": {"sys_platform": "darwin", "platform_system": "Darwin", "os_name": "posix"},
}
ENVIRONMENTS = [
    pytest.param(
        {"python_version": version, "python_full_version": f"{version}.9", **platform}, id=f"{version}-{name}"
    )
    for version in ("3.11", "3.12", "3.13", "3.14")
    for name, platform in PLATFORMS.items()
]


class Pin(NamedTuple):
    """One entry of the lock."""

    name: str
    version: str
    marker: Marker | None
    hashes: int


def read_pins(*names: str) -> Iterator[Pin]:
    """The entries of these files of requirements/."""
    for name in names:
        text = (ROOT / f"requirements/{name}.txt").read_text()
        text = re.sub(r"^ *#.*\n", "", text, flags=re.MULTILINE).replace("\\\n", " ")
        for line in text.splitlines():
            requirement, *hashes = re.split(r"\s+--hash=sha256:", line.strip())
            parsed = Requirement(requirement)
            version = str(parsed.specifier).removeprefix("==")
            yield Pin(canonicalize_name(parsed.name), version, parsed.marker, len(hashes))


def select(pins: Iterable[Pin], environment: dict[str, str]) -> dict[str, str]:
    """The versions that an installer takes in this environment, by name."""
    active = [pin for pin in pins if pin.marker is None or pin.marker.evaluate(environment)]
    versions = {pin.name: pin.version for pin in active}
    assert len(versions) == len(active), f"a package is pinned twice; {REFRESH}"
    return versions


@cache
def read_project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def read_dependencies(*extras: str) -> list[Requirement]:
    project = read_project()["project"]
    lines = [*project["dependencies"], *read_project()["build-system"]["requires"]]
    for extra in extras:
        lines += project["optional-dependencies"][extra]
    return [Requirement(line) for line in lines]


def read_group(name: str) -> list[Requirement]:
    """A dependency group with the groups it includes."""
    requirements: list[Requirement] = []
    for entry in read_project()["dependency-groups"][name]:
        requirements += [Requirement(entry)] if isinstance(entry, str) else read_group(entry["include-group"])
    return requirements


def find_unmet(
    requirements: Iterable[Requirement], versions: dict[str, str], environment: dict[str, str]
) -> list[str]:
    """What no pin satisfies, of these requirements and of the requirements of the packages behind them.

    A package's own requirements are read where it is installed.
    """
    unmet = []
    pending = [(requirement, "") for requirement in requirements]
    seen = set()
    while pending:
        requirement, extra = pending.pop()
        if requirement.marker and not requirement.marker.evaluate(environment | {"extra": extra}):
            continue
        name = canonicalize_name(requirement.name)
        if name not in versions or not requirement.specifier.contains(versions[name], prereleases=True):
            unmet.append(f"{requirement} (pinned: {versions.get(name)})")
        for feature in ("", *requirement.extras):
            if (name, feature) not in seen:
                seen.add((name, feature))
                pending += [(dependency, feature) for dependency in read_installed(name)]
    return unmet


@cache
def read_installed(name: str) -> list[Requirement]:
    try:
        lines = importlib.metadata.requires(name) or []
    except importlib.metadata.PackageNotFoundError:
        return []
    return [Requirement(line) for line in lines]


@pytest.mark.parametrize("environment", ENVIRONMENTS)
@pytest.mark.parametrize(
    ("names", "requirements"),
    [
        pytest.param(("runtime",), read_dependencies(), id="text"),
        pytest.param(("runtime", "voice"), read_dependencies("voice"), id="voice"),
        pytest.param(("runtime", "postgres"), read_dependencies("postgres"), id="postgres"),
        pytest.param(("runtime", "voice", "tracing"), read_dependencies("tracing"), id="tracing"),
        pytest.param(("runtime", "s3"), read_dependencies("s3"), id="s3"),
        pytest.param(
            ("runtime", "voice", "postgres", "tracing", "s3", "development"),
            [*read_dependencies("voice", "postgres", "tracing", "s3"), *read_group("dev")],
            id="development",
        ),
    ],
)
def test_every_dependency_is_pinned_to_a_version_that_satisfies_it(
    names: tuple[str, ...], requirements: list[Requirement], environment: dict[str, str]
) -> None:
    versions = select(read_pins(*names), environment)
    assert find_unmet(requirements, versions, environment) == [], REFRESH


def test_every_pin_has_hashes() -> None:
    pins = list(read_pins(*FILES))
    assert len(pins) > 50
    assert [pin.name for pin in pins if not pin.hashes] == []


def test_no_package_is_pinned_in_two_files() -> None:
    names = [{pin.name for pin in read_pins(name)} for name in FILES]
    assert sum(map(len, names)) == len(set().union(*names)), REFRESH


@pytest.mark.parametrize("file", sorted((ROOT / "requirements").iterdir()), ids=lambda file: file.name)
def test_no_file_names_an_index(file: Path) -> None:
    """Each machine installs from the index it is set up for."""
    text = file.read_text()
    assert "://" not in text
    assert "index-url" not in text


def test_the_build_group_is_what_builds_the_package() -> None:
    assert read_project()["dependency-groups"]["build"] == read_project()["build-system"]["requires"]


def test_a_dependency_that_is_not_pinned_is_reported() -> None:
    """The check above finds what it is there for."""
    environment = {"python_version": "3.12", "python_full_version": "3.12.9", **PLATFORMS["linux"]}
    versions = select(read_pins("runtime"), environment)
    assert find_unmet([Requirement("no-such-package>=1")], versions, environment)
    assert find_unmet([Requirement("httpx>=999")], versions, environment)
    del versions["httpcore"]
    assert any("httpcore" in line for line in find_unmet([Requirement("httpx")], versions, environment))

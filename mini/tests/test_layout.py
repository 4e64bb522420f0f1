"""The layout of the workshop: which package may import which, and that only the evaluation imports the server."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parent.parent / "duologue_mini"
# A package may import those before it.
ORDER = (
    *(
        "scene",
        "text",
        "inquiries",
        "arithmetic",
        "editing",
        "passages",
        "system_prompts",
        "facts",
        "toolbox",
    ),
    *("conversation", "skills", "model", "data", "training", "evaluation"),
)
SOURCES = sorted(SOURCE.rglob("*.py"))


def imported_modules(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def name_of(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_a_package_imports_only_those_before_it(path: Path) -> None:
    package = name_of(path).partition("/")[0].removesuffix(".py")
    if package == "__init__":
        return
    allowed = set(ORDER[: ORDER.index(package) + 1])
    for module in imported_modules(path):
        top, _, rest = module.partition(".")
        if top == "duologue_mini":
            assert rest.partition(".")[0] in allowed, module


def test_only_the_evaluation_imports_the_server() -> None:
    importers = {
        name_of(path)
        for path in SOURCES
        if any(module.partition(".")[0] == "duologue" for module in imported_modules(path))
    }
    assert importers == {"evaluation/chat_model.py"}


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_every_module_has_a_docstring(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))

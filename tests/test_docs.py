"""The documentation, held to the code: what the server understands and says is in docs/, and every link leads somewhere."""

from __future__ import annotations

import ast
import importlib.util
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

from duologue.config import Settings
from duologue.config.settings_reference import all_settings
from duologue.engines.registry import LANGUAGE_ENGINES
from duologue.errors import Problem
from duologue.text.toolcalls.catalogue import TOOL_FORMATS
from duologue.values.events import Done, Event, Prefilled, Progress, Queued, Started, TextDelta, Timings
from duologue.values.messages import user
from duologue.values.requests import ChatRequest
from duologue.wire.chat import ChatFrame
from duologue.wire.chat_reply import ChatEncoder, error_message

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
SOURCE = ROOT / "src" / "duologue"
PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *DOCS.rglob("*.md"),
        *(ROOT / "mini").glob("*.md"),
        *(ROOT / "bench").rglob("*.md"),
    ]
)

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
# Paths and hosts of some machine it was written on, and marks of unfinished work.
FORBIDDEN = re.compile(
    r"/work/|/tmp/|/root/|/home/\w|file://|registry\.npmjs|pypi\.org/simple|\bTODO\b|\bTBD\b|\bFIXME\b|\bXXX\b",
    re.IGNORECASE,
)


@cache
def documentation() -> str:
    """All of docs/ as one text."""
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(DOCS.rglob("*.md")))


def unmentioned(names: set[str]) -> list[str]:
    """Those of `names` that no page of docs/ has as code, after an HTTP method or not; a path that ends in a slash may go
    on with any word."""
    ends = {name: "" if name.endswith("/") else r"[`\"|:=/{?\s]" for name in names}
    return sorted(
        name
        for name in names
        if not re.search(rf"[`\"|]([A-Z]+ )?{re.escape(name)}{ends[name]}", documentation())
    )


def test_every_setting_is_documented() -> None:
    assert not unmentioned({setting.name for setting in all_settings()})
    assert not unmentioned({setting.variable for setting in all_settings()})


def test_every_engine_and_tool_format_is_documented() -> None:
    assert not unmentioned({*LANGUAGE_ENGINES, *TOOL_FORMATS})


@pytest.mark.anyio
async def test_every_route_is_documented(tmp_path: Path) -> None:
    from duologue.conversations import service
    from duologue.conversations.api import router
    from duologue.gateway.app import Gateway
    from duologue.gateway.workers.load_specs import load_specs

    settings = Settings(engine="scripted", data=tmp_path)
    gateway = Gateway(settings, load_specs(settings), print)
    app = gateway.app
    async with service.opened(settings, generate=gateway.generate, resolve=gateway.models.resolve) as opened:
        app.include_router(router(opened))
    paths = {path for route in app.routes for path in paths_of(route)} | set(app.openapi()["paths"])
    assert {"/health", "/ws/chat", "/v1/chat/completions", "/api/runs/{run}/events"} <= paths
    # What stands in braces is a name of the endpoint's own.
    assert not unmentioned({path.partition("{")[0] for path in paths})


def paths_of(route: object) -> Iterator[str]:
    """The path of a route, or those of the router it stands for."""
    path = getattr(route, "path", "")
    if path:
        yield path
    router = getattr(route, "original_router", None) or getattr(route, "app", None)
    for inner in getattr(router, "routes", ()):
        yield from paths_of(inner)


def test_every_message_of_the_chat_socket_is_documented() -> None:
    said = [*everything_the_socket_says(), error_message(Problem("It broke."))]
    kinds = {found[1] for message in said if (found := re.match(r'\{"type":"(\w+)"', message))}
    assert {"queued", "prefill_done", "chunk", "done", "error"} <= kinds
    assert not unmentioned(kinds | {"cancel"})


def everything_the_socket_says() -> list[str]:
    """The messages of a reply that waited, showed its progress and ended, and of one that was cancelled."""
    frame = ChatFrame(ChatRequest((user("hello"),)), progress=True)
    encoder = ChatEncoder(frame, "a-model")
    waiting = Queued("q_1", 2, 3.0, 2)
    events: list[Event] = [
        waiting,
        waiting,
        Started("a-model"),
        Progress(1, 2),
        Prefilled(2),
        TextDelta("hello"),
        Done("stop"),
    ]
    return [*encoder.encode(events), ChatEncoder(frame, "a-model").cancelled(Timings())]


def test_every_message_of_the_duplex_socket_is_documented() -> None:
    source = (SOURCE / "wire" / "calls" / "duplex.py").read_text(encoding="utf-8")
    kinds = set(re.findall(r'(?:case|_json\() ?"(\w+)"', source)) | {"queued", "queue_update"}
    assert {"prepare", "audio_chunk", "result", "prepared", "stopped", "timeout"} <= kinds
    assert not unmentioned(kinds)


def test_every_message_of_the_voice_socket_is_documented() -> None:
    folder = SOURCE / "wire" / "calls"
    source = "".join(
        (folder / f"{name}.py").read_text(encoding="utf-8") for name in ("voice", "caller_messages")
    )
    kinds = set(re.findall(r'(?:case|_message\(|"type":)\s*"(\w+)"', source))
    assert {"start", "approval", "transcript", "tool", "approval_asked", "history"} <= kinds
    assert not unmentioned(kinds)


def test_every_error_code_is_documented() -> None:
    assert not unmentioned(set(problem_codes(Problem)) | set(codes_in_the_sources()))


def problem_codes(kind: type[Problem]) -> Iterator[str]:
    yield kind.code
    for inner in kind.__subclasses__():
        yield from problem_codes(inner)


def codes_in_the_sources() -> Iterator[str]:
    """The codes that are written where something fails."""
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (said := code_said_by(node)) is not None:
                yield from texts(said)


def code_said_by(node: ast.AST) -> ast.expr | None:
    """The expression of a code: `code=...` in a call, `code = ...`, or its place in the calls that take it by place."""
    if isinstance(node, ast.keyword) and node.arg == "code":
        return node.value
    if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "code":
        return node.value
    if isinstance(node, ast.Call) and node.args:
        place = {"Failed": 0, "standing.failed": 0, "Refuse": 0, "Refused": 1}.get(ast.unparse(node.func))
        return None if place is None else node.args[place]
    return None


def texts(node: ast.expr) -> Iterator[str]:
    """The words that an expression may be: a literal, or either arm of a choice."""
    if isinstance(node, ast.IfExp):
        yield from texts(node.body)
        yield from texts(node.orelse)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value:
        yield node.value


def test_every_state_of_the_default_model_is_a_documented_code() -> None:
    # `/ready` says model_STATE; the states are the first halves of what `model_state` returns.
    function = next(
        node
        for node in ast.walk(ast.parse((SOURCE / "gateway/admin/status.py").read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name == "model_state"
    )
    states = {
        state
        for node in ast.walk(function)
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple)
        for state in texts(node.value.elts[0])
    }
    assert {"loading", "failed"} <= states
    assert not unmentioned({f"model_{state}" for state in states - {"ready"}})


def test_the_metrics_are_documented_with_their_labels_and_no_others_are() -> None:
    from duologue.telemetry import KINDS, RESTART_CAUSES, UNLOAD_CAUSES, Metrics

    section = (DOCS / "running.md").read_text("utf-8").partition("### Metrics")[2].partition("\n### ")[0]
    rows = [line.split("|") for line in section.splitlines() if line.startswith("| `duologue_")]
    assert {row[1].strip(" `"): set(re.findall(r"`(\w+)`", row[2])) for row in rows} == Metrics().labels
    assert not {word for word in {*KINDS, *RESTART_CAUSES, *UNLOAD_CAUSES} if f"`{word}`" not in section}


def test_every_span_is_documented() -> None:
    section = (DOCS / "running.md").read_text("utf-8").partition("### Traces")[2].partition("\n## ")[0]
    names = set()
    for path in SOURCE.rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        if "duologue.tracing" in source or "tracing" in path.parts:
            names |= set(re.findall(r'spans\.(?:span|start)\(\s*"([\w ]+)"', source))
            names |= {f"worker {name}" for name in re.findall(r'^ +name = "(\w+)"$', source, re.MULTILINE)}
    assert {"queue wait", "prefill", "load model", "worker chat", "worker clip", "synthesis"} <= names
    assert not {name for name in names if f"`{name}`" not in section}


def test_the_import_tables_of_the_design_are_the_ones_that_are_checked() -> None:
    layout = layout_test()
    section = (DOCS / "design.md").read_text("utf-8").partition("## Who may import whom")[2]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in section.partition("\n## ")[0].splitlines()
        if line.startswith("| `")
    ]
    rooms = {row[0].strip("`"): set(re.findall(r"`(\w+)`", row[2])) for row in rows if len(row) == 3}
    packages = {row[0].strip("`"): set(re.findall(r"`(\w+)`", row[1])) for row in rows if len(row) == 2}
    assert rooms == {
        room: set() if isinstance(allowed, str) else set(allowed)
        for room, allowed in layout.MAY_IMPORT.items()
        if not room.startswith("__")
    }
    assert packages == {
        f"{room}/{package}": allowed - {""}
        for room, inside in layout.INSIDE.items()
        for package, allowed in inside.items()
        if package and allowed - {""}
    }


@pytest.mark.parametrize("name", ["docs/design.md", "CONTRIBUTING.md"])
def test_every_source_file_that_is_named_exists(name: str) -> None:
    named = set(
        re.findall(r"`((?:[\w-]+/)+[\w.-]+\.(?:py|ts|svelte|sh|yml))`", (ROOT / name).read_text("utf-8"))
    )
    # NAME stands for a file that the reader will make.
    named = {path for path in named if "NAME" not in path}
    assert named
    assert not {
        path for path in named if not any((root / path).exists() for root in (SOURCE, ROOT, ROOT / "web/src"))
    }


def test_the_map_of_the_design_has_every_package() -> None:
    section = (DOCS / "design.md").read_text("utf-8").partition("## The map")[2].partition("\n## ")[0]
    named = set(re.findall(r"`([\w/]+)`", section))
    packages = {path.parent.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("__init__.py")}
    # A room is named by itself or by each of its packages; migrations belong to the schema.
    missing = {
        package
        for package in packages - {"."}
        if package not in named and not any(other.startswith(f"{package}/") for other in named)
    }
    assert not {package for package in missing if "migrations" not in package}


def layout_test() -> ModuleType:
    """The module of the layout test, for its table."""
    spec = importlib.util.spec_from_file_location("layout", ROOT / "tests" / "test_layout.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "docs/running.md"])
def test_every_make_target_that_is_named_exists(name: str) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))
    named = set(
        re.findall(r"(?:^|[`\s(])make ([a-z]+)\b", code_of((ROOT / name).read_text(encoding="utf-8")))
    )
    assert named <= targets


def code_of(page: str) -> str:
    """What a page shows as code: words around it are prose, where "make" is a verb."""
    blocks = re.findall(r"^```.*?^```", page, re.MULTILINE | re.DOTALL)
    return "\n".join([*blocks, *re.findall(r"`[^`\n]+`", page)])


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(path: Path) -> None:
    links = [
        link for link in LINK.findall(path.read_text(encoding="utf-8")) if not re.match(r"[a-z]+:", link)
    ]
    assert not [link for link in links if not leads_somewhere(path, link)]


def leads_somewhere(page: Path, link: str) -> bool:
    name, _, heading = link.partition("#")
    target = (page.parent / name).resolve() if name else page
    if not target.exists() or not target.is_relative_to(ROOT):
        return False
    return not heading or heading in headings(target)


def headings(page: Path) -> set[str]:
    """The anchors of a page's headings, as they are made from the words."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_pages_name_no_machine_and_leave_nothing_open(path: Path) -> None:
    found = [match[0] for match in FORBIDDEN.finditer(path.read_text(encoding="utf-8"))]
    assert not found


def test_decisions_are_numbered_and_have_their_three_parts() -> None:
    decisions = sorted((DOCS / "decisions").glob("*.md"))
    assert [path.name[:5] for path in decisions] == [
        f"{number:04}-" for number in range(1, len(decisions) + 1)
    ]
    for path in decisions:
        titles = re.findall(r"^## (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
        assert titles == ["Context", "Decision", "Consequences"], path.name

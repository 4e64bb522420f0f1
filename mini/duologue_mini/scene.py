"""What a skill returns: a stretch of conversation with the system prompt and tools it needs."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class ToolUse:
    """One tool call and its result. `arguments` is a JSON object; `thought` precedes the call when thinking is on."""

    name: str
    arguments: dict[str, Any]
    result: str
    thought: str


@dataclass(frozen=True)
class Turn:
    """A user message and its answer; `thought` precedes the answer when thinking is on.

    `rounds` are the tool calls before the answer: rounds one after the other, the calls of a round in parallel.
    """

    user: str
    assistant: str
    thought: str
    exact: bool = False  # no typing mistakes: the answer copies the user's words
    after_thought: str | None = None  # the answer when thinking is on, if it may be shorter
    rounds: tuple[tuple[ToolUse, ...], ...] = ()


@dataclass(frozen=True)
class Scene:
    """Turns that belong together. `system` and `tools` are set only where the skill depends on them."""

    skill: str
    turns: list[Turn]
    system: str | None = None
    tools: list[dict[str, Any]] = field(default_factory=list)

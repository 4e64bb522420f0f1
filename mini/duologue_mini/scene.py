"""What a skill hands over: a stretch of conversation, and what it needs around it.

Knows neither wording nor template.
"""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class ToolUse:
    """One call and what came back. `arguments` is a JSON object; `thought` is what the model thinks before the call."""

    name: str
    arguments: dict[str, Any]
    result: str
    thought: str


@dataclass(frozen=True)
class Turn:
    """One question and its answer; `thought` is what the model thinks first when thinking is on.

    `rounds` are the calls made before the answer: one round after the other, the calls of one round at once.
    """

    user: str
    assistant: str
    thought: str
    exact: bool = False  # the user's words must not be garbled: the answer copies them
    after_thought: str | None = None  # the answer where thinking is on, when it may be shorter
    rounds: tuple[tuple[ToolUse, ...], ...] = ()


@dataclass(frozen=True)
class Scene:
    """Turns that belong together. `system` and `tools` are set only where the skill depends on them."""

    skill: str
    turns: list[Turn]
    system: str | None = None
    tools: list[dict[str, Any]] = field(default_factory=list)

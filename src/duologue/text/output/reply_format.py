"""How replies are written, by the name of a format or recognised in the source of a chat template, which is searched, never compiled.

`parse_trace`, `duologue parse` and `POST /v1/parse` read recorded replies by it, the scripted engine plays them.
"""

from __future__ import annotations

from msgspec import Struct

from duologue.text.output.reasoning_tags import KNOWN_TAGS, ReasoningTags, template_tags
from duologue.text.toolcalls.catalogue import ALIASES, guess_tool_format, tool_format

THOUGHTS = {
    "harmony": "<|channel|>analysis<|message|>",
    "kimi_k3": "<|open|>think<|sep|>",
    "inkling": "<|content_thinking|>",
    "muse_glimmer": "<|start|>assistant to=self<|message|>",
    "gemma4": "<|channel>",
    "seed_oss": "<seed:think>",
    "minimax_m3": "<mm:think>",
    "hunyuan_hy3": "<think:opensource>",
    "hunyuan_hy4": "<think:opensource>",
    "longcat_keys": "<longcat_think>",
    "k2_horizon": "<ifm|think>",
    "command": "<|START_THINKING|>",
    "apertus": "<|inner_prefix|>",
    "mistral": "[THINK]",
}
"""Formats all of whose models that think mark their thoughts in a way of their own: the opening marker."""
ANSWERS = {"hunyuan_a13b": "<answer>", "ernie45": "<response>"}
"""Formats whose models put the answer between markers."""


class ReplyFormat(Struct, frozen=True):
    """How a model writes: the name of its tool-call format, "" for none, and the markers around its thoughts."""

    format: str
    reasoning: ReasoningTags | None = ReasoningTags()

    @property
    def words(self) -> str:
        """What it is, for people."""
        calls = self.format or "no known tool-call format: calls are content"
        tags = self.reasoning
        return f"{calls}; thoughts in {tags.start} … {tags.end}" if tags else f"{calls}; no thoughts"


def recognised(template: str) -> ReplyFormat:
    """The format in the source of a chat template."""
    return ReplyFormat(guess_tool_format(template), template_tags(template))


def named_format(name: str, thoughts: str | None = None) -> ReplyFormat:
    """A format by its name or alias, "" for none. `thoughts`: the marker that opens a thought, "" for none; None for that of the
    models that use the format, `<think>` where it is not known. Raises BadRequest (`unknown_tool_format`)."""
    if name:
        tool_format(name)
    found = ALIASES.get(name, name)
    start = THOUGHTS.get(found, ReasoningTags().start) if thoughts is None else thoughts
    return ReplyFormat(found, tags_that_begin(start, ANSWERS.get(found, "")))


def tags_that_begin(start: str, mark: str = "") -> ReasoningTags | None:
    """The known markers of thoughts with this opening one and this `ReasoningTags.mark`, where there are such; None for an unknown
    marker."""
    found = [tags for tags in KNOWN_TAGS if tags.start == start]
    return next((tags for tags in found if tags.mark == mark), found[0] if found else None)

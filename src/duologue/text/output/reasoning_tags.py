"""The markers that model families put around their reasoning and their answers, and which of them a template uses.

`output/channels.py` splits replies by them, `templates/chat_template.py` finds them.
"""

from __future__ import annotations

import re

from msgspec import Struct


class ReasoningTags(Struct, frozen=True):
    """The markers around a model's reasoning. `other_starts` and `other_ends`: spellings that are read as well.
    `header`: what the family writes right after `start`; it is not part of the thought. `answers`: pairs of markers
    around the answer, which are no part of it. `closing`: what has to be written to end a thought where that is more
    than `end`. `mark`: what a template has besides these markers."""

    start: str = "<think>"
    end: str = "</think>"
    other_starts: tuple[str, ...] = ()
    other_ends: tuple[str, ...] = ()
    header: str = ""
    answers: tuple[tuple[str, str], ...] = ()
    closing: str = ""
    mark: str = ""
    built: str = ""
    """What a template has that puts the markers together from parts."""
    begins: str = ""
    """What is written to begin a thought where the prompt ends in a part of `start`."""
    inner: tuple[str, ...] = ()
    """Markers inside a thought that are dropped; what they mark is part of it."""
    sentences: bool = False
    """The markers are plain sentences: the first counts only as the reply's first text, the last only where a sentence begins."""

    @property
    def starts(self) -> tuple[str, ...]:
        """Every spelling of the opening marker."""
        return (self.start, *self.other_starts)

    @property
    def ends(self) -> tuple[str, ...]:
        """Every spelling of the closing marker."""
        return (self.end, *self.other_ends)


KNOWN_TAGS = (
    ReasoningTags(
        "<|open|>think<|sep|>",
        "<|close|>think<|sep|>",
        closing="<|close|>think<|sep|><|open|>response<|sep|>",
        built="open_tag('think'",
    ),
    ReasoningTags(
        "<|start|>assistant to=self<|message|>",
        "<|eom|>",
        other_ends=("<|eot|>",),
        closing="<|eom|><|start|>assistant to=user<|message|>",
        begins=" to=self<|message|>",
    ),
    ReasoningTags(
        "<|channel|>analysis<|message|>",
        "<|end|>",
        closing="<|end|><|start|>assistant<|channel|>final<|message|>",
    ),
    ReasoningTags(
        "<|content_thinking|>",
        "<|end_message|>",
        # What begins the next message, or ends the last one, is no part of the answer either.
        other_ends=("<|message_model|>", "<|content_text|>", "<|content_model_end_sampling|>"),
        closing="<|end_message|><|message_model|><|content_text|>",
    ),
    ReasoningTags("<|channel>", "<channel|>", header="thought\n"),
    ReasoningTags("<|plamo:begin_think:plamo|>", "<|plamo:end_think:plamo|>"),
    ReasoningTags(
        "<seed:think>",
        "</seed:think>",
        inner=("<seed:cot_budget_reflect>", "</seed:cot_budget_reflect>"),
    ),
    ReasoningTags("<mm:think>", "</mm:think>"),
    ReasoningTags("<longcat_think>", "</longcat_think>"),
    ReasoningTags("<think:opensource>", "</think:opensource>"),
    ReasoningTags(
        "<ifm|think>",
        "</ifm|think>",
        other_starts=("<ifm|think_fast>", "<ifm|think_faster>"),
        other_ends=("</ifm|think_fast>", "</ifm|think_faster>"),
    ),
    ReasoningTags("[THINK]", "[/THINK]"),
    ReasoningTags("◁think▷", "◁/think▷"),
    ReasoningTags(
        "<|START_THINKING|>",
        "<|END_THINKING|>",
        answers=(("<|START_RESPONSE|>", "<|END_RESPONSE|>"), ("<|START_TEXT|>", "<|END_TEXT|>")),
    ),
    ReasoningTags("<|inner_prefix|>", "<|inner_suffix|>"),
    ReasoningTags(
        "Here is my thought process:",
        "Here is my response:",
        other_starts=("Here's my thought process:",),
        other_ends=("Here's my response:",),
        sentences=True,
    ),
    ReasoningTags("<think>", "</think>", answers=(("<answer>", "</answer>"),), mark="<answer>"),
    ReasoningTags("<think>", "</think>", answers=(("<response>", "</response>"),), mark="<response>"),
    ReasoningTags("<think>", "</think>"),
)
"""In the order in which they are looked for; the most common ones are last, since other families mention them too."""

BUILT_TAG = re.compile(r"</?think\{\}>['\"]\.format\((\w+)\)")
"""Hunyuan's templates put one suffix, which a variable holds, behind the name of every tag."""


def template_tags(source: str) -> ReasoningTags | None:
    """The markers in a chat template's source; None if it has none."""
    if built := BUILT_TAG.search(source):
        suffix = re.search(rf"\bset\s+{built[1]}\s*=\s*['\"]([^'\"]*)['\"]", source)
        name = f"think{suffix[1] if suffix else ''}"
        return ReasoningTags(f"<{name}>", f"</{name}>")
    for tags in KNOWN_TAGS:
        markers = (tags.start,) if tags.closing else (*tags.starts, *tags.ends)
        written = tags.built or markers[0]
        if tags.mark in source and any(marker in source for marker in (*markers, written)):
            return tags
    return None

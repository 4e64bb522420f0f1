"""Whether a prompt leaves the model inside its reasoning. Used by a model turn, which splits the reply."""

from __future__ import annotations

import re

from duologue.text.output.reasoning_tags import ReasoningTags

WINDOW = 256
"""Characters that may follow an opening marker that still counts."""
OTHER_TAG = re.compile(r"<\S{1,30}>|\[\S{1,30}\]|◁\S{1,30}▷")


def starts_in_reasoning(prompt: str, tags: ReasoningTags | None, without: str | None = None) -> bool:
    """Whether a reply to `prompt` begins inside reasoning, because the prompt left it open.

    `without` is the same prompt rendered without the generation prompt: then only what the template added decides,
    and a marker in a message cannot mislead. Without it (a message left open) the last marker decides: it must be an
    opening one, near the end, with no other tag after it.
    """
    if tags is None:
        return False
    if without is not None and prompt.startswith(without):
        added = prompt[len(without) :]
        return _last(added, tags.starts)[0] > _last(added, tags.ends)[0]
    opened, behind = _last(prompt, tags.starts)
    if opened <= _last(prompt, tags.ends)[0]:
        return False
    return len(behind) <= WINDOW and OTHER_TAG.search(behind) is None


def _last(text: str, words: tuple[str, ...]) -> tuple[int, str]:
    """Where the last of these words begins, and the text after it; -1 if there is none."""
    at, word = max((text.rfind(word), word) for word in words)
    return at, text[at + len(word) :]

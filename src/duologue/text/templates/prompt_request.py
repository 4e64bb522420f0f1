"""What a chat template is given, what it returns, and what its source says about its model.

Values, without Jinja: `engines/templates` carries them to the process that renders and back.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from duologue.text.output.reasoning_tags import ReasoningTags
from duologue.text.output.reply_format import ReplyFormat
from duologue.values.messages import Message, Tool

TEMPLATE_ERROR = "template_error"
"""The code of everything that goes wrong in a template."""

PromptForm = Literal["reply", "full", "head", "open"]
"""What to render: "full" with the generation prompt, "head" without it, "reply" both; "open" leaves the last message, the
assistant's, open so that it can be continued."""


class PromptRequest(Struct, frozen=True):
    """One prompt. `thinking` None leaves the template its default; `variables` are the request's own and may set anything
    but messages and tools."""

    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()
    thinking: bool | None = None
    variables: dict[str, object] = {}
    form: PromptForm = "reply"


class RenderedPrompt(Struct, frozen=True):
    """`text` is the prompt. `head` is the prompt without the generation prompt where both were asked for, otherwise the
    same text. `format`: how the reply to it is written; None where the card and the template of the model say so."""

    text: str
    head: str
    format: ReplyFormat | None = None


class TemplateFacts(Struct, frozen=True):
    """What a model can do, as the source of its template tells."""

    takes_tools: bool
    """Whether the template renders tools."""
    tool_format: str
    """The name of the tool-call format in it; "" if none is recognised."""
    thinking_switch: bool
    """Whether thinking can be switched on and off."""
    reasoning: ReasoningTags | None
    """The markers that it puts around thoughts; None if it has none."""
    stop_strings: tuple[str, ...] = ()
    """Texts at which a reply ends, as the template itself sets them."""

    @property
    def thoughts(self) -> str:
        """The marker that opens a thought; "" if there is none."""
        return self.reasoning.start if self.reasoning is not None else ""

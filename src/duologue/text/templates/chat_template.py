"""Chat templates: render messages and tools to the prompt text that a model was trained on.

Converts messages to what templates expect, and reads from a template's source what the model can do (does it think, does
it take tools, how does it write calls). The Jinja environment is in `sandbox.py`. A template may be hostile: one that came
with a model is compiled and rendered only in the process of `engines/templates`, which can be killed.

Text of a user or a tool must not end its own message: a control marker of the model in it (`<|im_end|>`) gets a space
after its first character (`< |im_end|>`), so that the tokenizer reads it as plain text. System and assistant
messages, and tools, come from the API client and are rendered as they are. Markers that are ordinary text to the
tokenizer, such as `<think>` and `<tool_call>`, are left alone.

The content of a message is a text. Some templates, most of them of models that see, take a list of parts alone and would write
nothing of a text: they get a list of one part.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cached_property
from hashlib import sha256
from types import MappingProxyType
from typing import Any

from jinja2 import Template, TemplateError, TemplateSyntaxError, meta, nodes

from duologue.errors import BadRequest, Problem, Unsupported
from duologue.text.output.reasoning_tags import ReasoningTags, template_tags
from duologue.text.templates.prompt_request import (
    TEMPLATE_ERROR,
    PromptRequest,
    RenderedPrompt,
    TemplateFacts,
)
from duologue.text.templates.sandbox import BUDGET, Budget, Sandbox, VerbatimObject, check_size
from duologue.text.toolcalls.catalogue import guess_tool_format
from duologue.values.messages import Message, Tool

SOURCE = 1_000_000
"""Characters of a template's source; the longest known ones have 50,000."""
WORDS = 500
"""Characters of a template's own words that an error quotes."""

MAX_STOPS = 16
"""Stop strings that a template may set, as many as a request."""

THINKING_VARIABLES = ("enable_thinking", "thinking")
"""Names of the switch: most templates use the first, DeepSeek and Granite the second."""

TYPED_PARTS = re.compile(r"""\.type\b|\[\s*['"]type['"]\s*\]|\.get\(\s*['"]type['"]""")
"""How a template reads the type of a part."""
PROBE = "Ping"
"""The content of a message with which a template is tried."""

MISTRAL_CALLS = "[TOOL_CALLS]"
MISTRAL_ID = re.compile("[a-zA-Z0-9]{9}")

CONTROL_MARKER = re.compile(
    r"<\|[^|<>\s]{1,40}\|>|<｜[^｜<>\s]{1,40}｜>|<(?:start|end)_of_turn>|\[/?(?:INST|SYSTEM_PROMPT|TOOL_CALLS|AVAILABLE_TOOLS)\]"
    r"|<</?SYS>>|</?s>"
)
"""What looks like a control token in a template's source."""


class ChatTemplate:
    """The template of one model, compiled once. `bos` and `eos` are the texts of those tokens, `special` those of others by the name
    that templates know them by (`pad_token`).

    `control`: the model's control markers, neutralised in text of users and tools; None takes those in the template's
    source, an empty sequence switches this off. Raises Unsupported (`template_error`) if the template does not
    compile.
    """

    def __init__(
        self,
        source: str,
        *,
        bos: str = "",
        eos: str = "",
        special: Mapping[str, str] = MappingProxyType({}),
        control: Sequence[str] | None = None,
    ) -> None:
        if len(source) > SOURCE:
            raise Unsupported(
                f"The model's chat template cannot be read: it is longer than {SOURCE:,} characters.",
                code=TEMPLATE_ERROR,
            )
        self.source, self.bos, self.eos = source, bos, eos
        self._special = {**special, "bos_token": bos, "eos_token": eos}
        sandbox = Sandbox()
        try:
            self._template: Template = sandbox.from_string(source)
            tree = sandbox.parse(source)
            self._variables = frozenset(meta.find_undeclared_variables(tree))
            self.stop_strings = _stop_strings(tree)
        except TemplateSyntaxError as error:
            raise Unsupported(
                f"The model's chat template cannot be read: line {error.lineno}: {_quoted(error.message)}",
                code=TEMPLATE_ERROR,
            ) from error
        except (
            *(TemplateError, RecursionError, ValueError),
            *(TypeError, LookupError, ArithmeticError, AttributeError, SyntaxError),
        ) as error:
            # Constant expressions are evaluated when a template is compiled, and fail as any expression may.
            raise Unsupported(
                f"The model's chat template cannot be read: {_quoted(error)}", code=TEMPLATE_ERROR
            ) from error
        pattern_markers = CONTROL_MARKER.findall(source) if control is None else control
        token_texts = () if control is not None and not control else (bos, eos)
        markers = sorted(
            {marker for marker in (*pattern_markers, *token_texts) if len(marker) > 1}, key=len, reverse=True
        )
        self.control = tuple(markers)
        self._control = re.compile("|".join(map(re.escape, markers))) if markers else None

    @property
    def facts(self) -> TemplateFacts:
        """What the model can do."""
        return TemplateFacts(
            self.takes_tools, self.tool_format, self.thinking_switch, self.reasoning, self.stop_strings
        )

    @cached_property
    def typed(self) -> bool:
        """Whether messages must be lists of parts. Found out by rendering one message."""
        if TYPED_PARTS.search(self.source) is None:
            return False
        return not self._shows(PROBE) and self._shows([{"type": "text", "text": PROBE}])

    def _shows(self, content: object) -> bool:
        """Whether the content of a user's message comes through."""
        names = {
            **self._special,
            "messages": [{"role": "user", "content": content}],
            "tools": None,
            "add_generation_prompt": True,
            "strftime_now": datetime(2000, 1, 1).strftime,
            BUDGET: Budget(),
        }
        try:
            return PROBE in "".join(self._template.generate(names))
        except (
            *(TemplateError, RecursionError, TypeError, ValueError),
            *(LookupError, ArithmeticError, AttributeError, RuntimeError),
        ):
            return False

    @property
    def thinking_switch(self) -> bool:
        """Whether thinking can be switched on and off."""
        return any(name in self._variables for name in THINKING_VARIABLES)

    @property
    def takes_tools(self) -> bool:
        """Whether the template renders tools."""
        return "tools" in self._variables

    @property
    def tool_format(self) -> str:
        """The name of the tool-call format in the template; "" if none is recognised."""
        return guess_tool_format(self.source)

    @property
    def reasoning(self) -> ReasoningTags | None:
        """The markers that the template puts around thoughts; None if it has none."""
        return template_tags(self.source)

    def prompt(self, request: PromptRequest, now: datetime) -> RenderedPrompt:
        """The prompt of `request`, once or twice as its form asks. Raises as `render` and `render_open`."""
        if request.form == "open":
            text = self.render_open(
                request.messages,
                tools=request.tools,
                thinking=request.thinking,
                variables=request.variables,
                now=now,
            )
            return RenderedPrompt(text, text)
        dicts = self._dicts(request.messages)

        def render(*, generation_prompt: bool) -> str:
            return self._render(
                dicts, request.tools, generation_prompt, request.thinking, request.variables, now
            )

        head = render(generation_prompt=request.form == "full")
        return RenderedPrompt(render(generation_prompt=True) if request.form == "reply" else head, head)

    def render(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Tool] = (),
        generation_prompt: bool,
        thinking: bool | None,
        variables: Mapping[str, object] = {},
        now: datetime,
    ) -> str:
        """The prompt's text. `thinking` None leaves the template its default; `variables` are the request's own and
        may set anything but messages and tools. Raises BadRequest (`template_error`) with the template's message."""
        return self._render(self._dicts(messages), tools, generation_prompt, thinking, variables, now)

    def render_open(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Tool] = (),
        thinking: bool | None,
        variables: Mapping[str, object] = {},
        now: datetime,
    ) -> str:
        """The prompt with the last message, the assistant's, left open so that it can be continued. A message that
        consists of thoughts alone is left open inside them. Raises BadRequest if the last message is not the
        assistant's or has tool calls, Unsupported if the template does not show where the message ends."""
        if not messages or messages[-1].role != "assistant" or messages[-1].tool_calls:
            raise BadRequest(
                "To continue a message, the last one must be the assistant's, without tool calls.",
                param="messages",
            )
        dicts = self._dicts(messages)
        last = dicts[-1]
        mark = _absent_mark(dicts)
        field = "content" if last["content"] or not last.get("reasoning_content") else "reasoning_content"
        last[field] = str(last[field]) + mark
        prompt = self._render(dicts, tools, False, thinking, variables, now)
        cut = prompt.rfind(mark)
        if cut < 0:
            raise Unsupported(
                "This model's chat template cannot leave the last message open.", code=TEMPLATE_ERROR
            )
        return prompt[:cut]

    def neutral(self, text: str) -> str:
        """`text` with the model's control markers broken up."""
        if self._control is None:
            return text
        return self._control.sub(lambda marker: marker[0][0] + " " + marker[0][1:], text)

    def _render(
        self,
        messages: list[dict[str, Any]],
        tools: Sequence[Tool],
        generation_prompt: bool,
        thinking: bool | None,
        variables: Mapping[str, object],
        now: datetime,
    ) -> str:
        if self.typed:
            messages = [{**message, "content": _typed(message["content"])} for message in messages]
        names: dict[str, Any] = {**self._special, **variables}
        if thinking is not None:
            names["enable_thinking"] = thinking
            if "thinking" in self._variables:
                names["thinking"] = thinking
        names |= {
            "messages": messages,
            "tools": [_tool_dict(tool) for tool in tools] or None,
            "add_generation_prompt": generation_prompt,
            "strftime_now": now.strftime,
            BUDGET: Budget(),
        }
        pieces: list[str] = []
        size = 0
        try:
            for piece in self._template.generate(names):
                size += len(piece)
                check_size(size)
                pieces.append(piece)
        except TemplateError as error:
            raise _failed(error) from error
        except RecursionError as error:
            raise _failed("it calls itself without end") from error
        except (TypeError, ValueError, LookupError, ArithmeticError, AttributeError, RuntimeError) as error:
            # Errors of the template's own expressions, on these messages.
            raise _failed(f"{type(error).__name__}: {_quoted(error)}") from error
        return "".join(pieces)

    def _dicts(self, messages: Sequence[Message]) -> list[dict[str, Any]]:
        """The messages as templates expect them, tool results in the order of their calls."""
        names = {call.id: call.name for message in messages for call in message.tool_calls}
        return [self._dict(message, names) for message in in_call_order(messages)]

    def _dict(self, message: Message, names: Mapping[str, str]) -> dict[str, Any]:
        foreign = message.role in ("user", "tool")
        fields: dict[str, Any] = {
            "role": message.role,
            "content": self.neutral(message.text) if foreign else message.text,
        }
        if message.name is not None:
            fields["name"] = self.neutral(message.name)
        if message.reasoning is not None:
            fields["reasoning_content"] = message.reasoning
        if message.tool_calls:
            fields["tool_calls"] = [
                {
                    "type": "function",
                    "id": self._id(call.id),
                    "function": {"name": call.name, "arguments": _object(call.arguments)},
                }
                for call in message.tool_calls
            ]
        if message.tool_call_id is not None:
            fields["tool_call_id"] = self.neutral(self._id(message.tool_call_id))
            if message.name is None and message.tool_call_id in names:
                fields["name"] = names[message.tool_call_id]
        return fields

    def _id(self, id: str) -> str:
        """A call's id as the template accepts it: Mistral's raise an error for any but nine letters and digits, which only calls
        of its own models have."""
        if MISTRAL_CALLS not in self.source or MISTRAL_ID.fullmatch(id):
            return id
        return sha256(id.encode(errors="surrogatepass")).hexdigest()[:9]


def _stop_strings(tree: nodes.Template) -> tuple[str, ...]:
    """What a template sets as `stop_strings`: texts written out in it, outside of conditions and loops."""
    stops: object = ()
    for node in tree.body:
        if not isinstance(node, nodes.Assign) or not isinstance(node.node, nodes.Expr):
            continue
        if getattr(node.target, "name", "") == "stop_strings":
            try:
                stops = node.node.as_const()
            except nodes.Impossible:
                continue
    texts = (stops,) if isinstance(stops, str) else stops if isinstance(stops, list | tuple) else ()
    return tuple(text for text in texts if isinstance(text, str) and text)[:MAX_STOPS]


def in_call_order(messages: Sequence[Message]) -> list[Message]:
    """The messages, with each run of tool results in the order of the calls before it. Results of unknown calls
    follow in their own order."""
    ordered: list[Message] = []
    results: list[Message] = []
    places: dict[str | None, int] = {}
    for message in messages:
        if message.role == "tool":
            results.append(message)
            continue
        ordered += sorted(results, key=lambda result: places.get(result.tool_call_id, len(places)))
        results = []
        ordered.append(message)
        places = {call.id: index for index, call in enumerate(message.tool_calls)}
    return ordered + sorted(results, key=lambda result: places.get(result.tool_call_id, len(places)))


def _typed(content: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": content}] if content else []


def _failed(words: object) -> Problem:
    return BadRequest(
        f"The model's chat template refused these messages: {_quoted(words)}",
        code=TEMPLATE_ERROR,
        param="messages",
    )


def _quoted(words: object) -> str:
    """What a template, or an error about it, says, as part of a sentence: of any length and any characters there."""
    text = str(words)
    text = text if len(text) <= WORDS else text[:WORDS] + "…"
    return text.encode(errors="replace").decode()


def _absent_mark(messages: list[dict[str, Any]]) -> str:
    """A word that occurs in no message, to find the end of the last one."""
    text = json.dumps(messages, ensure_ascii=False, default=str)
    number = 0
    while f"ContinuesHere{number}" in text:
        number += 1
    return f"ContinuesHere{number}"


def _object(arguments: str) -> object:
    """The arguments as the object that templates loop over; unchanged if they are not an object."""
    try:
        value: object = json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments
    if isinstance(value, dict):
        return VerbatimObject(value, arguments)
    return value if isinstance(value, list) else arguments


def _tool_dict(tool: Tool) -> dict[str, Any]:
    parameters = tool.parameters or {"type": "object", "properties": {}}
    return {
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": parameters},
    }

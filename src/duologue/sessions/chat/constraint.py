"""Which shape a reply of a prompt engine is held to: calls of what is offered, JSON of a schema, or nothing.

Decides from the request alone. What a shape looks like is `text/output/reply_grammar.py`'s; whoever generates keeps to it.
"""

from __future__ import annotations

from duologue.text.output.channels import ReasoningTags
from duologue.text.output.reply_grammar import AllowedToolCalls, ReplyGrammar, Thought, held, offered
from duologue.values.messages import Tool
from duologue.values.requests import ChatRequest

ANY_OBJECT: dict[str, object] = {"type": "object"}


def offered_tools(request: ChatRequest) -> tuple[Tool, ...]:
    """The tools the model is told of."""
    return () if request.tool_choice == "none" else request.tools


def shape(
    request: ChatRequest, tool_format: str, tags: ReasoningTags | None, *, thinking: bool, unthinking: bool
) -> ReplyGrammar | None:
    """The grammar of what is written next; None where the engine's own format does better, or nothing is held. There is
    one grammar a reply. `thinking`: a thought stands open. `unthinking`: none may begin any more."""
    calls = _calls(request, tool_format)
    thought = None
    if tags is not None and (thinking or not (unthinking or request.thinking is False)):
        thought = Thought(tags, thinking)
    if request.tool_choice not in ("auto", "none"):
        return None if calls is None else held(calls, None, thought)
    if request.format is None:
        return None if calls is None else offered(calls)
    schema = ANY_OBJECT if request.format.kind == "json_object" else request.format.schema
    if schema is None or (calls is None and thought is None):
        return None
    return held(calls, schema or ANY_OBJECT, thought)


def _calls(request: ChatRequest, tool_format: str) -> AllowedToolCalls | None:
    """The calls that may be written."""
    kind, _, name = request.tool_choice.partition(":")
    tools = offered_tools(request)
    if kind == "function":
        tools = tuple(tool for tool in tools if tool.name == name)
    return (
        AllowedToolCalls(tool_format, tools, request.parallel_tool_calls) if tools and tool_format else None
    )

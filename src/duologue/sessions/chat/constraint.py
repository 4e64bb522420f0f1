"""Decides which grammar constrains a reply of a prompt engine: calls of the offered tools, JSON of a schema, or
nothing.

Decides from the request alone; the grammars are built by `text/output/reply_grammar.py`.
"""

from __future__ import annotations

from duologue.text.output.channels import ReasoningTags
from duologue.text.output.reply_grammar import (
    AllowedToolCalls,
    ReplyGrammar,
    ThoughtPrefix,
    constrained_reply,
    optional_tool_calls,
)
from duologue.values.messages import Tool
from duologue.values.requests import ChatRequest

ANY_OBJECT: dict[str, object] = {"type": "object"}


def offered_tools(request: ChatRequest) -> tuple[Tool, ...]:
    """The tools that the model is shown."""
    return () if request.tool_choice == "none" else request.tools


def reply_grammar(
    request: ChatRequest,
    tool_format: str,
    tags: ReasoningTags | None,
    *,
    thinking: bool,
    no_more_thoughts: bool,
) -> ReplyGrammar | None:
    """The grammar of what is written next; None if the engine's own format does better, or nothing is constrained. A
    reply has one grammar. `thinking`: a thought is open. `no_more_thoughts`: none may begin any more."""
    tool_calls = _tool_calls(request, tool_format)
    thought = None
    if tags is not None and (thinking or not (no_more_thoughts or request.thinking is False)):
        thought = ThoughtPrefix(tags, thinking)
    if request.tool_choice not in ("auto", "none"):
        return None if tool_calls is None else constrained_reply(tool_calls, None, thought)
    if request.format is None:
        return None if tool_calls is None else optional_tool_calls(tool_calls)
    schema = ANY_OBJECT if request.format.kind == "json_object" else request.format.schema
    if schema is None or (tool_calls is None and thought is None):
        return None
    return constrained_reply(tool_calls, schema or ANY_OBJECT, thought)


def _tool_calls(request: ChatRequest, tool_format: str) -> AllowedToolCalls | None:
    """The calls that may be written."""
    kind, _, name = request.tool_choice.partition(":")
    tools = offered_tools(request)
    if kind == "function":
        tools = tuple(tool for tool in tools if tool.name == name)
    return (
        AllowedToolCalls(tool_format, tools, request.parallel_tool_calls) if tools and tool_format else None
    )

"""Decides which grammar constrains a reply of a prompt engine: calls of the offered tools, JSON of a schema, or
nothing.

Decides from the request alone; the grammars are built by `text/output/reply_grammar.py`.
"""

from __future__ import annotations

from duologue.errors import BadRequest, Unsupported
from duologue.text.grammars.pattern_grammar import UnreadablePattern
from duologue.text.grammars.schema_grammar import JsonGrammar
from duologue.text.output.reasoning_tags import ReasoningTags
from duologue.text.output.reply_grammar import (
    AllowedToolCalls,
    ReplyGrammar,
    ThoughtPrefix,
    constrained_reply,
    optional_tool_calls,
)
from duologue.text.toolcalls import catalogue
from duologue.values.messages import Tool
from duologue.values.requests import ChatRequest, OutputFormat


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
    if not _is_ours(request.format):
        return None
    # Nobody takes white space away from what continues a raw prompt.
    return constrained_reply(tool_calls, request.format, thought, at_once=request.prompt is not None)


def check_constraint(request: ChatRequest, tool_format: str) -> None:
    """Raises BadRequest and Unsupported for what no reply can be held to, each with the field that asks for it."""
    if request.format is not None:
        _check_format(request, request.format)
    for at, tool in enumerate(request.tools):
        if tool.strict:
            _check_strict(tool, f"tools[{at}].function.strict", tool_format)


def _check_format(request: ChatRequest, format: OutputFormat) -> None:
    calls = bool(offered_tools(request))
    asked = request.thinking is True or (request.effort is not None and request.thinking is not False)
    thinks = (
        asked and request.prompt is None
    )  # what continues a raw prompt has no thoughts, whatever a preset says
    if calls and request.tool_choice != "auto":
        raise BadRequest(
            f"{format.param} and a forced tool_choice are mutually exclusive: a call is no such text.",
            param=format.param,
        )
    try:
        ours = _is_ours(format) and constrained_reply(None, format, None) is not None
    except UnreadablePattern as error:
        raise Unsupported(
            f"{format.param}: the pattern {error}. Write a simpler one, or a grammar.", param=format.param
        ) from None
    if ours or not (calls or thinks):
        return
    beside = "tools" if calls else "thinking"
    what = "a grammar" if format.kind == "grammar" else "this schema"
    raise Unsupported(
        f"{format.param}: {what} cannot be kept together with {beside}; leave out one of the two"
        + ("." if format.kind == "grammar" else ", or use the keywords that docs/compatibility.md lists."),
        param=format.param,
    )


def _check_strict(tool: Tool, where: str, tool_format: str) -> None:
    grammar = JsonGrammar()
    grammar.schema({"type": "object", **tool.parameters}, "arguments")
    if grammar.loose:
        raise Unsupported(
            f"{where}: the parameters of {tool.name!r} have keywords that cannot be enforced; docs/compatibility.md lists those "
            "that can. Leave out strict, or the keywords.",
            param=where,
        )
    if not tool_format or not catalogue.tool_format(tool_format).trigger:
        raise Unsupported(
            f"{where}: this model's calls cannot be held to a schema; leave out strict.", param=where
        )


def _is_ours(format: OutputFormat) -> bool:
    """Whether a grammar of ours may hold it: a caller's own is the engine's."""
    return format.kind in ("json_object", "regex", "choice") or (
        format.kind == "json_schema" and format.schema is not None
    )


def _tool_calls(request: ChatRequest, tool_format: str) -> AllowedToolCalls | None:
    """The calls that may be written."""
    kind, _, name = request.tool_choice.partition(":")
    tools = offered_tools(request)
    if kind == "function":
        tools = tuple(tool for tool in tools if tool.name == name)
    return (
        AllowedToolCalls(tool_format, tools, request.parallel_tool_calls) if tools and tool_format else None
    )

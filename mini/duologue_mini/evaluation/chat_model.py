"""A loaded model file that answers conversations, through xllamacpp and the server's own tool-call grammar.

The only module that imports the server. Several threads may ask at the same time.
"""

import json
import re
import secrets
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import xllamacpp
from duologue.engines.llama.request import grammar_fields
from duologue.text.output.reply_grammar import AllowedToolCalls, optional_tool_calls
from duologue.values.messages import Tool

from duologue_mini.evaluation.heldout import Reply as Said
from duologue_mini.evaluation.heldout import ToolCall
from duologue_mini.model.chat_template import render

MOST_TOKENS = 500
CALL = re.compile(r"<tool_call>\s*(.*?)\s*</tool_call>", re.DOTALL)
REPEATS = 5
"""This many repetitions of a stretch in a row count as a loop."""


@dataclass(frozen=True)
class ModelReply:
    """One reply of the model."""

    thought: str
    text: str
    calls: tuple[ToolCall, ...]
    ended: bool
    """Whether the model ended the turn itself."""
    broken_calls: int
    """Calls that are not a JSON object with a name and arguments, or were never closed."""

    @property
    def checked(self) -> Said:
        """The reply as the checks of the hand-written cases take it."""
        return Said(self.text, self.calls)

    @property
    def loops(self) -> bool:
        """Whether a stretch of it repeats over and over."""
        return bool(re.search(rf"(.{{6,80}}?)\1{{{REPEATS - 1}}}", self.thought + self.text, re.DOTALL))

    @property
    def message(self) -> dict[str, Any]:
        """The reply as a message of the next request."""
        message: dict[str, Any] = {"role": "assistant", "content": self.text}
        if self.thought:
            message["reasoning_content"] = self.thought
        if self.calls:
            message["tool_calls"] = [
                {"type": "function", "function": {"name": call.name, "arguments": call.arguments}}
                for call in self.calls
            ]
        return message


def parse_reply(output: str, ended: bool) -> ModelReply:
    """Splits raw output into thought, text and calls."""
    thought, closed, rest = output.rpartition("</think>")
    if not closed:
        thought, rest = ("", output) if "<think>" not in output else (output, "")
    calls, broken = [], 0
    for block in CALL.findall(rest):
        call = _call(block)
        broken += call is None
        calls.append(call or ToolCall("", None))
    text = CALL.sub("", rest)
    broken += "<tool_call>" in text
    return ModelReply(thought.replace("<think>", "").strip(), text.strip(), tuple(calls), ended, broken)


def _call(text: str) -> ToolCall | None:
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        return None
    good = (
        isinstance(value, dict)
        and isinstance(value.get("name"), str)
        and isinstance(value.get("arguments"), dict)
    )
    return ToolCall(value["name"], value["arguments"]) if good else None


@dataclass(frozen=True)
class Timing:
    """The duration of one request in seconds, and the number of tokens generated."""

    seconds: float
    tokens: int


class ChatModel:
    """A model file in the engine; greedy unless a temperature is given, None takes the one in the file. `free_calls` turns
    the tool-call grammar off."""

    def __init__(
        self,
        path: Path,
        *,
        slots: int = 1,
        threads: int = 2,
        temperature: float | None = 0.0,
        free_calls: bool = False,
    ) -> None:
        self.temperature = temperature
        self.free_calls = free_calls
        params = xllamacpp.CommonParams()
        params.model.path = str(path)
        params.n_ctx = 4096 * slots
        params.n_parallel = slots
        params.cpuparams.n_threads = threads
        params.cpuparams_batch.n_threads = threads
        params.warmup = False
        params.verbosity = -1
        params.ui = False
        params.api_keys = [secrets.token_hex(16)]
        self.server = xllamacpp.Server(params)

    def reply(
        self, messages: list[dict[str, Any]], tools: list[dict[str, Any]], *, thinking: bool
    ) -> ModelReply:
        """Answers these messages."""
        prompt = render(messages, tools, enable_thinking=thinking, add_generation_prompt=True)
        choice = self._complete(prompt, MOST_TOKENS, **self._grammar_fields(tools))["choices"][0]
        return parse_reply(choice["text"], choice["finish_reason"] == "stop")

    def _grammar_fields(self, tools: list[dict[str, Any]]) -> dict[str, Any]:
        """The request fields of the tool-call grammar that the server uses."""
        if not tools or self.free_calls:
            return {}
        functions = [tool.get("function") or tool for tool in tools]
        declarations = [
            Tool(one["name"], one.get("description", ""), one.get("parameters", {})) for one in functions
        ]
        grammar = optional_tool_calls(AllowedToolCalls("hermes", tuple(declarations)))
        if grammar is None:  # a format whose calls begin like text; ours does not
            return {}
        return {**grammar_fields(grammar), "preserved_tokens": [grammar.trigger]}

    def time_request(self, prompt: str, tokens: int) -> Timing:
        """Times one request for at most so many tokens."""
        began = time.perf_counter()
        answer = self._complete(prompt, tokens, ignore_eos=True)
        return Timing(time.perf_counter() - began, answer["usage"]["completion_tokens"])

    def _complete(self, prompt: str, tokens: int, **more: object) -> dict[str, Any]:
        request = {"prompt": prompt, "max_tokens": tokens, "seed": 1, **more}
        if self.temperature is not None:
            request["temperature"] = self.temperature
        answer: dict[str, Any] = self.server.handle_completions(request)
        if "choices" not in answer:
            raise RuntimeError(f"the engine refuses: {answer}")
        return answer

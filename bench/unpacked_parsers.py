"""Loads the streaming parsers of vLLM and SGLang from their unpacked wheels, without their GPU parts. `bench_parsers.py` uses it.

Their code is run as it was published. What a parser imports and does not need to parse a text (tensors, configuration, the
server's request models) is replaced by empty stand-ins in `sys.modules`.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterable, Mapping
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, Protocol

REAL = (
    "vllm.tool_parsers",
    "vllm.parser.",
    "vllm.reasoning.",
    "vllm.utils.mistral",
    "sglang.srt.function_call",
    "sglang.srt.parser",
    "sglang.srt.environ",
)
"""What is loaded from the wheels. Of the rest of the two packages there are stand-ins alone."""
ABSENT = ("torch", "transformers", "xgrammar", "openai_harmony", "mistral_common", "openai")


class Anything(type):
    """The class of stand-in classes: any attribute of one is another."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything(name, (Nothing,), {})

    def __or__(cls, other: object) -> Any:
        return cls

    __ror__ = __or__


class Nothing(metaclass=Anything):
    """A stand-in: takes any arguments, has any method, is false."""

    def __init__(self, *arguments: object, **named: object) -> None:
        vars(self).update(named)

    def __call__(self, *arguments: object, **named: object) -> Any:
        return arguments[0] if arguments and callable(arguments[0]) else Nothing()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Nothing()

    def __class_getitem__(cls, item: object) -> Any:
        return cls

    def __bool__(self) -> bool:
        return False

    def model_dump(self, **_: object) -> dict[str, Any]:
        return {key: value for key, value in vars(self).items() if value is not None}


class DeltaMessage(Nothing):
    """vLLM's delta. Its own is a pydantic model, which costs them more than this."""

    content: str | None = None
    reasoning: str | None = None
    tool_calls: Iterable[Any] = ()


class DeltaFunctionCall(Nothing):
    name: str | None = None
    arguments: str | None = None


class DeltaToolCall(Nothing):
    index = 0
    function: Any = None


_numbers = count()
GIVEN: dict[str, dict[str, object]] = {
    "vllm.entrypoints.generate.base.protocol": {
        "DeltaMessage": DeltaMessage,
        "DeltaFunctionCall": DeltaFunctionCall,
        "DeltaToolCall": DeltaToolCall,
    },
    "vllm.renderers.chat_utils": {
        "make_tool_call_id": lambda *_, **__: f"call_{next(_numbers)}",
        "get_tool_call_id_type": lambda *_, **__: "random",
    },
    "vllm.envs": {
        "VLLM_ENFORCE_STRICT_TOOL_CALLING": False,
        "VLLM_TOOL_PARSE_REGEX_TIMEOUT_SECONDS": 1,
    },
    "mistral_common.tokens.tokenizers.base": {
        "SpecialTokens": SimpleNamespace(
            tool_calls=SimpleNamespace(value="[TOOL_CALLS]"),
            args=SimpleNamespace(value="[ARGS]"),
            begin_think=SimpleNamespace(value="[THINK]"),
            end_think=SimpleNamespace(value="[/THINK]"),
        )
    },
    "vllm.exceptions": {"VLLMValidationError": ValueError},
    "vllm.utils.mistral": {"is_mistral_tokenizer": lambda _: False},
}
"""The few things of those modules that parsing does need."""


class StandIn(ModuleType):
    """A module in which every name is a stand-in class."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = Anything(name, (Nothing,), {})
        setattr(self, name, value)
        return value


class StandIns(MetaPathFinder, Loader):
    """Finds stand-ins for what is not REAL of the two packages, and for ABSENT."""

    def __init__(self, folders: Mapping[str, Path]) -> None:
        self._folders = folders

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        package = name.split(".")[0]
        ours = package in self._folders or package in ABSENT
        if not ours or (name not in GIVEN and any(f"{name}.".startswith(real) for real in REAL)):
            return None
        return ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = StandIn(spec.name)
        package, *rest = spec.name.split(".")
        folder = self._folders.get(package)
        module.__path__ = [str(folder.joinpath(package, *rest))] if folder else []
        vars(module).update(GIVEN.get(spec.name, {}))
        return module

    def exec_module(self, module: ModuleType) -> None:
        pass


def use(vllm: Path | None, sglang: Path | None) -> None:
    """Make the unpacked wheels importable. Raises SystemExit where what they need to parse is not installed."""
    folders = {name: path for name, path in (("vllm", vllm), ("sglang", sglang)) if path is not None}
    for name, path in folders.items():
        if not path.joinpath(name).is_dir():
            raise SystemExit(f"{path} has no folder {name}: unpack the wheel there (see --help).")
    missing = [
        name
        for name in ("regex", "orjson", "partial_json_parser", "ijson", "pydantic")
        if find_spec(name) is None
    ]
    if folders and missing:
        raise SystemExit(f"Their parsers need {', '.join(missing)}: see --help.")
    sys.meta_path.insert(0, StandIns(folders))


class Read:
    """What a parser made of a text."""

    def __init__(self) -> None:
        self.content: list[str] = []
        self.reasoning: list[str] = []
        self.calls: dict[int, tuple[list[str], list[str]]] = {}

    def add_call(self, index: int, name: str | None, arguments: str | None) -> None:
        names, pieces = self.calls.setdefault(index, ([], []))
        if name:
            names.append(name)
        if arguments:
            pieces.append(arguments)

    def summary(self) -> tuple[str, str, list[tuple[str, object]]]:
        """The content and the reasoning without white space at their ends, and the calls with their arguments' values."""
        calls = [("".join(name), _value("".join(pieces))) for name, pieces in self.calls.values()]
        return "".join(self.content).strip(), "".join(self.reasoning).strip(), calls


def _value(text: str) -> object:
    try:
        return json.loads(text or "{}")
    except ValueError:
        return f"not JSON: {text[:40]}"


class Parser(Protocol):
    """A streaming parser of one reply."""

    def feed(self, piece: str, token: int) -> None: ...

    def finish(self) -> Read: ...


class VllmParser:
    """vLLM's, called as its server calls it: with the whole text and all tokens so far, each piece being one token."""

    def __init__(
        self, module: str, name: str, vocabulary: Mapping[str, int], tools: list[dict[str, Any]]
    ) -> None:
        made = getattr(importlib.import_module(f"vllm.{module}"), name)
        declared = importlib.import_module("vllm.entrypoints.openai.chat_completion.protocol")
        texts = {number: text for text, number in vocabulary.items()}
        tokenizer = SimpleNamespace(
            get_vocab=lambda: dict(vocabulary),
            encode=lambda *_, **__: [0],
            decode=lambda tokens, **_: "".join(texts.get(token, "") for token in tokens),
        )
        given = [
            declared.ChatCompletionToolsParam(type="function", function=SimpleNamespace(**tool))
            for tool in tools
        ]
        self._thinks = module.startswith("reasoning")
        self._parser = made(tokenizer) if self._thinks else made(tokenizer, given)
        self._request = SimpleNamespace(tools=given, tool_choice="auto", skip_special_tokens=False)
        self._text = ""
        self._before: list[int] = []
        self._tokens: list[int] = []
        self._read = Read()

    def feed(self, piece: str, token: int) -> None:
        before = self._text
        self._text = before + piece
        self._tokens.append(token)
        given = (before, self._text, piece, self._before, self._tokens, [token])
        if self._thinks:
            self._add(self._parser.extract_reasoning_streaming(*given))
        else:
            self._add(self._parser.extract_tool_calls_streaming(*given, self._request))
        self._before.append(token)

    def _add(self, delta: Any) -> None:
        if delta is None:
            return
        if delta.content:
            self._read.content.append(delta.content)
        if delta.reasoning:
            self._read.reasoning.append(delta.reasoning)
        for call in delta.tool_calls or ():
            function = call.function
            if isinstance(function, dict):
                self._read.add_call(call.index, function.get("name"), function.get("arguments"))
            elif function is not None:
                self._read.add_call(call.index, function.name, function.arguments)

    def finish(self) -> Read:
        if hasattr(self._parser, "finish_streaming"):
            self._add(self._parser.finish_streaming())
        elif not self._thinks and (rest := self._parser.get_remaining_unstreamed_args()):
            self._read.add_call(len(self._read.calls) - 1, None, rest)
        return self._read


class SglangParser:
    """SGLang's, called as its server calls it: with each new piece."""

    def __init__(self, module: str, name: str, tools: list[dict[str, Any]]) -> None:
        made = getattr(importlib.import_module(f"sglang.srt.{module}"), name)
        self._given = [
            SimpleNamespace(type="function", function=SimpleNamespace(strict=None, key_order=[], **tool))
            for tool in tools
        ]
        self._thinks = module.startswith("parser")
        self._parser = made()
        self._read = Read()

    def feed(self, piece: str, token: int) -> None:
        if self._thinks:
            self._add(self._parser.parse_streaming_increment(piece))
        else:
            self._add(self._parser.parse_streaming_increment(piece, self._given))

    def _add(self, found: Any) -> None:
        if found.normal_text:
            self._read.content.append(found.normal_text)
        if self._thinks:
            if found.reasoning_text:
                self._read.reasoning.append(found.reasoning_text)
            return
        for call in found.calls:
            self._read.add_call(call.tool_index, call.name, call.parameters)

    def finish(self) -> Read:
        if self._thinks:
            self._add(self._parser.finish())
        else:
            self._add(self._parser.finish(self._given))
        return self._read

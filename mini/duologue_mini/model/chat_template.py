"""Renders messages with the chat template that ships inside the GGUF, as a server does."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment

TEMPLATE_PATH = Path(__file__).with_name("chat_template.jinja")


def template_text() -> str:
    """The template's source, as it is stored in the model file."""
    return TEMPLATE_PATH.read_text(encoding="utf-8").strip()


@cache
def _compile() -> jinja2.Template:
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    environment.filters["tojson"] = lambda value: json.dumps(value, ensure_ascii=False)
    return environment.from_string(template_text())


def render(
    messages: list[dict[str, Any]],
    tools: list[dict[str, Any]] | None = None,
    *,
    enable_thinking: bool = False,
    add_generation_prompt: bool = False,
) -> str:
    """The exact text the model reads for these messages."""
    return _compile().render(
        messages=messages,
        tools=tools,
        enable_thinking=enable_thinking,
        add_generation_prompt=add_generation_prompt,
    )

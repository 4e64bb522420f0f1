"""What a model on llama.cpp says of itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from duologue.engines.llama.card import llama_card
from duologue.engines.llama.generation import ModelFacts
from duologue.engines.llama.memory_plan import LlamaOptions, Plan
from duologue.models.gguf.header import GgufHeader
from duologue.text.templates.chat_template import ChatTemplate
from duologue.text.templates.chatml import CHATML
from duologue.values.requests import ModelCard

PLAIN = "{% for message in messages %}{{ message.content }}{% endfor %}"
HERMES = "{% for message in messages %}{{ message.content }}{% endfor %}{% for tool in tools %}<tool_call>{{ tool | tojson }}{% endfor %}arguments"
PLAN = Plan(slots=2, context=4096, threads=1, batch=512, prompt_cache=0, flash_attention=False)


def card(template: str = CHATML, **options: object) -> ModelCard:
    header = GgufHeader(
        path=Path("/models/small-q8_0.gguf"),
        architecture="llama",
        name="Small",
        parameters=1_236_000_000,
        size=700,
        quantisation="Q8_0",
        tokenizer="gpt2",
        vocabulary=32_000,
        trained_context=8192,
    )
    asked = LlamaOptions(model="m.gguf", **options)  # type: ignore[arg-type]
    facts = ModelFacts(2048, {"temperature": 0.5}, (), 1, modalities=("image",))
    return llama_card(header, asked, PLAN, facts, ChatTemplate(template).facts, ("Slow.",))


def test_it_has_the_files_facts_and_the_engines_own() -> None:
    made = card()
    assert (made.name, made.engine, made.description) == (
        "small-q8_0",
        "llama",
        "Small, 1.2 billion parameters, Q8_0",
    )
    assert (made.context, made.trained_context, made.slots) == (2048, 8192, 2)
    assert made.defaults["temperature"] == 0.5
    assert made.warnings == ("Slow.",)
    assert made.modalities == ("text", "image")
    assert card(name="mine").name == "mine"


@pytest.mark.parametrize(("template", "able"), [(PLAIN, False), (HERMES, True), (CHATML, True)])
def test_a_call_can_be_offered_and_forced_where_the_template_writes_calls_we_read(
    template: str, able: bool
) -> None:
    assert ({"tools", "tool_choice"} <= set(card(template).verbs)) is able
    assert bool(card(template).tool_format) is able


def test_a_model_whose_tokens_are_guessed_reports_no_logprobs() -> None:
    assert "logprobs" in card().verbs
    assert "logprobs" not in card(speculative="ngram_mod").verbs

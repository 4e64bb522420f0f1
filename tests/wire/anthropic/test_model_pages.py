"""Models in pages, as Anthropic's clients ask for them."""

import json
from typing import Any

import pytest

from duologue.errors import BadRequest
from duologue.values.requests import ModelCard
from duologue.wire.anthropic.model_pages import model_info, model_page

CARDS = [ModelCard(name, "scripted", 2048) for name in "abcd"]
ALIASES = {"claude": CARDS[0]}


def page(**fields: Any) -> tuple[list[str], bool]:
    told = json.loads(model_page(CARDS, ALIASES, 1700000000, **fields))
    names = [model["id"] for model in told["data"]]
    ends = (names[0], names[-1]) if names else (None, None)
    assert (told["first_id"], told["last_id"]) == ends
    return names, told["has_more"]


def test_pages_forwards_and_backwards() -> None:
    assert page() == (["a", "b", "c", "d", "claude"], False)
    assert page(limit=2) == (["a", "b"], True)
    assert page(limit=2, after="b") == (["c", "d"], True)
    assert page(limit=2, after="d") == (["claude"], False)
    assert page(limit=2, before="claude") == (["c", "d"], True)
    assert page(limit=2, before="c") == (["a", "b"], False)
    assert page(after="claude") == ([], False)


def test_an_id_that_is_none_is_named() -> None:
    with pytest.raises(BadRequest, match="after_id: there is no model 'x'"):
        page(after="x")


def test_a_model_and_what_it_can_do() -> None:
    card = ModelCard(
        "mini", "llama", 4096, modalities=("text", "image"), verbs=("format", "thinking", "effort")
    )
    told: Any = model_info(card, 1700000000, "claude")
    assert (told["id"], told["display_name"], told["root"]) == ("claude", "claude (mini)", "mini")
    assert (told["created_at"], told["max_input_tokens"]) == ("2023-11-14T22:13:20Z", 4096)
    can = told["capabilities"]
    assert all(can[name]["supported"] for name in ("image_input", "structured_outputs", "thinking", "effort"))
    assert not can["batch"]["supported"]

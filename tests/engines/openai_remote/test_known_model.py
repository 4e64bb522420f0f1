"""What an upstream is asked about its model, what is kept when it falls silent, and the card made of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import anyio
import pytest

from duologue.engines.openai_remote import known_model
from duologue.engines.openai_remote.engine import RemoteOptions
from duologue.engines.openai_remote.known_model import KnownModel, ask, card_of
from duologue.errors import EngineFailed
from duologue.values.requests import UpstreamModel

pytestmark = pytest.mark.anyio
OPTIONS = RemoteOptions("http://box")
NOTHING = KnownModel(UpstreamModel(""))
SEES = {"capabilities": ["completion", "vision", "tools"]}


class Box:
    """An upstream; `listed` None: it is down."""

    shown = "http://box/v1"

    def __init__(self, *listed: Mapping[str, Any], said: object = None) -> None:
        self.listed: tuple[Mapping[str, Any], ...] | None = listed
        self.said = said
        self.is_silent = False

    async def models(self) -> dict[str, Mapping[str, Any]]:
        if self.is_silent:
            await anyio.sleep_forever()
        if self.listed is None:
            raise EngineFailed("It is down.")
        return {entry["id"]: entry for entry in self.listed}

    async def detail(self, path: str, body: object) -> bytes:
        return b"" if self.said is None else json.dumps(self.said).encode()


async def asked(box: Box, before: KnownModel = NOTHING, options: RemoteOptions = OPTIONS) -> KnownModel:
    return await ask(box, options, before)  # type: ignore[arg-type]


async def test_the_model_that_is_listed_first_stays_whatever_is_first_later() -> None:
    box = Box({"id": "a", "max_model_len": 4096}, {"id": "b"})
    known = await asked(box)
    assert (known.model, known.answers) == (UpstreamModel("a", 4096), True)
    box.listed = ({"id": "b"}, {"id": "a", "max_model_len": 8192})
    assert (await asked(box, known)).model == UpstreamModel("a", 8192)


async def test_a_server_that_does_not_answer_keeps_what_it_said_and_has_a_warning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    box = Box({"id": "a", "owned_by": "library"}, said=SEES)
    known = await asked(box)
    box.listed = None
    down = await asked(box, known)
    assert (down.model, down.kind, down.answers) == (known.model, "ollama", False)
    assert down.warnings == ("It is down.",)
    monkeypatch.setattr(known_model, "MODELS_TIMEOUT", 0.0)
    box.is_silent = True
    assert (await asked(box, known)).warnings == ("http://box/v1 does not answer.",)


async def test_what_it_does_not_say_this_time_was_said_before_unless_it_is_another_kind_of_server() -> None:
    box = Box({"id": "a", "owned_by": "library"}, said=SEES)
    known = await asked(box)
    assert (known.model.modalities, known.model.tools) == (("text", "image"), True)
    box.said = None
    assert (await asked(box, known)).model == known.model
    box.listed = ({"id": "a", "owned_by": "vllm"},)
    assert (await asked(box, known)).model == UpstreamModel("a")


async def test_a_model_that_is_not_listed_is_a_warning_that_ends_when_it_is() -> None:
    box = Box({"id": "b"})
    wanted = KnownModel(UpstreamModel("a"))
    assert "does not list the model 'a'. It has: b." in (await asked(box, wanted)).warnings[0]
    box.listed = ()
    assert "lists no models" in (await asked(box, wanted)).warnings[0]
    box.listed = ({"id": "a"},)
    assert (await asked(box, wanted)).warnings == ()


def test_a_card_has_the_word_of_the_settings_before_that_of_the_server() -> None:
    known = KnownModel(UpstreamModel("a", 4096, ("text", "image"), tools=False), "vllm", ("Careful.",))
    card = card_of(OPTIONS, known)
    assert (card.name, card.context, card.modalities, card.untold) == ("a", 4096, ("text", "image"), ())
    assert "tools" not in card.verbs
    assert "continue" in card.verbs, "as vLLM can"
    assert card.warnings == ("Careful.",)
    said = card_of(RemoteOptions("http://box", name="mine", context=99, modalities=("audio",)), known)
    assert (said.name, said.context, said.modalities) == ("mine", 99, ("text", "audio"))


def test_of_an_unknown_model_the_card_has_the_name_of_the_host_and_a_picture_is_tried() -> None:
    card = card_of(OPTIONS, NOTHING)
    assert (card.name, card.modalities, card.untold) == ("box", ("text",), ("image",))


async def test_a_service_whose_list_does_not_say_it_is_known_by_its_host() -> None:
    options = RemoteOptions("https://api.openai.com/v1")
    known = await known_model.ask(Box({"id": "gpt-4o", "owned_by": "system"}), options, NOTHING)  # type: ignore[arg-type]
    assert known.kind == "openai"
    assert "top_k" not in card_of(options, known).sampling

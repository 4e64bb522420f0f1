"""The catalogue of models worth downloading is sound data."""

from __future__ import annotations

import re

from duologue.models.hub.reference import HubReference, check_file_name, parse
from duologue.models.hub.repository import HubFile, Repository, Variant, projector_of, quantisation_of
from duologue.models.recommended import BILLION, MILLION, READ_TOOL_FORMATS, RECOMMENDED
from duologue.text.toolcalls.catalogue import ALIASES, TOOL_FORMATS


def test_every_model_is_found_by_its_name_and_lies_in_a_repository() -> None:
    for model in RECOMMENDED:
        meant = parse(model.name)
        assert meant == HubReference(model.repository, expected=model.file)
        assert parse(model.repository) == HubReference(model.repository)
        check_file_name(model.file)


def test_names_are_unique_and_lower_case() -> None:
    names = [model.name for model in RECOMMENDED]
    assert len(set(names)) == len(names)
    assert all(name == name.lower() for name in names)


def test_sizes_go_with_the_quantisation_in_the_file_name() -> None:
    for model in RECOMMENDED:
        bits = model.size * 8 / model.parameters
        known = quantisation_of(HubFile(model.file, 0))
        low, high = {
            "Q8_0": (8, 9),
            "Q4_K_M": (4.5, 6.5),
            "UD-Q4_K_M": (4.5, 6.5),
            "Q4_0": (4, 5.5),
            "MXFP4": (4, 5),
        }[known]
        assert low <= bits <= high, model.name


def test_there_is_a_first_choice_for_small_and_for_large_machines() -> None:
    choices = [model.parameters for model in RECOMMENDED if model.first_choice]
    assert min(choices) < 700 * MILLION
    assert max(choices) > 30 * BILLION


def test_first_choices_are_free_and_can_call_tools() -> None:
    for model in RECOMMENDED:
        if model.first_choice:
            assert model.licence in ("Apache-2.0", "MIT")
            assert {"tools", "thinking"} <= set(model.abilities)


def test_a_mixture_uses_fewer_parameters_than_it_has() -> None:
    for model in RECOMMENDED:
        assert 0 < model.active_parameters <= model.parameters


def test_every_figure_has_a_source() -> None:
    for model in RECOMMENDED:
        named = {"about", "file", *(("projector",) if model.projector else ())}
        assert named <= model.sources.keys() <= {*named, "licence"}, model.name
        assert all(address.startswith("https://") for address in model.sources.values()), model.name


def test_what_sees_or_hears_names_the_projector_that_a_download_would_take() -> None:
    for model in RECOMMENDED:
        assert bool(model.projector) == bool(model.projector_size) == (model.vision or model.sound), (
            model.name
        )
        assert model.download_size == model.size + model.projector_size
        if model.projector:
            files = (HubFile(model.file, model.size), HubFile(model.projector, model.projector_size))
            chosen = projector_of(Repository(model.repository, "", files), Variant(files[:1], ""))
            assert chosen == files[1], model.name
            assert model.projector_size < model.size, model.name


def test_digests_dates_and_order_are_as_they_should_be() -> None:
    for model in RECOMMENDED:
        assert re.fullmatch(r"([0-9a-f]{64})?", model.sha256), model.name
        assert re.fullmatch(r"20\d\d-(0[1-9]|1[0-2])", model.released), model.name
    sizes = [model.size for model in RECOMMENDED]
    assert sizes == sorted(sizes)


def test_languages_are_counted_and_named_by_their_tags() -> None:
    known = [model.languages for model in RECOMMENDED if model.languages is not None]
    assert known
    for languages in known:
        assert languages.count >= max(1, len(languages.named))
        assert all(re.fullmatch("[a-z]{2,3}(-[A-Z][A-Za-z]+)?", tag) for tag in languages.named)


def test_only_tool_calls_that_are_read_are_an_ability() -> None:
    read = {*TOOL_FORMATS, *ALIASES}
    assert {model.tools for model in RECOMMENDED} & read == READ_TOOL_FORMATS
    for model in RECOMMENDED:
        assert ("tools" in model.abilities) == (model.tools in read)

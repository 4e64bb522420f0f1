"""The catalogue of models worth downloading is sound data."""

from __future__ import annotations

from duologue.models.hub.reference import HubReference, check_file_name, parse
from duologue.models.hub.repository import HubFile, quantisation_of
from duologue.models.recommended import BILLION, MILLION, RECOMMENDED


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
        low, high = {"Q8_0": (8, 9), "Q4_K_M": (4.5, 6.5), "MXFP4": (4, 5)}[known]
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

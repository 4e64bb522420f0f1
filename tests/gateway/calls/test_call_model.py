"""Who answers a call, and how: a model by itself where it can and works, otherwise a cascade, with a sentence where that differs."""

from duologue.gateway.calls.call_model import (
    CallModel,
    by_itself,
    chosen,
    is_native,
    no_eyes,
    other_seat,
    sees,
    unused_tools,
)
from duologue.values.messages import Tool
from duologue.values.requests import ModelCard

MINI = ModelCard("mini", "scripted", 2048)
SEEING = ModelCard("seeing", "scripted", 2048, modalities=("text", "image"))
OMNI = ModelCard("omni", "scripted", 8192, modalities=("text", "image", "audio"), verbs=("duplex",))
DEAF = ModelCard("hearing", "scripted", 8192, modalities=("text", "audio"), verbs=("duplex",))
FAR = ModelCard("far", "remote", 8192, verbs=("duplex",), upstream="away")


def works(model: str) -> str:
    return ""


def omni_fails(model: str) -> str:
    return "The card was lost." if model == "omni" else ""


def test_a_call_is_native_where_its_model_holds_calls_by_itself():
    assert chosen(OMNI, [MINI, OMNI], works, cascade=True).native
    found = chosen(MINI, [MINI, OMNI], works, cascade=True)
    assert (found.card, found.native, found.note) == (MINI, False, "")


def test_a_model_that_will_hold_calls_once_it_is_loaded_is_waited_for():
    coming = ModelCard("coming", "qwen_omni", 0)
    assert chosen(coming, [MINI, coming], works, cascade=True).native
    assert by_itself([MINI, coming], seeing=True) is coming
    assert by_itself([coming, DEAF], seeing=True) is DEAF
    assert not is_native(coming)
    reader = ModelCard("reader", "qwen_omni", 4096, verbs=("count",))
    assert not chosen(reader, [reader], works, cascade=True).native


def test_where_that_model_fails_a_cascade_takes_its_place_and_says_why():
    found = chosen(OMNI, [OMNI, MINI], omni_fails, cascade=True)
    assert (found.card, found.native) == (MINI, False)
    assert "The card was lost." in found.note
    assert "mini answers instead" in found.note


def test_without_a_voice_or_another_model_the_failing_one_is_asked_and_refuses():
    assert chosen(OMNI, [OMNI, MINI], omni_fails, cascade=False).native
    assert chosen(OMNI, [OMNI, FAR], omni_fails, cascade=True).native


def test_tools_for_a_call_that_calls_none_are_told():
    lamp = Tool("lamp", "Switches the lamp.", {})
    assert "calls no tools" in unused_tools(CallModel(OMNI, native=True), [lamp])
    assert unused_tools(CallModel(OMNI, native=True), []) == ""
    assert unused_tools(CallModel(MINI), [lamp]) == ""


def test_a_duplex_client_that_names_nobody_gets_the_first_model_of_this_machine_that_can():
    assert by_itself([MINI, FAR, DEAF, OMNI], seeing=False) is DEAF
    assert by_itself([MINI, FAR, DEAF, OMNI], seeing=True) is OMNI
    assert by_itself([MINI, DEAF], seeing=True) is DEAF
    assert by_itself([MINI, FAR], seeing=True) is None


def test_what_a_model_that_loads_will_see_nobody_knows():
    assert sees(SEEING)
    assert not sees(MINI)
    assert sees(ModelCard("coming", "", 0))


def test_whose_pictures_nobody_sees_is_told_who_would():
    problem = no_eyes(MINI, [MINI, SEEING], field="start (model)", param="image")
    assert (problem.code, problem.param) == ("modality_unsupported", "image")
    assert "Name seeing in start (model)" in problem.message
    assert "Load a model" in no_eyes(MINI, [MINI], field="x", param="image").message


def test_a_model_that_needs_another_seat_is_refused_with_the_address_for_it():
    problem = other_seat("adx_1", MINI, OMNI)
    assert (problem.code, problem.status) == ("session_model_fixed", 409)
    assert "/ws/duplex/adx_1?model=mini" in problem.message
    assert "held by the model omni" in problem.message
    assert "seat of the server's voice" in other_seat("x", OMNI, None).message

"""Requests as values: what was asked for can be told from what was not."""

from __future__ import annotations

from duologue.values.messages import ImagePart, Message, TextPart, Tool, VideoPart, user
from duologue.values.requests import ChatRequest, MediaOptions, ModelCard, Sampling, unapplied_media, unmet


def test_nothing_is_asked_for_by_default() -> None:
    assert Sampling().asked() == ()


def test_what_was_asked_for_is_named_in_the_order_of_the_fields() -> None:
    assert Sampling(seed=7, temperature=0.5, max_tokens=3).asked() == ("max_tokens", "temperature", "seed")


def test_zero_false_and_empty_are_asked_for() -> None:
    asked = Sampling(temperature=0.0, ignore_eos=False, logprobs=0, samplers=()).asked()
    assert set(asked) == {"temperature", "ignore_eos", "logprobs", "samplers"}


IMAGE = Message("user", (TextPart("look"), ImagePart(b"x")))


def test_a_model_that_can_do_all_that_is_asked_lacks_nothing():
    assert unmet(ModelCard("m", "llama", 1), ChatRequest((user("hi"),))) is None


def test_the_first_part_a_model_cannot_take_is_named():
    lack = unmet(ModelCard("m", "llama", 1), ChatRequest((user("hi"), IMAGE)))
    assert lack is not None
    assert lack.param == "messages[1].content[1]"
    assert "image" in lack.message


def test_tools_are_no_lack_when_none_may_be_called():
    request = ChatRequest((user("hi"),), tools=(Tool("f"),), tool_choice="none")
    assert unmet(ModelCard("m", "llama", 1), request) is None


def test_media_options_are_named_by_engines_that_do_not_apply_them():
    clip = Message("user", (VideoPart(b"x", stack_frames=3, frame_rate=2.0),))
    request = ChatRequest((clip,), media=MediaOptions(1, image_ids=True, interleave=True))
    deaf = ModelCard("m", "llama", 1)
    names = ("max_slices", "image_ids", "interleave", "stack_frames", "frame_rate")
    assert unapplied_media(deaf, request) == names
    assert unapplied_media(ModelCard("m", "omni", 1, media_options=names), request) == ()
    assert unapplied_media(deaf, ChatRequest((user("hi"),), media=MediaOptions(image_ids=False))) == ()

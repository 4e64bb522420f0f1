"""Which methods answer a request, and how each is left."""

import queue
import sys
import types

import numpy
import pytest
from tests.support.minicpmo_stand_in import PatchedModel, StockModel, Tensor

from duologue.engines.minicpmo.model_messages import ModelMessage
from duologue.engines.minicpmo.reply_methods import (
    MOST_TOKENS,
    SILENCE,
    ReplyOptions,
    array_of,
    bound_silence,
    cached_tokens,
    choose_methods,
)
from duologue.errors import DeviceLost
from duologue.values.requests import Sampling

HELLO = [ModelMessage("user", ("Hello",))]
VOICE = numpy.full(16_000, 0.3, numpy.float32)


@pytest.mark.parametrize(
    ("kind", "speaks", "used"),
    [
        (StockModel, False, {"chat"}),
        (StockModel, True, {"streaming_prefill", "streaming_generate"}),
        (PatchedModel, False, {"non_streaming_prefill", "streaming_generate"}),
        (PatchedModel, True, {"non_streaming_prefill", "streaming_generate"}),
    ],
)
def test_the_methods_are_those_that_the_object_has(kind, speaks, used):
    model = kind()
    model.init_token2wav_cache(VOICE)
    methods = choose_methods(model, ReplyOptions(speaks=speaks))
    tokens = methods.prefill(HELLO)
    pieces = list(methods.pieces())
    assert used <= set(model.names())
    assert not ({"chat", "streaming_prefill", "non_streaming_prefill"} - used) & set(model.names())
    assert (
        len(
            "".join(piece.text for piece in pieces)
            .replace("<|tts_eos|>", "")
            .replace("<|im_end|>", "")
            .split()
        )
        == 30
    )
    assert any(piece.pcm for piece in pieces) is speaks
    assert (tokens is None) is (used == {"chat"})


def test_a_reply_has_a_limit_even_if_none_is_asked_for():
    assert ReplyOptions().arguments()["max_new_tokens"] == MOST_TOKENS
    assert ReplyOptions(Sampling(max_tokens=3)).arguments()["max_new_tokens"] == 3


def test_only_what_was_asked_for_is_passed_on():
    assert ReplyOptions().arguments().keys() == {"max_new_tokens", "do_sample", "enable_thinking"}


def test_a_closed_stream_of_generate_stops_at_once():
    model = PatchedModel(1000)
    methods = choose_methods(model, ReplyOptions())
    methods.prefill(HELLO)
    pieces = methods.pieces()
    next(pieces)
    pieces.close()
    assert model.generated == 10


def test_a_closed_stream_of_chat_is_read_to_its_end_so_that_its_thread_has_ended():
    model = StockModel(200)
    methods = choose_methods(model, ReplyOptions())
    methods.prefill(HELLO)
    pieces = methods.pieces()
    next(pieces)
    pieces.close()
    assert model.generated == 200
    model.reset_session()  # would fail in a second thread


def test_a_stream_whose_thread_has_failed_is_given_up_with_its_worker(monkeypatch):
    """The published code waits in a queue for that thread."""

    class Failed:
        def __iter__(self):
            return self

        def __next__(self):
            raise queue.Empty

    monkeypatch.setattr(StockModel, "chat", lambda model, **how: Failed())
    methods = choose_methods(StockModel(), ReplyOptions())
    methods.prefill(HELLO)
    with pytest.raises(DeviceLost, match="wrote nothing for 120 seconds"):
        list(methods.pieces())


def test_the_wait_for_that_thread_gets_an_end(monkeypatch):
    made: list[float] = []
    code = types.ModuleType("modeling_minicpmo")
    monkeypatch.setitem(sys.modules, "modeling_minicpmo", code)
    model = type("Model", (), {"__module__": "modeling_minicpmo"})()
    bound_silence(model)
    vars(code)["TextIteratorStreamer"] = lambda tokenizer, timeout=None: made.append(timeout)
    bound_silence(model)
    vars(code)["TextIteratorStreamer"](tokenizer=None)
    assert made == [SILENCE]


def test_a_version_that_does_not_stream_gives_its_reply_as_a_whole(monkeypatch):
    monkeypatch.setattr(StockModel, "chat", lambda model, **how: "All at once.")
    methods = choose_methods(StockModel(), ReplyOptions())
    methods.prefill(HELLO)
    assert [piece.text for piece in methods.pieces()] == ["All at once."]


def test_what_a_method_does_not_take_is_told():
    sampling = Sampling(length_penalty=1.1)
    assert choose_methods(StockModel(), ReplyOptions(sampling)).unapplied == ("length_penalty",)
    assert choose_methods(StockModel(), ReplyOptions(sampling, speaks=True)).unapplied == ()
    assert choose_methods(StockModel(), ReplyOptions(image_ids=True, speaks=True)).unapplied == ("image_ids",)
    assert choose_methods(PatchedModel(), ReplyOptions(sampling, image_ids=True)).unapplied == ()


def test_the_beginning_of_a_reply_counts_as_its_prompt(monkeypatch):
    model = PatchedModel()
    tokenizer = types.SimpleNamespace(encode=str.split)
    monkeypatch.setattr(model, "processor", types.SimpleNamespace(tokenizer=tokenizer))
    model.init_token2wav_cache(VOICE)
    for options, more in (
        (ReplyOptions(), 4),
        (ReplyOptions(speaks=True), 5),
        (ReplyOptions(thinking=True), 2),
    ):
        prompt = choose_methods(model, options).prefill(HELLO)
        assert prompt is not None
        assert prompt - model.cache.tokens == more


def test_arrays_and_tensors_are_taken_alike():
    assert array_of(VOICE) is VOICE
    assert array_of(Tensor(VOICE)) is VOICE


def test_a_model_that_does_not_count_its_cache_is_not_asked_twice():
    assert cached_tokens(object()) is None
    assert cached_tokens(StockModel()) == 0

"""The two versions of a duplex session, called directly: what each is told, and what the published one needs done around it."""

import numpy
import pytest
from tests.support.minicpmo_stand_in import PatchedModel, StockModel

from duologue.engines.contracts import DuplexOptions
from duologue.engines.minicpmo.duplex_methods import DuplexPrompt, PatchedDuplex, StockDuplex, choose_duplex
from duologue.errors import Unsupported
from duologue.values.requests import Sampling

LOUD = numpy.full(16_000, 0.3, numpy.float32)
QUIET = numpy.zeros(16_000, numpy.float32)


def unit(duplex, sound, *, listens: bool = False) -> dict:
    assert duplex.prefill(sound, (), 1)["success"]
    result = duplex.generate(listens=listens)
    duplex.finalize()
    return result


def test_the_object_tells_which_version_it_is():
    assert isinstance(choose_duplex(StockModel()), StockDuplex)
    assert isinstance(choose_duplex(PatchedModel()), PatchedDuplex)


def test_the_wrapper_of_the_published_code_is_made_once_and_again_for_another_window():
    model = StockModel()
    duplex = choose_duplex(model)
    for window in (None, None, 4000, 4000, None):
        duplex.prepare(DuplexPrompt("x"), DuplexOptions(window=window))
        duplex.leave()
    assert model.wrappers == 3
    made = [how for name, how in model.calls if name == "as_duplex"]
    assert made == [
        {},
        {"sliding_window_mode": "basic", "basic_window_high_tokens": 4000, "basic_window_low_tokens": 3000},
        {},
    ]


def test_leaving_before_a_session_began_does_nothing():
    for model in (StockModel(), PatchedModel()):
        choose_duplex(model).leave()


def test_force_is_of_one_unit_and_keeps_what_the_model_was_loaded_with():
    model = StockModel()
    duplex = choose_duplex(model)
    duplex.prepare(DuplexPrompt("x"), DuplexOptions())
    wrapper = model.last_wrapper
    assert wrapper is not None
    wrapper.force_listen_count = 2
    unit(duplex, LOUD, listens=True)
    assert wrapper.force_listen_count == 2
    assert unit(duplex, QUIET)["is_listen"]
    unit(duplex, LOUD)
    assert not unit(duplex, QUIET)["is_listen"]


def test_a_failure_while_it_listens_by_force_leaves_no_force_behind():
    model = StockModel()
    duplex = choose_duplex(model)
    duplex.prepare(DuplexPrompt("x"), DuplexOptions())
    duplex.prefill(LOUD, (), 1)
    model.fails["duplex.streaming_generate"] = RuntimeError("no")
    with pytest.raises(RuntimeError):
        duplex.generate(listens=True)
    assert model.last_wrapper is not None
    assert model.last_wrapper.force_listen_count == 0


def test_closing_a_turn_begins_its_speech_anew():
    model = StockModel()
    duplex = choose_duplex(model)
    duplex.prepare(DuplexPrompt("x"), DuplexOptions())
    unit(duplex, LOUD)
    assert not unit(duplex, QUIET)["is_listen"]
    wrapper = model.last_wrapper
    assert wrapper is not None
    assert wrapper.tts_text_start_pos > 0
    wrapper.tts_past_key_values = "old"
    assert unit(duplex, QUIET, listens=True)["is_listen"]
    assert wrapper.tts_text_start_pos == 0
    assert wrapper.tts_past_key_values is None
    assert wrapper.token2wav_resets == 1
    assert wrapper.current_turn_ended


def test_a_model_that_continues_its_turn_cannot_yield_by_itself():
    """Why the turn is closed: the published code goes on with an open turn whatever it hears."""
    duplex = choose_duplex(StockModel())
    duplex.prepare(DuplexPrompt("x"), DuplexOptions())
    unit(duplex, LOUD)
    assert not unit(duplex, QUIET)["is_listen"]
    assert not unit(duplex, LOUD)["is_listen"]


def test_the_patched_version_closes_the_turn_itself_and_is_told_by_its_own_argument():
    model = PatchedModel()
    duplex = choose_duplex(model)
    duplex.prepare(DuplexPrompt(""), DuplexOptions(sampling=Sampling(length_penalty=1.3)))
    assert model.mode.name == "DUPLEX"
    unit(duplex, LOUD)
    unit(duplex, QUIET)
    assert unit(duplex, QUIET, listens=True)["is_listen"]
    used = model.arguments("duplex_generate")
    assert (used["force_listen_override"], used["decode_mode"], used["length_penalty"]) == (
        True,
        "sampling",
        1.3,
    )
    assert model.duplex.current_turn_ended
    duplex.leave()
    assert model.mode.name == "STREAMING"


def test_the_cache_is_counted_and_a_model_without_a_count_has_none():
    for model in (StockModel(), PatchedModel()):
        duplex = choose_duplex(model)
        assert duplex.cached >= 0
        duplex.prepare(DuplexPrompt("x"), DuplexOptions())
        before = duplex.cached
        unit(duplex, QUIET)
        assert duplex.cached > before


def test_a_text_that_the_published_code_does_not_read_is_refused(monkeypatch):
    model = StockModel()
    duplex = choose_duplex(model)
    duplex.prepare(DuplexPrompt("x"), DuplexOptions())
    monkeypatch.setattr(model.last_wrapper, "read", lambda *how: {"success": False, "reason": ""})
    with pytest.raises(Unsupported, match="Say them instead"):
        duplex.type("Hello")

"""What admins chose at run time, put into requests."""

from duologue.gateway.scheduling.model_tuning import MOST, ModelTuning
from duologue.values.messages import user
from duologue.values.requests import AdapterScale, ChatRequest, ModelCard, ModelPreset, PresetEntry

CARD = ModelCard("m", "llama", 100, adapters=("one", "two"))
REQUEST = ChatRequest((user("a"),))


def test_nothing_is_added_where_nothing_was_chosen():
    assert ModelTuning().applied(REQUEST, "m", CARD) is REQUEST


def test_scales_go_by_the_names_of_the_adapters_and_a_requests_own_count():
    tuning = ModelTuning()
    tuning.use_scales("m", {"two": 0.5, "gone": 1.0})
    assert tuning.applied(REQUEST, "m", CARD).adapters == (AdapterScale(1, 0.5),)
    own = ChatRequest((user("a"),), adapters=())
    assert tuning.applied(own, "m", CARD).adapters == ()
    assert tuning.applied(REQUEST, "other", CARD).adapters is None
    assert tuning.applied(REQUEST, "m", ModelCard("m", "llama", 100)).adapters is None
    tuning.use_scales("m", {})
    assert tuning.applied(REQUEST, "m", CARD).adapters == ()
    tuning.use_scales("m", None)
    assert tuning.applied(REQUEST, "m", CARD).adapters is None


def test_a_template_holds_until_its_model_is_unloaded():
    tuning = ModelTuning()
    assert tuning.template("m") == ""
    tuning.use_template("m", "/data/plain.jinja")
    tuning.use_template("other", "/data/terse.jinja")
    tuning.forget("m")
    assert (tuning.template("m"), tuning.template("other")) == ("", "/data/terse.jinja")
    tuning.use_template("other", "")
    assert tuning.template("other") == ""


def test_choices_for_ever_new_models_take_a_bounded_memory():
    tuning = ModelTuning()
    for number in range(MOST + 1):
        tuning.use_template(f"m{number}", "/data/plain.jinja")
        tuning.use_scales(f"m{number}", {"one": 1.0})
    assert (tuning.template("m0"), tuning.scales("m0")) == ("", None)
    assert (tuning.template("m1"), tuning.scales("m1")) == ("/data/plain.jinja", {"one": 1.0})


def test_a_preset_is_for_every_model():
    tuning = ModelTuning()
    tuning.preset = ModelPreset({"top_k": PresetEntry(1)})
    assert tuning.applied(REQUEST, "m", CARD).chosen_preset == tuning.preset

"""What the models of several workers are called."""

from msgspec.structs import replace

from duologue.gateway.scheduling.served_models import ServedModels
from duologue.gateway.workers.worker_status import WorkerStatus
from duologue.values.requests import ModelCard, ModelPreset, PresetEntry, UpstreamModel


def local(model: str, card: str = "") -> WorkerStatus:
    """A worker with one model; `card`: what its engine calls it, once it is loaded."""
    return WorkerStatus(
        "worker", model, "llama", "cpu", card=ModelCard(card, "llama", 4096) if card else None
    )


def server(name: str, *models: str) -> WorkerStatus:
    """A worker that serves all models of a connected server."""
    own = tuple(UpstreamModel(model) for model in models)
    return WorkerStatus("worker", name, "remote", "cpu", upstream=name, models=own)


def names(served: ServedModels) -> list[str]:
    return [card.name for card in served.cards]


def test_a_loaded_model_is_found_by_its_name_in_the_settings_and_its_own() -> None:
    served = ServedModels([local("mine", "tiny"), local("other")])
    assert names(served) == ["tiny", "other"]
    for name in ("mine", "tiny"):
        model = served.find(name)
        assert model is not None
        assert (model.card.name, model.queue, model.upstream_model) == ("tiny", "mine", "")


def test_models_of_a_server_wait_in_one_line_and_keep_their_names() -> None:
    served = ServedModels([server("ollama", "a", "b"), local("mine", "tiny")])
    assert names(served) == ["tiny", "a", "b"]
    assert {model.queue for model in served.all} == {"mine", "server ollama"}
    model = served.find("b")
    assert model is not None
    assert model.upstream_model == "b"


def test_the_preset_of_a_connected_model_is_told_with_it_and_shown_on_its_card() -> None:
    preset = ModelPreset({"temperature": PresetEntry(0.2), "stop": PresetEntry(["END"])})
    status = server("ollama")
    status = replace(
        status,
        card=ModelCard("ollama", "remote", 0, sampling=("temperature",)),
        models=(UpstreamModel("a", preset=preset), UpstreamModel("b")),
    )
    with_it, without = ServedModels([status]).all
    assert (with_it.upstream_preset, with_it.card.defaults) == (preset, {"temperature": 0.2})
    assert (without.upstream_preset, without.card.defaults) == (None, {})


def test_of_models_with_one_name_the_first_keeps_it() -> None:
    served = ServedModels([local("tiny"), server("first", "llama", "tiny"), server("second", "llama")])
    assert names(served) == ["tiny", "llama", "first/tiny", "second/llama"]
    second = served.find("second/llama")
    assert second is not None
    assert (second.queue, second.upstream_model) == ("server second", "llama")


def test_a_model_is_found_by_its_longer_name_even_when_the_short_one_is_free() -> None:
    served = ServedModels([server("second", "llama")])
    model = served.find("second/llama")
    assert model is not None
    assert model.card.name == "llama"


def test_a_model_whose_own_name_looks_like_another_servers_is_not_mistaken_for_it() -> None:
    served = ServedModels([server("router", "openai/big", "big"), server("openai", "big")])
    assert names(served) == ["openai/big", "big", "openai/openai/big"]
    model = served.find("openai/big")
    assert model is not None
    assert model.queue == "server router"


def test_a_card_says_what_the_server_said_and_otherwise_what_the_engine_can_do() -> None:
    engine = ModelCard("host", "remote", 0, untold=("image",), verbs=("tools", "logprobs"))
    status = WorkerStatus(
        "worker", "box", "remote", "cpu", upstream="box", card=engine, warning="It is down."
    )
    speaking = UpstreamModel("speaking", modalities=("text", "audio"), outputs=("text", "audio"))
    status.models = (
        UpstreamModel("plain", 4096, modalities=("text",), tools=False),
        UpstreamModel("unknown"),
        speaking,
    )
    plain, unknown, speaker = ServedModels([status]).cards
    assert (plain.context, plain.modalities, plain.verbs) == (4096, ("text",), ("logprobs",))
    assert (unknown.context, unknown.modalities, unknown.verbs) == (0, ("text",), ("tools", "logprobs"))
    assert (speaker.modalities, speaker.outputs) == (speaking.modalities, speaking.outputs)
    # Of a model nobody speaks of, a picture is passed on; of one that does not see, it is refused here.
    assert "image" in unknown.accepted
    assert "audio" not in unknown.accepted
    assert "image" not in plain.accepted
    assert plain.warnings == unknown.warnings == ("It is down.",)
    assert plain.description == "plain at box"


def test_the_default_is_the_first_loaded_model_and_then_the_first_of_a_server() -> None:
    first = ServedModels([server("ollama", "a"), local("tiny")]).find("")
    assert first is not None
    assert first.card.name == "tiny"
    only = ServedModels([server("ollama", "a")]).find("")
    assert only is not None
    assert only.card.name == "a"
    assert ServedModels([server("ollama")]).find("") is None


def test_a_preferred_model_is_the_default_while_it_is_served() -> None:
    workers = [local("mine", "tiny"), server("ollama", "a", "b")]
    for preferred in ("b", "ollama/b"):
        served = ServedModels(workers, preferred)
        assert names(served) == ["b", "tiny", "a"]
        assert served.find("") == served.find("b")
    assert names(ServedModels(workers, "gone")) == ["tiny", "a", "b"]


def embedding(model: str, *, loaded: bool = True) -> WorkerStatus:
    """A worker with an embedding model."""
    card = ModelCard(model, "llama", 512, verbs=("embed",)) if loaded else None
    return WorkerStatus("worker", model, "llama", "cpu", card=card, task="embed")


def test_a_model_that_does_not_chat_is_the_default_only_where_nothing_does() -> None:
    for loaded in (True, False):
        served = ServedModels([embedding("vectors", loaded=loaded), local("tiny", "tiny")], "vectors")
        assert names(served) == ["tiny", "vectors"]
        model = served.find("")
        assert model is not None
        assert model.card.name == "tiny"
    assert names(ServedModels([embedding("vectors")])) == ["vectors"]


def test_what_it_is_for_is_known_while_it_loads() -> None:
    [card] = ServedModels([embedding("vectors", loaded=False)]).cards
    assert card.verbs == ("embed",)


def test_a_model_of_a_server_that_makes_vectors_does_nothing_else() -> None:
    status = server("ollama", "chat")
    status = replace(
        status,
        card=ModelCard("ollama", "remote", 0, verbs=("tools", "format"), slots=8),
        models=(UpstreamModel("nomic", 2048, task="embed"), UpstreamModel("chat")),
    )
    chat, vectors = ServedModels([status]).cards
    assert (chat.name, chat.verbs) == ("chat", ("tools", "format"))
    assert (vectors.name, vectors.verbs, vectors.outputs, vectors.slots) == ("nomic", ("embed",), (), 8)

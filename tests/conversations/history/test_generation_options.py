"""Options that are inherited, and the request that comes of them."""

from duologue.conversations.history.generation_options import inherited, turn_request
from duologue.tools.values import Offer, OfferedTool
from duologue.values.conversations import GenerationOptions, StoredMessage, TextContent
from duologue.values.messages import Tool, assistant, system, user
from duologue.values.requests import ModelCard, Sampling

CARD = ModelCard("mini", "scripted", 100)


def test_the_nearest_word_counts_and_the_rest_is_inherited():
    found = inherited(
        GenerationOptions(sampling=Sampling(seed=1), servers={"a": False}, tools=False),
        GenerationOptions(
            "maxi", Sampling(seed=2, temperature=0.5), servers={"a": True, "b": True}, effort="low"
        ),
        GenerationOptions("mini", Sampling(top_p=0.9), ("END",), True, 3),
    )
    assert found == GenerationOptions(
        "maxi",
        Sampling(seed=1, temperature=0.5, top_p=0.9),
        ("END",),
        True,
        3,
        False,
        {"a": False, "b": True},
        "low",
    )


def test_false_and_zero_are_words_too():
    found = inherited(
        GenerationOptions(thinking=False, sampling=Sampling(temperature=0.0)),
        GenerationOptions(thinking=True, sampling=Sampling(temperature=1.0)),
    )
    assert (found.thinking, found.sampling.temperature) == (False, 0.0)


def test_nothing_said_is_nothing_asked():
    assert inherited() == inherited(GenerationOptions()) == GenerationOptions()


def test_a_request_carries_the_tools_and_what_is_said_about_them():
    tool = OfferedTool("clock", "builtin", "clock", description="Tells the time.", parameters={"a": 1})
    offer = Offer((tool,), system="Use them.")
    request = turn_request([user("Hello")], GenerationOptions(stop=("x",), effort="high"), CARD, offer)
    assert request.messages == (system("Use them."), user("Hello"))
    assert request.tools == (Tool("clock", "Tells the time.", {"a": 1}),)
    assert (request.model, request.stop, request.continue_final) == ("mini", ("x",), False)
    assert request.effort == "high"
    with_system = turn_request([system("Be brief."), user("Hello")], GenerationOptions(), CARD, offer)
    assert with_system.messages[0].text == "Be brief.\n\nUse them."


def test_a_row_that_goes_on_is_last_with_its_thoughts():
    row = StoredMessage("a", "c", None, "assistant", (TextContent("Half"),), reasoning="Hm.")
    for told in ([user("Hello"), assistant("Half")], [user("Hello")]):
        request = turn_request(told, GenerationOptions(), CARD, Offer(), continues=row)
        assert len(request.messages) == 2
        assert (request.messages[-1].text, request.messages[-1].reasoning) == ("Half", "Hm.")
        assert request.continue_final

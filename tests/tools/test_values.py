from duologue.tools.values import failure
from duologue.values.conversations import TextContent


def test_a_failure_says_its_sentence_to_the_model():
    outcome = failure("It is raining.")
    assert outcome.failed
    assert outcome.content == (TextContent("It is raining."),)

"""What a template's source says about its model."""

from duologue.text.output.reasoning_tags import ReasoningTags
from duologue.text.templates.prompt_request import TemplateFacts


def test_the_marker_that_opens_a_thought_is_told_where_there_is_one() -> None:
    assert TemplateFacts(False, "", True, ReasoningTags("<think>", "</think>")).thoughts == "<think>"
    assert TemplateFacts(True, "hermes", False, None, ("<end>",)).thoughts == ""

"""Markers of reasoning and of answers: which a template uses, and what the machine drops of them."""

from __future__ import annotations

import pytest
from tests.support.tool_call_families import read_reply

from duologue.text.output.parsed import ParsedReply
from duologue.text.output.reasoning_tags import KNOWN_TAGS, ReasoningTags, template_tags

WRAPPED = ReasoningTags(answers=(("<answer>", "</answer>"),))
HEADED = ReasoningTags("<|c>", "<c|>", header="thought\n")
SPELLED = ReasoningTags("<a>", "</a>", other_starts=("<aa>",), other_ends=("</aa>",))


@pytest.mark.parametrize("tags", KNOWN_TAGS, ids=lambda tags: tags.start + tags.mark)
def test_a_template_is_known_by_its_markers(tags: ReasoningTags) -> None:
    assert template_tags(f"{{% if x %}}{tags.start}{{% endif %}}{tags.mark}") == tags


def test_a_template_without_markers_has_none() -> None:
    assert template_tags("{{ messages }}") is None


@pytest.mark.parametrize(
    ("raw", "reasoning", "content"),
    [
        ("<think>\nhm\n</think>\n<answer>\nYes.\n</answer>", "hm", "Yes."),
        ("<answer>Yes.</answer>", "", "Yes."),
        ("<think>hm</think>Yes.", "hm", "Yes."),
        ("Say <answer>x</answer>.", "", "Say <answer>x</answer>."),
        ("Yes.</answer>", "", "Yes.</answer>"),
        ("<answer>Say `</answer>`.</answer>", "", "Say `</answer>`."),
        ("<think>an <answer>?</think>No.", "an <answer>?", "No."),
    ],
)
def test_markers_around_an_answer_are_no_part_of_it(raw: str, reasoning: str, content: str) -> None:
    for format in ("", "hermes"):
        reply = read_reply(format, raw, tags=WRAPPED)
        assert (reply.reasoning.strip(), reply.content) == (reasoning, content)


@pytest.mark.parametrize(
    ("raw", "reply"),
    [
        ("<|c>thought\nhm<c|>Yes.", ParsedReply("hm", "Yes.")),
        ("<|c>thoughts<c|>Yes.", ParsedReply("thoughts", "Yes.")),
        ("<|c>thou", ParsedReply("thou")),
        ("<|c>thought\n<c|>Yes.", ParsedReply("", "Yes.")),
        ("thought\n is text.", ParsedReply("", "thought\n is text.")),
    ],
)
def test_the_header_of_a_thought_is_no_part_of_it(raw: str, reply: ParsedReply) -> None:
    assert read_reply("", raw, tags=HEADED) == reply


def test_a_thought_between_sentences() -> None:
    tags = template_tags("Write your thoughts after 'Here is my thought process:'")
    for raw in (
        "Here is my thought process:\n\nhm\n\nHere is my response:\n\nYes.",
        "Here's my thought process: hm\nHere's my response: Yes.",
    ):
        reply = read_reply("granite", raw, tags=tags)
        assert (reply.reasoning.strip(), reply.content.strip()) == ("hm", "Yes.")


@pytest.mark.parametrize(
    ("raw", "reasoning", "content"),
    [
        (
            "Here is my thought process: So it is noon. Here is my response: Noon.",
            " So it is noon. ",
            "Noon.",
        ),
        (
            'Here is my thought process: It is "noon".  Here\'s my response: Noon.',
            ' It is "noon".  ',
            "Noon.",
        ),
        ("Here is my thought process:Here is my response:Noon.", "", "Noon."),
        (
            "Here is my thought process:\nThen I write 'Here is my response:' and answer. I say here is my response: x.\n\n"
            "Here is my response:\n\nNoon.",
            "\nThen I write 'Here is my response:' and answer. I say here is my response: x.\n\n",
            "Noon.",
        ),
        ("Noon. Here is my thought process: none.", "", "Noon. Here is my thought process: none."),
    ],
)
def test_the_sentence_before_an_answer_counts_where_a_sentence_begins(
    raw: str, reasoning: str, content: str
) -> None:
    tags = template_tags("Write your thoughts after 'Here is my thought process:'")
    reply = read_reply("", raw, tags=tags)
    assert (reply.reasoning.strip(), reply.content.strip()) == (reasoning.strip(), content)


def test_a_header_is_dropped_where_the_prompt_opened_the_thought() -> None:
    assert read_reply("", "thought\nhm<c|>Yes.", tags=HEADED, inside=True) == ParsedReply("hm", "Yes.")


@pytest.mark.parametrize("raw", ["<a>hm</a>Yes.", "<aa>hm</aa>Yes.", "<a>hm</aa>Yes."])
def test_every_spelling_counts(raw: str) -> None:
    assert read_reply("", raw, tags=SPELLED) == ParsedReply("hm", "Yes.")


@pytest.mark.parametrize("suffix", [":opensource", ":6124c78e", ""])
def test_a_tag_with_a_suffix_that_the_template_holds_in_a_variable(suffix: str) -> None:
    source = f"{{%- set HYTK = '{suffix}' %}}{{%- set begin = '<think{{}}>'.format(HYTK) %}}"
    tags = template_tags(source)
    assert tags is not None
    assert (tags.start, tags.end) == (f"<think{suffix}>", f"</think{suffix}>")


@pytest.mark.parametrize(
    ("template", "raw", "reply"),
    [
        ("{{- '<|channel>thought\\n' -}}", "<|channel>thought\nhm<channel|>Yes.", ParsedReply("hm", "Yes.")),
        (
            "<|content_thinking|>",
            "<|content_thinking|>hm<|end_message|><|message_model|><|content_text|>Yes.<|end_message|>",
            ParsedReply("hm", "Yes."),
        ),
        (
            "<|plamo:begin_think:plamo|>",
            "<|plamo:begin_think:plamo|>hm<|plamo:end_think:plamo|>Yes.",
            ParsedReply("hm", "Yes."),
        ),
        (
            "<seed:think>",
            "<seed:think>so <seed:cot_budget_reflect>100 left</seed:cot_budget_reflect> hm</seed:think>Yes.",
            ParsedReply("so 100 left hm", "Yes."),
        ),
        ("<ifm|think>", "<ifm|think_faster>hm</ifm|think_faster>Yes.", ParsedReply("hm", "Yes.")),
        ("<think:opensource>", "<think:opensource>hm</think:opensource>Yes.", ParsedReply("hm", "Yes.")),
        ("◁think▷", "◁think▷hm◁/think▷Yes.", ParsedReply("hm", "Yes.")),
    ],
)
def test_families_with_markers_of_their_own(template: str, raw: str, reply: ParsedReply) -> None:
    tags = template_tags(template)
    assert read_reply("", raw, tags=tags) == reply
    assert read_reply("hermes", raw, tags=tags) == reply


@pytest.mark.parametrize(
    "text",
    [
        "I say: Here is my thought process: none.",
        "Yes.\nHere is my thought process: none.",
        "Here is my response: yes.",
        "Here is my thought",
    ],
)
def test_the_sentences_are_text_elsewhere(text: str) -> None:
    tags = template_tags("Here is my thought process:")
    assert read_reply("", text, tags=tags) == ParsedReply("", text)


def test_a_sentence_inside_a_line_of_a_thought_does_not_end_it() -> None:
    tags = template_tags("Here is my thought process:")
    raw = "\nHere's my thought process:\nI write 'Here is my response:' now.\nHere is my response:\nYes."
    reply = read_reply("", raw, tags=tags)
    assert reply.reasoning.strip() == "I write 'Here is my response:' now."
    assert reply.content == "Yes."

"""What a caller is asked about a tool, in one sentence, and what counts as their answer."""

import pytest

from duologue.gateway.calls.spoken_approvals import DELETED, LOST, SORRY, parse_consent, question, wording
from duologue.values.conversations import Approval


def approval_of(
    tool: str = "write_note", server: str = "notes", arguments: str = "{}", **more: object
) -> Approval:
    return Approval("a", "", "c", server=server, tool=tool, arguments=arguments, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        "Yes.",
        "yes, please",
        "Okay!",
        "Ja.",
        "ja, mach das",
        "Go ahead.",
        "Oui, d’accord.",
        "Vas-y !",
        "Sí, claro.",
        "¡Sí!",
    ],
)
def test_a_clear_yes_is_one(text: str) -> None:
    assert parse_consent(text) is True


@pytest.mark.parametrize(
    "text",
    ["No.", "no, don't", "no, don’t", "Nein danke.", "Lieber nicht", "cancel", "Non merci.", "Mejor no."],
)
def test_a_clear_no_is_one(text: str) -> None:
    assert parse_consent(text) is False


@pytest.mark.parametrize(
    "text", ["", "yes but only the first one", "mhm", "what does it do?", "nicht sicher", "no idea", "maybe"]
)
def test_anything_else_is_no_answer(text: str) -> None:
    assert parse_consent(text) is None


def test_the_question_names_the_tool_its_server_and_the_gist() -> None:
    approval = approval_of(arguments='{"text": "buy milk", "lines": 2, "loud": true, "colour": "red"}')
    assert question(approval, "en") == "May I use write note of notes, with text buy milk and lines 2?"
    assert question(
        approval, "de"
    ) == "Darf ich write note von notes, mit text buy milk and lines 2, benutzen?".replace(" and ", " und ")


def test_callers_in_french_and_spanish_are_asked_in_theirs() -> None:
    approval = approval_of(arguments='{"text": "lait", "lines": 2}')
    assert question(approval, "fr-CA") == "Puis-je utiliser write note de notes, avec text lait et lines 2 ?"
    assert question(approval, "es") == "¿Puedo usar write note de notes, con text lait y lines 2?"


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("", "en"),
        ("en-GB", "en"),
        ("de_AT", "de"),
        ("FR", "fr"),
        ("es-MX", "es"),
        ("ja", "en"),
        ("den", "en"),
    ],
)
def test_a_call_says_its_own_sentences_in_its_language_or_in_english(language: str, said: str) -> None:
    assert wording(language) == said
    for sentences in (LOST, SORRY, DELETED):
        assert sentences[said]


def test_the_names_of_programs_are_said_as_words() -> None:
    approval = approval_of("getUserByEmail", "git-hub.io", '{"a_b": ""}')
    assert question(approval, "it") == "May I use get user by email of git hub io?"
    assert question(approval_of("fetch", "builtin"), "en") == "May I use fetch?"


def test_nobody_reads_out_a_whole_letter() -> None:
    spoken = question(approval_of(arguments='{"text": "' + "word " * 100 + '"}'), "en")
    assert len(spoken) < 120
    assert spoken.endswith("word?")


@pytest.mark.parametrize("arguments", ["not json", "[1]", '"text"', ""])
def test_arguments_that_say_nothing_are_left_out(arguments: str) -> None:
    assert question(approval_of(arguments=arguments), "en") == "May I use write note of notes?"


def test_what_can_only_be_answered_by_hand_is_pointed_out() -> None:
    assert "look at the screen" in question(approval_of(kind="form"), "en")
    assert "auf den Bildschirm" in question(approval_of(kind="link"), "de")

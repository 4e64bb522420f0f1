"""What a request says about thinking, and the signatures of thoughts."""

import pytest

from duologue.wire.anthropic.thoughts import ThinkingBody, display_of, hidden_thought, signature, thinks


@pytest.mark.parametrize(
    ("kind", "does"), [("enabled", True), ("adaptive", True), ("disabled", False), ("between_tools", False)]
)
def test_a_model_thinks_when_it_is_asked_to(kind: str, does: bool) -> None:
    thinking = ThinkingBody.model_validate({"type": kind})
    assert thinks(thinking) is does
    assert display_of(thinking) == ("shown" if does else "hidden")
    assert not thinks(None)
    assert display_of(None) == "hidden"


def test_thoughts_can_be_omitted() -> None:
    assert display_of(ThinkingBody(type="adaptive", display="omitted")) == "omitted"
    assert display_of(ThinkingBody(type="disabled", display="omitted")) == "hidden"


def test_a_signature_keeps_a_hidden_thought() -> None:
    assert hidden_thought(signature("Grüße \n", hidden=True)) == "Grüße \n"
    assert hidden_thought(signature("x", hidden=False)) == ""
    for foreign in ("", "EqoBCkgIARAB", "duologue:!!!"):
        assert hidden_thought(foreign) == ""

import pytest

from duologue.text.speech.mapped_text import MappedText
from duologue.text.speech.normalise import speakable
from duologue.text.speech.signs import remove_emoji, remove_stray_signs, spell_addresses


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("anna.b@example.com", "anna dot b at example dot com"),
        ("a_b-c@d.de", "a underscore b dash c at d dot de"),
        ("https://www.example.com/a/b?c=d#e", "example dot com"),
        ("see http://localhost:8006/x.", "see localhost."),
        ("www.example.com/a, yes", "example dot com, yes"),
        ("node.js and a/b.py", "node dot js and a/b.py"),
        ("e.g. this", "e.g. this"),
        ("One.Two", "One.Two"),
    ],
)
def test_addresses_are_said_briefly(written, said):
    text = MappedText(written)
    spell_addresses(text, "en")
    assert text.text == said


def test_pictures_are_not_said():
    text = MappedText("hi 👍🏽 there 👨‍👩‍👧 :-) 1️⃣")
    remove_emoji(text)
    assert text.text.split() == ["hi", "there", "1"]


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("“quoted” and «so»", "quoted and so"),
        ("it’s", "it's"),
        ("one — two – three", "one, two, three"),
        ("well-known", "well-known"),
        ("so (or so), yes", "so, or so, yes"),
        ("and/or", "and or"),
        ("code_name()", "code name"),
        ("  a   b  ", "a b"),
        ("a , b !", "a, b!"),
        ("end,.", "end."),
        ("what?!", "what?!"),
        (", begin", "begin"),
    ],
)
def test_stray_signs_leave_no_trace(written, said):
    text = MappedText(written)
    remove_stray_signs(text)
    assert text.text == said


def test_the_dot_of_an_address_is_said_in_the_language():
    assert speakable("auf a-b.de", "de").text == "auf a-b Punkt de"

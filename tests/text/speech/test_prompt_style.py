from duologue.text.speech.normalise import speakable
from duologue.text.speech.prompt_style import STYLES, UNSPOKEN, spoken_style


def test_the_style_is_asked_for_in_the_language_where_there_is_one():
    assert "read aloud" in spoken_style() == spoken_style("en-GB")
    assert spoken_style("it").endswith(" Answer in the language it.")
    assert "vorgelesen" in spoken_style("de-AT") == spoken_style("de_DE")


def test_what_is_asked_for_is_itself_fit_for_the_ear():
    for language in STYLES:
        assert speakable(spoken_style(language), language).text == spoken_style(language).replace(" :", ":")


def test_no_letter_digit_or_space_is_kept_from_the_model():
    assert len(set(UNSPOKEN)) == len(UNSPOKEN)
    assert not any(
        letter.isalnum() or letter.isspace() or letter in ".,?!'-"
        for each in UNSPOKEN
        for letter in each
        if set(each) != {"-"} and each != "|---"
    )

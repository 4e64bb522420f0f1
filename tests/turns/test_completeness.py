from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.turns.completeness import completeness
from duologue.turns.endpoint import Endpoint
from duologue.turns.settings import seconds

WHOLE = {
    "en": """
        hello
        hello who are you
        hi there
        good morning how are you
        okay thanks
        hey what can you do
        who are you
        how old are you
        where are you from
        how are you doing today
        what is your name
        what time is it
        what day is it today
        what do you mean
        how does it work
        where do you live
        what is seven plus five
        how much is twelve times twelve
        seven minus 3
        can you help me
        are you there
        tell me a joke
        can you say that again
        say it more slowly
        turn off the light please
        my name is anna
        i don't understand
        no thank you
        what about you
        can you tell me what time it is
        do you know who he is
        tell me where the station is
        can you tell me what seven and five is
        i don't know what that is
        tell me how old you are
        do you remember what my name was
        i would like to know what it does
    """,
    "de": """
        hallo
        hallo wer bist du
        guten morgen wie geht es dir
        wie alt bist du
        wie spät ist es
        woher kommst du
        wie heißt du
        was machst du gerade
        was kannst du
        wo wohnst du
        wie ist dein name
        was ist sieben plus fünf
        kannst du mir helfen
        erzähl mir einen witz
        sag das bitte noch einmal
        mach das licht aus bitte
        mein name ist anna
        ich verstehe nicht
        nein danke
        sag mir wie spät es ist
        weißt du wer das ist
        kannst du mir sagen wo der bahnhof ist
        ich will wissen was das war
    """,
}
UNDECIDED = {
    "en": """
        what is the name
        tell me about the weather
        how do i change the voice
        do you know a story
        what is the capital of france
        i am tired
        explain it to me
        turn off the light
        how do i change
        what is the weather like
    """,
    "de": """
        was ist der name
        erzähl mir etwas
        öffne das fenster
        wie ändere ich die stimme
        ich bin müde
        wie heißt die hauptstadt
    """,
}
OPEN = {
    "en": """
        how do i
        what do you
        what is
        what is your
        hello what is the
        what can you tell me
        can you tell me what
        can you tell me what is
        do you know who was
        what i want is
        the thing is
        the weather is
        i would like to know what
        what is seven plus
        what is seven
        i want to
        tell me about
        my name is
        so my
        and then um
        because
    """,
    "de": """
        hallo was ist
        was ist dein
        wie kann ich
        was ist sieben plus
        ich möchte
        wie ist das wetter in der
        und dann äh
        mein name ist
        weil
    """,
}


def table(lines: dict[str, str]) -> list[tuple[str, str]]:
    return [
        (text.strip(), language) for language, texts in lines.items() for text in texts.strip().splitlines()
    ]


@pytest.mark.parametrize(("text", "language"), table(WHOLE))
def test_a_whole_short_turn_is_answered_within_the_pause_of_a_sentence(text: str, language: str) -> None:
    assert completeness(text, language) >= 0.85
    assert Endpoint(language).delay(text) <= seconds(0.56)


@pytest.mark.parametrize(("text", "language"), table(UNDECIDED))
def test_what_may_be_whole_or_not_outlasts_a_pause_for_a_word(text: str, language: str) -> None:
    assert 0.5 <= completeness(text, language) <= 0.75
    assert seconds(0.72) <= Endpoint(language).delay(text) <= seconds(0.9)


@pytest.mark.parametrize(("text", "language"), table(OPEN))
def test_what_wants_another_word_waits_for_it(text: str, language: str) -> None:
    assert completeness(text, language) <= 0.45
    assert Endpoint(language).delay(text) >= seconds(0.85)


def test_what_follows_a_greeting_is_judged_as_if_it_stood_alone() -> None:
    for text in ("who are you", "what is the", "turn off the light", "um"):
        assert completeness(f"hello {text}", "en") == completeness(text, "en")


def test_marks_say_more_than_words() -> None:
    assert completeness("who are you,", "en") == 0.1
    assert completeness("and the?", "en") == 0.95
    assert completeness("Turn off the light.", "en") == 0.9


@given(st.text(max_size=80), st.sampled_from(["en", "de", "fi", ""]))
def test_it_is_always_a_share(text: str, language: str) -> None:
    assert 0.0 <= completeness(text, language) <= 1.0


@given(
    st.lists(
        st.sampled_from(
            ["what", "is", "you", "your", "name", "plus", "five", "hello", "do", "a", "hallo", "wie"]
        ),
        max_size=7,
    ).map(" ".join),
    st.sampled_from(["en", "de"]),
)
def test_words_in_any_order_are_judged(text: str, language: str) -> None:
    assert 0.0 <= completeness(text, language) <= 1.0

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duologue.text.speech.clause_splitter import ClauseSplitter
from duologue.text.speech.normalise import Speakable, speakable

ANSWER = """# The plan

Sure, it costs **$3.50** (or 3,50 EUR), i.e. 20% less than in 2019! See [the page](https://example.com/a?b=c).

1. Mail anna.b@example.com before 14:30 on May 3, 2024.
2. Run `pip install x` 🙂

| what | how much |
|------|---------:|
| tea  | 1/2 kg   |

```python
print("not read")
```
That's *all*, at -5 °C & 3 km/h."""


def covered(made: Speakable) -> None:
    """The promise of spans: in order, inside both texts, no overlap, and every letter said belongs to one."""
    before = at = 0
    for span in made.spans:
        assert before <= span.start < span.end <= len(made.text)
        assert at <= span.at < span.to
        before, at = span.end, span.to
    inside = {place for span in made.spans for place in range(span.start, span.end)}
    assert all(place in inside for place, letter in enumerate(made.text) if letter.isalnum())


def test_an_answer_of_every_kind_is_words_alone():
    made = speakable(ANSWER)
    assert made.text == (
        "The plan. Sure, it costs three dollars and fifty cents, or three euros and fifty cents, that is twenty percent less "
        "than in twenty nineteen! See the page. one, Mail anna dot b at example dot com before fourteen thirty on May third, "
        "twenty twenty-four. two, Run pip install x. what, how much. tea, one half kg. a code block. That's all, at minus "
        "five degrees Celsius and three kilometers per hour."
    )
    covered(made)


def test_clause_by_clause_is_the_same_answer():
    machine = ClauseSplitter()
    clauses = machine.feed(ANSWER) + machine.finish()
    said = " ".join(filter(None, (speakable(clause.text).text for clause in clauses)))
    assert said.split() == speakable(ANSWER).text.split()


def test_a_number_is_a_whole_and_a_word_is_letters():
    made = speakable("It is **42** km.")
    assert made.text == "It is forty-two kilometers."
    assert [
        (made.text[span.start : span.end], "It is **42** km."[span.at : span.to]) for span in made.spans
    ] == [
        ("It is ", "It is "),
        ("forty-two kilometers", "42** km"),
        (".", "."),
    ]


@pytest.mark.parametrize(
    "text", ["", " ", "---", "***", "🙂🙂", "...", "|---|", "<br>", "[^1]", "!?", "\n\n", "\0"]
)
def test_what_cannot_be_said_is_nothing(text):
    assert speakable(text) == Speakable("")


def test_other_languages_keep_their_numbers_and_lose_their_marks():
    assert (
        speakable("**Bonjour**, il est 14:30 et -3,5 °C, 1/2.", "fr").text
        == "Bonjour, il est 14:30 et -3,5 °C, 1/2."
    )
    assert speakable("# 你好\n今天是 **3** 号。", "zh").text == "你好. 今天是 3 号。"


def test_a_language_is_a_tag_and_no_language_is_english():
    assert speakable("3 km", "de-AT").text == "drei Kilometer"
    assert speakable("3 km", "").text == speakable("3 km", "en_GB").text == "three kilometers"


_WRITTEN = (
    "Hello¦ ¦ ¦\n¦\n\n¦. ¦, ¦**¦*¦_¦`¦```¦# ¦- ¦1. ¦> ¦|¦[¦](¦)¦(¦<b>¦&amp;¦3¦14:30¦$3.50¦-5¦1/2¦2024¦"
    "May 3¦km¦%¦°C¦1,000¦v1.2.3¦192.168.1.1¦a@b.de¦https://a.b/c¦🙂¦ß¦é¦你¦“¦”¦’¦—¦–¦+¦=¦<¦>¦/¦\\¦#¦@¦½¦²¦"
    "Henry VIII¦am 3. Mai¦1.234,5¦\ud800¦\x00¦\u200d¦xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx¦"
    "III¦1st¦90s¦C++¦...¦~~¦[^1]¦+49 30 123456¦e.g. "
)
PIECES = st.sampled_from(_WRITTEN.split("¦"))


@given(
    st.lists(PIECES, max_size=25).map("".join) | st.text(max_size=100), st.sampled_from(["en", "de", "fr"])
)
@settings(max_examples=500)
def test_every_spoken_letter_is_found_again_in_what_was_written(written, language):
    made = speakable(written, language)
    covered(made)
    assert all(span.to <= len(written) for span in made.spans)
    for span in made.spans:
        if not span.whole:
            assert made.text[span.start : span.end] == written[span.at : span.to]


@given(st.lists(PIECES, max_size=25).map("".join), st.sampled_from(["en", "de"]))
@settings(max_examples=300)
def test_nothing_is_left_that_a_voice_would_stumble_on(written, language):
    made = speakable(written, language)
    assert not set(made.text) & set("*_`#|~<>[]{}()\\^=“”\n🙂$€%°+0123456789")
    assert made.text == made.text.strip()
    assert "  " not in made.text


@given(st.text(alphabet="abcdefghijklm ,'", max_size=80))
def test_every_plain_word_is_said(written):
    letters = [each for each in written if each.isalpha()]
    assert [each for each in speakable(written, "fr").text if each.isalpha()] == letters


@pytest.mark.parametrize(
    "text",
    [
        "*",
        "[",
        "](",
        "1",
        "1.",
        "1/",
        "-",
        "- ",
        "`",
        "<a ",
        "a@",
        "a.",
        "| ",
        "\n",
        " ",
        "#",
        "&a",
        "1 ",
        "$1",
        "é",
        "> ",
        "('",
    ],
)
def test_a_flood_of_marks_is_read_too(text):
    made = speakable(text * 3000)
    covered(made)


def told(written: str, language: str = "en") -> list[tuple[str, str]]:
    """What is said, and the piece of the written text that it says, span by span."""
    said = speakable(written, language)
    return [
        (said.text[span.start : span.end], written[span.at : span.to]) for span in said.spans if span.whole
    ]


@pytest.mark.parametrize(
    ("written", "pieces"),
    [
        ("so x^2 is", [("squared", "^2")]),
        ("so 10^-3 is", [("ten", "10"), ("to the power of minus", "^-"), ("three", "3")]),
        ("so 50%-60% is", [("fifty to", "50%-"), ("sixty percent", "60%")]),
        ("so $3-5 million is", [("three to five million dollars", "$3-5 million")]),
        ("with 5m users", [("five million", "5m")]),
        ("with 10-15k users", [("ten to", "10-"), ("fifteen thousand", "15k")]),
    ],
)
def test_every_number_that_is_said_is_found_in_the_text(written, pieces):
    assert told(written) == pieces


def test_joined_ordinals_are_found_in_the_text():
    assert told("Am 1. Mai und 21. Juni", "de") == [
        ("ersten Mai", "1. Mai"),
        ("einundzwanzigsten Juni", "21. Juni"),
    ]
    assert told("vom 1.–3. Mai", "de") == [("ersten bis", "1.–"), ("dritten Mai", "3. Mai")]

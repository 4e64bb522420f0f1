from duologue.engines.asr.local_agreement import Agreement, pieces_of


def test_a_first_hearing_is_shown_and_nothing_is_agreed_on():
    agreement = Agreement()
    assert agreement.hear("hello wor") == "hello wor"
    assert agreement.agreed == ""


def test_what_two_hearings_begin_with_is_agreed_on():
    agreement = Agreement()
    agreement.hear("hello wor")
    assert agreement.hear("hello world how") == "hello world how"
    assert agreement.agreed.strip() == "hello"
    agreement.hear("hello world how are you")
    assert agreement.agreed.strip() == "hello world how"


def test_what_is_agreed_on_only_ever_grows():
    agreement = Agreement()
    agreed = ""
    for text in (
        "turn",
        "turn on",
        "turn on the",
        "burn on the light",
        "turn off the light",
        "",
        "turn on the light",
    ):
        agreement.hear(text)
        assert agreement.agreed.startswith(agreed)
        agreed = agreement.agreed


def test_signs_and_capitals_are_no_disagreement():
    agreement = Agreement()
    agreement.hear("well, hello there")
    agreement.hear("Well hello, there.")
    assert agreement.agreed == "Well hello, there."


def test_a_hearing_that_begins_otherwise_goes_on_where_the_agreed_words_end():
    agreement = Agreement()
    for text in ("I want to go", "I want to go home", "so I want to go home now"):
        shown = agreement.hear(text)
    assert agreement.agreed.strip() == "I want to go home"
    assert shown == "I want to go home now"


def test_a_shorter_hearing_takes_nothing_back():
    agreement = Agreement()
    for text in ("one two three four", "one two three four"):
        agreement.hear(text)
    assert agreement.hear("one two") == "one two three four"


def test_letters_of_scripts_without_spaces_are_words():
    agreement = Agreement()
    agreement.hear("今天天")
    assert agreement.hear("今天天气很好") == "今天天气很好"
    assert agreement.agreed == "今天天"


def test_the_pieces_of_a_text_are_the_text():
    for text in ("Hello, there.", "“Quoted” words — and more!", "今天 is today", "x"):
        assert "".join(pieces_of(text)) == text
    assert pieces_of("  ... ") == []


def test_words_of_any_letters_stay_apart_where_one_hearing_ended_and_the_next_goes_on():
    for said in ("привет мир опять", "été à été", "안녕 하세요 여러분"):
        agreement = Agreement()
        words = said.split()
        for count in range(1, len(words) + 1):
            shown = agreement.hear(" ".join(words[:count]))
        assert shown == said

from duologue.engines.asr.local_agreement import LocalAgreement, split_words


def test_a_first_hearing_is_shown_and_nothing_is_agreed_on():
    agreement = LocalAgreement()
    assert agreement.add("hello wor") == "hello wor"
    assert agreement.stable == ""


def test_what_two_hearings_begin_with_is_agreed_on():
    agreement = LocalAgreement()
    agreement.add("hello wor")
    assert agreement.add("hello world how") == "hello world how"
    assert agreement.stable.strip() == "hello"
    agreement.add("hello world how are you")
    assert agreement.stable.strip() == "hello world how"


def test_what_is_agreed_on_only_ever_grows():
    agreement = LocalAgreement()
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
        agreement.add(text)
        assert agreement.stable.startswith(agreed)
        agreed = agreement.stable


def test_signs_and_capitals_are_no_disagreement():
    agreement = LocalAgreement()
    agreement.add("well, hello there")
    agreement.add("Well hello, there.")
    assert agreement.stable == "Well hello, there."


def test_a_hearing_that_begins_otherwise_goes_on_where_the_agreed_words_end():
    agreement = LocalAgreement()
    for text in ("I want to go", "I want to go home", "so I want to go home now"):
        shown = agreement.add(text)
    assert agreement.stable.strip() == "I want to go home"
    assert shown == "I want to go home now"


def test_a_shorter_hearing_takes_nothing_back():
    agreement = LocalAgreement()
    for text in ("one two three four", "one two three four"):
        agreement.add(text)
    assert agreement.add("one two") == "one two three four"


def test_letters_of_scripts_without_spaces_are_words():
    agreement = LocalAgreement()
    agreement.add("今天天")
    assert agreement.add("今天天气很好") == "今天天气很好"
    assert agreement.stable == "今天天"


def test_the_pieces_of_a_text_are_the_text():
    for text in ("Hello, there.", "“Quoted” words — and more!", "今天 is today", "x"):
        assert "".join(split_words(text)) == text
    assert split_words("  ... ") == []


def test_words_of_any_letters_stay_apart_where_one_hearing_ended_and_the_next_goes_on():
    for said in ("привет мир опять", "été à été", "안녕 하세요 여러분"):
        agreement = LocalAgreement()
        words = said.split()
        for count in range(1, len(words) + 1):
            shown = agreement.add(" ".join(words[:count]))
        assert shown == said

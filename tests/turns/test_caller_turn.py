from __future__ import annotations

from duologue.turns.caller_turn import CallerTurn


def test_a_turn_that_goes_on_with_another_says_both_under_its_number() -> None:
    first = CallerTurn(1, 1, text="what is the weather ", revision=2)
    second = CallerTurn(2, 2, text="in hamburg")
    second.continue_from(first)
    assert second.full_text == "what is the weather in hamburg"
    assert (second.number, second.transcript, second.revision) == (1, 2, 3)


def test_without_words_of_its_own_it_says_what_was_said_before() -> None:
    second = CallerTurn(2, 2)
    second.continue_from(CallerTurn(1, 1, text="hello"))
    assert second.full_text == "hello"


def test_a_reopened_turn_is_listened_to_again() -> None:
    turn = CallerTurn(1, 1, text="so", final=True, understood=False, cutoff=5, answer_cancelled=True)
    turn.reopen()
    assert (turn.final, turn.understood, turn.cutoff, turn.answer_cancelled) == (False, True, None, False)
    assert turn.full_text == "so"


def test_a_first_word_stands_the_surer_the_more_was_listened_to_since() -> None:
    turn = CallerTurn(1, 1)
    turn.update_text("star", 100)
    turn.update_text("star", 300)
    assert turn.stable_for == 200
    turn.update_text("stop", 400)
    assert turn.stable_for == 0
    turn.update_text("stop that", 700)
    assert (turn.text, turn.stable_for) == ("stop that", 300)

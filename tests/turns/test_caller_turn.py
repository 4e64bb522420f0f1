from __future__ import annotations

from duologue.turns.caller_turn import CallerTurn


def test_a_turn_that_goes_on_with_another_says_both_under_its_number() -> None:
    first = CallerTurn(1, 1, text="what is the weather ", revision=2)
    second = CallerTurn(2, 2, text="in hamburg")
    second.go_on_with(first)
    assert second.said == "what is the weather in hamburg"
    assert (second.number, second.ear, second.revision) == (1, 2, 3)


def test_without_words_of_its_own_it_says_what_was_said_before() -> None:
    second = CallerTurn(2, 2)
    second.go_on_with(CallerTurn(1, 1, text="hello"))
    assert second.said == "hello"


def test_a_reopened_turn_is_listened_to_again() -> None:
    turn = CallerTurn(1, 1, text="so", final=True, understood=False, concluded=5, unwanted=True)
    turn.reopen()
    assert (turn.final, turn.understood, turn.concluded, turn.unwanted) == (False, True, None, False)
    assert turn.said == "so"


def test_a_first_word_stands_the_surer_the_more_was_listened_to_since() -> None:
    turn = CallerTurn(1, 1)
    turn.hear("star", 100)
    turn.hear("star", 300)
    assert turn.steady == 200
    turn.hear("stop", 400)
    assert turn.steady == 0
    turn.hear("stop that", 700)
    assert (turn.text, turn.steady) == ("stop that", 300)

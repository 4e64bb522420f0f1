from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.turns.playout import AHEAD, AHEAD_UNMARKED, Playout
from duologue.values.events import ReplyWord

SECOND = 16_000
SPOKEN = 24_000


def create(samples: int = 10 * SPOKEN, *, marks: bool = False) -> Playout:
    playout = Playout(marks=marks)
    playout.add_sound(samples)
    return playout


def send(playout: Playout, at: int) -> int:
    due = playout.due(at)
    playout.send(due, at)
    return due


def worded(text: str = "Hello, dear world. How are you?", each: int = 1000) -> Playout:
    playout = Playout()
    playout.write(text)
    place, words = 0, []
    for number, one in enumerate(text.split()):
        at = text.index(one, place)
        place = at + len(one)
        words.append(ReplyWord(one, number * each, (number + 1) * each, at, at + len(one.rstrip(",.?!"))))
    playout.add_sound(each * len(words), words)
    playout.finish()
    return playout


# ---- the pace


def test_a_client_without_marks_is_sent_a_fifth_of_a_second_ahead() -> None:
    playout = create()
    assert send(playout, 0) == AHEAD_UNMARKED == 4_800
    assert playout.due(0) == 0
    assert send(playout, SECOND // 10) == 2_400
    assert send(playout, SECOND) == AHEAD_UNMARKED, "it ran dry, and nobody plays what was not sent"


def test_a_client_with_marks_is_sent_a_second_ahead_of_its_marks() -> None:
    playout = create(marks=True)
    assert send(playout, 0) == AHEAD == SPOKEN
    assert playout.due(SECOND // 2) == 0
    playout.mark(6_000, SECOND // 2)
    assert send(playout, SECOND // 2) == 6_000


def test_a_client_may_ask_to_be_sent_more_ahead() -> None:
    playout = Playout(marks=True, ahead=3 * SPOKEN)
    playout.add_sound(10 * SPOKEN)
    assert send(playout, 0) == 3 * SPOKEN


def test_no_more_is_sent_than_there_is() -> None:
    playout = create(1_000, marks=True)
    assert send(playout, 0) == 1_000
    assert playout.due(0) == 0
    playout.add_sound(1_500)
    assert playout.due(0) == 500


def test_marks_that_never_come_are_reckoned_from_what_was_sent() -> None:
    playout = create(marks=True)
    sent = 0
    for at in range(0, 12 * SECOND, 512):
        sent += send(playout, at)
    assert sent == 10 * SPOKEN
    playout.finish()
    assert playout.over(13 * SECOND)


def test_marks_that_begin_late_count_again() -> None:
    playout = create(marks=True)
    send(playout, 0)
    assert playout.position(2 * SECOND) > 0
    playout.mark(20_000, 2 * SECOND)
    assert playout.position(2 * SECOND) >= 20_000


def test_a_pause_in_the_making_is_no_playing() -> None:
    playout = create(2_400)
    send(playout, 0)
    assert playout.position(10 * SECOND) == 2_400
    playout.add_sound(12_000)
    send(playout, 10 * SECOND)
    assert playout.position(10 * SECOND) == 2_400
    assert playout.position(10 * SECOND + 1_600) == 4_800


def test_a_pause_in_the_making_does_not_use_up_the_patience_with_marks() -> None:
    playout = create(2_400, marks=True)
    send(playout, 0)
    playout.mark(2_400, 1_600)
    playout.add_sound(SPOKEN)
    send(playout, 10 * SECOND)
    assert playout.position(10 * SECOND + SECOND // 2) == 2_400


# ---- held and resumed


@pytest.mark.parametrize("marks", [True, False])
def test_what_is_held_is_neither_sent_nor_played_and_goes_on_from_the_same_sample(marks: bool) -> None:
    playout = create(marks=marks)
    send(playout, 0)
    if marks:
        playout.mark(2_400, 1_600)
    playout.hold(1_600)
    held, sent = playout.position(1_600), playout.sent
    assert held == 2_400
    assert playout.due(30 * SECOND) == 0
    assert playout.position(30 * SECOND) == held
    playout.resume(30 * SECOND)
    assert playout.position(30 * SECOND) == held
    assert playout.sent == sent
    if not marks:
        assert playout.position(30 * SECOND + 800) == held + 1_200


def test_the_mark_of_a_held_client_counts() -> None:
    playout = create(marks=True)
    send(playout, 0)
    playout.hold(SECOND)
    playout.mark(9_000, SECOND + 1_000)
    assert playout.position(SECOND + 1_000) == 9_000


def test_holding_twice_holds_from_the_first_time() -> None:
    playout = create()
    send(playout, 0)
    playout.hold(800)
    playout.hold(8_000)
    assert playout.position(9_000) == 1_200
    playout.resume(9_000)
    playout.resume(9_500)
    assert playout.position(9_000 + 800) == 2_400
    assert not playout.held


def test_held_before_the_first_sample_it_is_sent_whole_afterwards() -> None:
    playout = create(4_000)
    playout.hold(0)
    assert playout.due(SECOND) == 0
    playout.resume(SECOND)
    assert send(playout, SECOND) == 4_000


def test_it_is_over_when_all_was_played() -> None:
    playout = create(2_400)
    assert not playout.over(0)
    playout.finish()
    send(playout, 0)
    assert not playout.over(800)
    assert playout.over(1_600)


def test_a_mark_past_what_was_sent_or_back_is_no_news() -> None:
    playout = create(marks=True)
    send(playout, 0)
    playout.mark(12_000, 100)
    playout.mark(6_000, 200)
    assert playout.position(200) == 12_000
    playout.mark(10**9, 300)
    assert playout.position(300) == playout.sent


# ---- what was heard


def test_a_word_is_heard_when_its_end_was_played() -> None:
    playout = worded()
    assert playout.heard(0) == ("", "Hello, dear world. How are you?")
    assert playout.heard(999) == ("", "Hello, dear world. How are you?")
    assert playout.heard(1_000) == ("Hello,", " dear world. How are you?")
    assert playout.heard(3_500) == ("Hello, dear world.", " How are you?")


def test_all_of_it_was_heard_at_its_end_with_whatever_is_not_spoken() -> None:
    playout = worded()
    playout.write("  \n*")
    assert playout.heard(6_000) == ("Hello, dear world. How are you?  \n*", "")


def test_what_was_written_and_has_no_sound_yet_is_unheard() -> None:
    playout = Playout()
    playout.write("One two three")
    playout.add_sound(2_000, [ReplyWord("One", 0, 1_000, 0, 3), ReplyWord("two", 1_000, 2_000, 4, 7)])
    assert playout.heard(2_000) == ("One two", " three")


def test_marks_that_stick_to_a_word_go_with_it() -> None:
    playout = Playout()
    playout.write("**Bold** and (so on)")
    words = [
        ReplyWord("bold", 0, 10, 2, 6),
        ReplyWord("and", 10, 20, 9, 12),
        ReplyWord("so", 20, 30, 14, 16),
    ]
    playout.add_sound(30, words)
    assert playout.heard(10) == ("**Bold**", " and (so on)")
    assert playout.heard(20) == ("**Bold** and", " (so on)")
    assert playout.heard(30) == ("**Bold** and (so", " on)")


def test_a_written_word_said_by_several_is_heard_with_the_last() -> None:
    playout = Playout()
    playout.write("It costs 23 euros")
    playout.add_sound(
        50,
        [
            ReplyWord("it", 0, 10, 0, 2),
            ReplyWord("costs", 10, 20, 3, 8),
            ReplyWord("twenty", 20, 30, 9, 9),
            ReplyWord("three", 30, 40, 9, 11),
            ReplyWord("euros", 40, 50, 12, 17),
        ],
    )
    assert playout.heard(35)[0] == "It costs"
    assert playout.heard(40)[0] == "It costs 23"


def test_without_words_nothing_is_known_to_be_heard_until_the_end() -> None:
    playout = Playout()
    playout.write("Hello")
    playout.add_sound(100)
    assert playout.heard(99) == ("", "Hello")
    playout.finish()
    assert playout.heard(100) == ("Hello", "")


def test_words_that_sound_between_two_samples() -> None:
    assert worded().words_between(1_500, 3_000) == ("dear", "world.")


@given(st.text(max_size=80), st.integers(0, 20_000))
def test_heard_and_unheard_are_the_written_text(text: str, samples: int) -> None:
    playout = worded(text)
    heard, rest = playout.heard(samples)
    assert heard + rest == text


@given(st.text(alphabet="ab .,", max_size=60), st.integers(0, 9_000), st.integers(0, 9_000))
def test_more_sound_is_never_fewer_words(text: str, one: int, other: int) -> None:
    playout = worded(text)
    less, more = sorted((one, other))
    assert playout.heard(more)[0].startswith(playout.heard(less)[0])


STEPS = st.lists(
    st.tuples(st.sampled_from(["send", "mark", "hold", "resume", "make", "wait"]), st.integers(0, 20_000)),
    max_size=60,
)


@given(st.booleans(), STEPS)
def test_positions_never_fall_and_never_pass_what_was_sent(marks: bool, steps: list[tuple[str, int]]) -> None:
    playout = Playout(marks=marks)
    at = last = 0
    for step, number in steps:
        match step:
            case "send":
                playout.send(min(number, playout.due(at)), at)
            case "mark":
                playout.mark(number, at)
            case "hold":
                playout.hold(at)
            case "resume":
                playout.resume(at)
            case "make":
                playout.add_sound(playout.length + number)
            case _:
                at += number
        position = playout.position(at)
        assert last <= position <= playout.sent <= playout.length
        assert playout.due(at) >= 0
        assert playout.sent + playout.due(at) <= playout.length
        last = position


# ---- gaps


def test_sound_that_comes_before_the_last_of_it_has_played_leaves_no_gap() -> None:
    playout = create()
    for at in range(0, 2 * SECOND, SECOND // 20):
        send(playout, at)
    assert playout.gaps == []


def test_sound_that_comes_too_late_leaves_a_gap_as_long_as_nothing_played() -> None:
    playout = create(SPOKEN)
    playout.send(SPOKEN // 2, 0)
    playout.send(SPOKEN // 4, SECOND)
    playout.send(SPOKEN // 4, SECOND + SECOND // 4 + SECOND // 20)
    assert playout.gaps == [500.0], "and 50 ms are none"


def test_the_first_sound_of_a_reply_is_no_gap() -> None:
    playout = create()
    send(playout, 9 * SECOND)
    assert playout.gaps == []


def test_a_reply_that_waits_for_a_tool_is_silent_on_purpose() -> None:
    playout = create()
    playout.send(SPOKEN // 2, 0)
    playout.expect_silence()
    playout.send(SPOKEN // 2, 5 * SECOND)
    playout.send(SPOKEN // 2, 7 * SECOND)
    assert playout.gaps == [1500.0], "what comes after it is no longer expected"


def test_a_client_that_holds_playback_hears_no_gap_of_ours() -> None:
    playout = create()
    playout.send(SPOKEN // 2, 0)
    playout.hold(SECOND // 4)
    playout.resume(4 * SECOND)
    playout.send(SPOKEN // 2, 4 * SECOND + SECOND // 4)
    assert playout.gaps == []


def test_marks_correct_when_the_sound_ran_out() -> None:
    playout = create(marks=True)
    playout.send(SPOKEN // 2, 0)
    playout.mark(SPOKEN // 4, SECOND // 2)
    playout.send(SPOKEN // 2, SECOND)
    assert playout.gaps == [250.0], "the client began a quarter of a second late"

from __future__ import annotations

from duologue.turns.caller_turn import CallerTurn
from duologue.turns.facts_and_decisions import (
    FRAME,
    CutSound,
    Decision,
    Drop,
    HoldSound,
    KeepReply,
    KeepUser,
    ResumeSound,
)
from duologue.turns.reply_state import ReplyState
from duologue.turns.settings import TurnSettings, seconds
from duologue.values.events import ReplyWord

PAUSING = TurnSettings(pauses=True, marks=True)


def made(settings: TurnSettings = PAUSING) -> tuple[ReplyState, list[Decision]]:
    log: list[Decision] = []
    mouth = ReplyState(settings, log.append)
    mouth.ask(CallerTurn(1, 1, text="hello"), 0)
    mouth.release(0)
    log.clear()
    return mouth, log


def sounding(settings: TurnSettings = PAUSING) -> tuple[ReplyState, list[Decision]]:
    mouth, log = made(settings)
    assert mouth.main is not None
    words = tuple(ReplyWord(f"w{n}", n * 8000, (n + 1) * 8000, 3 * n, 3 * n + 2) for n in range(10))
    mouth.made(mouth.main, 80_000, words, 0)
    mouth.played(mouth.main, 24_000, seconds(1))
    return mouth, log


def test_what_may_not_sound_yet_is_not_to_be_interrupted() -> None:
    log: list[Decision] = []
    mouth = ReplyState(PAUSING, log.append)
    mouth.ask(CallerTurn(1, 1, text="hello"), 0)
    assert mouth.foremost is None
    mouth.release(0)
    mouth.release(0)
    assert mouth.foremost is mouth.main
    assert len(log) == 2


def test_holding_twice_is_holding_once() -> None:
    mouth, log = sounding()
    mouth.hold(0)
    mouth.hold(512)
    mouth.resume(1024)
    mouth.resume(1024)
    assert log == [HoldSound(1), ResumeSound(1)]


def test_a_client_that_cannot_pause_is_not_held() -> None:
    mouth, log = sounding(TurnSettings())
    mouth.hold(0)
    assert log == []


def test_a_cut_keeps_the_question_raises_the_epoch_and_waits_for_the_clients_mark() -> None:
    mouth, log = sounding()
    main = mouth.main
    assert main is not None
    mouth.cut(main, seconds(1))
    assert log == [KeepUser(1, "hello"), CutSound(1)]
    assert mouth.epoch.value == 1
    assert not mouth.settled
    assert mouth.find(1) is main
    mouth.played(main, 30_000, seconds(1.1))
    mouth.tick(seconds(1.2))
    assert not mouth.settled
    mouth.tick(seconds(1.25))
    assert log[2:] == [KeepReply(1, 30_000, "interrupted")]
    assert mouth.find(1) is None


def test_a_cut_of_what_was_held_long_enough_is_settled_at_once() -> None:
    mouth, log = sounding()
    assert mouth.main is not None
    mouth.hold(seconds(1))
    mouth.cut(mouth.main, seconds(1.3))
    assert log[-1] == KeepReply(1, 24_000, "interrupted")


def test_without_marks_a_cut_is_settled_at_once() -> None:
    mouth, log = sounding(TurnSettings())
    assert mouth.main is not None
    mouth.cut(mouth.main, seconds(1))
    assert log[-1] == KeepReply(1, 24_000, "interrupted")


def test_what_is_taken_back_is_cut_only_where_it_may_have_sounded() -> None:
    mouth, log = sounding()
    assert mouth.main is not None
    mouth.drop(mouth.main, 0)
    assert log == [CutSound(1), Drop(1)]
    mouth.ask(CallerTurn(1, 1, text="hello"), 0)
    assert mouth.main is not None
    mouth.drop(mouth.main, 0)
    assert log[3:] == [Drop(2)]
    assert mouth.epoch.value == 1


def test_marks_never_go_back_and_never_past_what_exists() -> None:
    mouth, _ = sounding()
    main = mouth.main
    assert main is not None
    mouth.played(main, 10_000, 0)
    assert main.played == 24_000
    mouth.played(main, 900_000, 0)
    assert main.played == 80_000


def test_a_client_that_tells_nothing_is_taken_to_have_played() -> None:
    mouth, _ = sounding()
    main = mouth.main
    assert main is not None
    now = seconds(1)
    while main.played < main.made:
        now += FRAME
        mouth.tick(now)
        assert now < seconds(6)
    assert now > seconds(1) + (80_000 - 24_000) * 2 // 3


def test_what_is_held_is_not_taken_to_be_played() -> None:
    mouth, _ = sounding()
    assert mouth.main is not None
    mouth.hold(seconds(1))
    mouth.tick(seconds(30))
    assert mouth.main.played == 24_000


def test_only_the_words_that_sounded_just_then_can_be_an_echo() -> None:
    mouth, _ = sounding()
    assert mouth.own_words(1, 24_000) == ("w1", "w2", "w3")
    assert mouth.own_words(7, 24_000) == ()


def test_a_reply_can_come_back_a_moment_after_its_end() -> None:
    mouth, log = sounding()
    main = mouth.main
    assert main is not None
    mouth.played(main, 80_000, seconds(2))
    mouth.finish(main, seconds(2))
    assert log == [KeepUser(1, "hello"), KeepReply(1, 80_000, "spoken")]
    assert mouth.audible(seconds(2.1)) is main
    assert mouth.audible(seconds(2.5)) is None


def test_words_long_past_are_forgotten() -> None:
    mouth, _ = sounding()
    main = mouth.main
    assert main is not None
    for second in range(1, 200):
        made = 80_000 + 24_000 * second
        mouth.played(main, made, 0)
        mouth.made(main, made, (ReplyWord("x", made - 24_000, made, 0, 1),), 0)
    assert len(main.words) < 20

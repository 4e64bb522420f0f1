from __future__ import annotations

from duologue.turns.caller_turn import CallerTurn
from duologue.turns.decisions import (
    CommitReply,
    CommitTurn,
    CutReply,
    Decision,
    DropReply,
    HoldReply,
    ResumeReply,
)
from duologue.turns.facts import FRAME
from duologue.turns.reply_state import ReplyState
from duologue.turns.settings import TurnSettings, seconds
from duologue.values.events import ReplyWord

PAUSING = TurnSettings(pauses=True, marks=True)


def create(settings: TurnSettings = PAUSING) -> tuple[ReplyState, list[Decision]]:
    log: list[Decision] = []
    replies = ReplyState(settings, log.append)
    replies.request(CallerTurn(1, 1, text="hello"), 0)
    replies.release(0)
    log.clear()
    return replies, log


def playing(settings: TurnSettings = PAUSING) -> tuple[ReplyState, list[Decision]]:
    replies, log = create(settings)
    assert replies.main is not None
    words = tuple(ReplyWord(f"w{n}", n * 8000, (n + 1) * 8000, 3 * n, 3 * n + 2) for n in range(10))
    replies.add_sound(replies.main, 80_000, words, 0)
    replies.set_position(replies.main, 24_000, seconds(1))
    return replies, log


def test_what_may_not_sound_yet_is_not_to_be_interrupted() -> None:
    log: list[Decision] = []
    replies = ReplyState(PAUSING, log.append)
    replies.request(CallerTurn(1, 1, text="hello"), 0)
    assert replies.current is None
    replies.release(0)
    replies.release(0)
    assert replies.current is replies.main
    assert len(log) == 2


def test_holding_twice_is_holding_once() -> None:
    replies, log = playing()
    replies.hold(0)
    replies.hold(512)
    replies.resume(1024)
    replies.resume(1024)
    assert log == [HoldReply(1), ResumeReply(1)]


def test_a_client_that_cannot_pause_is_not_held() -> None:
    replies, log = playing(TurnSettings())
    replies.hold(0)
    assert log == []


def test_a_cut_keeps_the_question_raises_the_epoch_and_waits_for_the_clients_mark() -> None:
    replies, log = playing()
    main = replies.main
    assert main is not None
    replies.cut(main, seconds(1))
    assert log == [CommitTurn(1, "hello"), CutReply(1)]
    assert replies.epoch == 1
    assert not replies.positions_final
    assert replies.find(1) is main
    replies.set_position(main, 30_000, seconds(1.1))
    replies.tick(seconds(1.2))
    assert not replies.positions_final
    replies.tick(seconds(1.25))
    assert log[2:] == [CommitReply(1, 30_000, "interrupted")]
    assert replies.find(1) is None


def test_a_cut_of_what_was_held_long_enough_is_settled_at_once() -> None:
    replies, log = playing()
    assert replies.main is not None
    replies.hold(seconds(1))
    replies.cut(replies.main, seconds(1.3))
    assert log[-1] == CommitReply(1, 24_000, "interrupted")


def test_without_marks_a_cut_is_settled_at_once() -> None:
    replies, log = playing(TurnSettings())
    assert replies.main is not None
    replies.cut(replies.main, seconds(1))
    assert log[-1] == CommitReply(1, 24_000, "interrupted")


def test_what_is_taken_back_is_cut_only_where_it_may_have_sounded() -> None:
    replies, log = playing()
    assert replies.main is not None
    replies.drop(replies.main, 0)
    assert log == [CutReply(1), DropReply(1)]
    replies.request(CallerTurn(1, 1, text="hello"), 0)
    assert replies.main is not None
    replies.drop(replies.main, 0)
    assert log[3:] == [DropReply(2)]
    assert replies.epoch == 1


def test_marks_never_go_back_and_never_past_what_exists() -> None:
    replies, _ = playing()
    main = replies.main
    assert main is not None
    replies.set_position(main, 10_000, 0)
    assert main.played == 24_000
    replies.set_position(main, 900_000, 0)
    assert main.played == 80_000


def test_a_client_that_tells_nothing_is_taken_to_have_played() -> None:
    replies, _ = playing()
    main = replies.main
    assert main is not None
    now = seconds(1)
    while main.played < main.length:
        now += FRAME
        replies.tick(now)
        assert now < seconds(6)
    assert now > seconds(1) + (80_000 - 24_000) * 2 // 3


def test_what_is_held_is_not_taken_to_be_played() -> None:
    replies, _ = playing()
    assert replies.main is not None
    replies.hold(seconds(1))
    replies.tick(seconds(30))
    assert replies.main.played == 24_000


def test_only_the_words_that_sounded_just_then_can_be_an_echo() -> None:
    replies, _ = playing()
    assert replies.recent_words(1, 24_000) == ("w1", "w2", "w3")
    assert replies.recent_words(7, 24_000) == ()


def test_a_reply_can_come_back_a_moment_after_its_end() -> None:
    replies, log = playing()
    main = replies.main
    assert main is not None
    replies.set_position(main, 80_000, seconds(2))
    replies.finish(main, seconds(2))
    assert log == [CommitTurn(1, "hello"), CommitReply(1, 80_000, "spoken")]
    assert replies.audible(seconds(2.1)) is main
    assert replies.audible(seconds(2.5)) is None


def test_words_long_past_are_forgotten() -> None:
    replies, _ = playing()
    main = replies.main
    assert main is not None
    for second in range(1, 200):
        length = 80_000 + 24_000 * second
        replies.set_position(main, length, 0)
        replies.add_sound(main, length, (ReplyWord("x", length - 24_000, length, 0, 1),), 0)
    assert len(main.words) < 20


def test_every_cut_raises_the_epoch_by_one_and_nothing_lowers_it() -> None:
    replies, _ = playing()
    epochs = [replies.epoch]
    assert replies.main is not None
    replies.cut(replies.main, seconds(1))
    epochs.append(replies.epoch)
    replies.say("One moment.", "filler", seconds(2))
    replies.stop(seconds(2))
    epochs.append(replies.epoch)
    replies.request(CallerTurn(2, 2, text="hello"), seconds(3))
    replies.stop(seconds(3))
    epochs.append(replies.epoch)
    assert epochs == [0, 1, 2, 2], "a reply that never played needs no cut"

"""What was heard of replies: as reported, or as time passed; cut where playback ended."""

import pytest

from duologue.gateway.recordings.reply_track import JITTER, PATIENCE, REPORT, HeardPart, ReplyTrack
from duologue.values.events import ReplyWord

SECOND = 24_000


def sound(count: int, first: int = 1) -> bytes:
    return b"".join((1 + (first + number) % 30_000).to_bytes(2, "little") for number in range(count))


@pytest.fixture
def reported() -> ReplyTrack:
    return ReplyTrack(marks=True)


@pytest.fixture
def silent() -> ReplyTrack:
    return ReplyTrack(marks=False)


def test_a_report_says_that_the_samples_before_it_were_just_played(reported: ReplyTrack):
    reported.send(1, sound(SECOND), (), now=1000)
    reported.report(1, 4800, now=8000)
    assert reported.parts == [HeardPart(1, 0, 4800, 3200)]
    assert reported.sound.take(8000) == bytes(6400) + sound(4800)


def test_a_late_report_continues_the_sound_before_it(reported: ReplyTrack):
    reported.send(1, sound(SECOND), (), now=0)
    reported.report(1, 4800, now=4800)
    reported.report(1, 9600, now=9600 + JITTER)
    assert reported.sound.take(9600) == sound(9600)


def test_a_gap_in_playback_is_a_gap_in_the_recording(reported: ReplyTrack):
    reported.send(1, sound(SECOND), (), now=0)
    reported.report(1, 4800, now=4800)
    reported.report(1, 9600, now=9600 + JITTER + 1)
    assert reported.parts[-1] == HeardPart(1, 4800, 4800, 4801 + JITTER)


def test_after_a_pause_the_sound_stands_where_it_was_heard(reported: ReplyTrack):
    reported.send(1, sound(SECOND), (), now=0)
    reported.report(1, 4800, now=4800)
    reported.hold(1, now=4800)
    reported.resume(1, now=6000)
    reported.report(1, 5800, now=7100)
    assert reported.parts[-1] == HeardPart(1, 4800, 1000, 6100)


def test_reports_that_go_back_or_too_far_are_not_believed(reported: ReplyTrack):
    reported.send(1, sound(1000), (), now=0)
    reported.report(1, 800, now=800)
    reported.report(1, 300, now=900)
    reported.report(1, 10**9, now=1000)
    reported.report(2, 100, now=1000)
    assert reported.heard(1) == 1000


def test_a_cut_reply_ends_where_its_last_report_says(reported: ReplyTrack):
    reported.send(1, sound(SECOND), (), now=0)
    reported.report(1, 4800, now=4800)
    reported.cut(1, now=6000)
    reported.report(1, 6240, now=6480)
    reported.advance(now=10 * SECOND)
    assert reported.heard(1) == 6240
    assert reported.sound.take(10 * SECOND) == sound(6240) + bytes(2 * (10 * SECOND - 6240))


def test_nothing_is_heard_of_a_cut_reply_once_the_next_one_is(reported: ReplyTrack):
    reported.send(1, sound(SECOND), (), now=0)
    reported.report(1, 4800, now=4800)
    reported.cut(1, now=4800)
    reported.send(2, sound(SECOND), (), now=5000)
    reported.report(2, 100, now=5200)
    reported.report(1, 9000, now=9000)
    assert (reported.heard(1), reported.heard(2)) == (4800, 100)
    reported.send(1, sound(100), (), now=9000)
    assert reported.pending == 2 * (4800 + 100 + SECOND - 100)


def test_the_client_says_where_it_stopped(reported: ReplyTrack):
    reported.send(1, sound(SECOND), (), now=0)
    reported.report(1, 4800, now=4800)
    reported.cut(1, now=5500, heard=5300)
    assert reported.heard(1) == 5300


def test_a_client_that_breaks_its_promise_to_report_is_not_waited_for(reported: ReplyTrack):
    reported.send(1, sound(SECOND), (), now=SECOND)
    reported.advance(now=SECOND + PATIENCE)
    assert reported.heard(1) == 0
    reported.advance(now=SECOND + PATIENCE + 1)
    assert reported.parts == [HeardPart(1, 0, SECOND, SECOND)]


def test_without_reports_sound_plays_from_when_it_was_sent(silent: ReplyTrack):
    silent.send(1, sound(4800), (), now=1000)
    silent.advance(now=3000)
    assert silent.heard(1) == 2000
    silent.advance(now=SECOND)
    assert silent.sound.take(5800) == bytes(2000) + sound(4800)


def test_without_reports_what_comes_too_late_leaves_a_gap(silent: ReplyTrack):
    silent.send(1, sound(1000), (), now=0)
    silent.send(1, sound(1000, 1001), (), now=1500)
    silent.advance(now=SECOND)
    assert silent.sound.take(2500) == sound(1000) + bytes(1000) + sound(1000, 1001)


def test_without_reports_replies_play_one_after_another(silent: ReplyTrack):
    silent.send(1, sound(1000), (), now=0)
    silent.send(2, sound(1000), (), now=200)
    silent.advance(now=1500)
    assert (silent.heard(1), silent.heard(2)) == (1000, 500)


def test_without_reports_a_cut_ends_what_plays(silent: ReplyTrack):
    silent.send(1, sound(SECOND), (), now=0)
    silent.cut(1, now=700)
    silent.advance(now=SECOND)
    assert silent.heard(1) == 700
    assert silent.pending == 1400


def test_a_frame_number_takes_back_what_was_only_assumed(silent: ReplyTrack):
    silent.send(1, sound(SECOND), (ReplyWord("one", 0, 500, 0, 3), ReplyWord("two", 500, 900, 4, 7)), now=0)
    silent.cut(1, now=1000, heard=600)
    assert silent.heard(1) == 600
    assert [word.word.text for word in silent.words] == ["one"]
    assert silent.sound.take(1000) == sound(600) + bytes(800)


def test_without_reports_a_pause_stops_and_resumes_at_the_same_sample(silent: ReplyTrack):
    silent.send(1, sound(1000), (), now=0)
    silent.hold(1, now=300)
    silent.resume(1, now=500)
    silent.advance(now=SECOND)
    assert silent.sound.take(1200) == sound(300) + bytes(400) + sound(700, 301)


def test_words_stand_where_they_were_heard(reported: ReplyTrack):
    reported.send(1, sound(SECOND), (ReplyWord("one", 0, 400, 0, 3), ReplyWord("two", 500, 900, 4, 7)), now=0)
    reported.report(1, 800, now=1800)
    assert [(word.word.text, word.start, word.end) for word in reported.words] == [("one", 1000, 1400)]
    reported.report(1, 1000, now=2000)
    assert [(word.word.text, word.start, word.end) for word in reported.words][1:] == [("two", 1500, 1900)]


def test_what_is_settled_is_given_once(reported: ReplyTrack):
    reported.send(1, sound(SECOND), (ReplyWord("one", 0, 400, 0, 3),), now=0)
    reported.report(1, 800, now=800)
    reported.report(1, 900, now=900)
    parts, words = reported.settle(850)
    assert ([part.count for part in parts], [word.word.text for word in words]) == ([800], ["one"])
    assert [part.count for part in reported.settle(900)[0]] == [100]


def test_what_was_sent_may_be_played_out(silent: ReplyTrack):
    silent.send(1, sound(1000), (), now=0)
    silent.play_out()
    assert silent.sound.take(1000) == sound(1000)


def test_what_was_played_since_the_last_report_counts_at_the_end(reported: ReplyTrack):
    reported.send(1, sound(SECOND), (), now=0)
    reported.report(1, 4800, now=4800)
    reported.hang_up(now=7000)
    assert reported.heard(1) == 7000
    assert reported.sound.take(8000) == sound(7000) + bytes(2 * 1000)


def test_at_the_end_no_more_counts_than_between_two_reports(reported: ReplyTrack):
    reported.send(1, sound(SECOND), (), now=0)
    reported.report(1, 4800, now=4800)
    reported.hang_up(now=4800 + 2 * REPORT)
    assert reported.heard(1) == 4800 + REPORT


def test_at_the_end_only_what_was_sent_counts(reported: ReplyTrack):
    reported.send(1, sound(5000), (), now=0)
    reported.report(1, 4800, now=4800)
    reported.send(2, sound(100), (), now=4800)
    reported.hang_up(now=6000)
    assert (reported.heard(1), reported.heard(2)) == (5000, 100)


@pytest.mark.parametrize("how", ["hold", "cut"])
def test_at_the_end_nothing_counts_of_a_reply_that_is_paused_or_dropped(reported: ReplyTrack, how: str):
    reported.send(1, sound(SECOND), (), now=0)
    reported.report(1, 4800, now=4800)
    getattr(reported, how)(1, now=4800)
    reported.hang_up(now=7000)
    assert reported.heard(1) == 4800


def test_a_reply_that_was_just_sent_counts_from_then(reported: ReplyTrack):
    reported.send(1, sound(SECOND), (), now=1000)
    reported.hang_up(now=3000)
    assert reported.parts == [HeardPart(1, 0, 2000, 1000)]

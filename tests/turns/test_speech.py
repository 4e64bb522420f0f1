from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from duologue.turns.facts import FRAME, Frame
from duologue.turns.settings import seconds
from duologue.turns.speech import Change, SpeechRules, SpeechSegmenter

HUM = Frame(0.9, -24.0, -18.0)
LOUD, SILENT = Frame(0.95, -22.0), Frame(0.01, -65.0)


def heard(speech: SpeechSegmenter, *frames: tuple[Frame, int]) -> list[Change]:
    """What so many of these frames changed."""
    changes = [speech.take(frame) for frame, count in frames for _ in range(count)]
    return [change for change in changes if change is not None]


def test_speech_begins_is_confirmed_and_ends() -> None:
    speech = SpeechSegmenter()
    assert heard(speech, (SILENT, 20), (LOUD, 30), (SILENT, 20)) == ["onset", "confirmed", "lull"]
    assert speech.start == 20 * FRAME
    assert speech.end == 50 * FRAME
    assert speech.spoken == 30 * FRAME
    assert speech.silence == 20 * FRAME


def test_an_onset_is_told_within_a_tenth_of_a_second() -> None:
    speech = SpeechSegmenter()
    heard(speech, (SILENT, 10))
    frames = 0
    while heard(speech, (LOUD, 1)) != ["onset"]:
        frames += 1
    assert (frames + 1) * FRAME <= seconds(0.1)


def test_what_is_shorter_than_the_threshold_is_no_onset() -> None:
    speech = SpeechSegmenter()
    assert heard(speech, *[(LOUD, 2), (SILENT, 3)] * 30) == []


def test_a_weak_frame_among_the_first_ones_does_not_begin_it_anew() -> None:
    speech = SpeechSegmenter()
    assert heard(speech, (SILENT, 5), (LOUD, 2), (SILENT, 1), (LOUD, 1)) == ["onset"]
    assert speech.start == 5 * FRAME


def test_a_burst_fades() -> None:
    speech = SpeechSegmenter()
    assert heard(speech, (SILENT, 10), (LOUD, 4), (SILENT, 10)) == ["onset", "faded"]
    assert speech.phase == "quiet"


def test_speech_goes_on_at_a_probability_that_would_not_begin_it() -> None:
    speech = SpeechSegmenter()
    doubtful = Frame(0.4, -24.0)
    assert heard(speech, (doubtful, 30)) == []
    assert heard(speech, (LOUD, 6), (doubtful, 30)) == ["onset", "confirmed"]


def test_short_gaps_are_inside_words() -> None:
    speech = SpeechSegmenter()
    assert heard(speech, *[(LOUD, 8), (SILENT, 2)] * 10) == ["onset", "confirmed"]


def test_it_is_known_how_long_it_was_silent_before() -> None:
    speech = SpeechSegmenter()
    heard(speech, (LOUD, 20), (SILENT, 25), (LOUD, 10))
    assert speech.pause == 25 * FRAME


def test_a_burst_in_a_pause_does_not_shorten_the_pause() -> None:
    speech = SpeechSegmenter()
    heard(speech, (LOUD, 20), (SILENT, 10), (LOUD, 3), (SILENT, 12), (LOUD, 10))
    assert speech.pause == 25 * FRAME


def test_a_single_frame_of_speech_stirs() -> None:
    speech = SpeechSegmenter()
    heard(speech, (SILENT, 5), (LOUD, 1))
    assert speech.stirring
    heard(speech, (SILENT, 3))
    assert not speech.stirring


def test_what_just_stopped_does_not_stir() -> None:
    speech = SpeechSegmenter()
    heard(speech, (LOUD, 20), (SILENT, 3))
    assert not speech.stirring


def test_speech_hardly_over_the_noise_is_none() -> None:
    speech = SpeechSegmenter()
    heard(speech, (Frame(0.05, -45.0), 2000))
    assert heard(speech, (Frame(0.9, -42.0), 40)) == []
    assert heard(speech, (Frame(0.9, -30.0), 10)) == ["onset", "confirmed"]


def test_noise_is_learnt_slowly_and_forgotten_at_once() -> None:
    speech = SpeechSegmenter()
    heard(speech, (Frame(0.05, -45.0), 30))
    assert speech.levels.noise < -70.0
    heard(speech, (Frame(0.05, -45.0), 2000))
    assert speech.levels.noise > -46.0
    heard(speech, (Frame(0.05, -70.0), 1))
    assert speech.levels.noise == -70.0


def test_a_quiet_voice_beside_the_callers_is_none() -> None:
    speech = SpeechSegmenter()
    heard(speech, (LOUD, 60), (SILENT, 20))
    assert heard(speech, (Frame(0.95, -46.0), 100)) == []
    assert heard(speech, (Frame(0.95, -30.0), 10)) == ["onset", "confirmed"]


def test_a_caller_who_sits_back_is_heard_again_after_a_while() -> None:
    speech = SpeechSegmenter()
    heard(speech, (LOUD, 60), (SILENT, 20))
    quieter = Frame(0.95, -45.0)
    assert heard(speech, (quieter, 30)) == []
    heard(speech, (SILENT, 60 * 31))
    assert heard(speech, (quieter, 30)) == ["onset", "confirmed"]


def test_a_television_is_never_taken_for_the_caller_however_long_they_are_silent() -> None:
    speech = SpeechSegmenter()
    heard(speech, (LOUD, 60))
    assert heard(speech, (SILENT, 10), (Frame(0.9, -52.0), 20_000)) == ["lull"]


def test_a_level_nobody_measured_says_nothing() -> None:
    speech = SpeechSegmenter()
    assert heard(speech, (LOUD, 60), (SILENT, 10), (Frame(0.9), 10)) == [
        "onset",
        "confirmed",
        "lull",
        "onset",
        "confirmed",
    ]


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(-110, 0)), max_size=300))
def test_changes_come_in_order_and_places_are_within_what_was_heard(
    frames: list[tuple[float, float]],
) -> None:
    speech = SpeechSegmenter()
    allowed: dict[Change | None, set[Change]] = {
        None: {"onset"},
        "onset": {"confirmed", "faded"},
        "confirmed": {"lull"},
        "faded": {"onset"},
        "lull": {"onset"},
    }
    last: Change | None = None
    for number, (probability, level) in enumerate(frames, 1):
        change = speech.take(Frame(probability, level))
        if change is not None:
            assert change in allowed[last]
            last = change
        assert 0 <= speech.start <= speech.end <= number * FRAME
        assert speech.silence >= 0


@given(st.lists(st.booleans(), max_size=200))
def test_no_onset_without_its_frames(voiced: list[bool]) -> None:
    rules = SpeechRules()
    speech = SpeechSegmenter(rules)
    for number, one in enumerate(voiced):
        if speech.take(LOUD if one else SILENT) == "onset":
            assert sum(voiced[max(0, number - rules.onset) : number + 1]) >= rules.onset


def playing(frame: Frame, loudness: float = -14.0) -> Frame:
    """The same while a reply sounds."""
    return structs.replace(frame, playback_level=loudness)


def test_a_hum_is_a_murmur_and_a_hum_that_opens_into_a_vowel_is_none() -> None:
    speech = SpeechSegmenter()
    heard(speech, (SILENT, 10), (HUM, 12))
    assert speech.murmur
    heard(speech, (Frame(0.95, -20.0, -7.0), 3))
    assert not speech.murmur


def test_the_quiet_ends_of_a_hum_do_not_make_speech_of_it() -> None:
    speech = SpeechSegmenter()
    heard(speech, (SILENT, 10), (HUM, 6), (Frame(0.6, -44.0, -4.0), 2), (HUM, 6))
    assert speech.murmur


def test_each_stretch_of_speech_is_a_murmur_of_its_own() -> None:
    speech = SpeechSegmenter()
    heard(speech, (SILENT, 10), (Frame(0.9, -20.0, -6.0), 12), (SILENT, 10), (HUM, 12))
    assert speech.murmur


def test_what_is_much_quieter_than_what_is_played_is_no_onset() -> None:
    speech = SpeechSegmenter()
    assert heard(speech, (playing(Frame(0.9, -33.0)), 20)) == []
    assert heard(speech, (playing(Frame(0.9, -22.0)), 10)) == ["onset", "confirmed"]


def test_an_echo_is_expected_for_a_moment_after_what_was_played() -> None:
    speech = SpeechSegmenter()
    echo = Frame(0.9, -33.0)
    assert heard(speech, (playing(echo), 10), (echo, 8)) == []
    assert heard(speech, (echo, 20)) == ["onset", "confirmed"]


def test_a_caller_who_is_known_is_heard_over_any_echo_unless_much_quieter_than_usual() -> None:
    speech = SpeechSegmenter()
    heard(speech, (Frame(0.95, -34.0), 60), (SILENT, 20))
    assert heard(speech, (playing(Frame(0.9, -45.0)), 10)) == []
    assert heard(speech, (playing(Frame(0.9, -36.0)), 10)) == ["onset", "confirmed"]


def test_a_caller_nobody_knows_yet_who_talks_on_is_heard_in_the_end() -> None:
    speech = SpeechSegmenter()
    assert heard(speech, (playing(Frame(0.9, -33.0)), 60)) == ["onset", "confirmed"]
    assert speech.faint


def test_nothing_is_tried_where_what_is_played_cannot_be_held() -> None:
    speech = SpeechSegmenter()
    speech.can_hold = False
    assert heard(speech, (playing(Frame(0.9, -33.0)), 200)) == []


def test_what_was_tried_and_ended_with_what_was_played_is_not_tried_again() -> None:
    speech = SpeechSegmenter()
    heard(speech, (playing(Frame(0.9, -33.0)), 60), (SILENT, 30))
    speech.levels.learn_echo(-19.0, trial=True)
    assert heard(speech, (playing(Frame(0.9, -33.0)), 200)) == []


def test_a_louder_echo_is_known_after_two_that_are_alike() -> None:
    speech = SpeechSegmenter()
    loud = playing(Frame(0.9, -26.0))
    speech.levels.learn_echo(-12.0, trial=False)
    speech.levels.learn_echo(-25.0, trial=False)
    speech.levels.learn_echo(-13.0, trial=False)
    assert heard(speech, (loud, 6), (SILENT, 30)) == ["onset", "confirmed", "lull"]
    speech.levels.learn_echo(-12.0, trial=False)
    assert heard(speech, (loud, 6)) == []


def test_the_callers_level_is_not_learnt_from_an_echo() -> None:
    speech = SpeechSegmenter()
    heard(speech, (playing(Frame(0.95, -20.0)), 100))
    assert speech.levels.own is None

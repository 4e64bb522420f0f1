"""The mouth's curve: what neighbours do to each other, closures, pauses, and that it is the same however the phones come."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from duologue.turns.mouth.curve import MS, PAUSE, MouthCurve
from duologue.values.mouth import REST, MouthKey, Phone, mouth_at

SYMBOLS = [
    "p",
    "b",
    "m",
    "f",
    "v",
    "a",
    "ɑː",
    "i",
    "u",
    "ˈaɪ",
    "oʊ",
    "s",
    "tʃ",
    "k",
    "h",
    "ɹ",
    "w",
    "ə",
    "pf",
    "",
    "Q",
]


def spoken(*sounds: tuple[str, float], start: int = 0) -> list[Phone]:
    """Phones of these milliseconds, one after the other."""
    phones, at = [], start
    for symbol, length in sounds:
        end = at + round(length * MS)
        phones.append(Phone(symbol, at, end))
        at = end
    return phones


def curve_of(phones: list[Phone]) -> list[MouthKey]:
    curve = MouthCurve()
    return curve.feed(phones, 0) + curve.finish()


def middle(phone: Phone) -> int:
    return (phone.start + phone.end) // 2


@st.composite
def utterances(draw: st.DrawFn) -> list[Phone]:
    phones, at = [], draw(st.integers(0, 400)) * MS
    for _ in range(draw(st.integers(0, 25))):
        end = at + draw(st.integers(1, 250 * MS))
        phones.append(Phone(draw(st.sampled_from(SYMBOLS)), at, end))
        at = end + draw(st.one_of(st.just(0), st.integers(0, 400 * MS)))
    return phones


def test_lips_that_close_are_closed_at_the_middle_of_p_b_and_m_and_open_again_for_the_vowel():
    for closing in "pbm":
        phones = spoken(("ɑ", 120), (closing, 60), ("ɑ", 120))
        keys = curve_of(phones)
        assert mouth_at(keys, middle(phones[1])).press == 1.0
        assert mouth_at(keys, middle(phones[1])).open == 0.0
        assert mouth_at(keys, middle(phones[2])).press == 0.0
        assert mouth_at(keys, middle(phones[2])).open > 0.8


def test_p_a_and_s_of_equal_loudness_draw_different_mouths():
    mouths = []
    for symbol in ("p", "a", "s"):
        phones = spoken((symbol, 150))
        mouths.append(mouth_at(curve_of(phones), middle(phones[0])))
    press, vowel, hiss = mouths
    assert press.press == 1.0
    assert press.open == 0.0
    assert vowel.open > 0.9
    assert vowel.press == 0.0
    assert 0.0 < hiss.open < 0.2
    assert hiss.wide > 0.2


def test_f_tucks_the_lip_under_the_teeth():
    phones = spoken(("ɑ", 100), ("f", 80), ("ɑ", 100))
    assert mouth_at(curve_of(phones), middle(phones[1])).tuck == 1.0


def test_lips_are_round_before_the_u_that_needs_them():
    round_, spread = spoken(("s", 90), ("t", 60), ("uː", 150)), spoken(("s", 90), ("t", 60), ("iː", 150))
    at = round_[2].start - 40 * MS
    assert mouth_at(curve_of(round_), at).wide < -0.3
    assert mouth_at(curve_of(spread), at).wide > 0.2


def test_a_k_takes_the_mouth_of_the_vowels_beside_it():
    open_, closed = spoken(("ɑ", 120), ("k", 80), ("ɑ", 120)), spoken(("i", 120), ("k", 80), ("i", 120))
    difference = (
        mouth_at(curve_of(open_), middle(open_[1])).open - mouth_at(curve_of(closed), middle(closed[1])).open
    )
    assert difference > 0.15


def test_a_short_vowel_between_consonants_opens_less_than_a_long_one():
    short, long = spoken(("t", 60), ("a", 40), ("t", 60)), spoken(("t", 60), ("a", 200), ("t", 60))
    widest_short = max(key.open for key in curve_of(short))
    assert 60 < widest_short < max(key.open for key in curve_of(long))


def test_a_diphthong_goes_from_its_first_shape_to_its_last():
    (phone,) = spoken(("ˈaɪ", 200))
    keys = curve_of([phone])
    assert mouth_at(keys, phone.start + 40 * MS).open > 0.7
    assert mouth_at(keys, phone.end - 40 * MS).open < 0.4
    assert mouth_at(keys, phone.end - 40 * MS).wide > 0.3


def test_the_mouth_rests_in_a_pause_and_not_in_a_short_gap():
    first, second = spoken(("a", 120)), spoken(("a", 120), start=120 * MS + 2 * PAUSE)
    assert mouth_at(curve_of(first + second), 120 * MS + PAUSE) == REST
    near = spoken(("a", 120), start=160 * MS)
    assert mouth_at(curve_of(first + near), 140 * MS).open > 0.9


def test_the_mouth_moves_before_the_first_sound_is_heard():
    phones = spoken(("p", 80), ("a", 100), start=500 * MS)
    keys = curve_of(phones)
    assert mouth_at(keys, 400 * MS) == REST
    assert mouth_at(keys, 500 * MS).press > 0.6


def test_a_mouth_that_must_begin_at_once_does_not_jump():
    keys = curve_of(spoken(("p", 80), ("a", 100)))
    assert keys[0] == MouthKey(0)
    assert 0.0 < mouth_at(keys, 8 * MS).press < 1.0


def test_a_sound_is_drawn_once_what_may_follow_it_is_known():
    curve = MouthCurve()
    assert curve.feed(spoken(("t", 80)), 80 * MS) == []
    # It depends on no other vowel than the next one.
    assert curve.feed(spoken(("u", 80), start=80 * MS), 160 * MS)
    assert curve.feed([], 80 * MS + PAUSE) == []
    assert curve.feed([], 160 * MS + PAUSE)[-1] == MouthKey(160 * MS + PAUSE // 2)
    assert curve.finish() == []


def test_of_a_phone_that_comes_too_late_only_the_rest_is_drawn():
    curve = MouthCurve()
    before = curve.feed(spoken(("a", 100)), 400 * MS)
    late = curve.feed(spoken(("m", 500), start=50 * MS), 900 * MS) + curve.finish()
    assert before
    assert min(key.at for key in late) > before[-1].at
    assert max(key.press for key in late) == 100
    assert curve.feed(spoken(("m", 500), start=50 * MS), 900 * MS) == []


@given(utterances(), st.data())
@settings(max_examples=200, deadline=None)
def test_the_curve_is_the_same_however_the_phones_are_cut(phones: list[Phone], data: st.DataObject):
    whole = curve_of(phones)
    curve, keys = MouthCurve(), []
    cuts = sorted(data.draw(st.lists(st.integers(0, len(phones)), max_size=8)))
    for begin, end in pairwise([0, *cuts, len(phones)]):
        latest = phones[end].start if end < len(phones) else 10**9
        keys += curve.feed(phones[begin:end], data.draw(st.integers(0, latest)))
    assert keys + curve.finish() == whole


@given(utterances())
@settings(max_examples=200, deadline=None)
def test_keys_are_in_order_in_range_and_few(phones: list[Phone]):
    keys = curve_of(phones)
    assert all(one.at < other.at for one, other in pairwise(keys))
    for key in keys:
        assert key.at >= 0
        assert -100 <= key.wide <= 100
        assert all(0 <= weight <= 100 for weight in (key.open, key.press, key.tuck, key.tongue))
    shapes = sum(2 if phone.symbol == "pf" else 1 for phone in phones if phone.symbol)
    pauses = 1 + sum(
        other.start - one.end >= PAUSE for one, other in pairwise([each for each in phones if each.symbol])
    )
    assert len(keys) <= 2 * shapes + 2 * pauses
    if shapes:
        assert keys[-1] == MouthKey(keys[-1].at)


@given(utterances())
@settings(max_examples=200, deadline=None)
def test_every_p_b_and_m_closes_the_lips_in_full_however_short_it_is(phones: list[Phone]):
    keys = curve_of(phones)
    for phone in phones:
        if phone.symbol in ("p", "b", "m"):
            assert mouth_at(keys, middle(phone)).press == 1.0
            assert mouth_at(keys, middle(phone)).open == 0.0


@given(utterances(), st.lists(st.integers(0, 3000 * MS), max_size=10))
@settings(max_examples=150, deadline=None)
def test_what_was_drawn_never_changes_whatever_comes_late(phones: list[Phone], known: list[int]):
    curve, keys = MouthCurve(), []
    for number, phone in enumerate(phones):
        keys += curve.feed([phone], known[number] if number < len(known) else 0)
    keys += curve.finish()
    assert all(one.at < other.at for one, other in pairwise(keys))

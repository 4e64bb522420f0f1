"""Phones from the phonemes of a speech model."""

from __future__ import annotations

from duologue.engines.tts.phone_times import phones_of, sounds_in, sounds_of_words
from duologue.engines.tts.word_alignment import TimedText
from duologue.values.mouth import Phone


def test_a_sound_is_a_letter_with_its_marks():
    assert sounds_in("bˈuːk, ɔ̃!") == ("b", "uː", "k", "ɔ̃")
    assert sounds_in("") == ()


def test_the_diphthongs_of_kokoro_are_written_out():
    assert sounds_in("həlˈO wˈɜɹld mAk") == ("h", "ə", "l", "oʊ", "w", "ɜ", "ɹ", "l", "d", "m", "eɪ", "k")
    assert sounds_in("ʤˈʌmpᵊd") == ("ʤ", "ʌ", "m", "p", "ə", "d")


def test_the_sounds_of_a_token_share_its_time():
    phones = phones_of(
        [TimedText("mˈA", 0.5, 0.8), TimedText(",", 0.8, 1.0), TimedText("p", 1.0, 1.1)], delay=-0.5
    )
    assert [phone.symbol for phone in phones] == ["m", "eɪ", "p"]
    assert (phones[0].start, phones[1].end, phones[2].start) == (0, 7200, 12_000)


def test_a_mark_with_a_time_of_its_own_lengthens_the_sound_before_it():
    timed = [TimedText(sign, number / 10, (number + 1) / 10) for number, sign in enumerate("ˈuːk")]
    assert phones_of(timed) == (Phone("uː", 2400, 7200), Phone("k", 7200, 9600))


def test_the_phonemes_of_a_text_are_those_of_its_words_where_their_number_is_the_same():
    assert sounds_of_words("Hi, Bo.", "hˈaɪ, bˈoʊ.") == {0: ("h", "a", "ɪ"), 4: ("b", "o", "ʊ")}
    assert sounds_of_words("of the sea", "əvðə sˈiː") == {}
    assert sounds_of_words("Hi", "") == {}

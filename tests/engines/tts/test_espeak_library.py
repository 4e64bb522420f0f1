"""espeak-ng's C interface: events with samples and positions, errors across it, and its voices."""

import pytest

from duologue.engines.tts.espeak_library import RATE, EspeakLibrary, espeak_library
from duologue.errors import EngineFailed

pytest.importorskip("espeakng_loader", reason="these tests need espeak-ng: pip install 'duologue[voice]'")


@pytest.fixture
def library() -> EspeakLibrary:
    library = espeak_library()
    library.open()
    library.languages()
    return library


def test_a_word_event_has_its_sample_and_its_position(library):
    sound = bytearray()
    words: list[tuple[int, int]] = []

    def on_speech(pcm, events):
        sound.extend(pcm)
        words.extend((event.position, event.sample) for event in events if event.is_word)
        return True

    library.synthesise("one two", "en-us", 165, on_speech)
    assert [position for position, _ in words] == [0, 4]
    assert 0 <= words[0][1] < words[1][1] < len(sound) // 2 < 3 * RATE


def test_a_phoneme_event_has_its_letters_and_a_pause_has_none(library):
    phonemes: list[str] = []

    def on_speech(pcm, events):
        phonemes.extend(event.phoneme for event in events if not event.is_word)
        return True

    library.synthesise("a map, now", "en-us", 165, on_speech)
    assert [each.lstrip("ˈˌ") for each in phonemes if each] == ["ɐ", "m", "æ", "p", "n", "aʊ"]
    assert "" in phonemes


def test_false_ends_the_synthesis(library):
    calls = []

    def on_speech(pcm, events):
        calls.append(pcm)
        return False

    library.synthesise("one two three " * 100, "en-us", 165, on_speech)
    assert len(calls) == 1


def test_an_error_in_the_callback_is_raised_and_the_next_synthesis_is_whole(library):
    def fails(pcm, events):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        library.synthesise("one two", "en-us", 165, fails)
    pieces: list[bytes] = []

    def on_speech(pcm, events):
        pieces.append(pcm)
        return True

    library.synthesise("one", "en-us", 165, on_speech)
    assert sum(map(len, pieces)) > RATE // 4


def test_an_unknown_voice_is_an_error(library):
    with pytest.raises(EngineFailed, match="'no-such-voice'"):
        library.synthesise("one", "no-such-voice", 165, lambda pcm, events: True)


def test_languages_without_a_country_and_variants_are_known(library):
    assert {"en", "en-us", "de", "fr", "zh"} <= library.languages().keys()
    assert "f3" in library.variants()


def test_a_text_is_pronounced(library):
    assert library.phonemes("hello there", "en-us") == "həlˈoʊ ðˈɛɹ"
    assert library.phonemes("Guten Tag", "de") == "ɡˈuːtən tˈɑːk"


def test_several_clauses_are_pronounced_together(library):
    whole = library.phonemes("hello. goodbye", "en-us")
    assert whole == f"{library.phonemes('hello', 'en-us')} {library.phonemes('goodbye', 'en-us')}"


def test_nothing_is_pronounced_as_nothing(library):
    assert library.phonemes("", "en-us") == ""
    assert library.phonemes("a\0b", "en-us")


def test_an_unknown_voice_pronounces_nothing(library):
    with pytest.raises(EngineFailed, match="cannot be used"):
        library.phonemes("hello", "xx-none")

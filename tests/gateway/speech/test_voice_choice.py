"""Which voice speaks, and the sentences where it is not the one that was asked for."""

from duologue.gateway.speech.voice_choice import (
    NOTE,
    VoiceChoice,
    default_gone,
    note_header,
    spoken_instead,
    system_recording,
)
from duologue.values.messages import AudioPart, Message, TextPart, user


def test_the_recording_of_a_request_is_the_first_sound_of_its_system_message():
    sound, other = AudioPart(b"one"), AudioPart(b"two")
    system = Message("system", (TextPart("Speak like this."), sound, other))
    assert system_recording([Message("user", (other,)), system]) is sound
    assert system_recording([user("Hi"), Message("system", (TextPart("Be brief."),))]) is None


def test_a_note_is_a_header_that_every_program_can_read():
    assert note_header(None) == note_header(VoiceChoice("low", None, "low")) == {}
    assert note_header(VoiceChoice(note="Jürgen speaks.")) == {NOTE: "J?rgen speaks."}


def test_who_speaks_instead_is_named_where_it_is_known():
    choice = spoken_instead("", "low")
    assert (choice.voice, choice.name) == ("", "low")
    assert "the voice low speaks instead" in choice.note
    assert "the default voice speaks instead" in spoken_instead("", "").note
    assert default_gone("voice_1", "low") == VoiceChoice(
        "",
        None,
        "low",
        "The default voice 'voice_1' (setting voice.voice) is not available. The voice low speaks instead.",
    )
    assert default_gone("voice_1", "").note.endswith("Another voice speaks instead.")

"""What a voice worker's card says of engines that could not be loaded."""

from duologue.values.speech import SpeechCard, SpeechEngineStatus


def test_each_engine_that_failed_has_its_sentence_and_the_others_none():
    card = SpeechCard(
        detector=SpeechEngineStatus("ready", "silero"),
        speaker=SpeechEngineStatus("failed", "kokoro", detail="Its weights are missing."),
        turn_end=SpeechEngineStatus("absent", detail="It is not asked for."),
        video=SpeechEngineStatus("failed", "musetalk", detail="It needs a graphics card."),
    )
    assert card.failures == ("Its weights are missing.", "It needs a graphics card.")
    assert SpeechCard().failures == ()

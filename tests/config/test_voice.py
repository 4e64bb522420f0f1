"""The voice settings, and the options passed to a voice worker."""

from pathlib import Path

from pydantic import SecretStr

from duologue.config.voice import Recogniser, Speaker, VoiceSettings


def test_the_bundled_engines_need_no_setting():
    options = VoiceSettings().engine_options()
    assert options["detector"] == {"engine": "silero"}
    assert options["recogniser"] == {"engine": "pocketsphinx"}
    assert options["speaker"] == {"engine": "espeak"}
    assert options["seats"] == 32


def test_what_is_set_reaches_the_engine_and_what_is_not_is_absent():
    settings = VoiceSettings(
        recogniser=Recogniser(engine="remote", url="http://asr/v1", key=SecretStr("k")),
        speaker=Speaker(engine="kokoro", model="82m", options={"threads": 2}),
        voice="af_heart",
    )
    options = settings.engine_options()
    assert options["recogniser"] == {"engine": "remote", "url": "http://asr/v1", "key": "k"}
    assert options["speaker"] == {"engine": "kokoro", "model": "82m", "threads": 2, "voice": "af_heart"}


def test_engines_with_weights_receive_the_models_folder_and_the_device():
    settings = VoiceSettings(recogniser=Recogniser(engine="whisper", model="small"), device="cuda:1")
    options = settings.engine_options(Path("/data/models"))
    assert options["recogniser"] == {
        "engine": "whisper",
        "model": "small",
        "models": "/data/models",
        "device": "cuda:1",
    }
    assert options["speaker"] == {"engine": "espeak"}

"""The voice settings, and the options passed to a voice worker."""

from pathlib import Path

import pytest
from pydantic import SecretStr, ValidationError

from duologue.config.sections.voice import Recogniser, Speaker, TurnEnd, VoiceSettings


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


def test_a_device_has_one_spelling_and_a_name_of_none_is_refused():
    assert [VoiceSettings(device=name).device for name in ("CPU", "cuda", "gpu:1", "auto")] == [
        "cpu",
        "cuda:0",
        "cuda:1",
        "auto",
    ]
    with pytest.raises(ValidationError, match="must be auto, cpu, or a graphics card such as cuda:0"):
        VoiceSettings(device="tpu")


def test_the_end_of_turns_is_judged_by_sound_where_a_file_is_named_and_only_there():
    assert VoiceSettings().engine_options()["turn_end"] == {}
    switched_off = VoiceSettings(turn_end=TurnEnd(enabled=False, model="smart-turn.onnx"))
    assert switched_off.engine_options()["turn_end"] == {}
    switched_on = VoiceSettings(turn_end=TurnEnd(enabled=True))
    assert switched_on.engine_options()["turn_end"] == {"engine": "smart_turn", "models": ""}
    settings = VoiceSettings(turn_end=TurnEnd(model="smart-turn.onnx"))
    assert settings.engine_options(Path("/data/models"))["turn_end"] == {
        "engine": "smart_turn",
        "model": "smart-turn.onnx",
        "models": "/data/models",
    }


def test_a_recorded_voice_as_the_default_is_none_of_the_synthesisers():
    assert VoiceSettings(voice="voice_1").engine_options()["speaker"] == {"engine": "espeak"}

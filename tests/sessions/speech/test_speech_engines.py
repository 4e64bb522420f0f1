import pytest
from tests.support.call_parts import Inline, engines

from duologue.errors import Unavailable
from duologue.sessions.speech.speech_engines import SpeechEngines
from duologue.sessions.speech.vad_batcher import VadBatcher


def test_what_is_there_is_given():
    parts = engines()
    assert parts.require_detector() is parts.detector
    assert parts.require_recogniser() is parts.recogniser
    assert parts.require_speaker() is parts.speaker


@pytest.mark.parametrize("ask", ["require_detector", "require_recogniser", "require_speaker"])
def test_what_is_not_there_is_a_sentence(ask):
    with pytest.raises(Unavailable) as missing:
        getattr(SpeechEngines(VadBatcher(Inline())), ask)()
    assert missing.value.code == "voice_unavailable"
    assert missing.value.message.endswith("is unavailable.")


def test_video_is_not_needed_and_what_is_missing_is_a_sentence():
    with pytest.raises(Unavailable, match=r"video\.enabled") as missing:
        engines().require_video()
    assert missing.value.code == "video_unavailable"


def test_why_something_is_not_there_is_said():
    parts = SpeechEngines(VadBatcher(Inline()), reasons={"speaker": "The speaker espeak is not installed."})
    with pytest.raises(Unavailable, match="espeak is not installed"):
        parts.require_speaker()

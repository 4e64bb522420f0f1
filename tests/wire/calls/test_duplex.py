"""The duplex dialect: both spellings in, both out, and sound as base64 of floats."""

import base64
import json
from array import array
from typing import Any

import pytest

from duologue.config.settings import LimitSettings
from duologue.errors import BadRequest, Problem, TooLarge
from duologue.values.call_events import OmniSetup
from duologue.values.duplex import ChunkArrival, ChunkResult, HeardTurn
from duologue.values.events import Queued
from duologue.values.messages import AudioPart, ImagePart
from duologue.values.mouth import MouthKey
from duologue.values.requests import ModelCard, Sampling
from duologue.wire.calls import duplex

LIMITS = LimitSettings()
JPEG = "/9j/4AAQSkZJRg=="
SOUND = base64.b64encode(array("f", [0.5, -0.5]).tobytes()).decode()
PCM = array("h", [16384, -16384]).tobytes()


def decode(kind: str, **fields: Any) -> duplex.DuplexMessage:
    return duplex.decode(json.dumps({"type": kind, **fields}), LIMITS)


@pytest.mark.parametrize("key", ["system_prompt", "prefix_system_prompt"])
def test_the_prompt_is_found_under_both_names(key: str):
    prepare = decode("prepare", **{key: "Be brief."})
    assert isinstance(prepare, duplex.Prepare)
    assert prepare.prompt == "Be brief."


def test_a_prepare_of_few_words_has_a_prompt():
    assert decode("prepare") == duplex.Prepare(prompt="You are a helpful assistant.")


def test_what_of_the_configuration_does_nothing_is_named():
    prepare = decode(
        "prepare",
        ref_audio_base64=SOUND,
        deferred_finalize=True,
        config={
            "temperature": 0.7,
            "text_repetition_penalty": 1.05,
            "length_penalty": 1.1,
            "ls_mode": "explicit",
        },
    )
    assert isinstance(prepare, duplex.Prepare)
    assert prepare.sampling == Sampling(temperature=0.7, repetition_penalty=1.05)
    assert set(prepare.ignored) == {"deferred_finalize", "config.ls_mode"}
    assert prepare.native == ("config.length_penalty",), "only a model by itself applies it"


def test_a_model_by_itself_is_told_how_it_is_to_listen_and_look():
    config = {"temperature": 0.5, "listen_prob_scale": 1.5, "sliding_window": 4000, "length_penalty": 1.1}
    prepare = decode("prepare", max_slice_nums=2, config=config)
    assert isinstance(prepare, duplex.Prepare)
    assert prepare.omni == OmniSetup(
        sampling=Sampling(temperature=0.5, length_penalty=1.1), listen_scale=1.5, window=4000, max_slices=2
    )
    assert set(prepare.native) == {
        "config.listen_prob_scale", "config.sliding_window", "config.length_penalty", "max_slice_nums",
    }  # fmt: skip


@pytest.mark.parametrize(
    "config",
    [{"listen_prob_scale": 0}, {"sliding_window": 1}, {"max_slice_nums": 100}, {"length_penalty": "x"}],
)
def test_what_a_model_by_itself_cannot_be_told_is_refused(config: dict[str, Any]):
    with pytest.raises(BadRequest):
        decode("prepare", config=config)


def test_what_has_no_effect_depends_on_who_holds_the_session():
    config = {"temperature": 0.5, "length_penalty": 1.1, "text_repetition_penalty": 1.05}
    prepare = decode("prepare", speed=1.5, config=config)
    assert isinstance(prepare, duplex.Prepare)
    assert duplex.ignored_fields(prepare, None) == ("config.length_penalty",)
    card = ModelCard("omni", "scripted", 9, sampling=("temperature", "length_penalty"))
    assert duplex.ignored_fields(prepare, card) == ("config.text_repetition_penalty", "speed")


def test_a_chunk_may_say_into_how_many_pieces_its_pictures_are_cut():
    chunk = decode("audio_chunk", audio_base64=SOUND, max_slice_nums=2)
    assert isinstance(chunk, duplex.DuplexChunk)
    assert chunk.max_slices == 2


def test_the_recording_for_the_speech_comes_before_the_one_for_the_prompt():
    other = base64.b64encode(bytes(8)).decode()
    prepare = decode("prepare", ref_audio_base64=other, tts_ref_audio_base64=SOUND)
    assert prepare.recording == AudioPart(base64.b64decode(SOUND), 16_000)
    assert decode("prepare", ref_audio_base64=other).recording == AudioPart(bytes(8), 16_000)
    assert decode("prepare").recording is None
    with pytest.raises(BadRequest) as caught:
        decode("prepare", tts_ref_audio_base64="AAAA")
    assert caught.value.param == "tts_ref_audio_base64"


def test_greedy_decoding_is_a_temperature_of_nothing():
    prepare = decode("prepare", config={"decode_mode": "greedy", "temperature": 0.7})
    assert isinstance(prepare, duplex.Prepare)
    assert prepare.sampling.temperature == 0.0
    assert prepare.ignored == ()


@pytest.mark.parametrize("key", ["audio_base64", "audio"])
def test_sound_is_found_under_both_names(key: str):
    assert decode("audio_chunk", **{key: SOUND}) == duplex.DuplexChunk(PCM)


def test_pictures_come_with_the_sound_or_by_themselves():
    chunk = decode("audio_chunk", audio_base64=SOUND, frame_base64_list=[JPEG], force_listen=True)
    assert isinstance(chunk, duplex.DuplexChunk)
    assert [image.mime for image in chunk.images] == ["image/jpeg"]
    assert chunk.force_listen
    alone = decode("video_frame", frame=f"data:image/jpeg;base64,{JPEG}")
    assert alone == duplex.DuplexImage(ImagePart(base64.b64decode(JPEG), "image/jpeg"))


def test_the_small_messages():
    assert decode("pause", timeout=5) == duplex.Pause(5.0)
    assert decode("pause") == duplex.Pause(60.0)
    assert decode("resume") == duplex.DuplexResume()
    assert decode("interrupt") == duplex.DuplexInterrupt()
    assert decode("stop") == duplex.DuplexStop()
    assert decode("client_diagnostic", gaps=3) == duplex.Diagnostic({"gaps": 3})


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ({"type": "audio_chunk"}, "Missing audio_base64"),
        ({"type": "audio_chunk", "audio": "AAA="}, "float32"),
        ({"type": "audio_chunk", "audio": "%"}, "base64"),
        ({"type": "audio_chunk", "audio": SOUND, "frame_base64_list": ["AAAA"]}, r"frame_base64_list\[0\]"),
        ({"type": "prepare", "config": {"temperature": "hot"}}, "temperature"),
        ({"type": "pause", "timeout": 0}, "timeout"),
        ({"type": "dance"}, "Unknown message type: dance"),
    ],
)
def test_what_is_wrong_is_said_by_name(message: dict[str, Any], words: str):
    with pytest.raises(BadRequest, match=words):
        duplex.decode(json.dumps(message), LIMITS)


def test_more_than_two_seconds_at_once_are_too_much():
    with pytest.raises(TooLarge, match="2 seconds"):
        decode("audio_chunk", audio=base64.b64encode(bytes(4 * (duplex.MAX_CHUNK + 1))).decode())


def test_an_id_keeps_what_is_harmless():
    assert duplex.sanitised("adx_l2k-9!/../Ä") == "adx_l2k-9______"


def test_the_queue_speaks_in_both_spellings():
    first = json.loads(duplex.queue_message(Queued("q_1", 2, 9.5, 3), again=False))
    assert first == {
        "type": "queued", "position": 2, "estimated_wait_s": 9.5, "eta_seconds": 9.5, "ticket_id": "q_1",
        "queue_length": 3,
    }  # fmt: skip
    assert json.loads(duplex.queue_message(Queued("q_1", 1, 1, 3), again=True))["type"] == "queue_update"


def test_a_result_says_everything_the_protocol_has():
    answer = ChunkResult(
        7,
        1.0,
        ChunkArrival(0.25, True),
        images=1,
        is_listen=False,
        text="Hi",
        pcm=PCM,
        end_of_turn=True,
        reply=3,
    )
    result = json.loads(duplex.result_message(answer, 0.125, 1e9))
    assert array("f", base64.b64decode(result["audio_data"])).tolist() == [0.5, -0.5]
    assert {key: result[key] for key in ("is_listen", "text", "end_of_turn", "current_time", "lag_ms")} == {
        "is_listen": False, "text": "Hi", "end_of_turn": True, "current_time": 7, "lag_ms": 250.0,
    }  # fmt: skip
    assert result["wall_clock_ms"] == result["cost_all_ms"] == 125.0
    assert result["vision_slices"] == 1
    assert result["server_send_ts"] == 1e9
    assert {
        "cost_llm_ms", "cost_tts_prep_ms", "cost_tts_ms", "cost_token2wav_ms", "n_tokens", "n_tts_tokens",
        "kv_cache_length", "vision_tokens",
    } <= result.keys()  # fmt: skip


def test_silence_is_null_and_what_was_not_heard_is_said():
    result = json.loads(
        duplex.result_message(
            ChunkResult(1, 0.0, ChunkArrival(7.0, False), transcripts=(HeardTurn(4, "Hello"),)), 0.0, 0.0
        )
    )
    assert result["audio_data"] is None
    assert result["dropped"]
    assert (result["transcript"], result["turn_id"]) == ("Hello", 4)
    assert result["transcripts"] == [{"turn_id": 4, "text": "Hello"}]


def test_a_reply_names_the_turn_it_answers_whatever_was_said_meanwhile():
    answer = ChunkResult(
        1, 0.0, ChunkArrival(0.0, True), reply=5, turn=2, transcripts=(HeardTurn(3, "Well"),)
    )
    result = json.loads(duplex.result_message(answer, 0.0, 0.0))
    assert (result["reply_id"], result["turn_id"]) == (5, 2)
    assert result["transcripts"] == [{"turn_id": 3, "text": "Well"}]
    assert "held" not in result


def test_a_result_has_the_keys_of_a_mouth_where_they_are_asked_for():
    assert decode("prepare", mouth=True).mouth
    answer = ChunkResult(
        1, 0.0, ChunkArrival(0.0, True), reply=5, first=24_000, mouth=(MouthKey(25_000, 30),)
    )
    result = json.loads(duplex.result_message(answer, 0.0, 0.0))
    assert (result["first_sample"], result["mouth"]) == (24_000, [[25_000, 30, 0, 0, 0, 0]])


def test_a_reply_on_hold_is_said_to_be():
    answer = ChunkResult(1, 0.0, ChunkArrival(0.0, True), is_listen=False, reply=5, held=True)
    result = json.loads(duplex.result_message(answer, 0.0, 0.0))
    assert (result["is_listen"], result["held"], result["audio_data"]) == (False, True, None)
    assert "turn_id" not in result


def test_what_a_client_means_to_do_is_read_from_its_id():
    assert duplex.mode_of("adx_1") == duplex.mode_of("audio_duplex_1") == "audio_duplex"
    assert duplex.mode_of("omni_1") == "omni"
    assert duplex.mode_of("kitchen") == "any"


def test_an_error_has_its_sentence_under_both_names():
    error = json.loads(duplex.error_message(Problem("Too loud.", code="loud")))
    assert error == {
        "type": "error",
        "code": "loud",
        "error": "Too loud.",
        "message": "Too loud.",
        "param": None,
    }

"""The messages of video in calls, as clients read them."""

import json
from base64 import b64decode

from duologue.values.call_events import Cut, SpeakingClip, VideoSegment, VideoState
from duologue.values.events import ReplyWord
from duologue.wire.calls.video_messages import video_mode_message
from duologue.wire.calls.voice import VoiceEncoder

CLIP = SpeakingClip(0, 7, b"mp4", "It is noon.", 36_000, 512, 512, (ReplyWord("It", 0, 7200, 0, 2),), b"\0\0")
REST = VideoSegment(0, None, 0, 0, 25, 64, 64, (3, 2), b"abcde")


KEY = b"\0\0\0\1\x67\x64\x00\x16\xac\xd9"
"""The beginning of a key frame of high profile and level 2.2."""


def read(messages) -> list[dict]:
    return [json.loads(message) for message in messages]


def test_the_mode_without_video_is_one_field():
    assert json.loads(video_mode_message()) == {"type": "video_mode", "epoch": 0, "enabled": False}


def test_the_mode_with_video_has_its_size():
    assert json.loads(video_mode_message(VideoState(0, "stream", 512, 256, 30))) == {
        "type": "video_mode",
        "epoch": 0,
        "enabled": True,
        "mode": "stream",
        "width": 512,
        "height": 256,
        "rate": 30,
    }


def test_a_mode_is_told_when_it_changes():
    encoder = VoiceEncoder()
    assert encoder.encode([VideoState(0, "off")]) == []
    [on] = read(encoder.encode([VideoState(0, "clip", 64, 64, 25)]))
    assert on["enabled"] is True
    assert encoder.encode([VideoState(2, "clip", 64, 64, 25)]) == []
    [off] = read(encoder.encode([VideoState(2, "off", note="It broke.")]))
    assert (off["enabled"], off["note"]) == (False, "It broke.")


def test_a_clip_is_one_message_with_all_of_the_reply():
    [clip] = read(VoiceEncoder().encode([CLIP]))
    assert b64decode(clip.pop("video")) == b"mp4"
    assert clip == {
        "type": "speaking_clip",
        "epoch": 0,
        "reply_id": 7,
        "text": "It is noon.",
        "mime": "video/mp4",
        "samples": 36_000,
        "duration_ms": 1500,
        "width": 512,
        "height": 512,
        "words": [{"text": "It", "start_ms": 0, "end_ms": 300, "at": 0, "to": 2}],
    }


def test_a_segment_without_pictures_names_no_codec():
    [segment] = read(VoiceEncoder().encode([VideoSegment(0, 7, 0, 0, 25, 64, 64, (), b"", True)]))
    assert segment["codec"] is None


def test_a_segment_names_its_reply_its_samples_and_its_frames():
    [segment] = read(
        VoiceEncoder().encode([VideoSegment(0, 7, 960, 40, 25, 64, 64, (11, 2), KEY + b"de", True)])
    )
    assert b64decode(segment.pop("data")) == KEY + b"de"
    assert segment == {
        "type": "video_segment",
        "epoch": 0,
        "reply_id": 7,
        "at": 960,
        "first": 40,
        "rate": 25,
        "width": 64,
        "height": 64,
        "codec": "avc1.640016",
        "sizes": [11, 2],
        "last": True,
    }


def test_clips_and_pictures_of_an_older_epoch_are_not_sent_and_the_avatar_at_rest_is():
    segment = VideoSegment(0, 7, 0, 0, 25, 64, 64, (), b"")
    kinds = [message["type"] for message in read(VoiceEncoder().encode([CLIP, segment, REST, Cut(1, 7)]))]
    assert kinds == ["video_segment", "interrupt"]

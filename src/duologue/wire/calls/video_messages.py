"""The messages of a call that has video: how its replies are sent, clips, and pictures beside the sound.

What is binary in them is base64. Used by `VoiceEncoder` and by the greetings of the sockets of calls.
"""

from __future__ import annotations

from base64 import b64encode

from duologue.values.audio import SPOKEN_RATE
from duologue.values.call_events import SpeakingClip, VideoSegment, VideoState
from duologue.wire.sound import caption, json_text

CLIP_TYPE = "video/mp4"
PARAMETERS = b"\x00\x00\x01\x67"
"""What precedes the sequence parameters in a key frame of H.264 (ITU-T H.264, annex B and 7.3.1)."""
OFF = VideoState(0, "off")


def video_mode_message(state: VideoState = OFF, epoch: int = 0) -> str:
    """Whether and how replies are sent as video."""
    fields: dict[str, object] = {"type": "video_mode", "epoch": epoch, "enabled": state.mode != "off"}
    if state.mode != "off":
        fields |= {"mode": state.mode, "width": state.width, "height": state.height, "rate": state.rate}
    return json_text(fields | {"note": state.note} if state.note else fields)


def speaking_clip_message(clip: SpeakingClip, epoch: int) -> str:
    """A whole reply: its video with sound, and its text."""
    return json_text(
        {
            "type": "speaking_clip",
            "epoch": epoch,
            "reply_id": clip.reply,
            "text": clip.text,
            "mime": CLIP_TYPE,
            "video": b64encode(clip.data).decode(),
            "samples": clip.samples,
            "duration_ms": clip.samples * 1000 // SPOKEN_RATE,
            "width": clip.width,
            "height": clip.height,
            "words": [caption(word) for word in clip.words],
        }
    )


def video_segment_message(segment: VideoSegment, epoch: int) -> str:
    """Pictures of a reply, or of the avatar at rest (`reply_id` null)."""
    return json_text(
        {
            "type": "video_segment",
            "epoch": epoch,
            "reply_id": segment.reply,
            "at": segment.at,
            "first": segment.first,
            "rate": segment.rate,
            "width": segment.width,
            "height": segment.height,
            "codec": codec_of(segment.data),
            "sizes": segment.sizes,
            "data": b64encode(segment.data).decode(),
            "last": segment.last,
        }
    )


def codec_of(data: bytes) -> str | None:
    """The codec string (RFC 6381) of H.264 with start codes: profile, constraints and level, as its encoder wrote them. None: there is no
    picture."""
    at = data.find(PARAMETERS)
    parameters = data[at + len(PARAMETERS) :][:3] if at >= 0 else b""
    return f"avc1.{parameters.hex().upper()}" if len(parameters) == 3 else None

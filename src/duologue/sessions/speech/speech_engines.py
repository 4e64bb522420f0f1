"""The engines of a voice worker, which its calls, speech requests and transcriptions share."""

from __future__ import annotations

from dataclasses import dataclass, field

from duologue.engines.contracts import (
    DetectorEngine,
    RecogniserEngine,
    SpeakerEngine,
    TurnEndEstimator,
)
from duologue.engines.video_contracts import VideoEngine
from duologue.errors import Unavailable
from duologue.fair_lane import FairLane
from duologue.sessions.speech.clip_cache import ClipCache
from duologue.sessions.speech.drawing_lane import drawing_lane
from duologue.sessions.speech.vad_batcher import VadBatcher
from duologue.threads import ThreadLane

ENCODERS = 2
"""Videos that are encoded at a time."""


@dataclass
class SpeechEngines:
    """The engines that are loaded. `reasons` says of each missing kind ("detector", "recogniser", "speaker") why it is."""

    batcher: VadBatcher
    detector: DetectorEngine | None = None
    recogniser: RecogniserEngine | None = None
    speaker: SpeakerEngine | None = None
    turn_end: TurnEndEstimator | None = None
    """Not needed for anything: without it, turns end by their words."""
    video: VideoEngine | None = None
    """Not needed for anything but clips, and calls that are asked for video."""
    drawing: FairLane = field(default_factory=drawing_lane)
    """Whose turn it is to use the video engine."""
    clips: ClipCache = field(default_factory=ClipCache)
    encoding: ThreadLane = field(default_factory=lambda: ThreadLane(ENCODERS))
    """Where video is encoded."""
    reasons: dict[str, str] = field(default_factory=dict)

    def require_detector(self) -> DetectorEngine:
        """The detector. Raises Unavailable if there is none."""
        if self.detector is None:
            raise self._missing("detector", "Voice activity detection is unavailable.")
        return self.detector

    def require_recogniser(self) -> RecogniserEngine:
        """The recogniser. Raises Unavailable if there is none."""
        if self.recogniser is None:
            raise self._missing("recogniser", "Speech recognition is unavailable.")
        return self.recogniser

    def require_speaker(self) -> SpeakerEngine:
        """The speaker. Raises Unavailable if there is none."""
        if self.speaker is None:
            raise self._missing("speaker", "Speech synthesis is unavailable.")
        return self.speaker

    def require_video(self) -> VideoEngine:
        """The video engine. Raises Unavailable if there is none."""
        if self.video is None:
            sentence = (
                self.reasons.get("video")
                or "This server draws no video; the setting video.enabled says whether it does."
            )
            raise Unavailable(sentence, code="video_unavailable")
        return self.video

    def _missing(self, kind: str, otherwise: str) -> Unavailable:
        return Unavailable(self.reasons.get(kind) or otherwise, code="voice_unavailable")

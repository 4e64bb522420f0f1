"""What the sessions of a voice worker share: its engines, and what is kept for all of them.

Owns nothing but their being together. An engine that is not there is a sentence.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from duologue.engines.contracts import DetectorEngine, RecogniserEngine, SpeakerEngine
from duologue.errors import Unavailable
from duologue.sessions.speech.clip_cache import ClipCache
from duologue.sessions.speech.vad_batcher import VadBatcher


@dataclass
class SpeechEngines:
    """The engines of a voice worker, as far as they are loaded. `why` says of each kind that is missing why it is."""

    judge: VadBatcher
    detector: DetectorEngine | None = None
    recogniser: RecogniserEngine | None = None
    speaker: SpeakerEngine | None = None
    clips: ClipCache = field(default_factory=ClipCache)
    why: dict[str, str] = field(default_factory=dict)

    def detects(self) -> DetectorEngine:
        """The detector. Raises Unavailable where there is none."""
        if self.detector is None:
            raise self._missing("detector", "Nothing here tells speech from noise.")
        return self.detector

    def recognises(self) -> RecogniserEngine:
        """The recogniser. Raises Unavailable where there is none."""
        if self.recogniser is None:
            raise self._missing("recogniser", "Nothing here writes down speech.")
        return self.recogniser

    def speaks(self) -> SpeakerEngine:
        """The speaker. Raises Unavailable where there is none."""
        if self.speaker is None:
            raise self._missing("speaker", "Nothing here speaks.")
        return self.speaker

    def _missing(self, kind: str, otherwise: str) -> Unavailable:
        return Unavailable(self.why.get(kind) or otherwise, code="voice_unavailable")

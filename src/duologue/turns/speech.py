"""Where speech begins and ends, from the detector's frames.

Owns the hysteresis, the pre-roll's beginning, and what is too quiet to be this caller. An onset is told as soon as a
reply may have to be paused (about 100 ms of speech), confirmed when it is speech for sure; a burst fades in between.
Times are samples heard (16 kHz). Knows no turn and no words.
"""

from __future__ import annotations

from collections import deque
from typing import Literal

from msgspec import Struct

from duologue.turns.facts_and_decisions import FRAME, Frame

Change = Literal["onset", "confirmed", "faded", "lull"]
"""What a frame changed: speech may have begun, has begun, was none; or has ended, for now."""

Phase = Literal["quiet", "candidate", "speech"]

UNMEASURED = -100.0
"""A level that says nothing: nobody measured it, or it is digital silence, which no detector takes for speech."""


class SpeechRules(Struct, frozen=True):
    """Probabilities 0 to 1, levels in dB, counts in frames of 32 ms."""

    on: float = 0.5
    """A frame begins speech from this probability on,"""
    off: float = 0.35
    """and continues it from this one."""
    onset: int = 3
    """Frames of speech, of the last `onset` + 1, that may be a beginning: 96 ms."""
    confirm: int = 6
    """Frames of speech that are one: 192 ms."""
    fade: int = 4
    """Silent frames after which a beginning was none."""
    lull: int = 3
    """Silent frames that end speech: shorter ones are inside words."""
    over_noise: float = 6.0
    """Speech is so much louder than what is heard between speech."""
    under_own_over: float = 8.0
    """The same while something is played: who interrupts does not whisper."""
    under_own: float = 18.0
    """A frame so much quieter than this caller usually is, is somebody else, in the next room or on a screen."""
    within: float = 12.0
    """Within speech frames may be so much quieter still: consonants are."""
    quietest: float = -60.0
    """Nothing under this level (dBFS) is speech."""
    dull: float = -13.0
    """Speech no brighter than this, taken together, is a hum: closed lips let no high tones out."""


NOISE = (-80.0, -35.0)
"""dBFS between which the noise is believed to lie: somebody who talks for a minute is none."""
NOISE_RISES = 0.06
"""dB a frame: two a second. It falls at once."""
OWN_LEARNS = 0.05
"""Of the difference, a frame: two thirds of a second of speech."""
OWN_FADES = (0.004, 10.0)
"""dB a frame without the caller (a dB in eight seconds), and how many at most: who sat back is heard again within the
minute or so, and a television in the next room never is."""
OWN_KNOWN = 30
"""Frames of speech that make a caller's level known: a second."""
ECHO_LASTS = 12
"""Frames for which what was played may be heard: the way there and back, and the room."""
ECHO = -17.0
"""dB: what is so much quieter than what is played, or quieter still, may be its echo in any call."""
ECHO_LOUDEST = -8.0
"""dB over which nothing is believed to be an echo,"""
ECHO_OVER = 3.0
"""how much louder than those that were heard the next one may be,"""
ECHO_ALIKE = 6.0
"""and how much two differ at most, so that both are echoes."""
FAINT = 6.0
"""dB by which a caller's speech is quieter than usual, so that it may not be theirs."""
VEILED = 25
"""Frames of speech that may be an echo and are none for sure, while nobody knows how loud this caller is: then it is tried out
by falling silent."""
ECHO_FADES = 0.02
"""dB a frame of a reply."""


class Levels:
    """How loud the noise is, and how loud this caller."""

    def __init__(self, rules: SpeechRules) -> None:
        self._rules = rules
        self.noise = NOISE[0]
        self._own = 0.0
        self._learnt = 0
        self._faded = 0.0
        self.echo = ECHO
        """How much quieter than what is played its echo is at the least, in dB."""
        self._suspect: float | None = None
        self.proved = False
        """An echo was heard to end with what was played."""

    @property
    def own(self) -> float | None:
        """dBFS of the caller's speech, a little less the longer none was heard; None until a second of it was."""
        return self._own - self._faded if self._learnt >= OWN_KNOWN else None

    def admit(self, level: float, *, within: bool) -> bool:
        """Whether a frame so loud can be this caller's speech. `within`: in the middle of it."""
        if level <= UNMEASURED:
            return True
        slack = self._rules.within if within else 0.0
        least = max(self._rules.quietest, self.noise + self._rules.over_noise)
        if self.own is not None:
            least = max(least, self.own - self._rules.under_own)
        return level >= least - slack

    def outdoes(self, level: float, sounding: float, *, within: bool) -> bool:
        """Whether a frame so loud is no echo of what is played so loud meanwhile, or was a moment ago (dBFS). A caller whose
        level is known is heard over any echo."""
        if level <= UNMEASURED or sounding <= UNMEASURED:
            return True
        back = sounding + self.echo
        if self.own is not None:
            back = min(back, self.own - self._rules.under_own_over)
        return level >= back - (self._rules.within if within else 0.0)

    def hear_echo(self, gain: float, *, tried: bool) -> None:
        """A sound that ended with ours was nothing, and so much (dB) louder than ours. Once it may be a cough, unless it was
        there for long and was `tried`."""
        suspect = gain if tried else self._suspect
        if suspect is not None and abs(gain - suspect) <= ECHO_ALIKE:
            self.echo = min(max(self.echo, max(gain, suspect) + ECHO_OVER), ECHO_LOUDEST)
            self.proved = True
        self._suspect = gain

    def play(self) -> None:
        """A frame of a reply passed."""
        self.echo = max(ECHO, self.echo - ECHO_FADES)

    def hear_noise(self, level: float) -> None:
        """A frame between speech was so loud."""
        if level <= UNMEASURED:
            return
        risen = min(level, self.noise + NOISE_RISES)
        self.noise = min(max(level if level < self.noise else risen, NOISE[0]), NOISE[1])

    def fade(self) -> None:
        """A frame without the caller's speech passed."""
        rate, most = OWN_FADES
        self._faded = min(most, self._faded + rate)

    def hear_own(self, level: float) -> None:
        """A frame of the caller's own speech was so loud."""
        if level <= UNMEASURED:
            return
        known = self._own - self._faded if self._learnt else level
        # Vowels are how loud somebody is; the quiet frames between them say little.
        rate = OWN_LEARNS if level > known else OWN_LEARNS / 4
        self._own = known + rate * (level - known)
        self._faded = 0.0
        self._learnt += 1


class SpeechSegmenter:
    """The beginning and end of speech. `take` every frame; it tells what changed."""

    def __init__(self, rules: SpeechRules | None = None) -> None:
        self.rules = rules or SpeechRules()
        self.levels = Levels(self.rules)
        self.phase: Phase = "quiet"
        self.began = 0
        """Where the speech that is going on, or was last, began."""
        self.ended = 0
        """The end of the last frame of it that was speech."""
        self.pause = 0
        """How long it had been silent before it began."""
        self._spoke_until = 0
        self._at = 0
        self._silent = 0
        self._frames = 0
        self._power = 0.0
        self._changes = 0.0
        self._loudest = UNMEASURED
        self._recent: deque[bool] = deque(maxlen=self.rules.onset + 1)
        self._sounding: deque[float] = deque([UNMEASURED], maxlen=ECHO_LASTS)
        self.tries = True
        """What is played can be held, to hear whether what may be its echo ends with it."""
        self._veiled = 0
        self._trying = False
        self.tried = False
        """The speech is heard although it may be an echo: it will end with what is played, or not."""
        self.gain: float | None = None
        """How much louder (dB) the speech was at its loudest than what was played, where something was."""

    @property
    def spoken(self) -> int:
        """Samples from the beginning of the speech to its last frame."""
        return max(0, self.ended - self.began)

    @property
    def silence(self) -> int:
        """Samples since the last frame of speech, in whatever phase."""
        return max(0, self._at - self.ended)

    @property
    def murmur(self) -> bool:
        """Whether all of it so far is a hum, such as an "mhm": its loud frames are what counts."""
        return self._power > 0 and self._changes <= self._power * 10 ** (self.rules.dull / 10)

    @property
    def faint(self) -> bool:
        """Whether all of it is so much quieter than what was played, and than this caller usually is, that it may be its echo."""
        if self.gain is None or self.gain > ECHO_LOUDEST:
            return False
        return self.levels.own is None or self._loudest < self.levels.own - FAINT

    @property
    def stirs(self) -> bool:
        """Whether a frame just now was speech, before enough of them are an onset."""
        return self.phase == "quiet" and any(list(self._recent)[-2:])

    def take(self, frame: Frame) -> Change | None:
        """Hear the next FRAME samples."""
        self._at += FRAME
        within = self.phase != "quiet"
        threshold = self.rules.off if within else self.rules.on
        self._sounding.append(frame.sounding)
        if frame.sounding > UNMEASURED:
            self.levels.play()
        likely = frame.probability >= threshold and self.levels.admit(frame.level, within=within)
        ours = not self.levels.outdoes(frame.level, max(self._sounding), within=within)
        if not within:
            self._try(veiled=likely and ours)
        voiced = likely and (self._trying or not ours)
        self._learn(frame, voiced)
        match self.phase:
            case "quiet":
                return self._quiet(voiced, frame)
            case "candidate":
                return self._candidate(voiced, frame)
            case "speech":
                return self._speech(voiced, frame)

    def _try(self, *, veiled: bool) -> None:
        """Count what may be an echo."""
        self._veiled = max(0, self._veiled + (1 if veiled else -1))
        unknown = self.tries and self.levels.own is None and not self.levels.proved
        self._trying = unknown and self._veiled >= VEILED

    def _quiet(self, voiced: bool, frame: Frame) -> Change | None:
        self._recent.append(voiced)
        if not voiced or sum(self._recent) < self.rules.onset:
            return None
        since = len(self._recent) - self._recent.index(True)
        self.phase = "candidate"
        self.began = self._at - since * FRAME
        self.pause = max(0, self.began - self._spoke_until)
        self._frames = sum(self._recent)
        self._recent.clear()
        self._power = self._changes = 0.0
        self._loudest = UNMEASURED
        self.tried = self._trying
        self.gain = None
        self._voice(frame)
        return "onset"

    def _candidate(self, voiced: bool, frame: Frame) -> Change | None:
        if voiced:
            self._frames += 1
            self._voice(frame)
            if self._frames >= self.rules.confirm:
                self.phase = "speech"
                return "confirmed"
            return None
        self._silent += 1
        if self._silent < self.rules.fade:
            return None
        self.phase = "quiet"
        return "faded"

    def _speech(self, voiced: bool, frame: Frame) -> Change | None:
        if voiced:
            self._voice(frame)
            return None
        self._silent += 1
        if self._silent < self.rules.lull:
            return None
        self.phase = "quiet"
        self._recent.clear()
        self._spoke_until = self.ended
        return "lull"

    def _voice(self, frame: Frame) -> None:
        self.ended = self._at
        self._silent = 0
        if (sounding := max(self._sounding)) > UNMEASURED:
            self.gain = max(frame.level - sounding, UNMEASURED if self.gain is None else self.gain)
        self._loudest = max(self._loudest, frame.level)
        power = 10 ** (frame.level / 10)
        self._power += power
        self._changes += power * 10 ** (frame.brightness / 10)

    def _learn(self, frame: Frame, voiced: bool) -> None:
        if self.phase == "speech" and voiced:
            # While something is played, nobody knows whose sound it is.
            if max(self._sounding) <= UNMEASURED:
                self.levels.hear_own(frame.level)
            return
        self.levels.fade()
        if self.phase == "quiet" and frame.probability < self.rules.off:
            self.levels.hear_noise(frame.level)

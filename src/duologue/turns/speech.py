"""Where speech begins and ends, from the frames of the voice activity detector.

Owns the hysteresis, where the speech began, and what is too quiet to be this caller. An onset is reported as soon as a
reply may have to be paused (about 100 ms of speech) and confirmed once it is certainly speech; a burst fades in between.
Times are samples received (16 kHz).
"""

from __future__ import annotations

from collections import deque
from typing import Literal

from msgspec import Struct

from duologue.turns.facts import FRAME, Frame

Change = Literal["onset", "confirmed", "faded", "lull"]
"""What a frame changed: speech may have begun; it has begun; it was a false start; it has ended, for now."""

Phase = Literal["quiet", "candidate", "speech"]

UNMEASURED = -100.0
"""A level without meaning: it was not measured, or it is digital silence, which no detector takes for speech."""


class SpeechRules(Struct, frozen=True):
    """Probabilities 0 to 1, levels in dB, counts in frames of 32 ms."""

    on: float = 0.5
    """Probability from which a frame begins speech,"""
    off: float = 0.35
    """and from which one continues it."""
    onset: int = 3
    """Frames of speech among the last `onset` + 1 that may be a beginning: 96 ms."""
    confirm: int = 6
    """Frames of speech that confirm it: 192 ms."""
    fade: int = 4
    """Silent frames after which a beginning was a false start."""
    lull: int = 3
    """Silent frames that end speech: shorter gaps occur within words."""
    over_noise: float = 6.0
    """dB by which speech exceeds the background noise."""
    below_caller_over_playback: float = 8.0
    """The same while a reply plays: a caller who interrupts does not whisper."""
    below_caller: float = 18.0
    """A frame this much quieter than the caller usually is comes from elsewhere: the next room, a screen."""
    within: float = 12.0
    """Within speech frames may be quieter still by this much: consonants are."""
    quietest: float = -60.0
    """Nothing under this level (dBFS) is speech."""
    dull: float = -13.0
    """Speech that is no brighter than this altogether is a hum: closed lips let no high frequencies out."""


NOISE = (-80.0, -35.0)
"""Range of the noise estimate in dBFS: a person who talks for a minute must not become noise."""
NOISE_RISES = 0.06
"""dB per frame by which the estimate rises: two a second. It falls at once."""
OWN_LEARNS = 0.05
"""Share of the difference learnt per frame: settles in two thirds of a second of speech."""
OWN_FADES = (0.004, 10.0)
"""dB per frame without the caller (1 dB in eight seconds), and the maximum: a caller who leans back is accepted again
within a minute or so, and a television in the next room never is."""
OWN_KNOWN = 30
"""Frames of speech until the caller's level is known: a second."""
ECHO_LASTS = 12
"""Frames for which played sound may come back: network delay both ways, and the room."""
ECHO = -17.0
"""dB relative to playback below which sound may be its echo, in any call."""
ECHO_LOUDEST = -8.0
"""dB relative to playback above which nothing is taken for an echo."""
ECHO_OVER = 3.0
"""dB by which the next echo may exceed the loudest one so far."""
ECHO_ALIKE = 6.0
"""dB by which two sounds may differ to be taken for the same echo."""
FAINT = 6.0
"""dB below the caller's usual level at which speech may not be theirs."""
ECHO_LIKE_FRAMES = 25
"""Frames that may be echo or speech, while the caller's level is unknown, after which the reply is put on hold to find
out: an echo ends with it."""
ECHO_FADES = 0.02
"""dB per frame of playback by which the learnt echo level falls back."""


class Levels:
    """The levels of the background noise, this caller, and the echo."""

    def __init__(self, rules: SpeechRules) -> None:
        self._rules = rules
        self.noise = NOISE[0]
        self._own = 0.0
        self._own_frames = 0
        self._faded = 0.0
        self.echo = ECHO
        """Upper bound of the echo relative to playback, in dB."""
        self._suspect: float | None = None
        self.echo_proven = False
        """A sound ended together with playback, so it was an echo."""

    @property
    def own(self) -> float | None:
        """dBFS of the caller's speech, falling slowly while they are silent; None until a second of it was measured."""
        return self._own - self._faded if self._own_frames >= OWN_KNOWN else None

    def admit(self, level: float, *, within: bool) -> bool:
        """Whether a frame of this level can be the caller's speech. `within`: in the middle of speech."""
        if level <= UNMEASURED:
            return True
        slack = self._rules.within if within else 0.0
        least = max(self._rules.quietest, self.noise + self._rules.over_noise)
        if self.own is not None:
            least = max(least, self.own - self._rules.below_caller)
        return level >= least - slack

    def exceeds_echo(self, level: float, playback_level: float, *, within: bool) -> bool:
        """Whether a frame of this level is too loud to be the echo of what is playing or just played at `playback_level`
        (dBFS). A caller whose level is known is accepted over any echo."""
        if level <= UNMEASURED or playback_level <= UNMEASURED:
            return True
        back = playback_level + self.echo
        if self.own is not None:
            back = min(back, self.own - self._rules.below_caller_over_playback)
        return level >= back - (self._rules.within if within else 0.0)

    def learn_echo(self, gain: float, *, trial: bool) -> None:
        """A sound that was a false alarm ended with playback and was `gain` dB louder. One may have been a cough, so it takes
        two alike, unless the sound lasted and the reply was held to `trial` it."""
        suspect = gain if trial else self._suspect
        if suspect is not None and abs(gain - suspect) <= ECHO_ALIKE:
            self.echo = min(max(self.echo, max(gain, suspect) + ECHO_OVER), ECHO_LOUDEST)
            self.echo_proven = True
        self._suspect = gain

    def note_playback(self) -> None:
        """A frame of a reply played."""
        self.echo = max(ECHO, self.echo - ECHO_FADES)

    def learn_noise(self, level: float) -> None:
        """Learn the level of a frame between speech."""
        if level <= UNMEASURED:
            return
        risen = min(level, self.noise + NOISE_RISES)
        self.noise = min(max(level if level < self.noise else risen, NOISE[0]), NOISE[1])

    def fade(self) -> None:
        """A frame without the caller's speech passed."""
        rate, most = OWN_FADES
        self._faded = min(most, self._faded + rate)

    def learn_own(self, level: float) -> None:
        """Learn the level of a frame of the caller's speech."""
        if level <= UNMEASURED:
            return
        known = self._own - self._faded if self._own_frames else level
        # Vowels carry a speaker's level; the quiet frames between them say little.
        rate = OWN_LEARNS if level > known else OWN_LEARNS / 4
        self._own = known + rate * (level - known)
        self._faded = 0.0
        self._own_frames += 1


class SpeechSegmenter:
    """Finds the beginning and end of speech. `take` every frame; it returns what changed."""

    def __init__(self, rules: SpeechRules | None = None) -> None:
        self.rules = rules or SpeechRules()
        self.levels = Levels(self.rules)
        self.phase: Phase = "quiet"
        self.start = 0
        """Where the current or last speech began."""
        self.end = 0
        """End of its last frame of speech."""
        self.pause = 0
        """The silence before it."""
        self._spoke_until = 0
        self._at = 0
        self._silent = 0
        self._frames = 0
        self._power = 0.0
        self._changes = 0.0
        self._loudest = UNMEASURED
        self._recent: deque[bool] = deque(maxlen=self.rules.onset + 1)
        self._playback_levels: deque[float] = deque([UNMEASURED], maxlen=ECHO_LASTS)
        self.can_hold = True
        """The client can pause playback, which shows whether a sound that may be echo ends with it."""
        self._echo_like = 0
        self._in_trial = False
        self.trial = False
        """The speech is accepted although it may be an echo; playback is paused to find out."""
        self.gain: float | None = None
        """The most by which the speech exceeded what was playing, in dB; None if nothing was."""

    @property
    def spoken(self) -> int:
        """Samples from the beginning of the speech to the end of its last frame."""
        return max(0, self.end - self.start)

    @property
    def silence(self) -> int:
        """Samples since the last frame of speech, in any phase."""
        return max(0, self._at - self.end)

    @property
    def murmur(self) -> bool:
        """Whether the speech so far is a hum such as "mhm". Weighted by power: only its loud frames count."""
        return self._power > 0 and self._changes <= self._power * 10 ** (self.rules.dull / 10)

    @property
    def faint(self) -> bool:
        """Whether the speech is so much quieter than playback, and than this caller usually is, that it may be an echo."""
        if self.gain is None or self.gain > ECHO_LOUDEST:
            return False
        return self.levels.own is None or self._loudest < self.levels.own - FAINT

    @property
    def stirring(self) -> bool:
        """Whether one of the last two frames was speech, before there are enough for an onset."""
        return self.phase == "quiet" and any(list(self._recent)[-2:])

    def take(self, frame: Frame) -> Change | None:
        """Process the next FRAME samples."""
        self._at += FRAME
        within = self.phase != "quiet"
        threshold = self.rules.off if within else self.rules.on
        self._playback_levels.append(frame.playback_level)
        if frame.playback_level > UNMEASURED:
            self.levels.note_playback()
        likely = frame.probability >= threshold and self.levels.admit(frame.level, within=within)
        ours = not self.levels.exceeds_echo(frame.level, max(self._playback_levels), within=within)
        if not within:
            self._count_echo_like(likely and ours)
        voiced = likely and (self._in_trial or not ours)
        self._learn(frame, voiced)
        match self.phase:
            case "quiet":
                return self._quiet(voiced, frame)
            case "candidate":
                return self._candidate(voiced, frame)
            case "speech":
                return self._speech(voiced, frame)

    def _count_echo_like(self, echo_like: bool) -> None:
        """Begin a trial when frames that may be echo last. Without it a caller who is only heard over an echo, and whose level
        is unknown for that reason, could never interrupt."""
        self._echo_like = max(0, self._echo_like + (1 if echo_like else -1))
        unknown = self.can_hold and self.levels.own is None and not self.levels.echo_proven
        self._in_trial = unknown and self._echo_like >= ECHO_LIKE_FRAMES

    def _quiet(self, voiced: bool, frame: Frame) -> Change | None:
        self._recent.append(voiced)
        if not voiced or sum(self._recent) < self.rules.onset:
            return None
        since = len(self._recent) - self._recent.index(True)
        self.phase = "candidate"
        self.start = self._at - since * FRAME
        self.pause = max(0, self.start - self._spoke_until)
        self._frames = sum(self._recent)
        self._recent.clear()
        self._power = self._changes = 0.0
        self._loudest = UNMEASURED
        self.trial = self._in_trial
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
        self._spoke_until = self.end
        return "lull"

    def _voice(self, frame: Frame) -> None:
        self.end = self._at
        self._silent = 0
        if (playback_level := max(self._playback_levels)) > UNMEASURED:
            self.gain = max(frame.level - playback_level, UNMEASURED if self.gain is None else self.gain)
        self._loudest = max(self._loudest, frame.level)
        power = 10 ** (frame.level / 10)
        self._power += power
        self._changes += power * 10 ** (frame.brightness / 10)

    def _learn(self, frame: Frame, voiced: bool) -> None:
        if self.phase == "speech" and voiced:
            # While a reply plays, the sound may be its echo.
            if max(self._playback_levels) <= UNMEASURED:
                self.levels.learn_own(frame.level)
            return
        self.levels.fade()
        if self.phase == "quiet" and frame.probability < self.rules.off:
            self.levels.learn_noise(frame.level)

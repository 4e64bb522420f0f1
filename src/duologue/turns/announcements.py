"""Sentences that no model writes: announcements, fillers, apologies, and their wording.

The turn machine asks for them while nobody speaks. Owns the announcements that wait, the limits on silence, and which
wording was used last.
"""

from __future__ import annotations

from collections import deque
from typing import Literal

from duologue.turns.facts import AnnouncementRequested
from duologue.turns.reply_state import ReplyState, Utterance
from duologue.turns.settings import TurnSettings

WAITING = 8
"""Announcements that may wait; more are ignored."""

PhraseKind = Literal["filler", "slow", "gave_up", "not_understood"]

_PHRASES: dict[str, dict[PhraseKind, tuple[str, ...]]] = {
    "en": {
        "filler": ("One moment.", "Let me see.", "Just a second."),
        "slow": ("This is taking a little longer.",),
        "gave_up": ("I am sorry, I could not get an answer. Please ask me again.",),
        "not_understood": ("Sorry, I did not catch that.", "Could you say that again?"),
    },
    "de": {
        "filler": ("Einen Moment.", "Ich sehe nach.", "Einen Augenblick."),
        "slow": ("Das dauert etwas länger.",),
        "gave_up": ("Es tut mir leid, ich habe keine Antwort bekommen. Frag mich bitte noch einmal.",),
        "not_understood": ("Das habe ich nicht verstanden.", "Sag das bitte noch einmal."),
    },
    "fr": {
        "filler": ("Un instant.", "Je regarde.", "Un petit moment."),
        "slow": ("Cela prend un peu plus de temps.",),
        "gave_up": (
            "Je suis désolé, je n'ai pas obtenu de réponse. Reposez-moi la question, s'il vous plaît.",
        ),
        "not_understood": ("Pardon, je n'ai pas compris.", "Pouvez-vous répéter, s'il vous plaît ?"),
    },
    "es": {
        "filler": ("Un momento.", "Voy a mirar.", "Un segundo."),
        "slow": ("Esto tarda un poco más.",),
        "gave_up": ("Lo siento, no he obtenido respuesta. Pregúntame otra vez, por favor.",),
        "not_understood": ("Perdón, no lo he entendido.", "¿Puedes repetirlo, por favor?"),
    },
}


def phrase(kind: PhraseKind, language: str, count: int = 0) -> str:
    """The sentence of this kind, in English for unknown languages. `count` is how often one was said before: the wordings
    take turns."""
    phrases = _PHRASES.get(language.lower().partition("-")[0], _PHRASES["en"])[kind]
    return phrases[count % len(phrases)]


def overdue(
    utterance: Utterance, now: int, settings: TurnSettings
) -> Literal["filler", "slow", "give_up"] | None:
    """What a caller who has been waiting in silence is owed. A wait for a tool or a person gets one filler and has a long
    limit of its own; a model that produces nothing is announced as slow, then given up."""
    if utterance.waiting_since is not None:
        if now - utterance.waiting_since >= settings.wait_limit:
            return "give_up"
        idle = now - max(utterance.waiting_since, utterance.progress_at)
        # A caller who was asked a question is the one we wait for: "one moment" would be absurd.
        return "filler" if not (utterance.filled or utterance.asks) and idle >= settings.filler else None
    idle = now - utterance.progress_at
    if idle >= settings.give_up:
        return "give_up"
    return "slow" if not utterance.slow and idle >= settings.slow else None


class Announcements:
    """The sentences of one call that answer no turn."""

    def __init__(self, settings: TurnSettings, replies: ReplyState) -> None:
        self._settings = settings
        self._replies = replies
        self._counts: dict[PhraseKind, int] = {}
        self._waiting: deque[AnnouncementRequested] = deque()

    def announce(self, announcement: AnnouncementRequested) -> None:
        """Queue it until nobody speaks."""
        if len(self._waiting) < WAITING:
            self._waiting.append(announcement)

    def say(self, kind: PhraseKind, now: int) -> None:
        """Say a sentence of this kind now."""
        count = self._counts.get(kind, 0)
        self._counts[kind] = count + 1
        self._replies.say(phrase(kind, self._settings.language, count), kind, now)

    def finish(self, now: int) -> None:
        """Finish what was heard to its end; a broken reply is followed by its apology."""
        replies = self._replies
        for utterance in (replies.aside, replies.main):
            if utterance is None or not utterance.over(now):
                continue
            if utterance is replies.main and replies.aside is not None:
                # Its apology would replace the sentence that is playing.
                continue
            replies.finish(utterance, now)
            if utterance.apology:
                replies.say(utterance.apology, "apology", now)
        aside = replies.aside
        if aside is not None and aside.silent and now - aside.progress_at >= self._settings.slow:
            replies.give_up(aside, now)

    def advance(self, now: int) -> None:
        """Nobody speaks: break a long silence, then say the next announcement."""
        replies = self._replies
        main = replies.main
        if main is not None and main.released and replies.aside is None and replies.positions_final:
            match overdue(main, now, self._settings):
                case "filler":
                    main.filled = True
                    self.say("filler", now)
                case "slow":
                    main.slow = True
                    self.say("slow", now)
                case "give_up":
                    replies.give_up(main, now)
                    self.say("gave_up", now)
                case None:
                    pass
        if self._waiting and replies.may_announce:
            announcement = self._waiting.popleft()
            replies.say(announcement.text, "announcement", now, interruptible=announcement.interruptible)

"""The reply pipeline that `/v1/chat/completions` and `/ws/chat` share.

Owns the order of the steps: choose the voice, check the request against the model, generate (which fits its media to the model), and
speak the text while it is written. The dialects decode the request and encode the batches.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import msgspec
from msgspec import Struct

from duologue.gateway.models.registry import admit
from duologue.gateway.speech.service import SpeechService
from duologue.gateway.speech.spoken_stream import with_speech
from duologue.gateway.speech.voice_choice import VoiceChoice, system_recording
from duologue.values.fitting import treatment_of
from duologue.values.generate import Batch, Generate
from duologue.values.messages import AudioPart, Message
from duologue.values.requests import ChatRequest, ModelCard
from duologue.values.speech import SpeechRequest


class ReplyPlan(Struct, frozen=True):
    """A request that was checked and can run. `speech`: how the reply is spoken, None where it is text only; with `speech_required`, a
    reply whose speech fails, fails too."""

    request: ChatRequest
    speech: SpeechRequest | None
    speech_required: bool = False
    choices: int = 1
    request_id: str = ""
    user: str = "local"


class ReplyPipeline:
    """Checks and runs requests for both chat dialects."""

    def __init__(self, generate: Generate, speech: SpeechService) -> None:
        self._generate = generate
        self._speech = speech

    async def choose_voice(
        self,
        card: ModelCard,
        speech: SpeechRequest | None,
        messages: Sequence[Message],
        user: str,
        recording: AudioPart | None = None,
    ) -> tuple[SpeechRequest | None, VoiceChoice | None]:
        """The speech request with its voice. `recording` is the sample of one that came with the request; without it, and
        without a name, the one in the system message is taken. Raises Unsupported, Unavailable, NotFound, and BadRequest or
        TooLarge for a recording that cannot be used."""
        if speech is None:
            return None, None
        by_model = self._speech.leaves_speaking_to(card, speech)
        if recording is None and not speech.voice and (card.clones or not by_model):
            recording = system_recording(messages)
        if self._speech.leaves_speaking_to(card, speech, recorded=recording is not None):
            if not card.voices and not card.clones:
                # Of a model at a server of its own only that server knows the voices.
                return speech, VoiceChoice(speech.voice, None, speech.voice)
            choice = await self._speech.choose_model_voice(card, speech, user, recording)
            return msgspec.structs.replace(speech, voice=choice.voice, sample=choice.sample), choice
        if not by_model or recording is None:
            self._speech.require_speaker()
        elif not self._speech.clones:
            # Nobody here imitates recordings: the model, which speaks anyway, does it in its own voice.
            choice = await self._speech.choose_model_voice(card, speech, user, recording)
            return msgspec.structs.replace(speech, voice="", sample=None), choice
        return await self._speech.choose_voice(speech, user, recording)

    def plan(
        self,
        card: ModelCard,
        request: ChatRequest,
        speech: SpeechRequest | None,
        *,
        speech_required: bool = False,
        choices: int = 1,
        request_id: str = "",
        user: str = "local",
    ) -> ReplyPlan:
        """Check the request against the model; `speech` comes from `choose_voice`. Raises Unsupported, Unavailable."""
        if speech is not None and self._speech.leaves_speaking_to(card, speech):
            # The prompt needs no words about how to write for a voice: the model knows that it speaks.
            request = msgspec.structs.replace(
                request, spoken=False, speak_as=speech.voice, speak_like=speech.sample
            )
            speech = None
        if self._is_written_down(card, request):
            self._speech.require_recogniser()
        return ReplyPlan(
            admit(card, request, hears=self._speech.status[0] != "absent"),
            speech,
            speech_required,
            choices,
            request_id,
            user,
        )

    def _is_written_down(self, card: ModelCard, request: ChatRequest) -> bool:
        """Whether the request has sound that has to be written down, and there is a voice worker."""
        return self._speech.status[0] != "absent" and any(
            treatment_of(message, part, card, hears=True) == "transcribe"
            for message in request.messages
            for part in message.parts
        )

    @asynccontextmanager
    async def run(self, plan: ReplyPlan) -> AsyncIterator[AsyncIterator[Batch]]:
        """The batches of the reply: a `SpokenStream`, with sound among them, where it is spoken. Leaving the context cancels all of it."""
        source = self._generate(plan.request, count=plan.choices, request_id=plan.request_id, user=plan.user)
        if plan.speech is None:
            async with source as batches:
                yield batches
        else:
            async with with_speech(
                source,
                self._speech,
                plan.speech,
                plan.request_id,
                required=plan.speech_required,
                user=plan.user,
            ) as reply:
                yield reply

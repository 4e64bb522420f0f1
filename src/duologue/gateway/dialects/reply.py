"""The reply pipeline that `/v1/chat/completions` and `/ws/chat` share.

Owns the order of the steps: resolve the voice, check the request against the model, transcribe audio the model cannot hear,
generate, and speak the text while it is written. The dialects decode the request and encode the batches.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import msgspec
from msgspec import Struct

from duologue.gateway.models.registry import admit
from duologue.gateway.speech.audio_input import AudioTranscriber, without_audio
from duologue.gateway.speech.service import SpeechService
from duologue.gateway.speech.spoken_stream import with_speech
from duologue.values.generate import Batch, Generate
from duologue.values.requests import ChatRequest, ModelCard
from duologue.values.speech import SpeechRequest, TranscribedPart

OnTranscripts = Callable[[tuple[TranscribedPart, ...]], None]


class ReplyPlan(Struct, frozen=True):
    """A request that was checked and can run. `transcribe`: its audio becomes text first. `speech`: how the reply is spoken,
    None where it is text only; with `speech_required`, a reply whose speech fails, fails too."""

    request: ChatRequest
    transcribe: bool
    speech: SpeechRequest | None
    speech_required: bool = False
    choices: int = 1
    request_id: str = ""
    user: str = "local"


class ReplyPipeline:
    """Checks and runs requests for both chat dialects."""

    def __init__(
        self, generate: Generate, speech: SpeechService, transcriber: AudioTranscriber | None = None
    ) -> None:
        self._generate = generate
        self._speech = speech
        self._transcriber = transcriber or AudioTranscriber(speech)

    def resolve_voice(self, speech: SpeechRequest | None) -> SpeechRequest | None:
        """The speech request with the name of a loaded voice. Raises Unsupported, Unavailable or NotFound."""
        if speech is None:
            return None
        self._speech.require_speaker()
        return msgspec.structs.replace(speech, voice=self._speech.resolve_voice(speech.voice))

    def voice_for(self, speech: SpeechRequest) -> str:
        """The name of the voice that will speak; "" while the voice worker is still loading."""
        return self._speech.voice_for(speech)

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
        """Check the request against the model; `speech` comes from `resolve_voice`. Raises Unsupported, Unavailable."""
        transcribe = self._transcriber.is_needed(card, request)
        admit(card, without_audio(request) if transcribe else request)
        return ReplyPlan(
            msgspec.structs.replace(request, model=card.name),
            transcribe,
            speech,
            speech_required,
            choices,
            request_id,
            user,
        )

    @asynccontextmanager
    async def run(
        self, plan: ReplyPlan, on_transcripts: OnTranscripts
    ) -> AsyncIterator[AsyncIterator[Batch]]:
        """The batches of the reply: a `SpokenStream`, with sound among them, where it is spoken. `on_transcripts` gets what was transcribed,
        before the first batch. Leaving the context cancels all of it. Raises Problem when the audio cannot be transcribed."""
        request = plan.request
        if plan.transcribe:
            request, transcripts = await self._transcriber.transcribe(request, plan.request_id)
            on_transcripts(transcripts)
        source = self._generate(request, count=plan.choices, request_id=plan.request_id, user=plan.user)
        if plan.speech is None:
            async with source as batches:
                yield batches
        else:
            async with with_speech(
                source, self._speech, plan.speech, plan.request_id, required=plan.speech_required
            ) as reply:
                yield reply

"""What every call needs of the server: seats, models, voices, conversations, recordings, limits. Made once, by `app`.

Owns how a call gets its history and its voice. Used by the sockets of calls.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Protocol

import msgspec
from starlette.websockets import WebSocket

from duologue.config.sections.voice import VoiceSettings
from duologue.config.settings import LimitSettings
from duologue.errors import NotFound, Problem, Unavailable, Unsupported
from duologue.gateway.apps.app_registry import AppRegistry
from duologue.gateway.avatars.video_offers import VideoOffers
from duologue.gateway.calls.call_model import CallModel, by_itself, chosen, may_hold
from duologue.gateway.calls.call_seat import CallSeat
from duologue.gateway.calls.history import CallHistory, EphemeralHistory, StoredHistory, TurnStore
from duologue.gateway.calls.native_turns import Transcribe
from duologue.gateway.calls.observer import CallRecordings
from duologue.gateway.calls.prefill_ahead import ReadAhead
from duologue.gateway.models.registry import ModelRegistry, admit
from duologue.gateway.scheduling.lease import Lease
from duologue.gateway.scheduling.pool import Pool
from duologue.gateway.scheduling.request_meter import NO_METER, RequestMeter
from duologue.gateway.scheduling.voice_seats import NO_VOICE
from duologue.gateway.scheduling.work_observer import WorkObserver
from duologue.gateway.speech.service import SpeechService
from duologue.gateway.speech.voice_choice import VoiceChoice
from duologue.values.generate import Generate
from duologue.values.messages import AudioPart, Tool
from duologue.values.requests import ModelCard
from duologue.values.speech import SpeechRequest, Transcript
from duologue.wire.calls.caller_messages import StartCall

if TYPE_CHECKING:
    from duologue.conversations.service import Service

log = logging.getLogger(__name__)


class CallConversations(Protocol):
    """Opens the conversation of a call; `tools` are the client's own. Raises Problem where there is none."""

    async def __call__(
        self, user: str, conversation: str, model: str, tools: Sequence[Tool]
    ) -> TurnStore: ...


class CallsElsewhere(Protocol):
    """Has a call held by the gateway that has its conversation, until it ends: `CallForwarding`. Gives the code and the reason of its close; None where it is held
    here. `first`: what the client has said already. Raises Problem."""

    async def __call__(
        self, socket: WebSocket, conversation: str, first: Sequence[str | bytes]
    ) -> tuple[int, str] | None: ...


async def _wakes_nothing(model: str) -> None:
    pass


async def _nothing_elsewhere(
    socket: WebSocket, conversation: str, first: Sequence[str | bytes]
) -> tuple[int, str] | None:
    return None


def continued_conversations(service: Callable[[], Service | None]) -> CallConversations:
    """Opens conversations of the service, which is there once the database is."""

    async def opened(user: str, conversation: str, model: str, tools: Sequence[Tool]) -> TurnStore:
        from duologue.conversations.call_turns import open_call_turns

        if (running := service()) is None:
            raise Unavailable("The server is starting. Call again in a moment.")
        return await open_call_turns(running, user, conversation, model=model, tools=tools)

    return opened


class CallServices:
    """What every call needs: seats, generation, models, limits. `seats` None: the server has no voice; `slots`: the models' workers, without
    which no model holds a call by itself; `wake`: begins to load a model that was unloaded because nobody used it, and returns once its worker
    starts, for which the call then waits."""

    def __init__(
        self,
        seats: Pool | None,
        generate: Generate,
        models: ModelRegistry,
        *,
        settings: VoiceSettings | None = None,
        limits: LimitSettings | None = None,
        conversations: CallConversations | None = None,
        observe: WorkObserver | None = None,
        read_ahead: ReadAhead | None = None,
        speech: SpeechService | None = None,
        apps: AppRegistry | None = None,
        recordings: CallRecordings | None = None,
        slots: Pool | None = None,
        video: VideoOffers | None = None,
        wake: Callable[[str], Awaitable[None]] = _wakes_nothing,
        meter: RequestMeter = NO_METER,
        elsewhere: CallsElsewhere = _nothing_elsewhere,
    ) -> None:
        self._slots, self._meter = slots, meter
        self.elsewhere = elsewhere
        self.wake = wake
        self.seats, self.generate, self.models = seats, generate, models
        self.apps = apps or AppRegistry()
        self.read_ahead, self.speech = read_ahead, speech
        self._recordings = recordings
        self.video = video or VideoOffers()
        self.settings, self.limits = settings or VoiceSettings(), limits or LimitSettings()
        self.conversations, self.observe = conversations, observe

    @property
    def has_calls(self) -> bool:
        """Whether there can be calls: the server has a voice, or a model that holds them by itself."""
        return self.seats is not None or self.native_model(seeing=False) is not None

    def native_model(self, *, seeing: bool) -> ModelCard | None:
        """The model that holds the call of a duplex client that named none, by itself."""
        return None if self._slots is None else by_itself(self.models.cards(), seeing=seeing)

    def call_model(self, name: str) -> CallModel:
        """Who answers a call to the model of this name; "": the default one. Raises ModelNotFound, Unavailable."""
        card = self.models.resolve(name)
        if self._slots is None:
            return CallModel(card)
        return chosen(card, self.models.cards(), self._failure, cascade=self.seats is not None)

    def _failure(self, model: str) -> str:
        """Why none of a model's workers works; "" if one does, or may yet."""
        workers = self._slots.workers_of(model) if self._slots is not None else []
        if not workers or any(worker.state != "failed" for worker in workers):
            return ""
        return next((worker.detail for worker in workers if worker.detail), "its worker has failed.")

    def seat(self, model: CallModel | None, kind: str, *, native_kind: str) -> CallSeat:
        """Where a call with this model runs. Raises Unsupported where the server has no voice for it."""
        if model is not None and model.native and self._slots is not None:
            return CallSeat(self._slots, native_kind, model.card, self._meter)
        if self.seats is None:
            raise Unsupported(NO_VOICE, code="voice_unavailable")
        return CallSeat(self.seats, kind, meter=self._meter)

    def transcriber(self, user: str, request_id: str) -> Transcribe:
        """What writes down the turns of a call that its model holds by itself, where there is a recogniser."""

        async def transcribe(pcm: bytes, language: str) -> Transcript | None:
            if self.speech is None or not self.speech.hears:
                return None
            return await self.speech.transcribe(pcm, request_id, language, user=user)

        return transcribe

    def context_of(self, model: str) -> int:
        """The model's context in tokens; 0 where it is unknown."""
        try:
            return self.models.resolve(model).context
        except Problem:
            return 0

    async def choose_voice(
        self, voice: str, language: str, user: str, recording: AudioPart | None = None
    ) -> VoiceChoice:
        """The voice of a call. A name that there is no voice for is no reason to refuse the call: the default voice speaks, and
        a note says so. Raises BadRequest or TooLarge for a recording that cannot be used."""
        if self.speech is None:
            return VoiceChoice(voice or self.settings.voice)
        request = SpeechRequest(voice=voice, language=language)
        try:
            return (await self.speech.choose_voice(request, user, recording))[1]
        except NotFound as problem:
            default = (await self.speech.choose_voice(SpeechRequest(language=language), user))[1]
            note = f"{problem.message} The voice {default.name or 'that is the default'} speaks instead."
            return msgspec.structs.replace(default, note=note)

    async def choose_model_voice(
        self, card: ModelCard, voice: str, language: str, user: str, recording: AudioPart | None = None
    ) -> VoiceChoice:
        """The voice of a call that the model of `card` holds by itself. Raises BadRequest or TooLarge for a recording that cannot be used."""
        request = SpeechRequest(voice=voice, language=language)
        return await (self.speech or SpeechService(None)).choose_model_voice(card, request, user, recording)

    async def with_text(
        self, choice: VoiceChoice, language: str, request_id: str, seat: Lease | None = None
    ) -> VoiceChoice:
        """The voice with what is said in its recording, where the speaker must know that: written down once, instead of being
        missed at each clause, in `seat` if the call has one already. Where it cannot be, the default voice speaks, and a note says so."""
        if self.speech is None or choice.sample is None:
            return choice
        sample = choice.sample
        try:
            sample = await self.speech.with_text(sample, language, request_id, seat) or sample
        except Problem as problem:
            log.info("the recording of a voice could not be transcribed: %s", problem.message)
        card = self.speech.card
        if sample.text or card is None or not card.clones_by_text:
            return msgspec.structs.replace(choice, sample=sample)
        spoken_by = self.speech.voice_for(SpeechRequest(voice=choice.voice, language=language))
        note = (
            f"What is said in the recording could not be written down. The voice {spoken_by} speaks instead."
        )
        return VoiceChoice(choice.voice, None, spoken_by, note)

    @property
    def recordings(self) -> CallRecordings:
        """Raises Unsupported where calls cannot be recorded."""
        if self._recordings is None:
            raise Unsupported("This server cannot record calls.", code="recording_unavailable")
        return self._recordings

    async def history(
        self, user: str, start: StartCall, on_problem: Callable[[Problem], None]
    ) -> CallHistory:
        """The history a call begins with; `on_problem` is called when turns cannot be saved. Raises Problem where the model or
        the conversation does not exist."""
        await self.wake(start.model)
        if start.conversation_id:
            if self.conversations is None:
                raise Unsupported(
                    "This server has no conversations that a call could belong to.", param="conversation_id"
                )
            turns = await self.conversations(user, start.conversation_id, start.model, start.tools)
            return StoredHistory(turns, on_problem)
        card = self.models.resolve(start.model)
        history = EphemeralHistory(start.instructions, card.name, start.tools)
        if not may_hold(card):
            admit(card, history.request("?"), hears=True)
        return history

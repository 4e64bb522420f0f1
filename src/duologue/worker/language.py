"""The service of a worker with a model: generates replies, answers questions, and runs the calls of an omni model; of an embedding model
or a reranker, its vectors and scores."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from datetime import datetime

import msgspec

from duologue.engines.contracts import ChatEngine, DetectorEngine, OmniEngine, PromptEngine, WatchedEngine
from duologue.engines.embedding_contracts import ModelEngine
from duologue.engines.registry import load_detector
from duologue.errors import StartFailed, Unavailable, Unsupported
from duologue.sessions.call.clock import RealClock
from duologue.sessions.chat.answers import answer
from duologue.sessions.chat.chat import reply
from duologue.sessions.chat.model_preset import joined, with_preset
from duologue.sessions.chat.reply_controls import ReplyControls
from duologue.sessions.embeddings.vector_work import embed_or_rank
from duologue.sessions.omni.native_call import EndWorker, native_call
from duologue.sessions.speech.speech_task import SendEvent
from duologue.sessions.speech.vad_batcher import VadBatcher
from duologue.threads import ThreadLane
from duologue.values.call_events import CallSetup
from duologue.values.events import Failed
from duologue.values.questions.worker_answers import Answer
from duologue.values.questions.worker_questions import CountPrompt, Question, RenderChat, UseTemplate
from duologue.values.requests import ChatRequest, ModelCard
from duologue.wire import worker_protocol
from duologue.worker.connection import Emit
from duologue.worker.inbox import ControlInbox
from duologue.worker.load_spec import load
from duologue.worker.state import WorkerLifecycle

log = logging.getLogger(__name__)

WRITES_NOTHING = "This model writes no replies: it is an embedding model or a reranker. Choose a chat model."


class LanguageService:
    """One language engine. `report` sends the worker's status to the gateway; `end_worker` ends the worker of a model that hangs."""

    def __init__(
        self,
        load_spec: worker_protocol.LoadSpec,
        status: WorkerLifecycle,
        report: Callable[[], None],
        end_worker: EndWorker,
    ) -> None:
        self.engine: ModelEngine | None = None
        self._load_spec = load_spec
        self._status = status
        self._report = report
        self._end_worker = end_worker
        self._clock = RealClock()
        self._batcher = VadBatcher(ThreadLane(1))
        self._detector: DetectorEngine | None = None

    async def load(self) -> None:
        """Load the engine, reporting to the gateway."""
        self.engine = await load(self._load_spec, self._status, self._report)

    async def watch(self) -> None:
        """Report what changes about the engine's model, until cancelled."""
        if isinstance(self.engine, WatchedEngine):
            await self.engine.watch(self._changed)

    def _changed(self, card: ModelCard) -> None:
        self._status.changed(card.with_defaults(self._load_spec.preset))
        self._report()

    async def generate(self, begin: worker_protocol.Begin, emit: Emit, controls: ReplyControls) -> None:
        """Write one reply into `emit`, ending with exactly one terminal event."""
        if self.engine is None:
            problem = Unavailable(self._status.detail)
            await emit(Failed(problem.code, problem.message, problem.status))
            return
        request = begin.request
        if not isinstance(request, ChatRequest):
            await embed_or_rank(self.engine, begin.slot, request, emit, clock=time.monotonic)
        elif isinstance(self.engine, PromptEngine | ChatEngine):
            await reply(
                self.engine,
                begin.slot,
                self._preset(request),
                emit,
                now=datetime.now().astimezone(),
                clock=time.monotonic,
                controls=controls,
            )
        else:
            await emit(Failed(Unsupported.code, WRITES_NOTHING, Unsupported.status, "model"))

    def _preset(self, request: ChatRequest) -> ChatRequest:
        """The request with the preset of its model: that of a connected server's comes with it, since the worker serves several."""
        own = request.upstream_preset or self._load_spec.preset
        return with_preset(request, joined(own, request.chosen_preset))

    async def run_session(self, opening: worker_protocol.Open, inbox: ControlInbox, send: SendEvent) -> None:
        """Run a call that the model holds by itself. Raises the Problem that ends it; Unsupported for everything that needs a voice
        worker."""
        setup, engine = opening.request, self.engine
        if not isinstance(setup, CallSetup) or setup.omni is None or not isinstance(engine, OmniEngine):
            raise Unsupported("This worker has a language model and no voice.", code="voice_unavailable")
        if self._detector is None:
            self._detector = await _detector()
        await native_call(
            engine, self._detector, self._batcher, setup, inbox, send, self._clock, self._end_worker
        )

    async def answer(self, question: Question) -> Answer:
        """Answer a question that needs no slot. Raises Unavailable while no model is loaded, and the Problems of the engine."""
        engine = self.engine
        if engine is None:
            raise Unavailable(self._status.detail)
        if not isinstance(engine, PromptEngine | ChatEngine):
            raise Unsupported(WRITES_NOTHING, param="model")
        if isinstance(question, CountPrompt | RenderChat):
            question = msgspec.structs.replace(question, request=self._preset(question.request))
        answered = await answer(engine, question, now=datetime.now().astimezone())
        if isinstance(question, UseTemplate):
            self._changed(engine.card)
        return answered

    async def close(self) -> None:
        """Release the engine."""
        if self.engine is not None:
            await self.engine.close()
        if self._detector is not None:
            await self._detector.close()


async def _detector() -> DetectorEngine:
    """The detector that tells speech from noise, or the one by loudness where its library is not installed."""
    try:
        return await load_detector("silero", {})
    except (ImportError, StartFailed):
        log.warning("calls judge speech by its loudness alone; the extra `voice` installs a better detector")
        return await load_detector("energy", {})

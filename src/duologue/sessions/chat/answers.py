"""Answers what a worker with a language model is asked without a slot: tokens of texts, prompts, what the model is.

`worker/language.py` calls it. Engines that tell tokens are `TokenTeller`s; one whose template can be chosen is a `TemplateChooser`.
"""

from __future__ import annotations

from datetime import datetime

from duologue.engines.choice_contracts import ReplicatedEngine, TemplateChooser, TokenTeller
from duologue.engines.contracts import LanguageEngine, PromptEngine
from duologue.errors import BadRequest, NotFound, Unsupported
from duologue.sessions.chat.chat import count
from duologue.sessions.chat.chat_prompt import render
from duologue.sessions.chat.prompt_size import check_fits
from duologue.sessions.chat.spoken_prompt import styled_request
from duologue.values.questions.worker_answers import (
    Answer,
    Counted,
    Described,
    Detokenized,
    Rendered,
    ReplicaDrained,
    TemplateUsed,
)
from duologue.values.questions.worker_questions import (
    CountPrompt,
    DescribeModel,
    DetokenizeTokens,
    DrainReplica,
    Question,
    RenderChat,
    TokenizeText,
    UseTemplate,
)
from duologue.values.requests import ChatRequest


async def answer(engine: LanguageEngine, question: Question, *, now: datetime) -> Answer:
    """The answer of this engine; `now` is passed to the template. Raises Problems, Unsupported where the engine cannot tell."""
    match question:
        case CountPrompt(request):
            size = await count(engine, request, now=now)
            return Counted(size.tokens, size.context, size.estimated)
        case RenderChat(request, tokens):
            return await _rendered(engine, request, now, tokens=tokens)
        case TokenizeText():
            return await _teller(engine).text_tokens(question)
        case DetokenizeTokens():
            return Detokenized(await _teller(engine).tokens_text(question))
        case DescribeModel():
            if not isinstance(engine, PromptEngine):
                return Described()
            template = engine.template
            return Described(template.source, template.bos, template.eos)
        case UseTemplate(source):
            await _chooser(engine).use_template(source)
            return TemplateUsed()
        case DrainReplica(url, drained):
            if not isinstance(engine, ReplicatedEngine):
                raise NotFound(
                    f"{engine.card.name} is on one server alone.", code="replica_not_found", param="url"
                )
            engine.drain_replica(url, drained)
            return ReplicaDrained()


async def _rendered(engine: LanguageEngine, request: ChatRequest, now: datetime, *, tokens: bool) -> Rendered:
    if not isinstance(engine, PromptEngine):
        raise Unsupported(
            f"The model {engine.card.name} takes messages, not a prompt: its own server renders the template. Call that server."
        )
    if not request.messages:
        raise BadRequest("messages must contain at least one message.", param="messages")
    check_fits(engine.card, request)
    if request.spoken:
        request = styled_request(request)
    prompt = await render(engine, request, now, "full")
    if prompt.media:
        raise Unsupported(
            "messages: a prompt with pictures or sound is no text. Leave them out.", param="messages"
        )
    return Rendered(prompt.text, tuple(await prompt.tokens()) if tokens else ())


def _teller(engine: LanguageEngine) -> TokenTeller:
    if not isinstance(engine, TokenTeller):
        raise Unsupported(f"The engine of {engine.card.name} cannot list tokens.")
    return engine


def _chooser(engine: LanguageEngine) -> TemplateChooser:
    if not isinstance(engine, TemplateChooser):
        raise Unsupported(f"The engine of {engine.card.name} cannot change its chat template.")
    return engine

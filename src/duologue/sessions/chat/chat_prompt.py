"""The prompt of a request: rendered by the model's template or given as it is, and as tokens, with its pictures and sounds in their places.

`chat.py` makes one for each reply and each count. Owns the difference between prompts of text and those with media: a text is
tokenized here and there, a prompt with media by the engine as a whole.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import datetime

import msgspec

from duologue.engines.contracts import (
    FillingEngine,
    FillTokens,
    MediaPromptEngine,
    PromptEngine,
    PromptTemplate,
)
from duologue.errors import BadRequest
from duologue.sessions.chat.constraint import offered_tools
from duologue.text.output.reply_format import ReplyFormat
from duologue.text.templates.media_places import Medium, cut_at_places, with_places
from duologue.text.templates.prompt_request import PromptForm, PromptRequest, RenderedPrompt
from duologue.values.requests import ChatRequest


class ChatPrompt:
    """A rendered prompt. `text` and `head` have a word in the place of each of the `media`. `format`: how the reply to it is
    written. `given`: its tokens, where these are known and not its text; `stop_strings`: texts at which the template ends a reply."""

    def __init__(
        self,
        engine: PromptEngine,
        rendered: RenderedPrompt,
        mark: str = "",
        media: tuple[Medium, ...] = (),
        given: tuple[int, ...] | None = None,
        template: PromptTemplate | None = None,
    ) -> None:
        self._engine = engine
        template = template or engine.template
        self.stop_strings = template.stop_strings
        self.text, self.head = rendered.text, rendered.head
        self.format = rendered.format or ReplyFormat(engine.card.tool_format, template.reasoning)
        self.media = media
        self._mark, self._given = mark, given

    async def tokens(self) -> Sequence[int]:
        """The tokens of the whole prompt. Raises the Problems of the engine: a picture that cannot be read."""
        if self._given is not None:
            return self._given
        return await self._tokens(self.text)

    async def continued(self, tokens: Sequence[int], text: str) -> Sequence[int]:
        """`tokens`, those of the prompt, and those of a text behind it."""
        if self.media:
            return await self._tokens(self.text + text)
        return (*tokens, *await self._engine.tokenize(text, start=False))

    async def stable_prefix(self, tokens: Sequence[int]) -> Sequence[int]:
        """The tokens to prefill: those of the prompt without the generation prompt.

        The tokens of the generation prompt are the same every time, and end the prompt. Where they do not, because a
        tokenizer merged across the seam or the template renders the two differently, it is what both have in common.
        """
        if self.head == self.text:
            # The generation reads the last token again, for which some caches would have to be read anew as a whole.
            return tokens if self.media else tokens[:-1]
        if not self.media and self.text.startswith(self.head):
            added = await self._engine.tokenize(self.text[len(self.head) :], start=False)
            if added and tuple(tokens[-len(added) :]) == added:
                return tokens[: -len(added)]
        alone = await self._tokens(self.head)
        common = next(
            (at for at, (left, right) in enumerate(zip(alone, tokens, strict=False)) if left != right),
            min(len(alone), len(tokens)),
        )
        if self.media:
            # A prompt with media is cut by the engine alone. Without a whole head in it, nothing is read ahead.
            return alone if common == len(alone) else ()
        return tokens[:common]

    async def _tokens(self, text: str) -> Sequence[int]:
        if not self.media:
            return await self._engine.tokenize(text)
        assert isinstance(self._engine, MediaPromptEngine), "media were refused before"
        return await self._engine.tokenize_media(cut_at_places(text, self._mark, self.media))


async def render(engine: PromptEngine, request: ChatRequest, now: datetime, form: PromptForm) -> ChatPrompt:
    """The prompt of a request. One that continues its last message has no generation prompt. Raises the Problems of
    rendering."""
    if request.prompt is not None:
        return await raw_prompt(engine, request, request.prompt)
    variables = request.template_variables
    if request.effort is not None:  # some models were trained with this word
        variables = {"reasoning_effort": request.effort, **variables}
    mark = f"medium{secrets.token_hex(12)}"
    messages, media = with_places(request.messages, mark)
    if not isinstance(engine, MediaPromptEngine):
        media = ()
    prompt = PromptRequest(
        messages if media else request.messages,
        tools=offered_tools(request),
        thinking=request.thinking,
        variables=variables,
        form=_form(request, form),
    )
    template = engine.template  # another one may be chosen meanwhile
    rendered = await template.render(prompt, now)
    if request.prefix and not request.ahead:
        rendered = msgspec.structs.replace(rendered, text=rendered.text + request.prefix)
    return ChatPrompt(engine, rendered, mark, media, template=template)


async def raw_prompt(engine: PromptEngine, request: ChatRequest, prompt: str | tuple[int, ...]) -> ChatPrompt:
    """The prompt of a request that brings it as it is; what follows it is all text. Raises BadRequest for tokens that the model does not
    have."""
    text = prompt if isinstance(prompt, str) else ""
    if not request.ahead and isinstance(prompt, str):
        text += request.prefix
    rendered = RenderedPrompt(text, text, ReplyFormat("", None))
    fill = None if request.suffix is None else _fill_tokens(engine)
    if isinstance(prompt, str):
        if fill is None:
            return ChatPrompt(engine, rendered)
        tokens = await engine.tokenize(text, start=False)
    else:
        tokens = prompt
        check_tokens(tokens, engine.card.vocabulary)
        if request.prefix and not request.ahead:
            tokens = (*tokens, *await engine.tokenize(request.prefix, start=False))
    if fill is not None:
        opening = await engine.tokenize("")
        behind = await engine.tokenize(request.suffix or "", start=False)
        tokens = (*opening, fill.prefix, *tokens, fill.suffix, *behind, fill.middle)
    return ChatPrompt(engine, rendered, given=tokens)


def _fill_tokens(engine: PromptEngine) -> FillTokens | None:
    return engine.fill_tokens if isinstance(engine, FillingEngine) else None


def check_tokens(tokens: Sequence[int], vocabulary: int) -> None:
    """Raises BadRequest for a token that is not one of these (0: it is not known how many there are)."""
    most = vocabulary - 1 if vocabulary else max(tokens, default=0)
    wrong = next((token for token in tokens if not 0 <= token <= most), None)
    if wrong is not None:
        raise BadRequest(
            f"prompt has the token {wrong}, but this model has {vocabulary} tokens (0 to {most}).",
            param="prompt",
        )


def _form(request: ChatRequest, form: PromptForm) -> PromptForm:
    if request.continue_final:
        return "open"
    return form if request.generation_prompt else "head"

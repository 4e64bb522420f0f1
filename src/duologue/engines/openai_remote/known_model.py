"""What an upstream says of the one model that is used there, and the card made of it.

Called by `engine` at its start and now and then afterwards. Nothing is claimed: what a model takes is in the settings, or its server says
it. A server that does not answer keeps what it said before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import anyio
from msgspec import Struct
from msgspec.structs import replace

from duologue.engines.openai_remote.server_kinds import server_kind
from duologue.errors import Problem
from duologue.models.upstream_models import HOSTS, kind_of, model_of, questions, with_answers
from duologue.values.requests import ModelCard, UpstreamModel

if TYPE_CHECKING:
    from duologue.engines.openai_remote.engine import RemoteOptions
    from duologue.engines.openai_remote.upstream_connection import Upstream

MODELS_TIMEOUT = 5.0
"""Seconds one question waits for an answer."""
UNTOLD = ("image",)
"""What is passed on to a model of which nobody says what it takes: nearly all that see take pictures in the same way, and
sound can be written down instead."""
TOOL_VERBS = ("tools", "tool_choice")


class KnownModel(Struct, frozen=True):
    """A model with what its server says of it, the kind of the server ("" if it does not say), what is wrong, and whether the server
    answers."""

    model: UpstreamModel
    kind: str = ""
    warnings: tuple[str, ...] = ()
    answers: bool = True


async def ask(upstream: Upstream, options: RemoteOptions, before: KnownModel) -> KnownModel:
    """What the upstream says now. A model that was known once stays the one that is used, whatever is listed first later."""
    try:
        with anyio.fail_after(MODELS_TIMEOUT):
            models = await upstream.models()
    except (Problem, TimeoutError) as error:
        sentence = error.message if isinstance(error, Problem) else f"{upstream.shown} does not answer."
        return replace(before, warnings=(sentence,), answers=False)
    name = before.model.name or next(iter(models), "")
    kind = kind_said(options) or kind_of(models.values())
    model = await _details(upstream, kind, model_of(name, models.get(name, {})))
    if kind == before.kind:
        model = _completed(model, before.model)
    warnings: tuple[str, ...] = ()
    if not models:
        warnings = (f"{upstream.shown} lists no models; load one there.",)
    elif name not in models:
        listed = ", ".join(list(models)[:10])
        warnings = (f"{upstream.shown} does not list the model {name!r}. It has: {listed}.",)
    return KnownModel(model, kind, warnings)


async def _details(upstream: Upstream, kind: str, model: UpstreamModel) -> UpstreamModel:
    """The model with what its server says elsewhere, if it says it in time."""
    answers: list[bytes] = []
    with anyio.move_on_after(MODELS_TIMEOUT):
        for path, body in (asked := questions(kind, (model,))):
            answers.append(await upstream.detail(path, body))
        if asked:
            return next(iter(with_answers(kind, (model,), answers)), model)
    return model


def _completed(model: UpstreamModel, before: UpstreamModel) -> UpstreamModel:
    """With what the server said before where it says nothing now: a slow answer does not make a model blind."""
    return replace(
        model,
        context=model.context or before.context,
        modalities=before.modalities if model.modalities is None else model.modalities,
        tools=before.tools if model.tools is None else model.tools,
    )


def kind_said(options: RemoteOptions) -> str:
    """The kind of server by the settings or its host; "" where neither tells."""
    return options.kind if options.kind not in ("", "other") else HOSTS.get(_host(options), "")


def _host(options: RemoteOptions) -> str:
    return urlsplit(options.url).hostname or ""


def card_of(options: RemoteOptions, known: KnownModel) -> ModelCard:
    """The card of the model, by the settings first and its server second."""
    model, kind = known.model, server_kind(known.kind)
    host = _host(options) or "upstream"
    if model.task != "chat":
        return ModelCard(
            name=options.name or model.name or host,
            engine="remote",
            context=options.context or model.context or 0,
            slots=options.slots,
            description=f"{model.name} at {host}",
            outputs=(),
            verbs=(model.task,),
            warnings=known.warnings,
            device="cpu",
        )
    told = model.modalities if options.modalities is None else ("text", *options.modalities)
    return ModelCard(
        name=options.name or model.name or host,
        engine="remote",
        context=options.context or model.context or 0,
        slots=options.slots,
        description=f"{model.name or 'a model'} at {host}",
        modalities=tuple(dict.fromkeys(told or ("text",))),
        untold=UNTOLD if told is None else (),
        outputs=tuple(dict.fromkeys(("text", *(options.outputs or model.outputs)))),
        verbs=(
            *(verb for verb in kind.verbs if model.tools is not False or verb not in TOOL_VERBS),
            *(("raw",) if kind.raw else ()),
            *(("infill",) if kind.fills else ()),
        ),
        sampling=tuple(kind.fields),
        warnings=known.warnings,
        device="cpu",
    )

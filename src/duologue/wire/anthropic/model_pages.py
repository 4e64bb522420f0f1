"""Models as Anthropic's API lists them. Used by `gateway.anthropic`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import msgspec

from duologue.errors import BadRequest
from duologue.values.requests import ModelCard
from duologue.wire.validation_errors import shortened

DEFAULT_LIMIT, MAX_LIMIT = 20, 1000


def model_page(
    cards: Sequence[ModelCard],
    aliases: Mapping[str, ModelCard],
    created: int,
    *,
    limit: int = DEFAULT_LIMIT,
    after: str = "",
    before: str = "",
) -> bytes:
    """The body of `GET /v1/models`: at most `limit` models after or before the one of this id, in their order, then the aliases. Raises
    BadRequest for an id that is none of them."""
    entries = [(card.name, card) for card in cards] + list(aliases.items())
    names = [name for name, _ in entries]
    first, last = 0, len(entries)
    if after:
        first = _place(names, after, "after_id") + 1
    if before:
        last = _place(names, before, "before_id")
    chosen = entries[first:last]
    has_more = len(chosen) > limit
    # Before an id, those right before it are meant.
    chosen = chosen[-limit:] if before and not after else chosen[:limit]
    return msgspec.json.encode(
        {
            "data": [model_info(card, created, name) for name, card in chosen],
            "has_more": has_more,
            "first_id": chosen[0][0] if chosen else None,
            "last_id": chosen[-1][0] if chosen else None,
        }
    )


def model_info(card: ModelCard, created: int, name: str) -> dict[str, object]:
    """One model under this name. `root`, an extension, is the model that an alias stands for."""
    verbs = card.verbs
    efforts = ("low", "medium", "high", "xhigh", "max")
    return {
        "type": "model",
        "id": name,
        "display_name": name if name == card.name else f"{name} ({card.name})",
        "created_at": datetime.fromtimestamp(created, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "lifecycle": "active",
        "max_input_tokens": card.context or None,
        "max_tokens": card.context or None,
        "root": card.name,
        "capabilities": {
            **dict.fromkeys(("batch", "citations", "code_execution"), _supports(False)),
            "context_management": _supports(False),
            "effort": _supports("effort" in verbs)
            | {level: _supports("effort" in verbs) for level in efforts},
            "image_input": _supports("image" in card.accepted),
            "pdf_input": _supports(True),
            "server_tools": _supports(False)
            | dict.fromkeys(("code_execution", "web_search"), _supports(False)),
            "structured_outputs": _supports("format" in verbs),
            "thinking": _supports("thinking" in verbs)
            | {
                "types": {
                    **dict.fromkeys(("adaptive", "enabled"), _supports("thinking" in verbs)),
                    **dict.fromkeys(("between_tools", "disabled"), _supports(True)),
                }
            },
        },
    }


def _supports(does: bool) -> dict[str, object]:
    return {"supported": does}


def _place(names: Sequence[str], name: str, param: str) -> int:
    if name not in names:
        raise BadRequest(f"{param}: there is no model {shortened(name)!r}.", param=param)
    return names.index(name)

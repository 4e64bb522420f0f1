"""Which LoRA adapters a request uses, as llama-server has it. Part of the bodies of completions."""

from __future__ import annotations

from pydantic import Field

from duologue.values.requests import AdapterScale
from duologue.wire.validation import Body

MOST_ADAPTERS = 64
MOST_SCALE = 100


class AdapterBody(Body):
    """An adapter, by its number in `GET /lora-adapters`."""

    id: int = Field(ge=0, le=1_000_000)
    scale: float = Field(ge=-MOST_SCALE, le=MOST_SCALE)


class AdapterFields(Body):
    """The field of a body."""

    lora: list[AdapterBody] | None = Field(
        default=None,
        max_length=MOST_ADAPTERS,
        description="LoRA adapters of this reply with their scales; adapters that are not named are not used.",
    )

    def adapters_asked(self) -> tuple[AdapterScale, ...] | None:
        """The adapters with their scales; None: as the model is set."""
        return None if self.lora is None else tuple(AdapterScale(each.id, each.scale) for each in self.lora)

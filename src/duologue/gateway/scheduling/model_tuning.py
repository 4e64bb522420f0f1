"""What admins chose at run time for replies: a sampling preset for all models, and how much of each model's LoRA adapters is added.

Owned by `pool`, which has every request carry it: workers need not be told, and what runs keeps what it began with. It holds until the
server stops. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from duologue.values.requests import AdapterScale, ChatRequest, ModelCard, ModelPreset


class ModelTuning:
    """Nothing is chosen at the start."""

    def __init__(self) -> None:
        self.preset: ModelPreset | None = None
        """The sampling preset in use; None: each model's own alone."""
        self._scales: dict[str, dict[str, float]] = {}

    def scales(self, queue: str) -> Mapping[str, float] | None:
        """The scales chosen for the adapters of a model, by their names; None: as it was loaded."""
        return self._scales.get(queue)

    def use_scales(self, queue: str, scales: Mapping[str, float] | None) -> None:
        """Add the adapters of the model in this line with these scales, and others not at all; None: as it was loaded."""
        if scales is None:
            self._scales.pop(queue, None)
        else:
            self._scales[queue] = dict(scales)

    def keep(self, queues: set[str]) -> None:
        """Forget what was chosen for models that are gone."""
        self._scales = {queue: scales for queue, scales in self._scales.items() if queue in queues}

    def applied(self, request: ChatRequest, queue: str, card: ModelCard) -> ChatRequest:
        """The request with what was chosen. Scales that a request names itself count."""
        if self.preset is not None:
            request = msgspec.structs.replace(request, chosen_preset=self.preset)
        scales = self._scales.get(queue)
        if scales is not None and request.adapters is None and card.adapters:
            chosen = tuple(
                AdapterScale(id, scales[name]) for id, name in enumerate(card.adapters) if name in scales
            )
            request = msgspec.structs.replace(request, adapters=chosen)
        return request

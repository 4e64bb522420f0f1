"""The cache of keys and values as this engine keeps it: room ahead of what is written, cut anywhere, joined to a batch and taken apart.

Used by `row_batch`. The library's own layers copy all keys for every token, and those of a sliding window forget what a cut would need. Here
such a window is kept whole, and the library's mask hides what is outside. Layers with a state instead of keys (Mamba and its kin) stay the
library's; they can be joined, and not cut. Blocks.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

STEP = 256
"""Tokens that a cache grows by, at least."""


class GrowingKeys:
    """Mixed into the library's layer. `keys` and `values` are views, [rows, heads, tokens, width], of buffers with room behind."""

    keys: Any
    values: Any
    is_initialized: bool

    def update(self, key_states: Any, value_states: Any, *_: Any, **__: Any) -> tuple[Any, Any]:
        """Add the keys and values of new tokens; all of them."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)  # type: ignore[attr-defined]
            self.keys, self.values = _empty(key_states), _empty(value_states)
        self.keys = self._appended("_key_room", self.keys, key_states)
        self.values = self._appended("_value_room", self.values, value_states)
        return self.keys, self.values

    def cut(self, length: int) -> None:
        """Keep the first `length` tokens."""
        self.keys, self.values = self.keys[..., :length, :], self.values[..., :length, :]

    def _appended(self, name: str, old: Any, new: Any) -> Any:
        length, end = old.shape[-2], old.shape[-2] + new.shape[-2]
        room = getattr(self, name, None)
        if room is None or room.shape[-2] < end or room.shape[0] != new.shape[0]:
            size = end + max(STEP, end // 4)
            room = new.new_zeros((*new.shape[:-2], size, new.shape[-1]))
            room[..., :length, :] = old
            setattr(self, name, room)
        room[..., length:end, :] = new
        return room[..., :end, :]


class CacheMaker:
    """Makes the caches of one model. `library` is transformers, `config` the model's."""

    def __init__(self, library: Any, torch: Any, config: Any) -> None:
        kinds = library.cache_utils
        self._kinds, self._torch, self._config = kinds, torch, config
        self._dynamic = library.DynamicCache
        self._growing: Any = type("GrowingLayer", (GrowingKeys, kinds.DynamicLayer), {})
        layers = self._dynamic(config=config).layers
        known = (
            kinds.DynamicLayer,
            kinds.DynamicSlidingWindowLayer,
            kinds.LinearAttentionLayer,
            kinds.DummyLayer,
        )
        self.joinable = all(type(layer) in known for layer in layers)
        """Whether sequences can be written together."""
        self.has_keys = any(isinstance(layer, kinds.DynamicLayer) for layer in layers)
        self.croppable = self.joinable and not any(
            isinstance(layer, kinds.LinearAttentionLayer) for layer in layers
        )
        """Whether a sequence can be cut anywhere; otherwise only to nothing."""

    def new(self) -> Any:
        """An empty cache."""
        cache = self._dynamic(config=self._config)
        if self.joinable:
            cache.layers = [self._own(layer) for layer in cache.layers]
        return cache

    def crop(self, cache: Any, length: int) -> None:
        """Keep the first `length` tokens of a cache that is `croppable`."""
        for layer in cache.layers:
            if isinstance(layer, GrowingKeys) and layer.is_initialized:
                layer.cut(length)

    def row_of(self, layer: Any, row: int, length: int) -> Any:
        """One row of a layer as a layer of its own, a view: its last `length` tokens."""
        if isinstance(layer, GrowingKeys):
            if not layer.is_initialized:
                return layer
            part = copy.copy(layer)
            begin = layer.keys.shape[-2] - length
            part.keys = layer.keys[row : row + 1, :, begin:]
            part.values = layer.values[row : row + 1, :, begin:]
            part.__dict__.pop("_key_room", None)
            part.__dict__.pop("_value_room", None)
            return part
        return self._states_of(layer, lambda state: state[row : row + 1])

    def alone(self, part: Any) -> Any:
        """A layer from `row_of` with memory of its own."""
        if isinstance(part, GrowingKeys):
            if part.is_initialized:
                part.keys, part.values = part.keys.clone(), part.values.clone()
            return part
        return self._states_of(part, lambda state: state.clone())

    def joined(self, parts: Sequence[Any]) -> Any:
        """Layers of one row each as one layer; shorter rows have nothing in front."""
        first = parts[0]
        if isinstance(first, GrowingKeys):
            layer = self._growing()
            if first.is_initialized:
                layer.lazy_initialization(first.keys, first.values)
                layer.keys = self._padded([part.keys for part in parts], layer, "_key_room")
                layer.values = self._padded([part.values for part in parts], layer, "_value_room")
            return layer
        if not hasattr(first, "conv_states"):
            return first
        layer = copy.copy(first)
        for name in ("conv_states", "recurrent_states"):
            states = [getattr(part, name) for part in parts]
            joined = {
                key: None if state is None else self._torch.cat([each[key] for each in states])
                for key, state in states[0].items()
            }
            setattr(layer, name, joined)
        return layer

    def _own(self, layer: Any) -> Any:
        return self._growing() if isinstance(layer, self._kinds.DynamicLayer) else layer

    def _padded(self, rows: Sequence[Any], layer: Any, name: str) -> Any:
        longest = max(row.shape[-2] for row in rows)
        first = rows[0]
        room = first.new_zeros((len(rows), first.shape[1], longest + STEP, first.shape[-1]))
        for at, row in enumerate(rows):
            room[at, :, longest - row.shape[-2] : longest] = row[0]
        setattr(layer, name, room)
        return room[..., :longest, :]

    def _states_of(self, layer: Any, change: Any) -> Any:
        if not hasattr(layer, "conv_states"):
            return layer
        part = copy.copy(layer)
        for name in ("conv_states", "recurrent_states"):
            states = getattr(layer, name)
            setattr(
                part, name, {key: None if state is None else change(state) for key, state in states.items()}
            )
        part.has_previous_state = dict(layer.has_previous_state)
        return part


def _empty(states: Any) -> Any:
    return states[..., :0, :]

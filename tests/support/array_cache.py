"""Arrays, layers and a network of sums with the parts of torch and transformers that the cache of the engine `transformers` uses: for tests
of it without these libraries."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy


class Array(numpy.ndarray[Any, Any]):
    """An array that answers as a tensor does."""

    def new_zeros(self, shape: tuple[int, ...]) -> Array:
        return numpy.zeros(shape).view(Array)

    def clone(self) -> Array:
        return self.copy().view(Array)

    def to(self, device: Any) -> Array:
        return self

    def float(self) -> Array:
        return self

    def abs(self) -> Array:
        return numpy.abs(self).view(Array)


def array(values: Any, device: Any = None) -> Array:
    return numpy.array(values, dtype=float).view(Array)


class DynamicLayer:
    """Keys and values, as the library's."""

    def __init__(self) -> None:
        self.keys: Any = None
        self.values: Any = None
        self.is_initialized = False

    def lazy_initialization(self, keys: Any, values: Any) -> None:
        self.is_initialized = True


class DynamicSlidingWindowLayer(DynamicLayer):
    pass


class DummyLayer:
    pass


class LinearAttentionLayer:
    """A state instead of keys."""

    def __init__(self) -> None:
        self.conv_states: dict[int, Any] = {0: None}
        self.recurrent_states: dict[int, Any] = {0: None}
        self.has_previous_state = {0: False}


KINDS = SimpleNamespace(
    DynamicLayer=DynamicLayer,
    DynamicSlidingWindowLayer=DynamicSlidingWindowLayer,
    DummyLayer=DummyLayer,
    LinearAttentionLayer=LinearAttentionLayer,
)
TORCH = SimpleNamespace(
    tensor=array,
    ones=lambda shape, dtype=None: numpy.ones(shape).view(Array),
    cat=lambda parts: numpy.concatenate(parts).view(Array),
    long=None,
    float32="float32",
)


def library(*layers: Any) -> Any:
    """A library whose models have such layers."""

    def cache(config: Any) -> Any:
        return SimpleNamespace(layers=[layer() for layer in layers])

    return SimpleNamespace(cache_utils=KINDS, DynamicCache=cache)


class SumModel:
    """Its logits are the sum of all tokens that a row may see, each times its position and one, and the position of the last one."""

    dtype = "float32"
    config = SimpleNamespace(get_text_config=lambda: SimpleNamespace(vocab_size=50))

    def forward(
        self,
        input_ids: Any,
        position_ids: Any,
        past_key_values: Any,
        attention_mask: Any = None,
        use_cache: bool = True,
        logits_to_keep: int = 0,
    ) -> Any:
        keys = (input_ids * (position_ids + 1))[:, None, :, None].view(Array)
        seen, _ = past_key_values.layers[0].update(keys, keys)
        visible = seen[:, 0, :, 0]
        if attention_mask is not None:
            assert attention_mask.shape == visible.shape
            visible = visible * attention_mask
        logits = numpy.stack([visible.sum(-1), position_ids[:, -1]], -1)[:, None]
        return SimpleNamespace(logits=logits.view(Array))

    def __call__(self, **arguments: Any) -> Any:
        return self.forward(**arguments)

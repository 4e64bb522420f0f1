"""What the speech of the omni models calls of PyTorch, over arrays of numpy: for tests of the arithmetic where PyTorch is not installed.

The real one is used by tests/engines_extra.
"""

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import numpy


class Values(numpy.ndarray):
    """An array with the methods of a tensor. There is one device, "cpu"."""

    device = "cpu"

    def to(self, *_: object) -> "Values":
        return self

    cpu = numpy = contiguous = to

    def float(self) -> "Values":
        return values(self, numpy.float32)

    def bool(self) -> "Values":
        return values(self, bool)

    def new_empty(self, shape: Any) -> "Values":
        return numpy.zeros(shape, self.dtype).view(Values)

    def clone(self) -> "Values":
        return self.copy()

    def expand(self, *sizes: int) -> "Values":
        shape = [old if new == -1 else new for old, new in zip(self.shape, sizes, strict=True)]
        return numpy.broadcast_to(self, shape).view(Values)

    def masked_fill(self, mask: Any, value: Any) -> "Values":
        return numpy.where(mask, value, self).view(Values)

    def transpose(self, *axes: int) -> "Values":  # type: ignore[override]
        return numpy.swapaxes(self, *axes).view(Values)

    def chunk(self, count: int, dim: int) -> list["Values"]:
        return [part.view(Values) for part in numpy.split(self, count, axis=dim)]

    def clamp(self, least: Any, most: Any) -> "Values":
        return numpy.clip(self, least, most).view(Values)


def values(data: Any, dtype: Any = None) -> Any:
    """An array of this data, whole numbers as such."""
    return numpy.array(data, dtype=dtype).view(Values)


class Chance:
    """A generator of random numbers; it has a device, which is not used."""

    def __init__(self, device: str = "cpu") -> None:
        self.numbers = numpy.random.default_rng(0)

    def manual_seed(self, seed: int) -> "Chance":
        self.numbers = numpy.random.default_rng(seed)
        return self


def _topk(scores: Any, count: int) -> tuple[Any, Any]:
    places = numpy.argsort(-scores, kind="stable")[:count]
    return values(scores[places]), values(places)


def _softmax(scores: Any, dim: int) -> Any:
    with numpy.errstate(invalid="ignore"):
        raised = numpy.exp(scores - scores.max(axis=dim, keepdims=True))
        return values(raised / raised.sum(axis=dim, keepdims=True))


def _multinomial(shares: Any, count: int, *, generator: Chance) -> Any:
    return values(generator.numbers.choice(len(shares), count, p=numpy.asarray(shares) / shares.sum()))


TORCH: Any = SimpleNamespace(
    inf=numpy.inf,
    pi=numpy.pi,
    long=numpy.int64,
    bool=numpy.bool_,
    inference_mode=nullcontext,
    Generator=Chance,
    tensor=lambda data, device="cpu", dtype=None: values(
        data, dtype or (numpy.int64 if not len(data) else None)
    ),
    arange=lambda *ends, device="cpu": values(numpy.arange(*ends)),
    zeros=lambda size, dtype=None, device="cpu": values(numpy.zeros(size, dtype)),
    full=lambda shape, value, dtype=None, device="cpu": values(numpy.full(shape, value, dtype)),
    linspace=lambda begin, end, count, device="cpu": values(numpy.linspace(begin, end, count)),
    randn=lambda shape, generator: values(generator.numbers.standard_normal(shape)),
    cat=lambda parts, dim=0: values(numpy.concatenate(parts, axis=dim)),
    where=lambda which, yes, no: values(numpy.where(which, yes, no)),
    cos=numpy.cos,
    isfinite=numpy.isfinite,
    nan_to_num=lambda data, nan, neginf: values(numpy.nan_to_num(data, nan=nan, neginf=neginf)),
    topk=_topk,
    softmax=_softmax,
    multinomial=_multinomial,
)


def embedding(rows: Any) -> Any:
    """A table of embeddings: called with ids, and with a `weight`."""
    table = values(rows)
    return _Embedding(table)


class _Embedding:
    def __init__(self, table: Any) -> None:
        self.weight = table

    def __call__(self, ids: Any) -> Any:
        return self.weight[ids]

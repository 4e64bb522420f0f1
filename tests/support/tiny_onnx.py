"""Small ONNX networks that the tests of sherpa-onnx make: a graph with constants and metadata, written to a file.

The library ends its process where it does not like a model, so these also hold what is passed to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy
from onnx import TensorProto, checker, helper, numpy_helper, save

FLOAT, LONG, INT, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.INT32, TensorProto.BOOL
Node = tuple[str, list[str], list[str], dict[str, Any]]
"""Operator, inputs, outputs and attributes."""
Port = tuple[str, int, list[Any]]
"""Name, type and shape of an input or output."""


def save_network(
    path: Path,
    nodes: Iterable[Node],
    inputs: Iterable[Port],
    outputs: Iterable[Port],
    numbers: Mapping[str, Any] | None = None,
    **properties: object,
) -> None:
    """Write a network. `numbers` are its constants, `properties` its metadata."""
    graph = helper.make_graph(
        [helper.make_node(kind, using, making, **how) for kind, using, making, how in nodes],
        "made",
        [helper.make_tensor_value_info(*each) for each in inputs],
        [helper.make_tensor_value_info(*each) for each in outputs],
        [numpy_helper.from_array(numpy.asarray(value), name) for name, value in (numbers or {}).items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    for key, value in properties.items():
        entry = model.metadata_props.add()
        entry.key, entry.value = key, str(value)
    checker.check_model(model)
    path.parent.mkdir(parents=True, exist_ok=True)
    save(model, str(path))


def write_tokens(folder: Path, tokens: Iterable[str]) -> None:
    """The file with the number of each token."""
    folder.mkdir(parents=True, exist_ok=True)
    text = "".join(f"{token} {number}\n" for number, token in enumerate(tokens))
    (folder / "tokens.txt").write_text(text, encoding="utf-8")


def save_turn_end_model(path: Path, bias: float, scale: float = 0.0, **names: str) -> None:
    """A network with the signature of Smart Turn v3, whose answer is the sigmoid of `bias` and `scale` times the mean of its
    input. `names` may change those of its ports."""
    reads, writes = names.get("reads", "input_features"), names.get("writes", "logits")
    save_network(
        path,
        [
            ("ReduceMean", [reads], ["mean"], {"axes": [1, 2], "keepdims": 0}),
            ("Unsqueeze", ["mean", "last"], ["column"], {}),
            ("Mul", ["column", "scale"], ["scaled"], {}),
            ("Add", ["scaled", "bias"], ["sum"], {}),
            ("Sigmoid", ["sum"], [writes], {}),
        ],
        [(reads, FLOAT, ["batch", 80, 800])],
        [(writes, FLOAT, ["batch", 1])],
        {
            "last": numpy.array([1], numpy.int64),
            "scale": numpy.array(scale, numpy.float32),
            "bias": numpy.array(bias, numpy.float32),
        },
    )

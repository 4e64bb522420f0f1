"""The tables of ggml's formats agree with the reference package."""

from __future__ import annotations

import gguf

from duologue.models.gguf.types import FILE_TYPES, TENSOR_TYPES, tensor_size


def test_every_tensor_type_has_the_reference_block_and_size() -> None:
    for kind in gguf.GGMLQuantizationType:
        block, size = gguf.GGML_QUANT_SIZES[kind]
        known = TENSOR_TYPES[kind.value]
        assert (known.name, known.block, known.size) == (kind.name, block, size)


def test_every_file_type_has_the_name_people_know() -> None:
    for kind in gguf.LlamaFileType:
        if kind is not gguf.LlamaFileType.GUESSED:
            assert kind.name.endswith(FILE_TYPES[kind.value])


def test_a_tensors_size_counts_whole_blocks() -> None:
    assert tensor_size(0, 10) == 40
    assert tensor_size(12, 512) == 288
    assert tensor_size(8, 33) == 68


def test_the_size_of_an_unknown_type_is_not_known() -> None:
    assert tensor_size(9_999, 10) is None

"""A model file's header, and the sentences for the files that are none."""

from __future__ import annotations

import os
from pathlib import Path

import gguf
import numpy as np
import pytest
from tests.support.tiny_encoder import TinyEncoder, write_tiny_encoder
from tests.support.tiny_model import TEMPLATE, TinyModel, write_tiny_model

from duologue.errors import StartFailed
from duologue.models.gguf.header import NOT_USABLE, read


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_model(tmp_path_factory.mktemp("models") / "tiny.gguf")


def refusal(path: Path) -> str:
    with pytest.raises(StartFailed) as caught:
        read(path)
    assert str(path) in caught.value.message
    return caught.value.message


def test_the_header_tells_what_the_model_is(tiny: Path) -> None:
    model = read(tiny)
    assert (model.architecture, model.name, model.quantisation) == ("llama", "Tiny", "F32")
    assert (model.trained_context, model.blocks, model.embedding) == (512, 2, 64)
    assert (model.heads, model.kv_heads, model.cache_width) == (4, 2, 2 * 2 * (16 + 16))
    assert (model.tokenizer, model.vocabulary, model.add_bos) == ("gpt2", 264, False)
    assert (model.bos, model.eos, model.eot) == ("<|endoftext|>", "<|im_end|>", "<|im_end|>")
    assert model.template == TEMPLATE
    assert model.size == tiny.stat().st_size
    assert model.parts == 1


def test_parameters_are_counted_from_the_tensors(tiny: Path) -> None:
    reference = gguf.GGUFReader(tiny)
    assert read(tiny).parameters == sum(int(np.prod(tensor.shape)) for tensor in reference.tensors)


def test_a_model_without_a_template_has_none(tmp_path: Path) -> None:
    assert read(write_tiny_model(tmp_path / "bare.gguf", TinyModel(template=None))).template == ""


def test_the_end_of_turn_is_guessed_from_the_template_when_the_file_does_not_say(tmp_path: Path) -> None:
    path = write_tiny_model(tmp_path / "x.gguf", TinyModel(template="{{ '<|eot_id|>' }}"))
    assert read(path).eot == "<|eot_id|>"


def test_a_missing_file_is_said_to_be_missing(tmp_path: Path) -> None:
    assert "There is no model file" in refusal(tmp_path / "absent.gguf")


def test_a_folder_names_a_model_inside_it(tiny: Path, tmp_path: Path) -> None:
    assert "tiny.gguf" in refusal(tiny.parent)
    assert "without any .gguf" in refusal(tmp_path)


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.gguf")
    assert "not a regular file" in refusal(tmp_path / "pipe.gguf")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_says_so(tiny: Path, tmp_path: Path) -> None:
    path = tmp_path / "closed.gguf"
    path.write_bytes(tiny.read_bytes())
    path.chmod(0)
    assert "permissions" in refusal(path)


@pytest.mark.parametrize("kept", [0.02, 0.3, 0.999])
def test_a_truncated_file_says_so(tiny: Path, tmp_path: Path, kept: float) -> None:
    content = tiny.read_bytes()
    path = tmp_path / "cut.gguf"
    path.write_bytes(content[: int(len(content) * kept)])
    assert "is truncated" in refusal(path)


def test_something_else_is_not_taken_for_a_model(tmp_path: Path) -> None:
    path = tmp_path / "weights.gguf"
    path.write_bytes(b"\x80\x02}q\x00" * 100)
    assert "is not a GGUF model" in refusal(path)


def test_an_unknown_architecture_is_left_to_the_engine(tmp_path: Path) -> None:
    path = write_tiny_model(tmp_path / "new.gguf", TinyModel(architecture="llama9000"))
    assert read(path).architecture == "llama9000"


def test_a_projector_is_refused_as_what_it_is(tmp_path: Path) -> None:
    path = write_tiny_model(tmp_path / "mmproj.gguf", TinyModel(architecture="clip"))
    assert "projector" in refusal(path)


def test_what_cannot_chat_is_refused_in_a_sentence() -> None:
    assert all(sentence.startswith("is ") and sentence.endswith(".") for sentence in NOT_USABLE.values())


def test_a_file_without_weights_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "vocabulary.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    assert "has no weights" in refusal(path)


@pytest.fixture
def split(tmp_path: Path) -> list[Path]:
    """A model in two parts, as the splitting tool names and marks them."""
    paths = [tmp_path / f"big-0000{part}-of-00002.gguf" for part in (1, 2)]
    for number, path in enumerate(paths):
        writer = gguf.GGUFWriter(path, "llama")
        writer.add_uint16("split.no", number)
        writer.add_uint16("split.count", 2)
        if number == 0:
            writer.add_context_length(128)
        writer.add_tensor(f"part{number}", np.zeros((4, 8), dtype=np.float32))
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
    return paths


def test_a_split_model_is_read_as_one(split: list[Path]) -> None:
    model = read(split[0])
    assert (model.parts, model.parameters, model.trained_context) == (2, 64, 128)
    assert model.size == sum(path.stat().st_size for path in split)


def test_a_split_model_is_named_by_its_first_part(split: list[Path]) -> None:
    assert str(split[0]) in refusal(split[1])


def test_a_missing_part_is_named(split: list[Path]) -> None:
    split[1].unlink()
    assert "big-00002-of-00002.gguf" in refusal(split[0])


def test_a_truncated_second_part_is_named(split: list[Path]) -> None:
    split[1].write_bytes(split[1].read_bytes()[:-64])
    with pytest.raises(StartFailed, match=r"big-00002-of-00002\.gguf is truncated"):
        read(split[0])


def test_a_renamed_part_is_told_its_proper_name(split: list[Path], tmp_path: Path) -> None:
    path = split[0].rename(tmp_path / "renamed.gguf")
    assert "original names" in refusal(path)


def test_a_big_vocabulary_is_read_in_a_moment(tmp_path: Path) -> None:
    # 150,000 tokens and as many merges, as the large families have.
    path = tmp_path / "vocabulary.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list([f"token{number}" for number in range(150_000)])
    writer.add_token_merges([f"a{number} b" for number in range(150_000)])
    writer.add_eos_token_id(149_999)
    writer.add_tensor("w", np.zeros((2, 2), dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    model = read(path)
    assert (model.vocabulary, model.eos) == (150_000, "token149999")


@pytest.mark.parametrize(
    ("pooling", "task"), [("mean", "embed"), ("cls", "embed"), ("", "embed"), ("rank", "rerank")]
)
def test_an_encoder_says_how_it_pools_and_what_it_is_for(tmp_path: Path, pooling: str, task: str) -> None:
    model = read(write_tiny_encoder(tmp_path / "tiny.gguf", TinyEncoder(pooling=pooling)))
    assert model.pooling == (pooling or None)
    assert model.used_pooling() == (pooling or "mean")
    assert (model.encodes, model.task(), model.scores) == (True, task, pooling == "rank")
    assert model.cache_width == 0


def test_a_chat_model_says_nothing_of_pooling_and_the_settings_may(tmp_path: Path) -> None:
    plain = read(write_tiny_model(tmp_path / "plain.gguf", TinyModel()))
    assert (plain.pooling, plain.used_pooling(), plain.task()) == (None, "none", "chat")
    assert plain.task("last") == "embed"
    pools = read(write_tiny_model(tmp_path / "pools.gguf", TinyModel(pooling=3)))
    assert (pools.pooling, pools.task(), pools.task("none")) == ("last", "embed", "chat")
    assert read(write_tiny_model(tmp_path / "odd.gguf", TinyModel(pooling=99))).pooling is None

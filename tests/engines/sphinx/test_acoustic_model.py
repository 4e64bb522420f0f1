"""The acoustic model's files: every codebook gets as many Gaussians more, and every weight is halved."""

import gzip
import struct
from pathlib import Path

import pytest

from duologue.engines.sphinx.acoustic_model import HALVED, MAGIC, IncompatibleModel, extend

CODEBOOKS, STREAMS, GAUSSIANS, LENGTH, STATES = 2, 3, 2, 2, 5
COUNT = CODEBOOKS * STREAMS * GAUSSIANS * LENGTH


def gaussians(first: float) -> bytes:
    header = struct.pack("<4i", MAGIC, CODEBOOKS, STREAMS, GAUSSIANS) + struct.pack(
        "<3i", *[LENGTH] * STREAMS
    )
    values = struct.pack(f"<{COUNT}f", *(first + at for at in range(COUNT)))
    return b"s3\nversion 1.0\nchksum0 yes\nendhdr\n" + header + struct.pack("<i", COUNT) + values + b"sums"


def weights() -> bytes:
    words = b"".join(
        struct.pack("<i", len(word) + 1) + word + b"\0"
        for word in (b"BEGIN", b"feature_count 3", b"cluster_count 0")
    )
    stored = bytes(range(STREAMS * GAUSSIANS * STATES))
    return words + struct.pack("<3i", 0, GAUSSIANS, STATES) + stored


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "means").write_bytes(gaussians(0.0))
    (folder / "variances").write_bytes(gaussians(100.0))
    (folder / "sendump").write_bytes(weights())
    return folder


@pytest.fixture
def voices(tmp_path: Path) -> Path:
    file = tmp_path / "voices.gz"
    file.write_bytes(gzip.compress(struct.pack(f"<{2 * COUNT}e", *(-1.0 * at for at in range(2 * COUNT)))))
    return file


def test_each_codebook_has_the_models_gaussians_and_then_ours(model, voices, tmp_path):
    made = Path(extend(model, voices, tmp_path)["mean"]).read_bytes()
    at = made.index(b"endhdr\n") + 7
    assert struct.unpack_from("<4i", made, at) == (MAGIC, CODEBOOKS, STREAMS, 2 * GAUSSIANS)
    (count,) = struct.unpack_from("<i", made, at + 28)
    values = struct.unpack_from(f"<{count}f", made, at + 32)
    assert count == 2 * COUNT == len(values)
    assert values[:8] == (0.0, 1.0, 2.0, 3.0, -0.0, -1.0, -2.0, -3.0)
    assert values[8:16] == (4.0, 5.0, 6.0, 7.0, -4.0, -5.0, -6.0, -7.0)


def test_variances_are_the_second_half_of_ours(model, voices, tmp_path):
    made = Path(extend(model, voices, tmp_path)["var"]).read_bytes()
    values = struct.unpack_from("<8f", made, made.index(b"endhdr\n") + 7 + 32)
    assert values == (100.0, 101.0, 102.0, 103.0, -24.0, -25.0, -26.0, -27.0)


def test_both_kinds_of_gaussians_share_the_weight_of_a_state(model, voices, tmp_path):
    made = Path(extend(model, voices, tmp_path)["sendump"]).read_bytes()
    body = made[len(made) - 2 * STREAMS * GAUSSIANS * STATES :]
    first = bytes(each + HALVED for each in range(GAUSSIANS * STATES))
    assert body[: 2 * len(first)] == first * 2
    assert body[2 * len(first)] == GAUSSIANS * STATES + HALVED


def test_a_model_of_another_size_is_left_alone(model, voices, tmp_path):
    voices.write_bytes(gzip.compress(b"\0\0" * COUNT))
    with pytest.raises(IncompatibleModel, match="size"):
        extend(model, voices, tmp_path)

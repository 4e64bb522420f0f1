"""The acoustic model of pocketsphinx, extended for synthetic voices.

Called by `decoder` before it loads the model. The model was trained on people, and gets most words of a synthesiser wrong.
Each of its Gaussians is given a second one beside it, adapted to synthetic voices (`data/voices.gz`, made by
`bench/recogniser/tuning`). Both have the same weight, so it recognises people as before. Owns the layout of the files.
"""

from __future__ import annotations

import gzip
import struct
import sys
from array import array
from pathlib import Path

MAGIC = 0x11223344
ENDED = b"endhdr\n"
VALUE, HALF = 4, 2
"""Bytes of a value in the model's files, and in `voices.gz`."""
HALVED = 7
"""Weights are stored as negative logarithms to the base 1.0001, without the lowest ten bits: this is log(2)."""
HEADER = b"s3\nversion 1.0\nendhdr\n"


class IncompatibleModel(Exception):
    """The installed library has another acoustic model than the one the voices were adapted for."""


def extend(model: Path, voices: Path, folder: Path) -> dict[str, str]:
    """Write the changed files of the extended model into `folder`; the decoder's settings that name them. Raises
    IncompatibleModel. Blocks for about a tenth of a second."""
    adapted = gzip.decompress(voices.read_bytes())
    half = len(adapted) // 2
    files = {
        "mean": _add_gaussians((model / "means").read_bytes(), adapted[:half]),
        "var": _add_gaussians((model / "variances").read_bytes(), adapted[half:]),
        "sendump": _share_weights((model / "sendump").read_bytes()),
    }
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return {name: str(folder / name) for name in files}


def _add_gaussians(data: bytes, adapted: bytes) -> bytes:
    """The Gaussians of a file, with as many adapted ones behind those of each codebook and stream."""
    at = data.index(ENDED) + len(ENDED)
    magic, codebooks, streams, gaussians = struct.unpack_from("<4i", data, at)
    if magic != MAGIC:
        raise IncompatibleModel("the model has another byte order")
    lengths = struct.unpack_from(f"<{streams}i", data, at + 4 * VALUE)
    body = at + (4 + streams + 1) * VALUE
    if len(adapted) != codebooks * gaussians * sum(lengths) * HALF:
        raise IncompatibleModel("the model has another size")
    values = array("f", struct.unpack(f"<{len(adapted) // HALF}e", adapted))
    if sys.byteorder == "big":
        values.byteswap()
    added = values.tobytes()
    parts, at = [], 0
    for length in lengths * codebooks:
        size = gaussians * length * VALUE
        parts += [data[body + at : body + at + size], added[at : at + size]]
        at += size
    return b"".join(
        (
            HEADER,
            struct.pack("<4i", MAGIC, codebooks, streams, 2 * gaussians),
            struct.pack(f"<{streams}i", *lengths),
            struct.pack("<i", 2 * at // VALUE),
            *parts,
        )
    )


def _share_weights(data: bytes) -> bytes:
    """The weights of the states, half for the model's own Gaussians, half for the adapted ones."""
    at, streams, gaussians = 0, 0, 0
    while length := struct.unpack_from("<i", data, at)[0]:
        words = data[at + VALUE : at + VALUE + length].rstrip(b"\0").split()
        if words[:1] == [b"feature_count"]:
            streams = int(words[1])
        at += VALUE + length
    at += VALUE
    gaussians, states = struct.unpack_from("<2i", data, at)
    body = at + 2 * VALUE
    if not streams or len(data) - body < streams * gaussians * states:
        raise IncompatibleModel("the model's weights have another format")
    halved = data[body:].translate(bytes(min(255, stored + HALVED) for stored in range(256)))
    size = gaussians * states
    parts = [halved[stream * size : (stream + 1) * size] * 2 for stream in range(streams)]
    return b"".join((data[:at], struct.pack("<2i", 2 * gaussians, states), *parts))

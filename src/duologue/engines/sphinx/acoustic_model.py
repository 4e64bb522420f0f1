"""The embedded recogniser's ears: the acoustic model inside pocketsphinx, taught voices that machines speak with.

The model learned from people, and hears most words of a synthesiser wrong. Beside each of its Gaussians another one is put,
moved to where synthetic voices are (`hearing/voices.gz`, made by `bench/recogniser/tuning`); both count alike, so what it knows of
people stays as it was. Owns the files' layout; knows no decoder.
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
"""Bytes of a value in the model's files and in ours."""
HALVED = 7
"""What a stored weight grows by when it is halved: log(2) to the base of 1.0001, without the lowest ten bits."""
HEADER = b"s3\nversion 1.0\nendhdr\n"


class OtherModel(Exception):
    """The installed library brings another acoustic model than the voices were made for."""


def teach(model: Path, voices: Path, folder: Path) -> dict[str, str]:
    """Write the larger model's own files into `folder`, and give their names as the decoder's settings. Raises
    OtherModel. Blocks for about a tenth of a second."""
    ours = gzip.decompress(voices.read_bytes())
    half = len(ours) // 2
    made = {
        "mean": _doubled((model / "means").read_bytes(), ours[:half]),
        "var": _doubled((model / "variances").read_bytes(), ours[half:]),
        "sendump": _halved((model / "sendump").read_bytes()),
    }
    for name, data in made.items():
        (folder / name).write_bytes(data)
    return {name: str(folder / name) for name in made}


def _doubled(data: bytes, ours: bytes) -> bytes:
    """The Gaussians of a file with as many of ours behind those of each codebook and stream."""
    at = data.index(ENDED) + len(ENDED)
    magic, codebooks, streams, gaussians = struct.unpack_from("<4i", data, at)
    if magic != MAGIC:
        raise OtherModel("the model is of another byte order")
    lengths = struct.unpack_from(f"<{streams}i", data, at + 4 * VALUE)
    body = at + (4 + streams + 1) * VALUE
    if len(ours) != codebooks * gaussians * sum(lengths) * HALF:
        raise OtherModel("the model is of another size")
    whole = array("f", struct.unpack(f"<{len(ours) // HALF}e", ours))
    if sys.byteorder == "big":
        whole.byteswap()
    added = whole.tobytes()
    parts, taken = [], 0
    for length in lengths * codebooks:
        size = gaussians * length * VALUE
        parts += [data[body + taken : body + taken + size], added[taken : taken + size]]
        taken += size
    return b"".join(
        (
            HEADER,
            struct.pack("<4i", MAGIC, codebooks, streams, 2 * gaussians),
            struct.pack(f"<{streams}i", *lengths),
            struct.pack("<i", 2 * taken // VALUE),
            *parts,
        )
    )


def _halved(data: bytes) -> bytes:
    """The weights of the states, half for the model's own Gaussians, half for ours."""
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
        raise OtherModel("the model's weights are of another kind")
    less = data[body:].translate(bytes(min(255, stored + HALVED) for stored in range(256)))
    size = gaussians * states
    parts = [less[stream * size : (stream + 1) * size] * 2 for stream in range(streams)]
    return b"".join((data[:at], struct.pack("<2i", 2 * gaussians, states), *parts))

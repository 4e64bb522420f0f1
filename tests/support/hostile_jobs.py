"""The readers of files with little time and memory, and the libraries behind them without any check of ours."""

from __future__ import annotations

import sys

from duologue.decoder.job import decoder_job
from duologue.media import documents, images

LITTLE = decoder_job(seconds=120, cpu_seconds=1, memory_mb=200, preload=("pypdfium2", *images.LIBRARIES))


@LITTLE
def thumbnail(data: bytes) -> images.Picture:
    return images.thumbnail(data, 256)


@LITTLE
def imports(data: bytes) -> list[str]:
    """What a thumbnail imports that the fork server has not: each child would do it again."""
    before = set(sys.modules)
    (documents if data.startswith(b"%PDF") else images).thumbnail(data, 64)
    return sorted(set(sys.modules) - before)


@LITTLE
def unchecked_drawing(data: bytes) -> bytes:
    import resvg_py

    return bytes(resvg_py.svg_to_bytes(svg_string=data.decode(), width=2000))


@LITTLE
def page(data: bytes) -> images.Picture:
    return documents.thumbnail(data, 256)


@LITTLE
def text(data: bytes) -> str:
    return documents.text(data, 1000)


@LITTLE
def unchecked_page(data: bytes) -> int:
    from pypdfium2 import PdfDocument  # type: ignore[import-untyped]

    width: int = PdfDocument(data)[0].render(scale=3).width
    return width

"""What a graphics card's failures look like in the errors of the libraries that run on it. Pure.

Engines on PyTorch wrap the calls into their model in `device_errors`, so that a failed card ends its worker (`DeviceLost`) and any
other error of the library is an `EngineFailed` with the library's own words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from duologue.errors import DeviceLost, EngineFailed, Problem

LONGEST = 300
"""Characters of a library's message that are quoted."""
FAILED_CARD = re.compile(
    r"\b(?:CUDA|HIP|CUBLAS|cuBLAS|CUDNN|cuDNN|NCCL|MPS|XPU|ROCm)\b[^\n]{0,40}\b(?:error|failure|unknown)"
    r"|\b(?:CUBLAS|CUDNN|CUDA_ERROR|HIPBLAS)_[A-Z_]+"
    r"|device-side assert|illegal memory access|fallen off the bus|device is lost|device removed",
    re.IGNORECASE,
)
OUT_OF_MEMORY = re.compile(r"out of memory|CUDA_ERROR_OUT_OF_MEMORY|ALLOC_FAILED", re.IGNORECASE)


def describe_failure(model: str, error: BaseException) -> Problem:
    """The Problem for an error that a library raised while it ran `model`: DeviceLost where the card itself failed. Such an error
    comes back from every later call of that process."""
    text = str(error)
    words = " ".join(text.split())[:LONGEST] or type(error).__name__
    if OUT_OF_MEMORY.search(text):
        return EngineFailed(
            f"The graphics card has too little free memory for this request to {model}. Shorten the conversation, send smaller "
            "pictures, or free memory on the card."
        )
    if FAILED_CARD.search(text):
        return DeviceLost(
            f"The graphics card of {model} failed ({words}). Its worker is being restarted; please try again in a moment."
        )
    return EngineFailed(f"{model} failed: {words}")


@contextmanager
def device_errors(model: str) -> Iterator[None]:
    """Around calls into a library that runs `model`. Problems pass; what else it raises becomes one."""
    try:
        yield
    except Problem:
        raise
    except Exception as error:
        raise describe_failure(model, error) from error

"""Errors as PyTorch words them, and what becomes of them."""

import pytest

from duologue.engines.device_failures import LONGEST, describe_failure, device_errors
from duologue.errors import BadRequest, DeviceLost, EngineFailed

LOST = (
    "CUDA error: an illegal memory access was encountered\nCUDA kernel errors might be asynchronously reported",
    "CUDA error: unspecified launch failure",
    "CUDA error: device-side assert triggered",
    "CUDA error: uncorrectable ECC error encountered",
    "CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasGemmEx(...)`",
    "cuDNN error: CUDNN_STATUS_EXECUTION_FAILED",
    "HIP error: the operation cannot be performed in the present state",
    "CUDA driver error: unknown error",
    "GPU 0 has fallen off the bus",
)
KEPT = (
    "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.64 GiB",
    "CUDA error: out of memory",
    "CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
    "mat1 and mat2 shapes cannot be multiplied (1x3 and 4x5)",
    "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!",
    "",
)


@pytest.mark.parametrize("words", LOST)
def test_a_card_that_failed_is_lost(words):
    problem = describe_failure("omni", RuntimeError(words))
    assert isinstance(problem, DeviceLost)
    assert (problem.code, problem.status) == ("device_lost", 503)
    assert "omni" in problem.message
    assert "restarted" in problem.message


@pytest.mark.parametrize("words", KEPT)
def test_other_errors_leave_the_worker_running(words):
    problem = describe_failure("omni", RuntimeError(words))
    assert type(problem) is EngineFailed
    assert "omni" in problem.message


def test_too_little_memory_is_told_with_what_to_do():
    assert "free memory" in describe_failure("omni", RuntimeError(KEPT[0])).message


def test_a_library_that_writes_a_page_is_cut_short():
    assert len(describe_failure("omni", ValueError("so " * 1000)).message) < LONGEST + 50


def test_problems_pass_as_they_are():
    with pytest.raises(BadRequest, match="too long"), device_errors("omni"):
        raise BadRequest("too long")
    with pytest.raises(DeviceLost), device_errors("omni"):
        raise RuntimeError(LOST[0])

"""All tests here use the jobs in tests/support."""

from __future__ import annotations

import pytest
from tests.support.decoder_jobs import test_jobs

__all__ = ["test_jobs"]


@pytest.fixture(autouse=True)
def _with_test_jobs(test_jobs: None) -> None:
    """Every test of this folder."""

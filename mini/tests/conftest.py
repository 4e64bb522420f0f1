"""What every test may use. Async tests run on asyncio through AnyIO's plugin."""

import pytest


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"

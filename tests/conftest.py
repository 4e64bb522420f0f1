"""What every test may use. Async tests run on asyncio through AnyIO's plugin."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--wheel", help="let tests/test_packaging.py try this wheel instead of one it builds")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"

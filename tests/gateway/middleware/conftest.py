"""One server for each file of tests."""

import pytest
from tests.gateway.middleware.served_app import ALLOWED, LARGER, LIMIT, application, served

from duologue.gateway.middleware.body_limit import BodyLimit
from duologue.gateway.middleware.stack import with_middleware


@pytest.fixture(scope="module")
def anyio_backend():
    """One event loop for a whole file, so that one server serves all of its tests."""
    return "asyncio"


@pytest.fixture(scope="module")
async def port(anyio_backend):
    async with served(with_middleware(BodyLimit(application(), LIMIT, others=LARGER), ALLOWED)) as number:
        yield number

"""Every test of the package may run the service."""

from tests.support.upstream_service import running

__all__ = ["running"]

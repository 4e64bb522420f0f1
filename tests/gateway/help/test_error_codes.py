"""The documented codes of errors."""

from duologue.errors import Problem
from duologue.gateway.help.error_codes import documented_codes


def test_the_codes_are_those_of_the_tables():
    codes = documented_codes()
    assert {"queue_full", "worker_lost", "unsupported", Problem.code} <= codes
    assert not {"param", "message", "disk_full has"} & codes
    assert len(codes) > 100

"""Without a meter everything works, and nothing is counted."""

from duologue.gateway.scheduling.request_meter import NO_METER, UNMETERED


def test_nothing_is_limited_and_nothing_counted():
    with NO_METER.request("chat", "any", user="local", tokens=10**9) as request:
        request.wrote(5)
        request.counted(prompt=1, completion=5, instead_of=5)
        request.heard(1.0)
        request.spoke(1.0)
        request.failed()
    assert request is UNMETERED

"""The limit on open files."""

import resource

import pytest

from duologue.gateway.connections import open_files


@pytest.mark.parametrize(
    ("files", "wanted", "expected"),
    [(16_384, None, 8192), (1024, None, 768), (256, None, 128), (16_384, 10, 10), (1024, 5000, 768)],
)
def test_connections_leave_files_for_everything_else(files, wanted, expected):
    assert open_files.most_connections(files, wanted) == expected


@pytest.mark.parametrize(
    ("limits", "raised"),
    [
        ((1024, 1024), 1024),
        ((1024, 4096), 4096),
        ((1024, 1_000_000), open_files.MOST_FILES),
        ((1024, resource.RLIM_INFINITY), open_files.MOST_FILES),
        ((500_000, 1_000_000), 500_000),
        ((resource.RLIM_INFINITY, resource.RLIM_INFINITY), open_files.MOST_FILES),
    ],
)
def test_the_limit_is_raised_and_never_lowered(monkeypatch, limits, raised):
    written = []
    monkeypatch.setattr(resource, "getrlimit", lambda which: limits)
    monkeypatch.setattr(resource, "setrlimit", lambda which, pair: written.append(pair))
    assert open_files.raise_limit() == raised
    assert all(pair == (raised, limits[1]) and limits[0] < raised for pair in written)


def test_a_system_that_refuses_keeps_its_limit(monkeypatch):
    def refuse(which, pair):
        raise ValueError("not allowed")

    monkeypatch.setattr(resource, "getrlimit", lambda which: (256, resource.RLIM_INFINITY))
    monkeypatch.setattr(resource, "setrlimit", refuse)
    assert open_files.raise_limit() == 256

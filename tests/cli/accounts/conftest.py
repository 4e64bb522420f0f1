"""The commands run on a data folder of their own."""

import os

import pytest


@pytest.fixture(autouse=True)
def _clean_environment(tmp_path, monkeypatch):
    for name in list(os.environ):
        if name.startswith("DUOLOGUE_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("DUOLOGUE_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)

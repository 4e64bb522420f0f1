"""An empty data folder, and a clock that stands still."""

import os
import time

import pytest

TODAY = "2026-11-27"


@pytest.fixture(autouse=True)
def data(tmp_path, monkeypatch):
    for name in list(os.environ):
        if name.startswith("DUOLOGUE_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("DUOLOGUE_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(time, "time", lambda: 1_795_780_800.0)
    return tmp_path / "data"

"""Where the tests of engines that can use a graphics card run their models: the processor, unless the environment names another device."""

from __future__ import annotations

import os

DEVICE = os.environ.get("DUOLOGUE_TEST_DEVICE", "cpu")
"""As the setting `device` takes it: cpu, cuda, cuda:1."""

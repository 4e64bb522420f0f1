"""Engines: models behind the protocols of `contracts`, found by name in `registry`."""

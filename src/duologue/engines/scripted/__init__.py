"""Engines that follow a script, for tests and for trying the server without a model."""

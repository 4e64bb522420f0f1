"""The settings: one frozen tree, loaded once at startup; each part of the server is passed its section. `settings` defines them."""

from duologue.config.loader import find_file, load
from duologue.config.section import Section
from duologue.config.settings import Settings, WorkerEntry

__all__ = ["Section", "Settings", "WorkerEntry", "find_file", "load"]

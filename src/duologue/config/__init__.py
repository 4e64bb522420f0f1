"""The settings: one frozen tree, read once at the start, handed out in parts. See `settings` for what there is."""

from duologue.config.reading import find_file, load
from duologue.config.section import Section
from duologue.config.settings import Settings, WorkerEntry

__all__ = ["Section", "Settings", "WorkerEntry", "find_file", "load"]

"""The limit on open files, of which each connection is one: raised at start, and what it leaves for connections."""

from __future__ import annotations

import resource

MOST_FILES = 16_384
"""As far as the limit is raised. Some programs that workers start look at every number below their limit."""
RESERVED = 256
"""Files for everything else: databases, workers, uploads, tool servers."""
MOST_CONNECTIONS = 8192


def raise_limit() -> int:
    """Raise this process's limit on open files towards its hard limit. The limit that holds now."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return MOST_FILES if soft == resource.RLIM_INFINITY else soft
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    except (OSError, ValueError):  # macOS has a smaller limit that it does not tell
        return soft
    return wanted


def most_connections(files: int, wanted: int | None = None) -> int:
    """How many connections `files` open files allow; `wanted` lowers it."""
    possible = max(files - RESERVED, files // 2)
    return min(possible, wanted or MOST_CONNECTIONS)

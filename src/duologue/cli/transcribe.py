"""`duologue listen`: a recording written down by a running server.

Owns the reading of the file and what is shown where. What a format looks like is the server's business.
"""

from __future__ import annotations

from pathlib import Path
from typing import TextIO

import anyio
from msgspec import Struct

from duologue.cli.say import explained
from duologue.client.http import Client
from duologue.errors import BadRequest

FORMATS = ("text", "json", "verbose_json", "srt", "vtt")


class Recording(Struct, frozen=True):
    """A file, and how its transcript is wanted."""

    file: Path
    format: str = "text"
    language: str = ""
    hint: str = ""

    def fields(self) -> dict[str, str]:
        given = {"response_format": self.format, "language": self.language, "prompt": self.hint}
        return {name: value for name, value in given.items() if value}

    def read(self) -> bytes:
        """Raises BadRequest where it cannot be."""
        try:
            return self.file.read_bytes()
        except OSError as error:
            raise BadRequest(
                f"{self.file} cannot be read: {error.strerror or error}.", param="file"
            ) from None


def listen(recording: Recording, server: Client, output: TextIO) -> None:
    """Show what is said in the recording. Raises Problem; when no server answers, one that says how to start it."""
    if recording.format not in FORMATS:
        raise BadRequest(
            f"There is no format {recording.format!r}: {', '.join(FORMATS)} are.", param="format"
        )
    anyio.run(_listen, recording, recording.read(), server, output)


async def _listen(recording: Recording, data: bytes, server: Client, output: TextIO) -> None:
    async with explained(server), server:
        text = await server.transcribe(data, recording.file.name, **recording.fields())
    output.write(text if text.endswith("\n") else f"{text}\n")
    output.flush()

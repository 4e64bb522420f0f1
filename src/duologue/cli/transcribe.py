"""`duologue transcribe`: a recording, transcribed by a running server."""

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
    """A file, and the format and hints of its transcript."""

    file: Path
    format: str = "text"
    language: str = ""
    hint: str = ""

    def fields(self) -> dict[str, str]:
        fields = {"response_format": self.format, "language": self.language, "prompt": self.hint}
        return {name: value for name, value in fields.items() if value}

    def read(self) -> bytes:
        """The file's bytes. Raises BadRequest when it cannot be read."""
        try:
            return self.file.read_bytes()
        except OSError as error:
            raise BadRequest(
                f"{self.file} cannot be read: {error.strerror or error}.", param="file"
            ) from None


def print_transcript(recording: Recording, server: Client, output: TextIO) -> None:
    """Write the transcript to `output`. Raises Problem; when no server answers, one that says how to start it."""
    if recording.format not in FORMATS:
        raise BadRequest(
            f"Unknown format {recording.format!r}. Available: {', '.join(FORMATS)}.", param="format"
        )
    anyio.run(_transcribe, recording, recording.read(), server, output)


async def _transcribe(recording: Recording, data: bytes, server: Client, output: TextIO) -> None:
    async with explained(server), server:
        text = await server.transcribe(data, recording.file.name, **recording.fields())
    output.write(text if text.endswith("\n") else f"{text}\n")
    output.flush()

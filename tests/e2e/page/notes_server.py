"""An MCP server on standard streams with one tool of each kind that the page must show: it writes, asks, draws, waits."""

from __future__ import annotations

import base64
from typing import Annotated

import anyio
from mcp.server.mcpserver import Context, Elicit, Image, MCPServer, Resolve
from mcp.types import ToolAnnotations
from pydantic import BaseModel, Field

PICTURE = (
    "iVBORw0KGgoAAAANSUhEUgAAAEAAAAAwCAIAAAAuKetIAAAARUlEQVR42u3PsQkAMAgAMO3qk+7+v/cLQUg+SNZ0XPbiOAEBAQEB"
    "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAYE9Hy16ATZXvHGgAAAAAElFTkSuQmCC"
)

server = MCPServer("notes", version="1.0")


class Cover(BaseModel):
    colour: str = Field(title="Colour", description="Of the cover")
    lined: bool = Field(default=True, title="Lined")


@server.tool()
def write_note(text: str) -> str:
    """Writes a note."""
    return f"Written: {text}"


def cover() -> Elicit[Cover]:
    return Elicit("Which cover shall it be?", Cover)


@server.tool()
def choose_cover(cover: Annotated[Cover, Resolve(cover)]) -> str:
    """Asks which cover it shall be."""
    return f"A {cover.colour} cover, {'lined' if cover.lined else 'plain'}"


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def draw() -> Image:
    """Draws a picture."""
    return Image(data=base64.b64decode(PICTURE), format="png")


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
async def count_pages(context: Context) -> str:
    """Counts, and says how far it is."""
    for page in range(1, 4):
        await context.report_progress(page, 4, f"Page {page} of 4")
        await anyio.sleep(0.3)
    return "Four pages"


if __name__ == "__main__":
    server.run("stdio")

"""An MCP server on standard streams with one tool of each kind, for tests of whole runs.

`look` only reads, `write` notes what it is given in the file of PLAIN_NOTES, `hang` never answers, `fail` fails, `draw` gives a
picture, `end` ends the process. There is one resource, note://today.
"""

import io
import os
from collections import defaultdict
from pathlib import Path

import anyio
from mcp.server.mcpserver import Image, MCPServer
from mcp.types import ToolAnnotations
from PIL import Image as Picture

server = MCPServer("plain")
READS = ToolAnnotations(read_only_hint=True)
looked: defaultdict[str, anyio.Event] = defaultdict(anyio.Event)


@server.tool(annotations=READS)
async def look(at: str, after: str = "") -> str:
    """Tells what it looked at, once something else was looked at where that is to come first."""
    looked[at].set()
    if after:
        await looked[after].wait()
    return f"saw {at}"


@server.tool()
def write(text: str) -> str:
    """Notes a line."""
    with Path(os.environ["PLAIN_NOTES"]).open("a") as notes:
        notes.write(text + "\n")
    return f"wrote {text}"


@server.tool(annotations=READS)
async def hang() -> str:
    """Never answers."""
    await anyio.sleep_forever()
    return ""


@server.tool(annotations=READS)
def fail() -> str:
    """Fails."""
    raise ValueError("the tool tripped")


@server.tool(annotations=READS)
def draw() -> Image:
    """A red picture."""
    data = io.BytesIO()
    Picture.new("RGB", (8, 6), "red").save(data, "PNG")
    return Image(data=data.getvalue(), format="png")


@server.tool(annotations=READS)
def end() -> str:
    """Ends this process."""
    os._exit(3)


@server.resource("note://today")
def today() -> str:
    """What is to be done today."""
    return "Water the plants."


if __name__ == "__main__":
    server.run("stdio")

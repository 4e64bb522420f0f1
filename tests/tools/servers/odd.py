"""An MCP server on standard streams that misbehaves as it is told: `odd.py WAY`.

http: over streamable HTTP on PORT. silent: never says a word. noisy: writes what is no message. Otherwise it is fine until a tool is called: `die` ends
the process, `grow` adds a tool and says so, `whoami` shows a variable of its environment, `book` asks who it is for.
"""

import os
import sys
import time
from typing import Annotated

from mcp.server.mcpserver import Context, Elicit, Image, MCPServer, Resolve
from pydantic import BaseModel

WAY = sys.argv[1] if len(sys.argv) > 1 else "plain"

server = MCPServer(
    "odd", title="An odd server", version="1.0", instructions="Call grow to have one tool more."
)


@server.tool()
def die() -> str:
    """Ends this process."""
    os._exit(3)


@server.tool()
def whoami() -> str:
    """The name in this process's environment."""
    sys.stderr.write(f"my secret is {os.environ.get('ODD_SECRET', '')}\n")
    sys.stderr.flush()
    return os.environ.get("ODD_NAME", "nobody")


@server.tool()
async def grow(ctx: Context) -> str:
    """Adds a tool."""
    server.add_tool(lambda: "new", name="grown", description="Was not there before.")
    await ctx.notify_tools_changed()
    return "grown"


@server.tool()
def large() -> Image:
    """A picture of three megabytes."""
    return Image(data=bytes(3_000_000), format="png")


class Guest(BaseModel):
    name: str


def guest() -> Elicit[Guest]:
    return Elicit("Who is it for?", Guest)


@server.tool()
def book(guest: Annotated[Guest, Resolve(guest)]) -> str:
    """Books for whoever the user says."""
    return f"booked for {guest.name}"


if __name__ == "__main__":
    if WAY == "silent":
        time.sleep(600)
    if WAY == "noisy":
        sys.stdout.write("this line is no message\n")
        sys.stdout.flush()
        sys.stderr.write("and this one goes to standard error\n")
    if WAY == "http":
        server.run("streamable-http", host="127.0.0.1", port=int(os.environ["PORT"]))
    else:
        server.run("stdio")

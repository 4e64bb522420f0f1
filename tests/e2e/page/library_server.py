"""An MCP server on standard streams with what the composer lists: prompts, with and without arguments, and resources."""

from __future__ import annotations

from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.types import Completion, PromptReference

server = MCPServer("library", version="1.0")

BOOKS = {"tea": "Water first, then leaves.", "travel": "Go early, come back late."}


@server.prompt(description="What stands on the shelf")
def shelf() -> str:
    return "Which books are on the shelf?"


@server.prompt(title="Sum up a book", description="A short account of one book")
def account(book: str, words: str = "100") -> str:
    return f"Sum up the book on {book} in {words} words."


@server.resource("library://tea", title="The book of tea", mime_type="text/plain")
def tea() -> str:
    return BOOKS["tea"]


@server.resource("library://books/{book}", title="A book")
def book(book: str) -> str:
    return BOOKS[book]


@server.completion()
async def complete(ref: Any, argument: Any, context: Any) -> Completion | None:
    if argument.name != "book":
        return None
    wanted = argument.value if isinstance(ref, PromptReference) else argument.value.lower()
    return Completion(values=[name for name in BOOKS if name.startswith(wanted)])


if __name__ == "__main__":
    server.run("stdio")

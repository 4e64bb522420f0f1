"""The body of `POST /v1/parse`: a raw reply, and how to read it."""

from __future__ import annotations

from pydantic import AliasChoices, Field

from duologue.errors import TooLarge
from duologue.values.messages import Tool
from duologue.wire.validation import Body, ToolBody

CHARACTERS = 1_000_000
CHUNKS = 10_000
TOOLS = 256


class ParseBody(Body):
    """A raw reply of a model."""

    chunks: list[str] | str = Field(
        validation_alias=AliasChoices("chunks", "text"),
        description="The raw text, in pieces or as one. Up to 1,000,000 characters in up to 10,000 pieces.",
    )
    format: str = Field(
        default="auto",
        max_length=100,
        description="A name of `duologue parse --format list`; `auto`: that of the template, or else of the model.",
    )
    template: str | None = Field(
        default=None, description="The source of a chat template. It is searched, never run."
    )
    model: str = Field(
        default="", max_length=300, description="Whose format `auto` means; by default the default model's."
    )
    start_in_reasoning: bool = Field(default=False, description="The prompt ended inside a thought.")
    tools: list[ToolBody] = Field(default=[], max_length=TOOLS, description="The tools of the request.")
    trace: bool = Field(
        default=False, description="Say after each piece what came out, what is held back and why."
    )

    @property
    def pieces(self) -> tuple[str, ...]:
        """The pieces. Raises TooLarge."""
        pieces = (self.chunks,) if isinstance(self.chunks, str) else tuple(self.chunks)
        if len(pieces) > CHUNKS:
            raise TooLarge(f"A raw reply may come in up to {CHUNKS:,} chunks; join some.", param="chunks")
        if sum(map(len, pieces)) > CHARACTERS:
            raise TooLarge(
                f"A raw reply may have up to {CHARACTERS:,} characters; send a part of it, or use `duologue parse`.",
                param="chunks",
            )
        return pieces

    @property
    def source(self) -> str | None:
        """The template. Raises TooLarge."""
        if self.template is not None and len(self.template) > CHARACTERS:
            raise TooLarge(f"A chat template may have up to {CHARACTERS:,} characters.", param="template")
        return self.template

    @property
    def offered(self) -> tuple[Tool, ...]:
        return tuple(tool.tool() for tool in self.tools)

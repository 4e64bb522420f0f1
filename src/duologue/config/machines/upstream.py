"""The settings of an OpenAI-compatible server, or of several with the same model, used instead of a local model."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, SecretStr

from duologue.config.field_types import HttpUrl, Seconds
from duologue.config.section import Section


class UpstreamSettings(Section):
    url: HttpUrl = Field(
        default="", description="An OpenAI-compatible server to use instead of a local model."
    )
    replicas: tuple[HttpUrl, ...] = Field(
        default=(),
        description="Further servers with the same model and key; `slots` counts for each, and a conversation stays with one while that is healthy.",
    )
    key: SecretStr | None = Field(default=None, description="The API key for that server.")
    model: str = Field(default="", description="The model to use there; empty: the first one it lists.")
    modalities: tuple[Literal["text", "image", "audio", "video"], ...] = Field(
        default=(),
        description="What that model takes: `text`, `image`, `audio`, `video`; empty: what the server says.",
    )
    outputs: tuple[Literal["text", "audio"], ...] = Field(
        default=(),
        description="What it gives: `text`, and `audio` if it speaks; empty: what the server says.",
    )
    voice: str = Field(default="", description="The voice of a model that speaks; empty: that of the server.")
    tool_format: str = Field(
        default="",
        description="How that model writes tool calls that the server leaves in its text; `none`: leave them; empty: found out.",
    )
    thoughts: str = Field(
        default="",
        description="The marker that opens its thoughts there, like `<think>`; `none`: leave them; empty: found out if it comes first.",
    )
    opens_thoughts: bool = Field(
        default=False,
        description="Whether the model's template opens the thought, so that its text begins inside.",
    )
    connect_timeout: Seconds = Field(default=10.0, description="Seconds to reach that server.")
    first_timeout: Seconds = Field(
        default=600.0, description="Seconds it may send nothing before the first word of a reply."
    )
    idle_timeout: Seconds = Field(
        default=300.0, description="Seconds it may send nothing in the middle of a reply."
    )
    retries: Annotated[int, Field(ge=0, le=10)] = Field(
        default=2,
        description="How often a request is sent again that it did not begin to answer: no connection, 429, 502, 503, 504.",
    )

    @property
    def urls(self) -> tuple[str, ...]:
        """Every server."""
        return (self.url, *self.replicas)

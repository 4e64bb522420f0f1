"""The page's settings: whether it is served, and the defaults of what users can change themselves.

Mirrors the structure of a user's own settings (`options`, `system`, `page`). Sampling parameters are checked here by name
only; their values are checked when a reply is requested.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from duologue.config.section import Section
from duologue.values.requests import Sampling


def _known_sampling(value: dict[str, Any]) -> dict[str, Any]:
    known = Sampling.__struct_fields__
    for name in value:
        if name not in known:
            close = get_close_matches(name, known, n=1, cutoff=0.6)
            raise ValueError(f"has no {name}" + (f" (did you mean {close[0]}?)" if close else ""))
    return value


def _unquoted_off(value: object) -> object:
    # YAML 1.1 reads a bare `off` as false.
    return "off" if value is False else value


class UiOptions(Section):
    """Generation options, as in `options` of a user's settings."""

    model: str | None = Field(default=None, description="The model of new chats; empty: the default one.")
    sampling: Annotated[dict[str, Any], AfterValidator(_known_sampling)] = Field(
        default={}, description="Sampling parameters, named as in docs/protocols.md."
    )
    stop: tuple[str, ...] = Field(default=(), description="Stop sequences.")
    thinking: bool | None = Field(
        default=None, description="Whether models that can think do so before answering."
    )
    effort: Literal["low", "medium", "high"] | None = Field(
        default=None, description="How long it may think; empty: no limit."
    )
    max_turns: Annotated[int, Field(ge=1, le=1000)] | None = Field(
        default=None,
        description="Model turns before the user is asked whether to continue; empty: runs.max_turns.",
    )
    tools: bool | None = Field(default=None, description="Whether tools are offered.")
    servers: dict[str, bool] = Field(
        default={},
        description="Tool servers switched on or off, by name; `builtin` stands for the built-in tools.",
    )


class UiPage(Section):
    """Preferences of the page, as in `page` of a user's settings."""

    theme: Literal["system", "light", "dark"] = Field(default="system", description="Its colours.")
    language: Literal["en", "de", "fr", "es"] | None = Field(
        default=None, description="Its language; empty: the browser's."
    )
    streaming: bool = Field(default=True, description="Show replies as they are written.")
    enter_sends: bool = Field(
        default=True, description="Enter sends and Shift+Enter starts a new line; false swaps the two."
    )
    paste_as_file: Annotated[int, Field(ge=0)] = Field(
        default=2500, description="Length in characters from which pasted text becomes a file; 0: never."
    )
    documents: Literal["auto", "text", "pages"] = Field(
        default="auto", description="How PDFs are given to models with image input."
    )
    show_figures: bool = Field(default=False, description="Show tokens and speed below replies.")
    thinking_open: bool = Field(default=False, description="Show a model's thinking unfolded.")
    wrap_code: bool = Field(default=False, description="Wrap long lines of code.")
    text_size: Literal["small", "normal", "large"] = Field(
        default="normal", description="The size of its text."
    )
    reading_width: Literal["normal", "wide"] = Field(
        default="normal", description="How wide a conversation may be."
    )
    announce: Annotated[Literal["ends", "sentences", "off"], BeforeValidator(_unquoted_off)] = Field(
        default="ends", description="Which parts of a reply screen readers announce."
    )
    voice_response: bool = Field(default=False, description="Read replies aloud as they are generated.")
    voice: str = Field(default="", description="The name of a voice in /v1/audio/voices; empty: voice.voice.")
    voice_speed: Annotated[float, Field(ge=0.25, le=4.0)] = Field(
        default=1.0, description="Speaking rate; 1: the voice's own."
    )
    hold_to_talk: bool = Field(default=False, description="In calls, hold a button while talking.")
    show_face: bool = Field(default=True, description="Calls show a face; otherwise a moving shape.")
    face: Annotated[str, Field(max_length=64)] = Field(
        default="", description="The id of a face in /api/avatars; empty: the first one."
    )
    rendered_face: bool = Field(
        default=False,
        description="The server renders the face of calls as video, where it can (`video.enabled`).",
    )
    shortcuts: dict[str, str] = Field(
        default={},
        description='Keyboard shortcuts by action, such as {"new-chat": "Mod+Shift+O"}; an empty string: no shortcut.',
    )


class UiDefaults(Section):
    options: UiOptions = UiOptions()
    system: str = Field(default="", description="The system prompt of new chats.")
    page: UiPage = UiPage()

    def overrides(self) -> dict[str, Any]:
        """Only the values that were set explicitly, as JSON."""
        return self.model_dump(mode="json", exclude_unset=True, exclude_none=True)


class Ui(Section):
    enabled: bool = Field(default=True, description="Serve the page.")
    defaults: UiDefaults = UiDefaults()

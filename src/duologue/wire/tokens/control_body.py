"""The body of `POST /v1/chat/completions/control`, as llama-server has it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from duologue.wire.validation import Body


class ReplyControlBody(Body):
    """What a running reply should do."""

    id: str = Field(
        min_length=1, max_length=256, description="The id of the completion, as in each of its chunks."
    )
    action: Literal["reasoning_end"] = Field(
        description="The thought that the reply is in ends, and the answer follows."
    )

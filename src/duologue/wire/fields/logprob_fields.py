"""How many log probabilities a request wants, as OpenAI's chats and Ollama's API have it: `logprobs` and `top_logprobs`.

Used by `wire.openai` and `wire.ollama.ollama_fields`. The older shape of `/v1/completions` is its own field there.
"""

from __future__ import annotations

from pydantic import Field

from duologue.errors import BadRequest
from duologue.wire.validation import Body


class LogprobFields(Body):
    logprobs: bool = False
    top_logprobs: int | None = Field(default=None, ge=0, le=20)

    def wanted_logprobs(self) -> int | None:
        """Alternatives for each token; None: no log probabilities. Raises BadRequest."""
        if self.logprobs:
            return self.top_logprobs or 0
        if self.top_logprobs:
            raise BadRequest("top_logprobs requires logprobs to be true.", param="top_logprobs")
        return None

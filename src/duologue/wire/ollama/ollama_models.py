"""The answers of Ollama's API about models: `/api/tags`, `/api/ps`, `/api/show`, the progress of `/api/pull`, and embeddings.

Used by `gateway.ollama`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Annotated

from msgspec import Struct
from pydantic import BeforeValidator, Field

from duologue.errors import BadRequest
from duologue.wire.ollama.ollama_fields import NAME, KeepAlive, OllamaBody, OllamaOptions
from duologue.wire.ollama.ollama_reply import MILLION, line, timestamp

LATEST = ":latest"
FOREVER = 100 * 365 * 24 * 3600.0
"""Seconds until a model expires that stays loaded. Clients call it for ever from a year on."""
MAX_INPUTS = 2048


def _texts(value: object) -> object:
    if isinstance(value, str):
        return [value]
    if value is None or isinstance(value, list):
        return value
    raise ValueError("must be a text or a list of texts")


class NamedModelBody(OllamaBody):
    """A request about one model; `name` is what older clients call it."""

    name: str = Field(default="", max_length=NAME, description="The older name of model.")

    def named(self) -> str:
        """The model. Raises BadRequest without one."""
        if not (name := (self.model or self.name).strip()):
            raise BadRequest("model is missing. /api/tags has the names.", param="model")
        return name


class OllamaShowBody(NamedModelBody):
    """The body of `POST /api/show`."""

    verbose: bool = Field(default=False, description="Accepted; long lists are left out all the same.")


class OllamaPullBody(NamedModelBody):
    """The body of `POST /api/pull`."""

    stream: bool = True
    insecure: bool = Field(default=False, description="Accepted and ignored: the hub is asked over HTTPS.")


class OllamaEmbedBody(OllamaBody):
    """The body of `POST /api/embed`."""

    input: Annotated[
        list[str],
        Field(max_length=MAX_INPUTS),
        BeforeValidator(_texts, json_schema_input_type=str | list[str]),
    ] = Field(default=[])
    truncate: bool = True
    dimensions: int | None = Field(default=None, ge=1, le=1_000_000)
    options: OllamaOptions = OllamaOptions()
    keep_alive: KeepAlive | None = None


class OllamaEmbeddingsBody(OllamaBody):
    """The body of `POST /api/embeddings`, the older form for one text."""

    prompt: str = ""
    options: OllamaOptions = OllamaOptions()
    keep_alive: KeepAlive | None = None


class OllamaModel(Struct, frozen=True):
    """A model as the lists show it. `family`: its architecture; `modified`: seconds since 1970."""

    name: str
    size: int = 0
    modified: float = 0.0
    format: str = ""
    family: str = ""
    parameters: int = 0
    quantisation: str = ""

    @property
    def tag(self) -> str:
        return tagged(self.name)

    @property
    def digest(self) -> str:
        return digest(self.name, self.size, self.modified)

    def details(self) -> dict[str, object]:
        return {
            "parent_model": "",
            "format": self.format,
            "family": self.family,
            "families": [self.family] if self.family else [],
            "parameter_size": short_count(self.parameters) if self.parameters else "",
            "quantization_level": self.quantisation,
        }

    def _common(self) -> dict[str, object]:
        return {
            "name": self.tag,
            "model": self.tag,
            "size": self.size,
            "digest": self.digest,
            "details": self.details(),
        }

    def listed(self) -> dict[str, object]:
        """The entry of /api/tags."""
        return self._common() | {"modified_at": timestamp(self.modified)}

    def running(self, now: float, context: int, *, on_card: bool) -> dict[str, object]:
        """The entry of /api/ps. Models stay loaded, so they expire in a hundred years."""
        return self._common() | {
            "expires_at": timestamp(now + FOREVER),
            "size_vram": self.size if on_card else 0,
            "context_length": context,
        }


class ShownModel(Struct, frozen=True):
    """What /api/show says of a model besides its entry. `context`: what one chat has while the model is loaded, 0 otherwise."""

    capabilities: tuple[str, ...]
    information: dict[str, object] = {}
    template: str = ""
    licence: str = ""
    context: int = 0
    defaults: Mapping[str, object] = {}

    def body(self, model: OllamaModel) -> dict[str, object]:
        parameters = {**({"num_ctx": self.context} if self.context else {}), **self.defaults}
        lines = [f"{name:<30} {value}" for name, value in parameters.items()]
        return {
            "license": self.licence,
            "modelfile": "\n".join([f"FROM {model.tag}", *(f"PARAMETER {line}" for line in lines)]),
            "parameters": "\n".join(lines),
            "template": self.template,
            "details": model.details(),
            "model_info": self.information,
            "capabilities": list(self.capabilities),
            "modified_at": timestamp(model.modified),
        }


class PullStep(Struct, frozen=True):
    """How far a download is. `what`: what the client requested, which identifies the download; sizes in bytes."""

    what: str
    state: str
    total: int = 0
    done: int = 0

    def fields(self) -> dict[str, object]:
        """The line of the stream."""
        match self.state:
            case "done":
                return {"status": "success"}
            case "waiting":
                return {"status": "pulling manifest"}
            case "checking":
                return {"status": "verifying sha256 digest"}
        if not self.total:
            return {"status": "pulling manifest"}
        key = digest(self.what)
        sizes = {"digest": f"sha256:{key}", "total": self.total, "completed": self.done}
        return {"status": f"pulling {key[:12]}", **sizes}


class PullStream:
    """Encodes the steps of a download as lines, in the words of Ollama, each line once."""

    def __init__(self) -> None:
        self.note = b""
        self.ended = False

    def encode(self, step: PullStep) -> bytes:
        out = b""
        if self.note == b"":
            out = self.note = line({"status": "pulling manifest"})
        if step.state == "done":
            self.ended = True
            return out + line({"status": "writing manifest"}) + line(step.fields())
        if (said := line(step.fields())) != self.note:
            self.note = said
            out += said
        return out

    def close(self) -> None:
        """A download that fails raises by itself."""


def tagged(name: str) -> str:
    """A model's name with a tag: Ollama's clients expect one, and add `:latest` where there is none."""
    return name if ":" in name.rpartition("/")[2] else f"{name}{LATEST}"


def untagged(name: str) -> str:
    """A model's name without the tag that `tagged` adds."""
    return name.removesuffix(LATEST)


def downloadable(name: str) -> str:
    """What the downloader calls the model that a client wants pulled: `qwen3:4b` is `qwen3-4b` in the catalogue."""
    name = untagged(name.strip())
    return name if "/" in name else name.replace(":", "-")


def file_name(name: str) -> str:
    """What the file of a reference to a hub is usually called, by which a model that was pulled is found again: `Tiny-Q4_K_M` of
    `hf.co/OWNER/Tiny-GGUF:Q4_K_M`. "" for a name that is no such reference."""
    path, _, repository = untagged(name.strip()).rpartition("/")
    repository, _, variant = repository.partition(":")
    stem = re.sub("-gguf$", "", repository, flags=re.IGNORECASE)
    return f"{stem}-{variant}" if path and variant else stem if path else ""


def embedded(
    model: str, vectors: Sequence[Sequence[float]], tokens: int, nanoseconds: int
) -> dict[str, object]:
    """The answer of /api/embed."""
    return {
        "model": model,
        "embeddings": vectors,
        "total_duration": nanoseconds,
        "load_duration": 0,
        "prompt_eval_count": tokens,
    }


def short_count(number: int) -> str:
    """A number of parameters as Ollama writes it: 8.0B, 134.52M."""
    if number >= 1000 * MILLION:
        return f"{number / 1e9:.1f}B"
    return f"{number / 1e6:.2f}M" if number >= MILLION else f"{number / 1e3:.0f}K"


def digest(*of: object) -> str:
    """64 hexadecimal digits that differ where this differs. Not the hash of a file: reading one takes minutes."""
    return hashlib.sha256(repr(of).encode()).hexdigest()

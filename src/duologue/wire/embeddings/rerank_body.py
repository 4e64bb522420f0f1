"""Reranking as Jina, Cohere, llama-server and TEI have it, and vLLM's `/v1/score`: bodies and answers.

Used by `gateway.embeddings.embedding_routes`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Struct
from pydantic import AfterValidator, ConfigDict, Field, WithJsonSchema
from pydantic.config import JsonDict

from duologue.errors import BadRequest
from duologue.wire.embeddings.embedding_body import MOST_INPUTS, EmbeddingUsage, Truncation
from duologue.wire.fields.field_schemas import needs_one_of
from duologue.wire.validation import Body


def _documents(value: object) -> list[str]:
    if not isinstance(value, list) or not value:
        raise ValueError('must be a list of texts, or of objects {"text": ...}')
    if len(value) > MOST_INPUTS:
        raise ValueError(f"may have at most {MOST_INPUTS:,} entries; send the others in another request")
    texts: list[str] = []
    for at, entry in enumerate(value):
        text = entry.get("text") if isinstance(entry, dict) else entry
        if not isinstance(text, str):
            raise ValueError(f'has an entry {at} that is neither a text nor an object {{"text": ...}}')
        texts.append(text)
    return texts


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    return _documents(value)


DOCUMENTS: JsonDict = {
    "type": "array",
    "minItems": 1,
    "maxItems": MOST_INPUTS,
    "items": {
        "anyOf": [
            {"type": "string"},
            {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
        ]
    },
}
TEXTS: JsonDict = {
    "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]
}
Documents = Annotated[Any, AfterValidator(_documents), WithJsonSchema(DOCUMENTS)]
"""A field of documents; None where it is absent."""
Texts = Annotated[Any, AfterValidator(_texts), WithJsonSchema(TEXTS)]


class RerankBody(Body):
    """The body of `POST /v1/rerank`. With `texts` it is that of TEI, whose answer is a bare list."""

    model_config = ConfigDict(json_schema_extra=needs_one_of("documents", "texts"))

    query: str = Field(description="What the documents shall answer.")
    documents: Documents = Field(
        default=None,
        description=f"Up to {MOST_INPUTS:,} texts, or objects with a `text`.",
    )
    texts: Documents = Field(default=None, description="The documents, as TEI calls them.")
    model: str = Field(
        default="", description="A name from /v1/models. Default: the first model that scores documents."
    )
    top_n: int | None = Field(default=None, ge=1, description="Only so many results, the best. Default: all.")
    return_documents: bool = Field(default=False, description="Whether a result has its document.")
    return_text: bool = Field(default=False, description="The same, as TEI calls it.")
    raw_scores: Annotated[bool, WithJsonSchema({"type": "boolean", "enum": [False]})] = Field(
        default=False, description="true is refused: scores are from 0 to 1."
    )
    truncate: Truncation = None
    truncate_prompt_tokens: Truncation = None

    @property
    def is_tei(self) -> bool:
        """Whether the answer is a bare list."""
        return self.documents is None and self.texts is not None

    @property
    def contents(self) -> list[str]:
        """The documents. Raises BadRequest where there are none, and for what cannot be kept."""
        if self.raw_scores:
            raise BadRequest("raw_scores is not supported: scores are from 0 to 1.", param="raw_scores")
        found = self.documents if self.documents is not None else self.texts
        if found is None:
            raise BadRequest("documents is missing.", param="documents")
        return list(found)


class DocumentText(Struct, frozen=True):
    """A document of a result."""

    text: str


class RankedDocument(Struct, frozen=True, omit_defaults=True):
    """A result: the place of a document in the request, its score (higher is better), and the document if it was asked for."""

    index: int
    relevance_score: float
    document: DocumentText | None = None


class RerankAnswer(Struct, frozen=True, omit_defaults=True):
    """The results, the best first; `data` is what Voyage and editors' extensions call them."""

    id: str
    object: str
    model: str
    results: list[RankedDocument]
    data: list[RankedDocument]
    usage: EmbeddingUsage
    ignored: tuple[str, ...] = ()


class TeiResult(Struct, frozen=True, omit_defaults=True):
    """A result as TEI has it."""

    index: int
    score: float
    text: str | None = None


def rerank_answer(body: RerankBody, scores: Sequence[float], tokens: int, model: str, id: str) -> bytes:
    """The JSON of the answer. Documents of equal scores stay in their order."""
    documents = body.contents
    best = sorted(range(len(scores)), key=lambda index: -scores[index])[: body.top_n]
    with_text = body.return_documents or body.return_text
    if body.is_tei:
        return msgspec.json.encode(
            [TeiResult(index, scores[index], documents[index] if with_text else None) for index in best]
        )
    results = [
        RankedDocument(index, scores[index], DocumentText(documents[index]) if with_text else None)
        for index in best
    ]
    usage = EmbeddingUsage(tokens, tokens)
    return msgspec.json.encode(RerankAnswer(id, "list", model, results, results, usage, body.unknown()))


class ScoreBody(Body):
    """The body of vLLM's `POST /v1/score`: a text and others, or pairs of texts."""

    text_1: Texts = Field(description="A query, or as many as `text_2` has texts.")
    text_2: Texts = Field(description="A document, or several.")
    model: str = Field(default="", description="As of /v1/rerank.")
    truncate_prompt_tokens: Truncation = None

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Queries and their documents. Raises BadRequest where their numbers do not fit."""
        queries: list[str] = list(self.text_1)
        documents: list[str] = list(self.text_2)
        if len(queries) == 1:
            queries = queries * len(documents)
        if len(queries) != len(documents):
            raise BadRequest(
                f"text_1 has {len(queries):,} entries and text_2 has {len(documents):,}; text_1 must have one, or as many.",
                param="text_1",
            )
        return list(zip(queries, documents, strict=True))


class PairScore(Struct, frozen=True):
    """The score of one pair."""

    index: int
    score: float
    object: str = "score"


class ScoreAnswer(Struct, frozen=True, omit_defaults=True):
    """The scores, in the order of the request."""

    id: str
    object: str
    model: str
    data: list[PairScore]
    usage: EmbeddingUsage
    ignored: tuple[str, ...] = ()


def score_answer(body: ScoreBody, scores: Sequence[float], tokens: int, model: str, id: str) -> bytes:
    """The JSON of the answer."""
    entries = [PairScore(index, score) for index, score in enumerate(scores)]
    usage = EmbeddingUsage(tokens, tokens)
    return msgspec.json.encode(ScoreAnswer(id, "list", model, entries, usage, body.unknown()))

"""What a tokenizer of the transformers library says about texts and tokens that are no prompt.

Used by the engines on that library, in their thread for texts: everything here blocks.
"""

from __future__ import annotations

from typing import Any

from duologue.engines.choice_contracts import check_tokens
from duologue.engines.decoding.token_text import TokenText
from duologue.values.questions.worker_answers import Tokenized
from duologue.values.questions.worker_questions import DetokenizeTokens, TokenizeText


class TokenizerQuestions:
    """`leading`: the tokens that every text begins with; `vocabulary`: how many tokens `model` has."""

    def __init__(self, tokenizer: Any, leading: tuple[int, ...], vocabulary: int, model: str) -> None:
        self._tokenizer = tokenizer
        self._leading, self._vocabulary, self._model = leading, vocabulary, model

    def tokens(self, question: TokenizeText) -> Tokenized:
        """The tokens of a text."""
        # JSON can carry half a surrogate pair into a string; the library would refuse it.
        text = question.text.encode(errors="replace").decode()
        plain = {} if question.control else {"split_special_tokens": True}
        tokens = tuple(self._tokenizer.encode(text, add_special_tokens=False, **plain)) if text else ()
        if question.start and tokens[: len(self._leading)] != self._leading:
            tokens = (*self._leading, *tokens)
        if not question.pieces:
            return Tokenized(tokens)
        spelling = TokenText(self._tokenizer).spelling
        return Tokenized(tokens, tuple(spelling(token)[1] for token in tokens))

    def text(self, question: DetokenizeTokens) -> str:
        """The text of tokens. Raises BadRequest for one that the model does not have."""
        check_tokens(question.tokens, self._vocabulary, self._model)
        return str(
            self._tokenizer.decode(
                list(question.tokens),
                skip_special_tokens=not question.control,
                clean_up_tokenization_spaces=False,
            )
        )

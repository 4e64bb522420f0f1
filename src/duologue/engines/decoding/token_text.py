"""The text of a reply from its tokens, whole characters at a time: half a character waits for its other half. Pure but for the tokenizer.

Used by the engines, one for each reply. Tokens are decoded behind the ones before them: some
tokenizers drop the blank that a text begins with. Control tokens have no text, except for those that the session asks for.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any

BROKEN = "�"
"""What the tokenizer writes for half a character."""
BLANK = "\u2581"
"""What some tokenizers write for a blank."""
BEHIND = 4
"""Tokens of what was written before that the next ones are decoded with."""
_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2})>")
LONGEST = 8
"""Tokens after which half a character is one that will not be completed."""


class TokenText:
    """`tokenizer` is the library's; `preserved` are control tokens that are text; `before`: the tokens that the reply continues."""

    def __init__(self, tokenizer: Any, preserved: Collection[str] = (), before: Sequence[int] = ()) -> None:
        self._tokenizer = tokenizer
        control = set(tokenizer.all_special_ids)
        self._preserved = {
            number: text
            for text in preserved
            if (number := tokenizer.convert_tokens_to_ids(text)) in control and number is not None
        }
        self._control = control
        self._pending: list[int] = []
        self._behind = [token for token in before[-BEHIND:] if token >= 0]

    @property
    def pending(self) -> int:
        """Tokens whose text waits for more."""
        return len(self._pending)

    def is_control(self, token: int) -> bool:
        """Whether it is a control token that is text."""
        return token in self._preserved

    def add(self, token: int) -> str:
        """The text that is complete with this token."""
        if token in self._control:
            text = self.finish() + self._preserved.get(token, "")
            self._behind = [token]
            return text
        self._pending.append(token)
        text = self._decoded()
        if text.endswith(BROKEN) and len(self._pending) < LONGEST:
            return ""
        self._clear()
        return text

    def finish(self) -> str:
        """What is left. Half a character is left out, as llama.cpp leaves it out: it has no text."""
        text = self._decoded().rstrip(BROKEN) if self._pending else ""
        self._clear()
        return text

    def spelling(self, token: int) -> tuple[str, bytes]:
        """A token by itself, and its bytes. Half a character is spelt as OpenAI spells it, `\\xf0\\x9f`; it has the bytes of its
        replacement where the tokenizer tells no others."""
        letters = self._tokenizer.convert_ids_to_tokens(token)
        text = letters.replace(BLANK, " ") if letters and BLANK in letters else self._text([token])
        if BROKEN not in text:
            return text, text.encode()
        data = token_bytes(letters) or text.encode()
        return data.decode(errors="backslashreplace"), data

    def _clear(self) -> None:
        self._behind = [*self._behind, *self._pending][-BEHIND:]
        self._pending.clear()

    def _decoded(self) -> str:
        behind = self._text(self._behind) if self._behind else ""
        text = self._text([*self._behind, *self._pending])
        return text[len(behind) :] if text.startswith(behind) else self._text(self._pending)

    def _text(self, tokens: Sequence[int]) -> str:
        return str(
            self._tokenizer.decode(tokens, skip_special_tokens=False, clean_up_tokenization_spaces=False)
        )


def token_bytes(letters: str | None) -> bytes | None:
    """The bytes of a token that a byte-level tokenizer spells with one letter a byte, or that is one byte where there was no other token
    (`<0xF0>`, SentencePiece's spelling); None for one that is spelt in neither way."""
    if not letters:
        return None
    if (byte := _BYTE.fullmatch(letters)) is not None:
        return bytes.fromhex(byte[1])
    found = [_BYTES.get(letter) for letter in letters]
    return None if None in found else bytes(byte for byte in found if byte is not None)


def _letters() -> dict[str, int]:
    """GPT-2's spelling of bytes, which these models' tokenizers have: printable ones as themselves, the others from U+0100 on."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(256 + at): byte for at, byte in enumerate(others)}


_BYTES = _letters()

"""What the talker must know of the thinker's sequence, token by token.

Kept beside each cache of the thinker and cropped with it. The talker reads the whole of it when a reply begins, and after that the
tokens of the reply as they come. It grows in steps, so that a token of a long conversation costs no copy of all before it. Pure but
for its tensors.
"""

from __future__ import annotations

from typing import Any

ROOM = 256
"""Tokens by which a trace grows at least."""
PARTS = 5


class ThinkerTrace:
    """One sequence of `n` tokens, `d` wide. Empty, its tensors are None."""

    def __init__(self) -> None:
        self._length = 0
        self._held: tuple[Any, ...] = (None,) * PARTS

    def __len__(self) -> int:
        return self._length

    @property
    def ids(self) -> Any:
        """[n] int64: token ids; a picture or sound has those of its placeholder."""
        return self._tensor(0)

    @property
    def embeddings(self) -> Any:
        """[n, d]: what went into the thinker; of a picture or sound, what its encoder made."""
        return self._tensor(1)

    @property
    def hidden(self) -> Any:
        """[n, d]: the states of the layer that the speech asks for."""
        return self._tensor(2)

    @property
    def media(self) -> Any:
        """[n] bool: the positions of pictures and sound."""
        return self._tensor(3)

    @property
    def positions(self) -> Any:
        """[n, 3] int64: where the thinker sees each token in time, height and width. None where a token came without."""
        return self._tensor(4)

    def append(self, ids: Any, embeddings: Any, hidden: Any, media: Any, positions: Any = None) -> None:
        """Add `k` tokens: [k], [k, d], [k, d], [k], [k, 3]. They are copied. The positions matter where there are pictures: without
        them the talker takes all tokens for text."""
        end = self._length + int(ids.shape[0])
        if self._length and self._held[4] is None:
            positions = None
        new = (ids, embeddings, hidden, media, positions)
        self._held = tuple(self._grown(held, part, end) for held, part in zip(self._held, new, strict=True))
        self._length = end

    def crop(self, length: int) -> None:
        """Keep the first `length` tokens."""
        self._length = min(self._length, length)

    def remove(self, start: int, end: int) -> None:
        """Take out the tokens from `start` to before `end`; those behind them move up."""
        kept = self._length - end
        if kept > 0:
            for held in filter(_is_there, self._held):
                held[start : start + kept] = held[
                    range(end, self._length)
                ]  # a list of places copies, a slice would not
        self._length -= end - start

    def _tensor(self, part: int) -> Any:
        held = self._held[part]
        return None if held is None else held[: self._length]

    def _grown(self, held: Any, new: Any, end: int) -> Any:
        """`held` with room for `end` tokens, and `new` as its last ones. None where `new` is."""
        if new is None:
            return None
        if held is None or held.shape[0] < end:
            larger = new.new_empty((max(end, ROOM, self._length * 3 // 2), *new.shape[1:]))
            if held is not None:
                larger[: self._length] = held[: self._length]
            held = larger
        held[self._length : end] = new
        return held


def _is_there(held: Any) -> bool:
    return held is not None

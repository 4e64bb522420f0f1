"""The thinker of an omni model, a step at a time: tokens and media into a sequence's cache, and the logits behind them.

Called by `reply_steps` and `held_call`, in the engine's thread. It passes the positions of every token itself, so that any number of
sequences may be read by turns: the library counts positions in a field of its module. Blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

from duologue.engines.qwen_omni.prompt.omni_prompt import PromptPiece, PromptText
from duologue.engines.qwen_omni.prompt.rope_positions import RopePositions
from duologue.engines.qwen_omni.thinking.media_encoder import EncodedMedium, MediaEncoder
from duologue.engines.qwen_omni.thinking.thinker_sequence import ThinkerSequence

LAST = -1
"""The index of the thinker's last layer, with its norm."""


class Thinker:
    """`torch` is the library, `thinker` the model's; `layer`: the index in `hidden_states` that the speech asks for, None where nothing
    is spoken; `new_cache` makes an empty cache."""

    def __init__(
        self, torch: Any, thinker: Any, encoder: MediaEncoder, new_cache: Any, layer: int | None
    ) -> None:
        self._torch, self._encoder, self._layer = torch, encoder, layer
        self._new_cache = new_cache
        self._text, self._head = thinker.model.language_model, thinker.lm_head
        self._embed = thinker.get_input_embeddings()
        self._device = self._embed.weight.device

    def sequence(self) -> ThinkerSequence:
        """A new sequence without tokens."""
        return ThinkerSequence(self._new_cache(), traced=self._layer is not None)

    def remove(self, sequence: ThinkerSequence, start: int, end: int) -> None:
        """Take the tokens from `start` to before `end` out of a sequence."""
        sequence.remove(start, end, self._torch.cat)

    def read(self, sequence: ThinkerSequence, pieces: Sequence[PromptPiece]) -> Any:
        """Read pieces behind a sequence, all of them in one step. The logits of the token that follows, [vocabulary]."""
        torch = self._torch
        embedded: list[Any] = []
        pictures: list[EncodedMedium | None] = []
        positions: list[RopePositions] = []
        start = sequence.next_position
        for piece in pieces:
            positions.append(piece.positions(start))
            start = positions[-1].next
            if isinstance(piece, PromptText):
                embedded.append(self._embed(torch.tensor(piece.tokens, device=self._device)))
                pictures.append(None)
            else:
                medium = self._encoder.encode(piece)
                embedded.append(medium.embeddings.to(self._device, self._embed.weight.dtype))
                pictures.append(medium if medium.layers else None)
        inputs = torch.cat(embedded)
        places = torch.tensor([list(chain(*axis)) for axis in _axes(positions)], device=self._device)
        options = self._added(pieces, pictures)
        if self._layer not in (None, LAST):
            options["output_hidden_states"] = True
        output = self._text(
            inputs_embeds=inputs[None],
            position_ids=places[:, None],
            past_key_values=sequence.cache,
            use_cache=True,
            **options,
        )
        last = output.last_hidden_state[0]
        if sequence.trace is not None:
            hidden = last if self._layer == LAST else output.hidden_states[self._layer][0]
            ids, media = self._ids(pieces)
            sequence.trace.append(ids, inputs, hidden, media, places.T)
        numbers = [number for piece in pieces for number in piece.tokens]
        sequence.added(numbers, chain.from_iterable(map(_nexts, pieces, positions)))
        return self._head(last[-1:])[0].float()

    def _ids(self, pieces: Sequence[PromptPiece]) -> tuple[Any, Any]:
        """The token ids of pieces, and which of them are of media."""
        ids: list[int] = []
        media: list[bool] = []
        for piece in pieces:
            is_text = isinstance(piece, PromptText)
            ids += piece.tokens if isinstance(piece, PromptText) else (piece.placeholder,) * piece.size
            media += [not is_text] * len(piece.tokens)
        tensor = self._torch.tensor
        return tensor(ids, device=self._device), tensor(media, device=self._device)

    def _added(
        self, pieces: Sequence[PromptPiece], pictures: Sequence[EncodedMedium | None]
    ) -> dict[str, Any]:
        """What is added behind the first layers for the pictures among the pieces: nothing in most models."""
        found = [picture for picture in pictures if picture is not None]
        if not found:
            return {}
        torch = self._torch
        mask = [
            picture is not None for piece, picture in zip(pieces, pictures, strict=True) for _ in piece.tokens
        ]
        layers = [torch.cat(layer) for layer in zip(*(picture.layers for picture in found), strict=True)]
        return {
            "visual_pos_masks": torch.tensor([mask], device=self._device),
            "deepstack_visual_embeds": layers,
        }


def _axes(positions: Sequence[RopePositions]) -> tuple[list[tuple[int, ...]], ...]:
    return (
        [part.times for part in positions],
        [part.rows for part in positions],
        [part.columns for part in positions],
    )


def _nexts(piece: PromptPiece, positions: RopePositions) -> Sequence[int]:
    """What follows each token. A medium is only ever read or taken out as a whole."""
    if isinstance(piece, PromptText):
        return [time + 1 for time in positions.times]
    return [positions.next] * len(positions.times)

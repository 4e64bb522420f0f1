"""Attention masks: a position sees the earlier ones of its own dialogue. The same mask in three forms.

`extents`: the lengths of the dialogues, for one causal attention after the other; the fastest on a processor.
`blocks`: a map of 128 by 128 blocks for FlexAttention, which skips empty ones; the fastest on a GPU.
`dense`: a boolean matrix, which works everywhere. Dialogue numbers must not decrease along a row.
"""

from typing import TypeAlias

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.attention.flex_attention import BlockMask, flex_attention

BLOCK = 128

Extents = tuple[int, ...]
"""The lengths of the dialogues of one row, in order."""
Mask: TypeAlias = Tensor | BlockMask | Extents


def dense(documents: Tensor) -> Tensor:
    """The mask as a boolean matrix per row."""
    length = documents.shape[1]
    causal = torch.ones(length, length, dtype=torch.bool, device=documents.device).tril()
    return (documents[:, None, :, None] == documents[:, None, None, :]) & causal


def extents(documents: Tensor) -> Extents:
    """The mask of one row as lengths."""
    (row,) = documents
    return tuple(torch.unique_consecutive(row, return_counts=True)[1].tolist())


def blocks(documents: Tensor) -> BlockMask:
    """The mask of one row as blocks; its length must be a multiple of BLOCK."""
    (row,) = documents
    first, last = row.view(-1, BLOCK)[:, 0], row.view(-1, BLOCK)[:, -1]
    index = torch.arange(len(first), device=row.device)
    causal, before = index[:, None] >= index, index[:, None] > index
    some = causal & (first[:, None] <= last) & (last[:, None] >= first)
    every = before & (first[:, None] == last) & (last[:, None] == first)

    def sees(batch: Tensor, head: Tensor, query: Tensor, key: Tensor) -> Tensor:
        return (query >= key) & (row[query] == row[key])

    return BlockMask.from_kv_blocks(
        *_sort_blocks(some & ~every), *_sort_blocks(every), BLOCK_SIZE=BLOCK, mask_mod=sees
    )


def _sort_blocks(squares: Tensor) -> tuple[Tensor, Tensor]:
    """The number of set blocks in each line, and the block indices with the set ones first."""
    places = squares.to(torch.int32).argsort(dim=-1, descending=True, stable=True)
    return squares.sum(dim=-1, dtype=torch.int32)[None, None], places.to(torch.int32)[None, None].contiguous()


def attend(query: Tensor, key: Tensor, value: Tensor, mask: Mask) -> Tensor:
    """Scaled dot-product attention under any kind of mask."""
    if isinstance(mask, BlockMask):
        output: Tensor = flex_attention(query, key, value, block_mask=mask)
        return output
    if isinstance(mask, tuple):
        parts = zip(*(states.split(mask, dim=2) for states in (query, key, value)), strict=True)
        outputs = [F.scaled_dot_product_attention(q, k, v, is_causal=True) for q, k, v in parts]
        return torch.cat(outputs, dim=2)
    return F.scaled_dot_product_attention(query, key, value, attn_mask=mask)

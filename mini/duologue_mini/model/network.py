"""The network: a Llama-shaped decoder in two sizes, one for two CPU cores and one for a GPU.

Rotary pairs are neighbours, the order llama.cpp expects of this architecture, so that export permutes nothing.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from duologue_mini.model.masks import Mask, attend


@dataclass(frozen=True)
class NetworkShape:
    """The hyperparameters that determine the sizes of the weights."""

    vocabulary: int = 2048
    layers: int = 6
    width: int = 256
    heads: int = 8
    key_value_heads: int = 4
    feed_forward: int = 704
    context: int = 4096
    rope_theta: float = 10000.0
    norm_epsilon: float = 1e-5

    @property
    def head_width(self) -> int:
        """The width of an attention head."""
        return self.width // self.heads


SIZES = {
    "mini": NetworkShape(),
    "large": NetworkShape(
        vocabulary=4096,
        layers=12,
        width=384,
        heads=6,
        key_value_heads=3,
        feed_forward=1088,
        rope_theta=20000.0,
    ),
}
"""Every width is a multiple of 32, the block size of Q8_0."""


class Rotation:
    """The cosines and sines of rotary positions for one batch."""

    def __init__(self, shape: NetworkShape, positions: Tensor) -> None:
        exponents = torch.arange(0, shape.head_width, 2, dtype=torch.float32, device=positions.device)
        frequencies = shape.rope_theta ** (-exponents / shape.head_width)
        angles = positions[:, None, :, None].float() * frequencies
        self.cosine = angles.cos().repeat_interleave(2, dim=-1)
        self.sine = angles.sin().repeat_interleave(2, dim=-1)

    def apply(self, states: Tensor) -> Tensor:
        """Rotates each pair of neighbours by its angle."""
        across = torch.stack((-states[..., 1::2], states[..., 0::2]), dim=-1).flatten(-2)
        return (states * self.cosine + across * self.sine).to(states.dtype)


class Attention(nn.Module):
    """Grouped-query self-attention with rotary positions."""

    def __init__(self, shape: NetworkShape) -> None:
        super().__init__()
        self.shape = shape
        key_value_width = shape.key_value_heads * shape.head_width
        self.query = nn.Linear(shape.width, shape.width, bias=False)
        self.key = nn.Linear(shape.width, key_value_width, bias=False)
        self.value = nn.Linear(shape.width, key_value_width, bias=False)
        self.output = nn.Linear(shape.width, shape.width, bias=False)

    def forward(self, states: Tensor, rotation: Rotation, mask: Mask) -> Tensor:
        """Mixes information between the positions the mask allows."""
        batch, length, width = states.shape

        def split(projection: Tensor, heads: int) -> Tensor:
            return projection.view(batch, length, heads, self.shape.head_width).transpose(1, 2)

        query = rotation.apply(split(self.query(states), self.shape.heads))
        key = rotation.apply(split(self.key(states), self.shape.key_value_heads))
        value = split(self.value(states), self.shape.key_value_heads)
        group = self.shape.heads // self.shape.key_value_heads
        key, value = key.repeat_interleave(group, dim=1), value.repeat_interleave(group, dim=1)
        mixed = attend(query, key, value, mask)
        return self.output(mixed.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    """One layer: attention, then a gated feed-forward network, each on normalised input."""

    def __init__(self, shape: NetworkShape) -> None:
        super().__init__()
        self.attention_norm = nn.RMSNorm(shape.width, eps=shape.norm_epsilon)
        self.attention = Attention(shape)
        self.feed_forward_norm = nn.RMSNorm(shape.width, eps=shape.norm_epsilon)
        self.gate = nn.Linear(shape.width, shape.feed_forward, bias=False)
        self.up = nn.Linear(shape.width, shape.feed_forward, bias=False)
        self.down = nn.Linear(shape.feed_forward, shape.width, bias=False)

    def forward(self, states: Tensor, rotation: Rotation, mask: Mask) -> Tensor:
        """Adds this layer's two contributions to the residual stream."""
        states = states + self.attention(self.attention_norm(states), rotation, mask)
        inner = self.feed_forward_norm(states)
        return states + self.down(F.silu(self.gate(inner)) * self.up(inner))


class Model(nn.Module):
    """Token ids in, logits out; the output matrix is the embedding itself."""

    def __init__(self, shape: NetworkShape) -> None:
        super().__init__()
        self.shape = shape
        self.embedding = nn.Embedding(shape.vocabulary, shape.width)
        self.blocks = nn.ModuleList(Block(shape) for _ in range(shape.layers))
        self.norm = nn.RMSNorm(shape.width, eps=shape.norm_epsilon)
        self._initialise()

    def _initialise(self) -> None:
        depth_scale = (2 * self.shape.layers) ** -0.5
        for name, weight in self.named_parameters():
            if weight.dim() == 2:
                closes_residual = name.endswith(("output.weight", "down.weight"))
                nn.init.normal_(weight, std=0.02 * (depth_scale if closes_residual else 1.0))

    def forward(self, tokens: Tensor, positions: Tensor, mask: Mask) -> Tensor:
        """The final states; `mask` decides what a position sees."""
        rotation = Rotation(self.shape, positions)
        states = self.embedding(tokens)
        for block in self.blocks:
            states = block(states, rotation, mask)
        return self.norm(states)

    def logits(self, states: Tensor) -> Tensor:
        """Scores over the vocabulary."""
        return F.linear(states, self.embedding.weight)

    @property
    def size(self) -> int:
        """The number of weights."""
        return sum(weight.numel() for weight in self.parameters())

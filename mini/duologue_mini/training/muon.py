"""The optimisers: Muon for the matrices inside the layers, AdamW for the embedding and the norms.

Matrices of equal shape are updated together, so that a GPU gets a few large products and not hundreds of small ones.
"""

from collections import defaultdict
from collections.abc import Sequence

import torch
from torch import Tensor

from duologue_mini.model.network import Model

RATES = {"muon": 0.012, "adamw": 2e-3}
DECAY = 0.05


class Muon(torch.optim.Optimizer):
    """Momentum whose update is brought near the closest orthogonal matrix by five Newton-Schulz steps."""

    def __init__(
        self, matrices: Sequence[Tensor], lr: float, momentum: float = 0.95, decay: float = DECAY
    ) -> None:
        groups: defaultdict[torch.Size, list[Tensor]] = defaultdict(list)
        for matrix in matrices:
            groups[matrix.shape].append(matrix)
        super().__init__(
            [{"params": group} for group in groups.values()], {"lr": lr, "momentum": momentum, "decay": decay}
        )

    @torch.no_grad()
    def step(self, closure: object = None) -> None:  # type: ignore[override]  # torch declares overloads
        """One update of every matrix."""
        for group in self.param_groups:
            weights = group["params"]
            gradients = torch.stack([weight.grad for weight in weights])
            state = self.state[weights[0]]
            if "momentum" not in state:
                state["momentum"] = torch.zeros_like(gradients)
            state["momentum"].lerp_(gradients, 1 - group["momentum"])
            steps = orthogonal(gradients.lerp_(state["momentum"], group["momentum"]))
            rows, columns = weights[0].shape
            scale = group["lr"] * max(1.0, rows / columns) ** 0.5
            torch._foreach_mul_(weights, 1 - group["lr"] * group["decay"])
            torch._foreach_add_(weights, list(steps.to(weights[0].dtype).unbind()), alpha=-scale)


def orthogonal(matrices: Tensor) -> Tensor:
    """Each matrix of the stack, with its singular values brought near one."""
    tall = matrices.shape[1] > matrices.shape[2]
    update = matrices.mT if tall else matrices
    update = update.to(torch.bfloat16)
    update = update / (update.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(5):
        square = update @ update.mT
        update = 3.4445 * update + (-4.7750 * square + 2.0315 * square @ square) @ update
    return update.mT if tall else update


def optimisers_of(model: Model, kind: str, scale: float = 1.0) -> list[torch.optim.Optimizer]:
    """AdamW for everything, or Muon and AdamW; `scale` multiplies the usual rates."""
    matrices = [
        weight for name, weight in model.named_parameters() if weight.dim() == 2 and "embedding" not in name
    ]
    embedding, norms = [model.embedding.weight], [it for it in model.parameters() if it.dim() == 1]
    with_decay = embedding if kind == "muon" else matrices + embedding
    adamw = torch.optim.AdamW(
        [{"params": with_decay, "weight_decay": DECAY}, {"params": norms, "weight_decay": 0.0}],
        lr=RATES["adamw"] * scale,
        betas=(0.9, 0.95),
        fused=model.embedding.weight.is_cuda,
    )
    return [Muon(matrices, RATES["muon"] * scale), adamw] if kind == "muon" else [adamw]

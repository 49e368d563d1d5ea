"""Adam without torch's compiler, whose import takes as long as that of torch."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from gym_memory.core.optional import require

if TYPE_CHECKING:
    import torch
else:
    torch = require("torch", "rl", "the RL baselines")

__all__ = ["Adam"]

_take_step = require("torch.optim.adam", "rl", "the RL baselines").adam


class Adam:
    """An AdamW (Loshchilov and Hutter, 2019) that equals torch's with ``fused`` bit by bit.

    It calls the same function, so the state of one can be loaded into the other. Without weight
    ``decay`` it is ``torch.optim.Adam``.
    """

    def __init__(self, parameters: Iterable[torch.nn.Parameter], lr: float, decay: float = 0.0):
        self._parameters, self._lr, self._decay = list(parameters), lr, decay
        self._state: dict[int, dict[str, torch.Tensor]] = {}

    def zero_grad(self) -> None:
        """Forget all gradients."""
        for parameter in self._parameters:
            parameter.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """Update the parameters that have a gradient."""
        trained = {n: p for n, p in enumerate(self._parameters) if p.grad is not None}
        for number, p in trained.items():
            if number not in self._state:
                moments = {"exp_avg": torch.zeros_like(p), "exp_avg_sq": torch.zeros_like(p)}
                self._state[number] = {"step": torch.zeros((), device=p.device), **moments}
        states = [self._state[number] for number in trained]
        _take_step(
            list(trained.values()),
            [p.grad for p in trained.values()],
            *([state[name] for state in states] for name in ("exp_avg", "exp_avg_sq")),
            [],
            [state["step"] for state in states],
            fused=True,
            decoupled_weight_decay=True,
            amsgrad=False,
            beta1=0.9,
            beta2=0.999,
            lr=self._lr,
            weight_decay=self._decay,
            eps=1e-8,
            maximize=False,
        )

    def state_dict(self) -> dict[str, Any]:
        """Return the state of each parameter by its number, as torch's optimizers do."""
        return {"state": self._state}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Replace the state by what :meth:`state_dict` returned."""
        self._state = {
            number: {k: v.to(self._parameters[number].device, copy=True) for k, v in kept.items()}
            for number, kept in state["state"].items()
        }

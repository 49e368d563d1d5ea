"""Adapters that act from a prompt's last token on, beside prompts that are read once.

Activated LoRA (Greenewald et al. 2025): what leads to the answer goes through the model as it came,
so that its keys and values hold whatever the adapters learn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gym_memory.core.optional import require
from gym_memory.llm.writing import Prefix, Started

if TYPE_CHECKING:
    import torch
else:
    torch = require("torch", "lora", "training language models")

__all__ = ["Frozen"]


class Frozen:
    """Puts prompts through a model without its adapters, and answers with them.

    Args:
        network: The model, as peft wraps it.
        most: Prompts whose keys and values are kept.
        prefix: Whether a prompt that begins as one of the latest is computed from there on.
    """

    def __init__(self, network: Any, most: int, *, prefix: bool):
        self._network, self._most, self._prefix = network, most, prefix
        self._latest = Prefix(network)
        self._kept: dict[int, Any] = {}
        self._just: tuple[list[int], Any] = [], None

    def start(self, prompt: list[int]) -> Started:
        """Put all of a prompt but its last token through the frozen model."""
        with torch.no_grad(), self._network.disable_adapter():
            started = self._latest.start(prompt[:-1], keep=self._prefix)
        self._just = prompt, started.past
        return started

    def keep(self, number: int, prompt: list[int]) -> None:
        """Keep the keys and values of a prompt, if there is room; best right after its start."""
        if len(self._kept) < self._most:
            self._read(number, prompt)

    def logits(self, numbers: Sequence[int], shown: Sequence[tuple[list[int], list[int]]]) -> Any:
        """Logits of the tokens of answers, shape (texts, longest answer, vocabulary).

        Args:
            numbers: What the prompts are kept by.
            shown: Prompts and answers.
        """
        read = [self._read(*one) for one in zip(numbers, (p for p, _ in shown), strict=True)]
        lengths = [keys.shape[-2] for keys in read]
        most, tokens = max(lengths), max(len(answer) for _, answer in shown)
        pad, device = torch.nn.functional.pad, self._network.device
        # Of shape (texts, layers, keys and values, heads, most, size of a head).
        padded = torch.stack([pad(keys, (0, 0, most - keys.shape[-2], 0)) for keys in read])
        layers = padded.to(self._network.dtype).unbind(1)
        transformers = require("transformers", "lora", "method=alora")
        past = transformers.DynamicCache([(layer[:, 0], layer[:, 1]) for layer in layers])
        ids = torch.zeros(len(shown), tokens, dtype=torch.int64)
        mask = torch.ones(len(shown), most + tokens, dtype=torch.int64)
        for row, (prompt, answer) in enumerate(shown):
            ids[row, : len(answer)] = torch.tensor([prompt[-1], *answer[:-1]])
            mask[row, : most - lengths[row]] = 0
        places = torch.tensor(lengths)[:, None] + torch.arange(tokens)
        return self._network(
            ids.to(device),
            attention_mask=mask.to(device),
            position_ids=places.to(device),
            past_key_values=past,
        ).logits

    def _read(self, number: int, prompt: list[int]) -> Any:
        """Keys and values of all of a prompt but its last token, in 16 bits."""
        read = self._kept.get(number)
        if read is None:
            if self._just[0] != prompt:
                self.start(prompt)
            # Whoever went on from there added to it.
            layers = [
                torch.cat([layer.keys, layer.values])[..., : len(prompt) - 1, :]
                for layer in self._just[1].layers
            ]
            read = torch.stack(layers).half()
            if len(self._kept) < self._most:
                self._kept[number] = read
        return read

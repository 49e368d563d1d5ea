"""Keys and values of prompts, kept from call to call: what begins alike is computed once."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, NamedTuple

from gym_memory.optional import require

__all__ = ["BLOCK", "Prefix", "Started"]

BLOCK = 64
"""Tokens that go through the model together."""

_KEPT = 4


class Started(NamedTuple):
    """A prompt that went through a model.

    Attributes:
        past: Its keys and values; whoever goes on with them may change them.
        logits: What may come next, float32 of shape (vocabulary,).
        length: Its tokens.
        computed: Those that were not known from an earlier prompt.
    """

    past: Any
    logits: Any
    length: int
    computed: int


class Prefix:
    """The latest prompts of one model, each up to its last whole block.

    A prompt always goes through the model in blocks of 64 tokens, known or not, so that the bits
    of an answer do not depend on what was asked before.

    Args:
        model: A causal transformers model whose keys and values can be cut.
    """

    def __init__(self, model: Any):
        self._model = model
        self._known: list[tuple[list[int], Any]] = []  # the latest last

    def start(self, ids: Sequence[int], *, keep: bool = True) -> Started:
        """Put a prompt through the model.

        Args:
            ids: The prompt, at least one token.
            keep: Whether to go on from what is known, and to know this prompt later.
        """
        torch = require("torch", "semantic", "local language models")
        past, known = self._longest(ids) if keep else (None, 0)
        whole = (len(ids) - 1) // BLOCK * BLOCK  # the last token's logits are always wanted
        for at in range(known, whole, BLOCK):
            past = self._run(torch, ids[at : at + BLOCK], past).past_key_values
        if keep and whole:
            self._known = [*self._known, (list(ids[:whole]), copy.deepcopy(past))][-_KEPT:]
        output = self._run(torch, ids[whole:], past)
        return Started(
            output.past_key_values, output.logits[0, -1].float(), len(ids), len(ids) - known
        )

    def _run(self, torch: Any, ids: Sequence[int], past: Any) -> Any:
        rows = torch.tensor([list(ids)], device=self._model.device)
        return self._model(rows, past_key_values=past, use_cache=True, logits_to_keep=1)

    def _longest(self, ids: Sequence[int]) -> tuple[Any, int]:
        """The keys and values that are known for the beginning of a prompt, and how far."""
        if not self._known:
            return None, 0
        shared = [min(_alike(ids, known), len(ids) - 1) for known, _ in self._known]
        best = max(range(len(shared)), key=lambda at: (shared[at], at))
        size = shared[best] // BLOCK * BLOCK
        if not size:
            return None, 0
        known, past = self._known[best]
        if size == len(known):
            del self._known[best]  # goes on as the new prompt's
        else:
            past = copy.deepcopy(past)
            past.crop(size - past.get_seq_length())
        return past, size


def _alike(one: Sequence[int], other: Sequence[int]) -> int:
    """Number of equal items at the beginning."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))

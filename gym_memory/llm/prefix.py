"""Keys and values of prompts, kept from call to call: what begins alike is computed once."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

from gym_memory.core.optional import require

__all__ = ["BLOCK", "Prefix", "Started"]

BLOCK = 64
"""Tokens of the first piece of a prompt; each later one is as long as all before it."""

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
    """The latest prompts of one model, each up to its last whole piece.

    A prompt always goes through the model in pieces that end at tokens 64, 128, 256, ..., known or
    not, so that the bits of an answer do not depend on what was asked before. Pieces double because
    short ones are slow: on a CPU 64 tokens take a third more time each than 256.

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
        ends = _ends(len(ids) - 1)  # the last token's logits are always wanted
        whole = ends[-1]
        for start, end in itertools.pairwise(ends):
            if start >= known:
                past = self._run(torch, ids[start:end], past).past_key_values
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
        size = _ends(shared[best])[-1]
        if not size:
            return None, 0
        known, past = self._known[best]
        if size == len(known):
            del self._known[best]  # goes on as the new prompt's
        else:
            past = copy.deepcopy(past)
            past.crop(size - past.get_seq_length())
        return past, size


def _ends(most: int) -> list[int]:
    """Where the pieces of a text end, up to ``most`` tokens; begins with 0.

    >>> _ends(63), _ends(300)
    ([0], [0, 64, 128, 256])
    """
    ends = [0]
    while (end := max(2 * ends[-1], BLOCK)) <= most:
        ends.append(end)
    return ends


def _alike(one: Sequence[int], other: Sequence[int]) -> int:
    """Number of equal items at the beginning."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))

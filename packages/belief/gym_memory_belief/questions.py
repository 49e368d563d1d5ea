"""Training questions about a belief after a step, with the answers from the next step's text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gym_memory.core.optional import require
from gym_memory_belief.corpus import Episode
from gym_memory_belief.sight import FLAGS, SEGMENTS

if TYPE_CHECKING:
    import torch
else:
    torch = require("torch", "rl", "pretraining a belief")

__all__ = ["Question", "make_question"]

_TEXT, _ACTION = 0, len(SEGMENTS) - 1


class Question(NamedTuple):
    """The questions after one step of several episodes.

    Attributes:
        counted: 1 for each node that the answer may have, (batch, nodes).
        named: 1 for each node that the next text names, same shape.
        actions: Rows of the words of the next action, padded, (batch, words).
        acted: 1 for each node that the next action names, (batch, nodes).
        beside: Episode, node, word beside it in the next step; (b, 3).
        pairs: 1 for each two nodes that may be in one sentence, and under one heading; (batch,
            nodes, nodes, 2).
        paired: 1 for those that are, same shape.
        candidates: Nodes that each candidate names, the true one first; (contrasted, k, nodes).
        contrasted: Episodes with a contrast.
        recent: Of each of these, True if the present step names all that the true one does; if
            False, an older step does.
    """

    counted: torch.Tensor
    named: torch.Tensor
    actions: torch.Tensor
    acted: torch.Tensor
    beside: NDArray[np.int64]
    pairs: torch.Tensor
    paired: torch.Tensor
    candidates: torch.Tensor
    contrasted: NDArray[np.int64]
    recent: NDArray[np.bool_]


def make_question(
    episodes: Sequence[Episode],
    t: int,
    nodes: int,
    *,
    candidates: int,
    rows: Mapping[str, int],
    pad: int,
    words: Mapping[str, int],
    rng: np.random.Generator,
) -> Question:
    """Build the questions after step ``t``; an episode that is over by then has none.

    Args:
        episodes: The episodes.
        t: The step.
        nodes: Nodes that the belief is padded to.
        candidates: Observations to choose from, the true one included.
        rows: Row of each word.
        pad: The row for no word.
        words: Number of each word that may occur beside a name.
        rng: Chooses the other candidates.
    """
    count = len(episodes)
    counted, named, acted = (np.zeros((count, nodes), dtype=np.float32) for _ in range(3))
    actions = np.full((count, SEGMENTS[_ACTION][1]), pad)
    pairs, paired = (np.zeros((count, nodes, nodes, 2), dtype=np.float32) for _ in range(2))
    beside: list[tuple[int, int, int]] = []
    chosen, contrasted, recent = [], [], []
    for i, episode in enumerate(episodes):
        if t + 1 >= len(episode.known):
            continue
        known = episode.known[t]
        action = episode.sights[t + 1].words[_ACTION]
        actions[i, : len(action)] = [rows[word] for word in action]
        acted[i, :known] = episode.acted[t + 1, :known]
        counted[i, 1:known] = 1 - episode.acted[t + 1, 1:known]
        named[i, :known] = episode.named[t + 1, :known]
        for node, word in episode.beside[t + 1]:
            if node < known and word in words:
                beside.append((i, node, words[word]))
        _pairs(episode, t, pairs[i], paired[i])
        found = _candidates(episode, t, counted[i], candidates, rng)
        if found is not None:
            truth = found[0, : len(episode.names)].nonzero()[0]
            before = np.all(episode.named[: t + 1, truth], axis=1)
            if before.any():
                chosen.append(found)
                contrasted.append(i)
                recent.append(bool(before[t]))
    stacked = np.stack(chosen) if chosen else np.zeros((0, candidates, nodes), np.float32)
    return Question(
        torch.from_numpy(counted),
        torch.from_numpy(named),
        torch.from_numpy(actions),
        torch.from_numpy(acted),
        np.array(beside, dtype=np.int64).reshape(-1, 3),
        torch.from_numpy(pairs),
        torch.from_numpy(paired),
        torch.from_numpy(stacked),
        np.array(contrasted, dtype=np.int64),
        np.array(recent, dtype=bool),
    )


def _pairs(
    episode: Episode, t: int, counted: NDArray[np.float32], together: NDArray[np.float32]
) -> None:
    """Fill in the pairs that may be together in the next text, and those that are."""
    known = int(episode.known[t])
    sight, named = episode.sights[t + 1], episode.named[t + 1, :known].copy()
    named[0] = 0
    size = len(named)
    counted[:size, :size, 0] = named[:, None] * named[None]
    links = sight.links[(sight.links[:, :2] < known).all(1) & (sight.links[:, 2] == _TEXT)]
    together[links[:, 0], links[:, 1], 0] = 1
    together[:size, :size, 0] *= counted[:size, :size, 0]
    for heading in sight.flags[:known, FLAGS.index("heading")].nonzero()[0]:
        counted[heading, 1:size, 1] = 1
        together[heading, 1:size, 1] = named[1:]
        counted[heading, heading, 1] = 0


def _candidates(
    episode: Episode, t: int, counted: NDArray[np.float32], k: int, rng: np.random.Generator
) -> NDArray[np.float32] | None:
    """Return the nodes of the true next observation and of k - 1 others; None if too few differ.

    Half of the others are different observations of the episode, if there are enough; the rest is
    the true one with about half of its names exchanged.
    """
    size = len(episode.names)
    mask = counted[:size]
    truth = episode.named[t + 1] * mask
    possible = mask.nonzero()[0]
    true_nodes = truth.nonzero()[0]
    rest = np.setdiff1d(possible, true_nodes)
    if not len(true_nodes) or len(rest) < 2:
        return None
    seen = {truth.tobytes()}
    found = [truth]
    for other in rng.permutation(len(episode.named)):
        if len(found) > k // 2:
            break
        row = episode.named[other] * mask
        if row.any() and row.tobytes() not in seen:
            seen.add(row.tobytes())
            found.append(row)
    for _ in range(8 * k):
        if len(found) == k:
            break
        exchanged = (len(true_nodes) + 1) // 2
        row = truth.copy()
        row[rng.choice(true_nodes, exchanged, replace=False)] = 0
        row[rng.choice(rest, min(exchanged, len(rest)), replace=False)] = 1
        if row.tobytes() not in seen:
            seen.add(row.tobytes())
            found.append(row)
    if len(found) < k:
        return None
    table = np.zeros((k, len(counted)), dtype=np.float32)
    table[:, :size] = found
    return table

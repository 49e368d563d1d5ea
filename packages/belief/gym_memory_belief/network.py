"""The updater in torch, as :mod:`gym_memory_belief.updater`, and the network that trains it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gym_memory.core.optional import require
from gym_memory_belief.sight import SEGMENTS, Sight
from gym_memory_belief.weights import Sizes, shapes

if TYPE_CHECKING:
    import torch
else:
    torch = require("torch", "rl", "pretraining a belief")

__all__ = ["HOPS", "Batch", "Reader", "UpdaterNetwork", "collate"]

HOPS = 3


class Batch(NamedTuple):
    """One step of several episodes.

    Attributes:
        words: For each segment, rows of the words, padded by the row after the last; (batch, T).
        lengths: For each segment, its words, shape (batch,).
        named: For each segment, episode, word, node of every word of a mention; (m, 3).
        flags: Where nodes are named, (batch, nodes, kinds).
        links: For each segment, episode, first node, second node, start, end; (l, 5).
        pairs: Episode, first node, second node, kind; (p, 4).
    """

    words: list[torch.Tensor]
    lengths: list[torch.Tensor]
    named: list[torch.Tensor]
    flags: torch.Tensor
    links: list[torch.Tensor]
    pairs: torch.Tensor


def collate(sights: Sequence[Sight], nodes: int, rows: Mapping[str, int], pad: int) -> Batch:
    """Put the sights of several episodes together.

    Args:
        sights: One an episode.
        nodes: Nodes to pad to.
        rows: Row of each word.
        pad: The row for no word.
    """
    words, lengths, named, links = [], [], [], []
    for number in range(len(SEGMENTS)):
        texts = [sight.words[number] for sight in sights]
        table = np.full((len(sights), max(1, *map(len, texts))), pad)
        for row, text in zip(table, texts, strict=True):
            row[: len(text)] = [rows[word] for word in text]
        words.append(torch.from_numpy(table))
        lengths.append(torch.tensor([len(text) for text in texts], dtype=torch.float32))
        named.append(_joined([s.named[s.named[:, 0] == number][:, 1:] for s in sights]))
        own = [s.links[s.links[:, 2] == number] for s in sights]
        links.append(_joined([rows_[:, [0, 1, 3, 4]] for rows_ in own]))
    flags = np.zeros((len(sights), nodes, sights[0].flags.shape[1]), dtype=np.float32)
    for table, sight in zip(flags, sights, strict=True):
        table[: len(sight.flags)] = sight.flags
    pairs = _joined([sight.pairs for sight in sights])
    return Batch(words, lengths, named, torch.from_numpy(flags), links, pairs)


def _joined(tables: Sequence[Any]) -> torch.Tensor:
    """Join the rows of all tables, each with the number of its table in front."""
    numbers = np.repeat(np.arange(len(tables)), [len(table) for table in tables])
    return torch.from_numpy(np.column_stack([numbers, np.concatenate(tables)]).astype(np.int64))


class UpdaterNetwork(torch.nn.Module):
    """Trains the weights of :class:`~gym_memory_belief.updater.Updater`.

    Args:
        sizes: Sizes.
    """

    def __init__(self, sizes: Sizes):
        super().__init__()
        self.sizes = sizes
        for name, shape in shapes(sizes).items():
            start = torch.zeros(shape) if name.endswith("bias") else _start(shape)
            if name == "words":
                # A word that never occurs in training stays at zero, like a dropped one.
                start = torch.zeros(shape)
            elif name in ("gate_bias", "new_bias"):  # at first edges are weak and change slowly
                start = torch.full(shape, -1.0 if name == "gate_bias" else -2.0)
            self.register_parameter(name, torch.nn.Parameter(start))

    def table(self, heard: torch.Tensor) -> torch.Tensor:
        """Return the words' vectors, zero for dropped ones, and one for no word."""
        words = self.get_parameter("words") * heard[:, None]
        return torch.cat([words, words.new_zeros(1, words.shape[1])])

    def forward(
        self, edges: torch.Tensor, names: torch.Tensor, table: torch.Tensor, batch: Batch
    ) -> torch.Tensor:
        """Return the next belief.

        Args:
            edges: The belief, (batch, nodes, nodes, R).
            names: Vectors of the nodes' names, (batch, nodes, dim).
            table: Vectors of the words.
            batch: The step.
        """
        w = dict(self.named_parameters())
        count, nodes = edges.shape[:2]
        said, befores, pair = [], [], edges @ w["pair_edge"]
        for words, named in zip(batch.words, batch.named, strict=True):
            context = self._context(table[words], w)
            befores.append(torch.nn.functional.pad(context.cumsum(1), (0, 0, 1, 0)))
            episode, word, node = named.T
            at = (episode * nodes + node)[:, None].expand(-1, context.shape[2])
            empty = context.new_zeros(count * nodes, context.shape[2])
            said.append(empty.scatter_reduce(0, at, context[episode, word], "amax"))
        everyone = torch.arange(nodes)
        own = [part.view(count, nodes, -1) for part in said]
        own += [batch.flags, edges[:, everyone, everyone], edges[:, 0], edges[:, :, 0]]
        own += [edges.amax(2), edges.amax(1)]
        node = torch.relu(torch.cat(own, 2) @ w["node"] + names @ w["node_name"] + w["node_bias"])

        pair = pair + edges.transpose(1, 2) @ w["pair_back"]
        pair = pair + (node @ w["pair_first"] + w["pair_bias"])[:, :, None]
        pair = pair + (node @ w["pair_second"])[:, None]
        mean = table[batch.words[-1]].sum(1) / batch.lengths[-1].clamp(min=1)[:, None]
        pair = pair + (mean @ w["pair_action"])[:, None, None]
        same = torch.eye(nodes)[:, :, None] * w["pair_kind"][-1]
        pair = (pair + same).view(-1, self.sizes.hidden)
        pair = pair.index_add(0, *self._together(befores, batch, nodes, w))
        pair = pair.view(count, nodes, nodes, -1)
        pair = torch.relu(pair)
        gate = torch.sigmoid(pair @ w["gate"] + w["gate_bias"])
        new = torch.sigmoid(pair @ w["new"] + w["new_bias"])
        changed = batch.flags.amax(2)
        changed = torch.maximum(changed[:, :, None], changed[:, None, :])[..., None]
        return edges + changed * gate * (new - edges)

    def _together(
        self, befores: list[torch.Tensor], batch: Batch, nodes: int, w: dict[str, Any]
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the numbers of the pairs that occur together, and the term added to each."""
        episode, one, two, kind = batch.pairs.T
        where = [(episode * nodes + one) * nodes + two]
        added = [w["pair_kind"][kind]]
        for before, links in zip(befores, batch.links, strict=True):
            episode, one, two, start, end = links.T
            mean = before[episode, end] - before[episode, start]
            mean = mean / (end - start).clamp(min=1)[:, None]
            where += [(episode * nodes + one) * nodes + two, (episode * nodes + two) * nodes + one]
            added += [mean @ w["pair_after"], mean @ w["pair_before"]]
        return torch.cat(where), torch.cat(added)

    def _context(self, vectors: torch.Tensor, w: dict[str, Any]) -> torch.Tensor:
        reach, length = self.sizes.reach, vectors.shape[1]
        padded = torch.nn.functional.pad(vectors, (0, 0, reach, reach))
        around = [padded[:, i : i + length] for i in range(2 * reach + 1)]
        return torch.relu(torch.cat(around, 2) @ w["context"] + w["context_bias"])


def _start(shape: tuple[int, ...]) -> torch.Tensor:
    return torch.randn(shape) * (2 / shape[0]) ** 0.5 * 0.7


class Reader(torch.nn.Module):
    """Predicts from a belief and an action the names in the next text, and the words beside them.

    GATA pretrains by generating the next observation, or by choosing it among corrupted ones, given
    belief and action. This network does both with names. From the nodes of the action and from
    ``you`` it follows the edges, weighted by the action, for three hops, and predicts for each node
    if the next text names it (generation); a candidate observation scores the sum over its nodes
    (contrast). It also predicts the words beside a named node from the node's edges to itself and
    to and from ``you``, and from the edges of two nodes if they share a sentence or a heading.

    Args:
        sizes: Sizes of the updater.
        words: Words that may occur beside a name.
    """

    def __init__(self, sizes: Sizes, words: int):
        super().__init__()
        r, d, h = sizes.relations, sizes.dim, sizes.hidden
        self.action = torch.nn.Linear(d, h)
        self.mixes = torch.nn.Linear(h, (HOPS + 1) * 2 * r)
        self.hops = torch.nn.Linear(h, HOPS)
        self.like = torch.nn.Linear(h, r)
        self.prior = torch.nn.Linear(h, d + 1)
        self.together = torch.nn.Linear(2 * r, 2)
        self.words = torch.nn.Linear(3 * r, words)
        self.words_prior = torch.nn.Linear(d + h, words, bias=False)

    def forward(
        self, edges: torch.Tensor, names: torch.Tensor, action: torch.Tensor, acted: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return logits.

        Args:
            edges: The belief, (batch, nodes, nodes, R).
            names: Vectors of the nodes' names, (batch, nodes, dim).
            action: Mean vector of the next action's words, (batch, dim).
            acted: 1 where that action names a node, (batch, nodes).

        Returns:
            Of each node being named, (batch, nodes); of each word beside it, (batch, nodes, words).
        """
        query = torch.relu(self.action(action))
        mixes = self.mixes(query).view(len(query), HOPS + 1, 2, -1)
        mixed = torch.einsum("bkr,bijr->bkij", mixes[:, :, 0], edges)
        mixed = mixed + torch.einsum("bkr,bjir->bkij", mixes[:, :, 1], edges)
        reached = (acted[:, None] @ mixed[:, 0] + mixed[:, 1, :1])[:, 0]
        hops = [reached]
        for hop in range(1, HOPS):
            reached = (torch.tanh(reached)[:, None] @ mixed[:, hop + 1])[:, 0]
            hops.append(reached)
        naming = (torch.stack(hops, 2) @ (1 + self.hops(query))[:, :, None])[..., 0]
        everyone = torch.arange(edges.shape[1])
        own = edges[:, everyone, everyone]
        naming = naming + (own @ self.like(query)[:, :, None])[..., 0]
        prior = self.prior(query)
        naming = naming + (names @ prior[:, :-1, None])[..., 0] + prior[:, -1:]
        like = self.words(torch.cat([own, edges[:, 0], edges[:, :, 0]], 2))
        both = torch.cat([names, query[:, None].expand(-1, names.shape[1], -1)], 2)
        return naming, like + self.words_prior(both)

    def pairs(self, edges: torch.Tensor) -> torch.Tensor:
        """Return logits of two named nodes being in one sentence, or under one heading.

        Args:
            edges: The belief, (batch, nodes, nodes, R).

        Returns:
            Logits of shape (batch, nodes, nodes, 2); of a heading, the first node is the heading.
        """
        naming: torch.Tensor = self.together(torch.cat([edges, edges.transpose(1, 2)], 3))
        return naming

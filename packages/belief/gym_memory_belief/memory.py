"""Belief: GATA's learned, continuous belief graph (Adhikari et al. 2020) as a memory."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gym_memory.core.records import Cue, MemoryStats, Recall, Step, Task, Triple
from gym_memory.core.settings import Help, checked
from gym_memory.graph.schema import PLAYER
from gym_memory.memory.base import CHARS_PER_TOKEN, Lifetime, Memory, check_budget, count_tokens
from gym_memory.memory.reading import fit_facts
from gym_memory_belief.sight import look, new_names
from gym_memory_belief.updater import Updater
from gym_memory_belief.weights import Weights, load_weights

__all__ = ["HEAD", "Belief", "relation_name"]

HEAD = "Learned links between names, clearest first; the numbers are latent relations, not words."

_NOTHING = 1e-3
"""Least strength of an edge."""


def relation_name(number: int) -> str:
    """Return the name of a latent relation, from 0: ``belief 1``."""
    return f"belief {number + 1}"


class Belief(Memory):
    """A graph of real numbers that a network changes at every step; no extraction rules.

    Any two names of the texts have R edges in [0, 1], one a latent relation; a name also has edges
    to itself, its attributes. A trained updater (:mod:`gym_memory_belief.updater`) changes them by
    each observation, inventory and action. It is trained to predict the names in the next
    observation, without facts, rewards or engine state (``gym-memory memory pretrain``). The recall
    lists the edges that stand out as triples ``carrot | belief 3 | fridge``; the numbers of
    relations have no other meaning.

    Differences from GATA: entities are the names in the texts instead of a closed list, so it works
    on names that training never saw, and each pair of them has its own recurrent state; edges are
    in [0, 1] instead of [-1, 1], since a recall can list only existing edges; the observation is
    predicted as the names and words in it, not word by word.
    """

    name: ClassVar[str] = "belief"
    lifetimes: Mapping[str, Lifetime] = {"belief": "episode"}

    @checked
    def __init__(
        self,
        weights: Annotated[
            str, Help("File with the updater's weights; by default those in the package.")
        ] = "",
        edges: Annotated[
            int, Help("Most edges of each relation in a recall, and from names to themselves.", 1)
        ] = 6,
        threshold: Annotated[float, Help("Least strength of an edge in a recall.", 0, 1)] = 0.5,
        nodes: Annotated[
            int, Help("Most names held; the one not named for longest gives way.", low=8)
        ] = 64,
    ):
        self._updater = _updater(load_weights(weights).id, weights)
        self.edges, self.threshold, self.nodes = edges, float(threshold), nodes
        self._least = max(self.threshold, _NOTHING)
        self._clear()

    def _clear(self) -> None:
        relations = self.weights.sizes.relations
        self._index: dict[str, int] = {PLAYER: 0}
        self._last = [0]
        self._steps = 0
        self._belief: NDArray[np.float32] = np.zeros((1, 1, relations), dtype=np.float32)

    @property
    def weights(self) -> Weights:
        """Return the updater's weights."""
        return self._updater.weights

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the nodes, ``you`` first."""
        return tuple(self._index)

    @property
    def strengths(self) -> NDArray[np.float32]:
        """Return a copy of the edges: float32 of shape (nodes, nodes, R), in [0, 1]."""
        return self._belief.copy()

    def begin(self, task: Task, seed: int | None) -> None:
        """Forget the last episode."""
        self._clear()

    def observe(self, step: Step) -> None:
        """Let the updater change the belief."""
        self._steps += 1
        self._meet(new_names(step, self._index)[: self.nodes - 1])
        sight = look(step, self._index)
        for node in np.flatnonzero(sight.flags.any(1)).tolist():
            self._last[node] = self._steps
        self._belief = self._updater.update(self._belief, list(self._index), sight)

    def _meet(self, fresh: list[str]) -> None:
        """Make nodes of new names, replacing those not named for the longest time."""
        if not fresh:
            return
        names = list(self._index)
        excess = len(names) + len(fresh) - self.nodes
        kept = list(range(len(names)))
        if excess > 0:
            gone = sorted(kept[1:], key=lambda i: (self._last[i], i))[:excess]
            kept = [i for i in kept if i not in gone]
        names = [names[i] for i in kept] + fresh
        belief = np.zeros((len(names), len(names), self._belief.shape[2]), dtype=np.float32)
        belief[: len(kept), : len(kept)] = self._belief[np.ix_(kept, kept)]
        self._belief = belief
        self._last = [self._last[i] for i in kept] + [self._steps] * len(fresh)
        self._index = {name: i for i, name in enumerate(names)}

    def recall(self, cue: Cue, budget: int) -> Recall:
        """Return the edges of each relation that stand out and fit, grouped by first name."""
        room = check_budget(budget) - count_tokens(HEAD + "\n")
        text, triples = fit_facts(_grouped(self._outstanding()), max(room, 0) * CHARS_PER_TOKEN)
        if triples:
            text = f"{HEAD}\n{text}"
        return Recall(text=text, triples=triples)

    def _outstanding(self) -> list[Triple]:
        """Return the edges of every relation that stand out, strongest first.

        A relation that a name has to all others describes that name alone, and so does its edge to
        itself. So the score of an edge between two names is its strength times one minus the mean
        strength of each; the score of an edge to itself is relative to those of other names.
        """
        names, edges = list(self._index), self._belief
        everyone = np.arange(len(names))
        own = edges[everyone, everyone]
        scores = edges * (1 - edges.mean(1, keepdims=True)) * (1 - edges.mean(0))
        scores[everyone, everyone] = own * (1 - own.mean(0))
        one, two, relation = np.nonzero(edges >= self._least)
        strong = scores[one, two, relation]
        # Both sorts are stable: edges that stand out alike stay in the order of their nodes.
        kind = 2 * relation + (one == two)
        order = np.lexsort((-strong, kind))
        place = np.arange(len(order)) - np.searchsorted(kind[order], kind[order])
        best = np.sort(order[place < self.edges])
        best = best[np.argsort(-strong[best], kind="stable")]
        return [
            Triple(names[i], relation_name(r), names[j])
            for i, j, r in zip(
                one[best].tolist(), two[best].tolist(), relation[best].tolist(), strict=True
            )
        ]

    def state(self) -> dict[str, Any]:
        """Return names, the step of each last mention, and the edges as base64 of float16."""
        return {
            "weights": self.weights.id,
            "steps": self._steps,
            "names": list(self._index),
            "last": list(self._last),
            "belief": base64.b64encode(self._belief.astype("<f2").tobytes()).decode(),
        }

    def load_state(self, state: dict[str, Any]) -> None:
        """Replace everything by what :meth:`state` returned.

        Raises:
            ValueError: The state was made by other weights, or is damaged.
        """
        if state["weights"] != self.weights.id:
            raise ValueError(
                f"a belief made by weights {state['weights']!r} instead of {self.weights.id!r}"
            )
        names, last, steps = list(state["names"]), list(state["last"]), state["steps"]
        shape = (len(names), len(names), self.weights.sizes.relations)
        raw = np.frombuffer(base64.b64decode(state["belief"]), dtype="<f2")
        belief = raw.reshape(shape).astype(np.float32)
        if len(last) != len(names) or names[:1] != [PLAYER] or len({*names}) != len(names):
            raise ValueError("names and times do not go together")
        self._index = {name: i for i, name in enumerate(names)}
        self._last, self._steps, self._belief = last, steps, belief

    def snapshot(self) -> Any:
        """Return the mutable state; edges are replaced, never changed, so they need no copy."""
        return self._steps, tuple(self._index), tuple(self._last), self._belief

    def restore(self, snapshot: Any) -> None:
        """Return to a snapshot."""
        self._steps, names, last, self._belief = snapshot
        self._index, self._last = {name: i for i, name in enumerate(names)}, list(last)

    def stats(self) -> MemoryStats:
        """Return the edges above the threshold, and the size of the last recall."""
        live = int((self._belief >= self._least).sum())
        return MemoryStats(facts=live, live_facts=live)


@lru_cache(maxsize=8)
def _updater(id: str, weights: str) -> Updater:
    """Return one updater for all memories with the same weights, so that they share its cache."""
    return Updater(load_weights(weights))


def _grouped(triples: list[Triple]) -> list[Triple]:
    """Group triples by subject, in the order of first triples."""
    groups: dict[str, list[Triple]] = {}
    for triple in triples:
        groups.setdefault(triple.subject, []).append(triple)
    return [triple for group in groups.values() for triple in group]

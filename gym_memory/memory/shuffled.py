"""Shuffled: AriGraph whose recalled facts say nothing, the placebo among the memories."""

from __future__ import annotations

import random
import zlib
from collections.abc import Sequence
from typing import Any, ClassVar

from gym_memory.memory.arigraph import AriGraph
from gym_memory.memory.recall.past import Dated
from gym_memory.memory.recall.render import render_facts
from gym_memory.tokens import count_tokens
from gym_memory.types import Cue, Recall, Task, Triple

__all__ = ["ShuffledGraph"]


class ShuffledGraph(AriGraph):
    """Recalls what AriGraph would, with the objects of the facts permuted among them.

    The same number of facts, relations, names and characters; what they say is chance. A policy
    that plays as well with it as with ``arigraph`` gains nothing from the content. The
    permutation depends on task, seed and step, so a run can be repeated. Takes the arguments of
    :class:`~gym_memory.memory.arigraph.AriGraph`.
    """

    name: ClassVar[str] = "shuffled"
    _seed: int | None = None

    def begin(self, task: Task, seed: int | None) -> None:
        """Start an episode; notes the seed."""
        super().begin(task, seed)
        self._seed = seed

    def recall(self, cue: Cue, budget: int) -> Recall:
        """The recall of AriGraph with the objects of its facts permuted."""
        honest = super().recall(cue, budget)
        triples = tuple(self._permuted(honest.triples))
        told = render_facts(honest.triples)
        assert honest.text.startswith(told)
        text = render_facts(triples) + honest.text[len(told) :]
        self._tokens = count_tokens(text)
        return honest._replace(text=text, triples=triples)

    def _recollect(self, focus: str) -> list[Dated]:
        """Dated facts are few, so their objects are drawn from all facts of that sort."""
        dated = super()._recollect(focus)
        objects: dict[str, list[str]] = {}
        for fact in self.graph.live():
            objects.setdefault(fact.relation, []).append(fact.object)
        chance = random.Random(self._key(focus))
        return [
            (t, fact._replace(object=chance.choice(objects.get(fact.relation, [fact.object]))))
            for t, fact in dated
        ]

    def _permuted(self, facts: Sequence[Triple]) -> list[Triple]:
        """The facts with their objects permuted."""
        objects = [fact.object for fact in facts]
        random.Random(self._key()).shuffle(objects)
        return [fact._replace(object=obj) for fact, obj in zip(facts, objects, strict=True)]

    def _key(self, focus: str = "") -> int:
        key = f"{self._task.id}/{self._seed}/{len(self.store)}{focus}"
        return zlib.crc32(key.encode())

    def snapshot(self) -> Any:
        """As AriGraph's, with the seed."""
        return super().snapshot(), self._seed

    def restore(self, snapshot: Any) -> None:
        """Return to a snapshot."""
        below, self._seed = snapshot
        super().restore(below)

    def state(self) -> dict[str, Any]:
        """As AriGraph's, with the seed."""
        return {**super().state(), "seed": self._seed}

    def load_state(self, state: dict[str, Any]) -> None:
        """Replace everything by what :meth:`state` returned."""
        super().load_state(state)
        self._seed = state["seed"]

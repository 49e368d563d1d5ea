"""Controls: memories of the same size that say chance, lies, another world, or only the present.

A memory helps when the policy plays better with it than with all of these: ``present`` knows what
the observation shows anyway, ``noise`` costs the same tokens and speaks of nothing here,
``shuffled`` speaks of this game and says chance, ``adversarial`` says what cannot even be.
"""

from __future__ import annotations

import copy
import dataclasses
import inspect
import random
import re
import zlib
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from gym_memory.core.files import typed
from gym_memory.core.records import Cue, MemoryStats, Outcome, Recall, Step, Task, Triple
from gym_memory.core.tokens import count_tokens, truncate_tokens
from gym_memory.graph.schema import PLAYER, VERBATIM, direction_of
from gym_memory.memory.arigraph import AriGraph
from gym_memory.memory.base import MEMORIES, Lifetime, Memory
from gym_memory.memory.recall.render import fit_facts, render_facts

__all__ = ["Adversarial", "Altered", "Noise", "Present", "Shuffled"]


class Altered(Memory):
    """Recalls what another memory would, changed; what that one learns is its own.

    The other memory is out of reach for wrappers and policies, so nothing walks or reads an
    unchanged graph. Every change depends on task, seed, step and focus: a run can be repeated.

    Args:
        of: The other memory.
    """

    def __init__(self, of: Memory):
        self._of = of
        self._task = Task("", "")
        self._seed: int | None = None
        self._steps = 0
        self._tokens = 0

    @abstractmethod
    def _alter(self, honest: Recall, budget: int, chance: random.Random) -> Recall:
        """What is recalled instead."""

    @property
    def lifetimes(self) -> dict[str, Lifetime]:  # type: ignore[override]
        """Those of the other memory."""
        return self._of.lifetimes

    def begin(self, task: Task, seed: int | None) -> None:
        """Start an episode; notes the seed."""
        self._task, self._seed, self._steps = task, seed, 0
        self._of.begin(task, seed)

    def observe(self, step: Step) -> None:
        """The other memory learns."""
        self._steps += 1
        self._of.observe(step)

    def end(self, outcome: Outcome) -> None:
        """The other memory learns over trials."""
        self._of.end(outcome)

    def recall(self, cue: Cue, budget: int) -> Recall:
        """The other memory's recall, changed."""
        key = f"{self._task.id}/{self._seed}/{self._steps}{cue.focus}"
        chance = random.Random(zlib.crc32(key.encode("utf-8", "replace")))
        recall = self._alter(self._of.recall(cue, budget), budget, chance)
        recall = recall._replace(text=truncate_tokens(recall.text, budget))
        self._tokens = count_tokens(recall.text)
        return recall

    def state(self) -> dict[str, Any]:
        """The other memory's state, and what the changes depend on."""
        own = {"task": list(self._task), "seed": self._seed, "steps": self._steps}
        return {"of": self._of.state(), **own}

    def load_state(self, state: dict[str, Any]) -> None:
        """Replace everything by what :meth:`state` returned."""
        self._of.load_state(state["of"])
        self._task, self._seed = typed(Task, state["task"]), state["seed"]
        self._steps = int(state["steps"])

    def snapshot(self) -> Any:
        """That of the other memory, and what the changes depend on."""
        return self._of.snapshot(), self._task, self._seed, self._steps

    def restore(self, snapshot: Any) -> None:
        """Return to a snapshot."""
        below, self._task, self._seed, self._steps = snapshot
        self._of.restore(below)

    def fork(self) -> Memory:
        """An independent copy."""
        twin = copy.copy(self)
        twin._of = self._of.fork()
        return twin

    def stats(self) -> MemoryStats:
        """Those of the other memory, with the size of what was recalled instead."""
        return dataclasses.replace(self._of.stats(), tokens=self._tokens)


class _AlteredGraph(Altered):
    """A changed graph memory; takes the arguments of AriGraph."""

    __signature__ = inspect.signature(AriGraph)
    _of: AriGraph

    def __init__(self, **arigraph: Any):
        super().__init__(AriGraph(**arigraph))

    def _retold(self, honest: Recall, facts: Sequence[Triple]) -> tuple[str, str]:
        """The text of other facts, and what follows the honest ones."""
        return render_facts(facts), honest.text.removeprefix(render_facts(honest.triples))


@MEMORIES.register("shuffled")
class Shuffled(_AlteredGraph):
    """Speaks of this game by chance: the neutral control.

    Names are exchanged among those that occur in the same place of the same kind of fact: a room
    for a room, a state for a state, a direction for a direction; in facts, in recalled
    observations and in what is told of the past alike. So every sentence could be true, and what
    it says is chance. Takes the arguments of :class:`~gym_memory.memory.arigraph.AriGraph`.
    """

    name: ClassVar[str] = "shuffled"

    def _alter(self, honest: Recall, budget: int, chance: random.Random) -> Recall:
        exchanged = _exchange(self._of.graph.live(), chance)
        facts = [
            fact._replace(object=exchanged.get((_kind(fact.relation), fact.object), fact.object))
            for fact in honest.triples
        ]
        names: dict[str, str] = {}
        for (_, name), other in exchanged.items():
            names.setdefault(name, other)
        text, rest = self._retold(honest, facts)
        episodes = tuple(_renamed(episode, names) for episode in honest.episodes)
        lessons = tuple(_renamed(lesson, names) for lesson in honest.lessons)
        return Recall(text + _renamed(rest, names), tuple(facts), episodes, lessons)


def _kind(relation: str) -> str:
    """Relations whose objects may stand for each other."""
    return "way" if direction_of(relation) is not None else relation


def _exchange(facts: Iterable[Triple], chance: random.Random) -> dict[tuple[str, str], str]:
    """A permutation of the objects of each kind of relation."""
    objects: dict[str, dict[str, None]] = {}
    for fact in facts:
        if fact.relation not in VERBATIM:
            objects.setdefault(_kind(fact.relation), {})[fact.object] = None
    exchanged = {}
    for kind, names in objects.items():
        others = list(names)
        chance.shuffle(others)
        exchanged.update({(kind, name): other for name, other in zip(names, others, strict=True)})
    return exchanged


def _renamed(text: str, names: dict[str, str]) -> str:
    """A text in which names stand for others; the case of a first letter stays."""
    if not text or not names:
        return text
    longest_first = sorted(names, key=lambda name: (-len(name), name))
    pattern = rf"\b({'|'.join(map(re.escape, longest_first))})\b"

    def other(match: re.Match[str]) -> str:
        name = names[match[0].lower()]
        return name[:1].upper() + name[1:] if match[0][0].isupper() else name

    return re.sub(pattern, other, text, flags=re.IGNORECASE)


@MEMORIES.register("adversarial")
class Adversarial(_AlteredGraph):
    """Says what is not: the objects of the recalled facts permuted among all of them.

    A key may lie in *closed*, a door lead to a knife. What remains true stands beside it, so a
    policy that trusts its memory plays worse than with none. Takes the arguments of
    :class:`~gym_memory.memory.arigraph.AriGraph`.
    """

    name: ClassVar[str] = "adversarial"

    def _alter(self, honest: Recall, budget: int, chance: random.Random) -> Recall:
        objects = [fact.object for fact in honest.triples]
        chance.shuffle(objects)
        pairs = zip(honest.triples, objects, strict=True)
        facts = tuple(fact._replace(object=name) for fact, name in pairs)
        text, rest = self._retold(honest, facts)
        return honest._replace(text=text + rest, triples=facts)


_HALLS = ("airlock", "bridge", "cargo deck", "reactor", "galley hatch", "observatory", "med bay")
_WARES = ("oxygen tank", "star chart", "wrench", "fuel cell", "visor", "probe", "antenna", "relay")
_MARKS = ("first", "second", "third", "spare", "cracked", "blue-taped", "port-side", "labelled")


@MEMORIES.register("noise")
class Noise(_AlteredGraph):
    """Facts of a world that is not this one, as many characters as AriGraph would recall.

    What stays when the content goes and nothing misleads: the length of the prompt. Takes the
    arguments of :class:`~gym_memory.memory.arigraph.AriGraph`.
    """

    name: ClassVar[str] = "noise"

    def _alter(self, honest: Recall, budget: int, chance: random.Random) -> Recall:
        wares = [f"{mark} {ware}" for mark in _MARKS for ware in _WARES]
        chance.shuffle(wares)
        facts = [Triple(ware, "is in", chance.choice(_HALLS)) for ware in wares]
        text, shown = fit_facts(facts, count_tokens(honest.text))
        return Recall(text, shown)


@MEMORIES.register("present")
class Present(AriGraph):
    """A graph of the present step alone: what extraction gives without remembering.

    The gap between it and ``arigraph`` is what memory adds to reading the present observation in
    the form of facts. Takes the arguments of :class:`~gym_memory.memory.arigraph.AriGraph`, whose
    ``lifetime`` says nothing here: all is forgotten at every step.
    """

    name: ClassVar[str] = "present"

    @property
    def lifetimes(self) -> dict[str, Lifetime]:  # type: ignore[override]
        """One step."""
        return {"graph": "step", "episodes": "step"}

    def observe(self, step: Step) -> None:
        """Forget all but the place where the agent stood, which a text may not say, and learn."""
        here = self.graph.value(PLAYER, "location")
        self._clear()
        if here is not None:
            self.graph.add(here, 0)
        super().observe(step)

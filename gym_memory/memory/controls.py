"""Controls: no memory, the engine's facts, and memories of equal size with altered content.

A memory helps if the policy plays better with it than with ``none`` and with the altered memories.
In games where facts suffice, the gap to ``oracle`` is the cost of exploration and memory.
"""

from __future__ import annotations

import copy
import random
import re
import zlib
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Annotated, Any, ClassVar, Literal

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.files import typed
from gym_memory.core.records import Cue, MemoryStats, Outcome, Reasons, Recall, Step, Task, Triple
from gym_memory.core.settings import Help, check_text, checked
from gym_memory.graph.schema import ACTION_RESULTS, PLAYER, VERBATIM, direction_of
from gym_memory.memory.arigraph import AriGraph, AriGraphSettings
from gym_memory.memory.base import (
    CHARS_PER_TOKEN,
    Memory,
    check_budget,
    count_tokens,
    is_over,
    make_memory,
    truncate_tokens,
)
from gym_memory.memory.experience.base import ExperienceMemory
from gym_memory.memory.reading import fit_facts, render_facts, without_numbers

__all__ = ["ORACLE_TOKENS", "Adversarial", "AlteredMemory", "NoMemory", "Noise", "OracleGraph"]
__all__ += ["Placebo", "Present", "ShuffledGraph"]

ORACLE_TOKENS = 4000
"""Minimum budget of the oracle's recall, in tokens; no shipped world needs more."""
_QUOTED = re.compile(r'"([^"]*)"')
_MOST_ACTIONS = 5000
_HALLS = ("airlock", "bridge", "cargo deck", "reactor", "galley hatch", "observatory", "med bay")
_SUPPLIES = ("oxygen tank", "star chart", "wrench", "fuel cell", "visor", "probe", "antenna",
             "relay")  # fmt: skip
_KINDS = ("first", "second", "third", "spare", "cracked", "blue-taped", "port-side", "labelled")


class NoMemory(Memory):
    """Remembers nothing; its recall is always empty."""

    name: ClassVar[str] = "none"

    def begin(self, task: Task, seed: int | None) -> None:
        """Do nothing."""

    def observe(self, step: Step) -> None:
        """Ignore the step."""

    def recall(self, cue: Cue, budget: int) -> Recall:
        """Return an empty recall."""
        return Recall()

    def state(self) -> dict[str, Any]:
        """Return an empty state."""
        return {}

    def load_state(self, state: dict[str, Any]) -> None:
        """Ignore the state."""


class OracleGraph(AriGraph):
    """A control with all facts of the engine, and with past praise and attempts.

    It recalls and ranks like AriGraph, with a budget of at least :data:`ORACLE_TOKENS`, and links
    an observation to the facts that changed in its step. Its settings are those of AriGraph.
    """

    name: ClassVar[str] = "oracle"
    uses_oracle: ClassVar[bool] = True
    keeps_budget = False

    def _learn(self, step: Step, t: int) -> list[Triple]:
        if self.oracle is None:
            raise InvalidArgumentError(
                "expected memory.oracle to be set to a callable that gives the engine's facts, "
                "got None: use the memory in an environment made by gym.make"
            )
        graph, oracle = self.graph, self.oracle()
        praised = [Triple(*fact) for fact in oracle.objects.get("praised", ())]
        came = [m.triple for m in self._extract(step).mentions if m.triple[1] in ACTION_RESULTS]
        facts = {*oracle.facts, *praised, *came}
        known = set(graph.live())
        gone = [fact for fact in known - facts if fact.relation not in ACTION_RESULTS]
        for fact in sorted(gone):
            graph.retire(fact, t, by="oracle")
        new = sorted(facts - known)
        return sorted(gone) + [graph.add(fact, t, episode=len(self.store)).triple for fact in new]

    def recall(self, cue: Cue, budget: int) -> Recall:
        """Recall the relevant facts and observations within at least the oracle's budget."""
        return super().recall(cue, max(check_budget(budget), ORACLE_TOKENS))

    def reasons(self, cue: Cue, budget: int) -> Reasons:
        """Return the part of the ranking, or similarity and path; equation 1 for observations."""
        return super().reasons(cue, max(budget, ORACLE_TOKENS))


class Present(AriGraph):
    """A graph of the present step alone: extraction without memory.

    It forgets everything at each step. Its settings are those of AriGraph.
    """

    name: ClassVar[str] = "present"

    def __init__(self, **settings: Any):
        super().__init__(**settings)
        self.lifetimes = {"graph": "step", "episodes": "step"}

    def observe(self, step: Step) -> None:
        """Forget all but the agent's place, which a text may omit, and learn."""
        here = self.graph.value(PLAYER, "location")
        self._clear()
        if here is not None:
            self.graph.add(here, 0)
        super().observe(step)


class AlteredMemory(Memory):
    """A memory that alters the recall of another memory, ``of``, which learns as usual.

    A change depends only on task, seed, step and focus, so a run can be repeated.
    """

    def __init__(self, of: Memory):
        self._of, self.lifetimes = of, of.lifetimes
        self.share_settings(of)
        self._task = Task("", "")
        self._seed: int | None = None
        self._steps = 0

    @abstractmethod
    def _alter(self, honest: Recall, budget: int, chance: random.Random) -> Recall:
        pass

    def begin(self, task: Task, seed: int | None) -> None:
        """Start an episode."""
        self._task, self._seed, self._steps = task, seed, 0
        self._of.begin(task, seed)

    def observe(self, step: Step) -> None:
        """Let the other memory learn."""
        self._steps += 1
        self._of.observe(step)

    def end(self, outcome: Outcome) -> None:
        """Let the other memory learn over trials."""
        self._of.end(outcome)

    def recall(self, cue: Cue, budget: int) -> Recall:
        """Return the altered recall of the other memory."""
        key = f"{self._task.id}/{self._seed}/{self._steps}{cue.focus}"
        chance = random.Random(zlib.crc32(key.encode("utf-8", "replace")))
        recall = self._alter(self._of.recall(cue, budget), budget, chance)
        return recall._replace(text=truncate_tokens(recall.text, budget))

    def state(self) -> dict[str, Any]:
        """Return the other memory's state, and what the changes depend on."""
        own = {"task": list(self._task), "seed": self._seed, "steps": self._steps}
        return {"of": self._of.state(), **own}

    def load_state(self, state: dict[str, Any]) -> None:
        """Replace everything by what :meth:`state` returned."""
        self._of.load_state(state["of"])
        self._task, self._seed = typed(Task, state["task"]), state["seed"]
        self._steps = int(state["steps"])

    def snapshot(self) -> Any:
        """Return the other memory's snapshot, and a copy of what the changes depend on."""
        own = {name: value for name, value in vars(self._twin()).items() if name != "_of"}
        return self._of.snapshot(), own

    def restore(self, snapshot: Any) -> None:
        """Return to a snapshot."""
        below, own = snapshot
        vars(self).update({name: copy.copy(value) for name, value in own.items()})
        self._of.restore(below)

    def fork(self) -> Memory:
        """Return an independent copy."""
        twin = self._twin()
        twin._of = self._of.fork()
        return twin

    def stats(self) -> MemoryStats:
        """Return the statistics of the other memory."""
        return self._of.stats()


class _AlteredGraph(AlteredMemory):
    settings_class = AriGraphSettings
    __signature__ = AriGraph.__signature__
    _of: AriGraph

    def __init__(self, **settings: Any):
        super().__init__(AriGraph(**settings))

    def _rewritten(self, honest: Recall, facts: Sequence[Triple]) -> tuple[str, str]:
        """Return the text of the replaced facts, and the text that follows the true ones."""
        return render_facts(facts), honest.text.removeprefix(render_facts(honest.triples))


class ShuffledGraph(_AlteredGraph):
    """A graph with randomly exchanged names: the neutral control.

    A name is replaced by another from the same position in the same kind of fact, so every sentence
    could be true. Its settings are those of AriGraph.
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
        text, rest = self._rewritten(honest, facts)
        episodes = tuple(_renamed(episode, names) for episode in honest.episodes)
        lessons = tuple(_renamed(lesson, names) for lesson in honest.lessons)
        return Recall(text + _renamed(rest, names), tuple(facts), episodes, lessons)


def _kind(relation: str) -> str:
    """Return the kind of a relation, within which objects are exchanged."""
    return "way" if direction_of(relation) is not None else relation


def _exchange(facts: Iterable[Triple], chance: random.Random) -> dict[tuple[str, str], str]:
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
    if not text or not names:
        return text
    longest_first = sorted(names, key=lambda name: (-len(name), name))
    pattern = rf"\b({'|'.join(map(re.escape, longest_first))})\b"

    def other(match: re.Match[str]) -> str:
        name = names[match[0].lower()]
        return name[:1].upper() + name[1:] if match[0][0].isupper() else name

    return re.sub(pattern, other, text, flags=re.IGNORECASE)


class Adversarial(_AlteredGraph):
    """Recalled facts with permuted objects.

    A policy that trusts it plays worse than without a memory. Its settings are those of AriGraph.
    """

    name: ClassVar[str] = "adversarial"

    def _alter(self, honest: Recall, budget: int, chance: random.Random) -> Recall:
        objects = [fact.object for fact in honest.triples]
        chance.shuffle(objects)
        pairs = zip(honest.triples, objects, strict=True)
        facts = tuple(fact._replace(object=name) for fact, name in pairs)
        text, rest = self._rewritten(honest, facts)
        return honest._replace(text=text + rest, triples=facts)


class Noise(_AlteredGraph):
    """Facts of another world, as long as AriGraph's recall.

    Its settings are those of AriGraph.
    """

    name: ClassVar[str] = "noise"

    def _alter(self, honest: Recall, budget: int, chance: random.Random) -> Recall:
        supplies = [f"{kind} {thing}" for kind in _KINDS for thing in _SUPPLIES]
        chance.shuffle(supplies)
        facts = [Triple(thing, "is in", chance.choice(_HALLS)) for thing in supplies]
        text, shown = fit_facts(facts, count_tokens(honest.text) * CHARS_PER_TOKEN)
        return Recall(text, shown)


class Placebo(AlteredMemory):
    """Another memory's lessons with one part spoiled: a control for memories over trials.

    If the score stays equal, the spoiled part was worth nothing. Within a trial, an action is
    always exchanged for the same other action.
    """

    name: ClassVar[str] = "placebo"

    @checked
    def __init__(
        self,
        of: Annotated[str, Help("The memory, a name with parameters.")] = "clin",
        how: Annotated[
            Literal["actions", "world", "raw", "outcomes", "frozen"],
            Help(
                "Exchange quoted actions by others that were valid in earlier trials or by those "
                "of another world; show the whole actions of an item's episode, in as many "
                "characters; report outcomes of other episodes; or only stop learning."
            ),
        ] = "actions",
    ):
        super().__init__(make_memory(of))
        self.lifetimes = {**self.lifetimes, "actions": "trial"}
        self.how = how
        if how == "raw" and not isinstance(self._of, ExperienceMemory):
            raise InvalidArgumentError(
                f"expected of as a memory of experience such as 'memrl' for how='raw', got {of!r}"
            )
        self._outcomes: list[Outcome] = []
        self._exchanged: dict[str, str] = {}  # in this trial; a cache
        self._trial = 0
        self._seen: dict[str, None] = {}
        self._known = 0

    def begin(self, task: Task, seed: int | None) -> None:
        """Start a trial; its lessons draw on the actions seen so far."""
        same = not is_over("trial", self._task, task)
        self._trial = self._trial + 1 if same else 0
        if not same and "forever" not in self._of.lifetimes.values():
            self._seen = {}
        self._known = len(self._seen)
        self._exchanged = {}
        super().begin(task, seed)

    def observe(self, step: Step) -> None:
        """Record the valid actions, and let the other memory learn."""
        if len(self._seen) < _MOST_ACTIONS:
            self._seen.update(dict.fromkeys(a for a in step.valid_actions if '"' not in a))
        super().observe(step)

    def end(self, outcome: Outcome) -> None:
        """Let the other memory learn; with mixed outcomes, from a random earlier outcome."""
        if self.how == "outcomes":
            self._outcomes.append(outcome)
            outcome = self._chance("outcome").choice(self._outcomes)
        if self.how != "frozen":
            super().end(outcome)

    def _alter(self, honest: Recall, budget: int, chance: random.Random) -> Recall:
        if self.how == "raw" and isinstance(self._of, ExperienceMemory):
            others = self._of.raw(honest.lessons)
        elif self.how in ("actions", "world"):
            others = [_QUOTED.sub(self._other, lesson) for lesson in honest.lessons]
        else:
            return honest
        text = honest.text
        for lesson, other in zip(honest.lessons, others, strict=True):
            text = text.replace(lesson, other, 1)
        return honest._replace(text=text, lessons=tuple(others))

    def _chance(self, what: str) -> random.Random:
        key = f"{self._task.id}/{self._seed}/{self._trial}/{what}"
        return random.Random(zlib.crc32(key.encode("utf-8", "replace")))

    def _other(self, quoted: re.Match[str]) -> str:
        """Return another action, always the same one within a trial."""
        action = quoted[1]
        if action not in self._exchanged:
            self._exchanged[action] = self._exchange(action)
        return f'"{self._exchanged[action]}"'

    def _exchange(self, action: str) -> str:
        chance = self._chance(action)
        if self.how == "world":
            return f"take {chance.choice(_KINDS)} {chance.choice(_SUPPLIES)}"
        known = list(islice(self._seen, self._known))
        if without_numbers(action) == action:  # a lesson for other tasks names only kinds
            known = list(dict.fromkeys(map(without_numbers, known)))
        known = [other for other in known if other != action]
        return chance.choice(known) if known else action

    def state(self) -> dict[str, Any]:
        """Return the other memory's state, and what the exchange depends on."""
        own = {"actions": list(self._seen), "trial": self._trial, "known": self._known}
        return {**super().state(), **own, "outcomes": [list(o) for o in self._outcomes]}

    def load_state(self, state: dict[str, Any]) -> None:
        """Replace everything by what :meth:`state` returned."""
        self._seen = dict.fromkeys(check_text("action", action) for action in state["actions"])
        self._trial, self._known = int(state["trial"]), int(state["known"])
        self._outcomes = [typed(Outcome, outcome) for outcome in state["outcomes"]]
        self._exchanged = {}
        super().load_state(state)

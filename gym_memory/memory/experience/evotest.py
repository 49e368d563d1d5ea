"""EvoTest (2510.13220): actions that gained points, loops to avoid, and a tree of guidance."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from gym_memory.core.records import Outcome, Step, Task
from gym_memory.core.settings import Help
from gym_memory.core.text import words
from gym_memory.memory.experience.base import ExperienceMemory, ExperienceSettings, Trial
from gym_memory.memory.experience.items import Bank, Item, listed
from gym_memory.memory.reflexion import reflect
from gym_memory.memory.roles.llm_experience import LLMEvolve

__all__ = ["EvoTest", "EvoTestSettings", "choose_parent", "loops_in"]

_GAIN, _LOOP, _NODE = "gain", "loop", "guidance"
_STATE_CHARS = 400
_LEAST_STEPS, _WINDOW = 12, 10
_MOST_LOOPS = 50
_SHOWN_LOOPS = 3
_MOST_GUIDANCE = 4000


@dataclass(frozen=True)
class EvoTestSettings(ExperienceSettings):
    """Settings of EvoTest."""

    k: Annotated[int, Help("Gains to show at most; 3.", low=1)] = 3
    lifetime: Annotated[
        Literal["trial", "task", "forever"], Help("How long it is kept; the paper: trials.")
    ] = "trial"
    explore: Annotated[float, Help("Weight c of rarely extended guidance; 1.", low=0)] = 1.0
    depth: Annotated[float, Help("Factor a of that weight a level; .8.", low=0, high=1)] = 0.8
    gap: Annotated[
        float, Help("Points behind the best from which the best is played again; 50.", above=0)
    ] = 50.0


class EvoTest(ExperienceMemory):
    """EvoTest: a memory of gains and loops, and guidance chosen from a tree after each trial.

    At each step the ``k`` gains (state, action, points) are shown whose states share most words
    with the present one (Jaccard, above 0), and the last three loops. A trial is played under one
    guidance and scores it. Then a child is made of the guidance with the largest
    ``score + c a^depth sqrt(ln N / (1 + children))``, N = max(2, nodes). After a win the same
    guidance plays again, and after a score ``gap`` below the best one, the best guidance.

    Differences from the paper: by default rules write the guidance, as Reflexion does. A
    configuration is its guidance; code, temperature and the agent stay as they are. A guidance
    played again has the mean of its scores.
    """

    name: ClassVar[str] = "evotest"
    settings_class = EvoTestSettings
    settings: EvoTestSettings
    every_step = are_short = True

    def __init__(self, **settings: Any):
        super().__init__(**settings)
        self._evolve = LLMEvolve.or_rule(self._model, _evolve)

    def _choose(self, step: Step) -> Sequence[Item]:
        seen, near = _vocabulary(step.text[:_STATE_CHARS]), []
        for item in self.bank.of_kind(_GAIN):
            own = _vocabulary(item.key)
            similarity = len(seen & own) / len(seen | own) if seen & own else 0.0
            if similarity > 0:
                near.append((-similarity, -item.id, item))
        gains = [item for *_, item in sorted(near, key=lambda one: one[:2])[: self.settings.k]]
        loops = self.bank.of_kind(_LOOP)[: -_SHOWN_LOOPS - 1 : -1]
        node = self._current(self.bank)
        return [*([node] if node and node.text else []), *gains, *loops]

    def _current(self, bank: Bank) -> Item | None:
        """Return the guidance to play: one that was never played, else the best."""
        nodes = bank.of_kind(_NODE)
        new = [node for node in nodes if not node.uses]
        return new[-1] if new else max(nodes, key=lambda n: (n.utility, -n.id), default=None)

    def _write(self, trial: Trial) -> Iterable[Item]:
        yield from self._gains(trial)
        for actions in loops_in(trial.trace):
            text = f"A loop without gain; avoid: {listed(actions)}."
            yield trial.draft(text, key=text, kind=_LOOP)
        played = self._current(self.bank) or trial.draft("", key="0", kind=_NODE)
        score = float(trial.outcome.score)
        plays = played.uses + 1
        mean = played.utility + (score - played.utility) / plays
        played = played._replace(uses=plays, utility=mean, wins=played.wins + trial.success)
        yield played
        nodes = [n for n in self.bank.of_kind(_NODE) if n.id != played.id] + [played]
        nodes.sort(key=lambda node: node.id or 1 << 60)
        best = max(node.utility for node in nodes)
        if trial.success or best - score >= self.settings.gap:
            return
        parent = choose_parent(nodes, self.settings.explore, self.settings.depth)
        loops = [item.text for item in self.bank.of_kind(_LOOP)[-_SHOWN_LOOPS:]]
        text = self._evolve(parent.text, trial.trace, trial.outcome, trial.task, loops)
        depth = int(parent.key) + 1
        more = (str(parent.id),)  # 0 for a root that is added just before
        yield trial.draft(text[:_MOST_GUIDANCE], key=str(depth), kind=_NODE, more=more)

    def _gains(self, trial: Trial) -> Iterator[Item]:
        before = ""
        for step in trial.trace:
            if step.action and step.reward > 0:
                state = " ".join(before.split())[:_STATE_CHARS]
                text = f"STATE: {state}\nACTION: {listed([step.action])}\nGAIN: {step.reward:g}"
                yield trial.draft(text, key=before[:_STATE_CHARS], kind=_GAIN, step=step.t)
            before = step.text

    def _add(self, bank: Bank, draft: Item, trial: Trial) -> None:
        if draft.id:
            if draft.id in bank.items:
                bank.put(draft)
            return
        same = next((i for i in bank.of_kind(draft.kind) if i.text == draft.text), None)
        if same and draft.kind != _NODE:
            bank.merge(same, draft)
        else:
            if draft.more == ("0",):
                draft = draft._replace(more=(str(bank.of_kind(_NODE)[0].id),))
            bank.add(draft)

    def _worths(self, bank: Bank) -> dict[int, float]:
        worths = super()._worths(bank)
        return {id: math.inf if bank.items[id].kind == _NODE else worths[id] for id in worths}

    def _tidy(self, bank: Bank, trial: Trial) -> None:
        for item in bank.of_kind(_LOOP)[:-_MOST_LOOPS]:
            bank.remove(item.id)
        super()._tidy(bank, trial)


@functools.lru_cache(maxsize=4096)
def _vocabulary(text: str) -> frozenset[str]:
    return frozenset(words(text))


def loops_in(trace: Sequence[Step]) -> list[tuple[str, ...]]:
    """Return the last ten actions of each loop: without gain, or alternating ``a, b, a, b``.

    The first loop is noticed at step 12 or later, each next one at least ten steps later.
    """
    loops, steps, seen = [], [step for step in trace if step.action], 0
    for end in range(_LEAST_STEPS, len(steps) + 1):
        window = steps[end - _WINDOW : end]
        actions = tuple(step.action for step in window)
        back = set(actions[::2]), set(actions[1::2])
        turns = all(len(part) == 1 for part in back) and back[0] != back[1]
        if end >= seen and (turns or all(step.reward <= 0 for step in window)):
            loops.append(actions)
            seen = end + _WINDOW
    return loops


def choose_parent(nodes: Sequence[Item], explore: float, factor: float) -> Item:
    """Return the guidance to extend; ties go to the older.

    Each is a node with its score as ``utility`` and its depth as ``key``; the first of ``more`` is
    the id of its parent.
    """
    log = math.log(max(2, len(nodes)))
    children = [int(node.more[0]) for node in nodes if node.more]

    def value(node: Item) -> float:
        bonus = math.sqrt(log / (1 + children.count(node.id)))
        return node.utility + explore * factor ** int(node.key) * bonus

    return max(nodes, key=value)


def _evolve(
    guidance: str, trace: Sequence[Step], outcome: Outcome, task: Task, loops: Sequence[str]
) -> str:
    return reflect(trace, outcome, (), task)

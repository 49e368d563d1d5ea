"""How far along a demonstration an observation is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gym_memory.baselines.imitating.demonstrations import Demonstration, in_terms_of
from gym_memory.baselines.imitating.phrases import Act, fit, likeness, masked
from gym_memory.baselines.imitating.scene import Scene, is_move, is_refused
from gym_memory.types import Triple

__all__ = ["progress"]

_LATEST = 30
_SKIP = 0.4
"""What it costs, in agreeing moves, to leave out a demonstrated one or to add one of one's own."""
_EFFECT = 0.3


def progress(
    shown: Demonstration, scene: Scene, goal: str, rng: np.random.Generator, *, history: bool
) -> int:
    """The number of moves of a demonstration that are behind us.

    Every number is scored by what speaks for it: the moves that the memory tells, in order; the
    effects that it tells as facts; the last answer; what is carried; the published plan.
    Chance decides between equals.

    Args:
        shown: The demonstration.
        scene: The present situation.
        goal: The present goal.
        rng: For equals.
        history: Whether moves and facts that the memory tells count.
    """
    if scene.plan is None and not scene.done:
        return 0
    acts = [in_terms_of(move.act, shown.goal, goal) for move in shown.moves]
    score = np.zeros(len(acts) + 1)
    done = _counted(scene) if history else ()
    if done:
        score += _aligned(done, acts, cut=scene.cut or len(done) >= _LATEST)
    if history and scene.facts:
        found = np.array([_EFFECT * _told(act, scene.facts) for act in acts])
        score[1:] += np.cumsum(found)
        score[:-1] -= np.cumsum(found[::-1])[::-1]
    score += _present(shown, scene, acts)
    best = np.flatnonzero(score >= score.max() - 1e-9)
    return int(best[rng.integers(len(best))])


def _counted(scene: Scene) -> tuple[Act, ...]:
    """The moves made; one that was refused counts where it was refused before."""
    refused: set[Act] = set()
    counted: list[Act] = []
    for number, (act, answer) in enumerate(scene.done, 1):
        if is_move(act) or act.verb.isdigit():
            continue
        twice = act in refused or (scene.again and number == len(scene.done))
        if is_refused(answer) and not twice:
            refused.add(act)
        else:
            counted.append(act)
    return tuple(counted[-_LATEST:])


def _aligned(done: Sequence[Act], acts: Sequence[Act], *, cut: bool) -> np.ndarray:
    """Agreement of the moves made with the first ones of a demonstration, for each number.

    A demonstrated move that was left out costs, and so does one of one's own; at the start it is
    free where the memory is ``cut``.
    """
    row = -(0.0 if cut else _SKIP) * np.arange(len(acts) + 1)
    for act in done:
        fits = [fit(act, other) for other in acts]
        new = row - _SKIP
        for number, value in enumerate(fits, 1):
            if value > 0:
                new[number] = max(new[number], row[number - 1] + value)
            new[number] = max(new[number], new[number - 1] - _SKIP)
        row = new
    return row


def _told(act: Act, facts: tuple[Triple, ...]) -> bool:
    """Whether facts tell the effect of a move."""
    if not act.things:
        return False
    first, last = act.things[0], act.things[-1]
    for subject, relation, obj in facts:
        if act.verb == "pick up":
            found = relation == "is in" and obj == "inventory" and likeness(subject, first) > 0.6
        elif act.verb in ("move", "pour"):
            found = (
                relation.startswith("contains")
                and likeness(subject.partition(" in ")[0], last) > 0.6
                and likeness(obj, first) > 0.6
            )
        elif act.verb == "focus on":
            found = relation == "focused on" and likeness(obj, first) > 0.5
        else:
            return False
        if found:
            return True
    return False


def _present(shown: Demonstration, scene: Scene, acts: Sequence[Act]) -> np.ndarray:
    """What the last answer, the inventory and the plan speak for."""
    score = np.zeros(len(acts) + 1)
    carried = {thing.name for thing in scene.carried}
    plan, answer = scene.plan, masked(scene.text)
    performed = scene.made and (not is_refused(scene.text) or scene.again)
    before: frozenset[str] = shown.moves[0].carried if shown.moves else frozenset()
    for number in range(len(acts) + 1):
        behind = shown.moves[number - 1] if number else None
        held = behind.carried if behind else before
        union = len(held | carried)
        score[number] += 0.6 * (len(held & carried) / union if union else 1.0)
        if performed and plan is not None:
            if behind is not None:
                score[number] += fit(plan, acts[number - 1]) + likeness(answer, behind.answer)
        elif plan is not None and number < len(acts):
            score[number] += 2 * fit(plan, acts[number])
    return score

"""What to focus on where the goal makes it depend on what was measured or is seen."""

from __future__ import annotations

import re

from gym_memory.baselines.rules.scienceworld.goals import condition_of, is_shown
from gym_memory.baselines.rules.scienceworld.guide import Guide
from gym_memory.baselines.rules.scienceworld.phrases import Act
from gym_memory.baselines.rules.scienceworld.scene import Scene

__all__ = ["decided", "is_measured"]

_SUPERLATIVE = re.compile(r"\b(?:most|least|\w+est)\b")
_THRESHOLD = re.compile(r"(above|below) (-?\d+(?:\.\d+)?)")


def is_measured(goal: str, act: Act) -> bool:
    """True if a goal makes a thing of an action depend on a temperature."""
    return any(_THRESHOLD.search(condition_of(goal, phrase)[0]) for phrase in act.things)


def decided(act: Act, goal: str, guide: Guide, scene: Scene) -> Act | None:
    """Return an action with the thing that the goal wants; None where that is not known yet."""
    if act.verb == "focus on" and len(guide.shown.measured) > 1:
        return _timed(act, goal, guide, scene)
    for number, phrase in enumerate(act.things):
        condition, other = condition_of(goal, phrase)
        found = _THRESHOLD.search(condition)
        if found is not None:
            if scene.plan and scene.plan.verb == act.verb and not scene.made:
                return scene.plan  # what was decided stays so
            above = _is_above(float(found[2]), scene, melting="melting point" in condition)
            if above is None:
                return None
            holds = above == (found[1] == "above")
        else:
            holds = not condition or _is_as_shown(goal, guide, scene)
        if not holds:
            things = list(act.things)
            things[number] = other.rpartition(" the ")[2]
            return act._replace(things=tuple(things))
    return act


def _timed(act: Act, goal: str, guide: Guide, scene: Scene) -> Act:
    """Focus on what took longest, or shortest, as in the demonstration.

    Where the goal wants the least of what the demonstration had the most of, the other one.
    """
    there, here = guide.shown.measured, scene.measured
    chosen = guide.shown.moves[-1].act.things[0]
    if chosen not in there or len(here) < 2:
        return act
    same = _SUPERLATIVE.findall(goal) == _SUPERLATIVE.findall(guide.shown.goal)
    most = (there[chosen] == max(there.values())) == same
    best = (max if most else min)(here, key=lambda name: here[name])
    return act._replace(things=(best,))


def _is_above(threshold: float, scene: Scene, *, melting: bool) -> bool | None:
    if not melting:
        return scene.readings[-1][0] > threshold if scene.readings else None
    solid = [value for value, liquid in scene.readings if not liquid]
    molten = [value for value, liquid in scene.readings if liquid]
    if solid and threshold <= max(solid):
        return True
    if molten and threshold >= min(molten):
        return False
    return threshold < (max(solid) + min(molten)) / 2 if solid and molten else None


def _is_as_shown(goal: str, guide: Guide, scene: Scene) -> bool:
    """True if the goal's trait shows here just where it did in the demonstration."""
    shown = is_shown(goal, scene.text) if scene.view else None
    return shown is None or shown == guide.shown.shown

"""What to do where nothing is planned: something that was not tried here."""

from __future__ import annotations

import numpy as np

from gym_memory.baselines.rules.beliefs import Beliefs
from gym_memory.baselines.rules.plan import Aim, Kind, Move

__all__ = ["shows_only", "try_any", "try_new"]

WANDERING = Aim("wander", Kind.WANDER)
_PROMISING, _USUAL, _IDLE, _RISKY = range(4)
_SAME_AGAIN = ("look", "inventory", "wait", "help")
_SHOWING = (*_SAME_AGAIN, "examine", "read", "goal")
_FINAL = ("eat", "drink", "burn", "break", "throw", "attack", "kill")
_KINDS = {
    **dict.fromkeys(("take", "open", "unlock", "read", "get", "search"), _PROMISING),
    **dict.fromkeys((*_SAME_AGAIN, "drop"), _IDLE),
    **dict.fromkeys((*_FINAL, "cook", "chop", "slice", "dice", "close", "lock"), _RISKY),
}
"""First words of actions; of all others it shows only when one tries."""
_WEIGHT = 2
"""A second try is as dull as an action two kinds less promising."""


def try_new(beliefs: Beliefs, rng: np.random.Generator) -> Move:
    """The valid action that promises most and was tried least here; of equals, any.

    What is done to a thing that the task or a text names promises more. What cannot be undone
    comes last, and what only shows again what is in view before it.
    """
    if not beliefs.here and "look" in beliefs.actions:
        return Move("look", Aim("wander, find out where this is", Kind.WANDER))
    if not beliefs.actions:
        return Move("look", WANDERING)
    dull = {a: _KINDS.get(a.split(" ")[0], _USUAL) for a in beliefs.actions}
    wanted = [thing for thing in beliefs.held() if beliefs.is_spoken_of(thing)]
    for action, kind in dull.items():
        if kind == _USUAL and any(f" {thing} " in f"{action} " for thing in wanted):
            dull[action] = _PROMISING
        if not action.startswith("go "):
            dull[action] += _WEIGHT * beliefs.tried(action)
    least = [action for action in dull if dull[action] == min(dull.values())]
    return Move(least[int(rng.integers(len(least)))], WANDERING)


def shows_only(action: str) -> bool:
    """Whether an action changes nothing: it shows what is there."""
    return action.split(" ")[0] in _SHOWING


def try_any(beliefs: Beliefs, rng: np.random.Generator) -> Move | None:
    """An action by chance that may change something; None where there is no such action.

    Who remembers nothing reads the same page for ever, and is worse off than one who just acts.
    """
    doing = [a for a in beliefs.actions if not shows_only(a) and a.split(" ")[0] not in _FINAL]
    if not doing:
        return None
    return Move(doing[int(rng.integers(len(doing)))], Aim("wander, try anything", Kind.WANDER))

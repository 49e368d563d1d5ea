"""Bases of rule-based players, and the moves that each knows: going, exploring, trying."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar

import numpy as np

from gym_memory.baselines.base import Policy
from gym_memory.baselines.rules.beliefs import Beliefs, Transcript
from gym_memory.baselines.rules.plan import Aim, Kind, Move, Plan, saw
from gym_memory.core.records import Observation, PlanState, Step, Task, changed
from gym_memory.extract import get_extractor
from gym_memory.graph import TemporalGraph
from gym_memory.graph.map import shortest_path
from gym_memory.graph.schema import DIRECTIONS, OPPOSITE, PLAYER

__all__ = ["AdvisedPolicy", "Advisor", "RulePolicy", "explore", "follow", "go_to", "open_here"]
__all__ += ["seek_new", "shows_only", "step_towards", "try_any", "try_new"]


_WANDERING = Aim("wander", Kind.WANDER)
_PROMISING, _USUAL, _IDLE, _RISKY = range(4)
"""Ranks of verbs, in the order in which they are tried."""
_SAME_AGAIN = ("look", "inventory", "wait", "help")
_SHOWING = (*_SAME_AGAIN, "examine", "read", "goal")
"""Verbs that change nothing."""
_FINAL = ("eat", "drink", "burn", "break", "throw", "attack", "kill")
"""Verbs that cannot be undone."""
_KINDS = {
    **dict.fromkeys(("take", "open", "unlock", "read", "get", "search"), _PROMISING),
    **dict.fromkeys((*_SAME_AGAIN, "drop"), _IDLE),
    **dict.fromkeys((*_FINAL, "jump", "cook", "chop", "slice", "dice", "close", "lock"), _RISKY),
}
"""Ranks of the first words of actions; all others are usual."""
_RANKS_A_TRY = 2
"""Ranks that an action loses by each earlier try."""


_DARK = re.compile(r"\b(?:pitch[- ](?:black|dark)|too dark to see)\b", re.IGNORECASE)
_MOST_REPETITIONS = 3
"""Repetitions of an action, or steps without anything new, after which it is given up."""


def try_new(beliefs: Beliefs, rng: np.random.Generator) -> Move:
    """Return the most promising valid action that was tried least here; ties are drawn.

    Actions on a held thing that the task or a text names come earlier, those that only show what is
    in view late, irreversible ones last. Actions without effect in the present situation are
    repeated only if nothing else is left, the oldest first.
    """
    vain = beliefs.plan.vain
    actions = beliefs.actions or ("look", *(f"go {way}" for way in DIRECTIONS))
    if not (beliefs.here and beliefs.actions) and "look" in actions and "look" not in vain:
        return Move("look", Aim("wander, find out where this is", Kind.WANDER))
    if vain and all(action in vain for action in actions):
        return Move(min(actions, key=vain.index), _WANDERING)
    actions = tuple(action for action in actions if action not in vain)
    dull = {a: _KINDS.get(a.split(" ")[0], _USUAL) for a in actions}
    wanted = [thing for thing in beliefs.held() if beliefs.is_mentioned(thing)]
    for action, kind in dull.items():
        if kind == _USUAL and any(f" {thing} " in f"{action} " for thing in wanted):
            dull[action] = _PROMISING
        if not action.startswith("go "):
            dull[action] += _RANKS_A_TRY * beliefs.tried(action)
    least = [action for action in dull if dull[action] == min(dull.values())]
    return Move(least[int(rng.integers(len(least)))], _WANDERING)


def seek_new(beliefs: Beliefs, rng: np.random.Generator) -> Iterator[Move]:
    """Yield untried actions in a world without a request, the most promising first.

    Here, things to take, open or read come before ways, and ways before other actions. The nearest
    unexplored exit follows, then placements, then the least used way out.
    """
    tried = {action: beliefs.tried(action) for action in beliefs.actions}
    back = f"go {OPPOSITE[beliefs.plan.action.removeprefix('go ')]}"
    exits = beliefs.unexplored(beliefs.here)
    going = beliefs.options("go")
    ways = [going[i] for i in rng.permutation(len(going))]
    ways.sort(key=lambda way: (tried[way], way.removeprefix("go ") not in exits, way == back))
    kinds = {a: _KINDS.get(a.split(" ")[0], _USUAL) for a, n in tried.items() if not n}
    promising = [a for a, kind in kinds.items() if kind == _PROMISING]
    usual = [a for a, kind in kinds.items() if kind == _USUAL and a not in ways]
    puts = [a for a in usual if a.startswith(("put ", "insert "))]
    if _DARK.search(beliefs.text):
        yield Move(back, Aim("leave the dark", Kind.EXPLORE))
    for action in (
        *promising,
        *(w for w in ways if w in kinds),
        *(a for a in usual if a not in puts),
    ):
        yield Move(action, Aim(f"try to {action}", Kind.TRY))
    far = explore(beliefs, Aim("explore", Kind.EXPLORE))
    if far is not None and max(tried.get(far.action, 0), beliefs.plan.idle) < _MOST_REPETITIONS:
        yield far
    for action in (*puts, *ways):
        yield Move(action, Aim(f"try to {action} again", Kind.EXPLORE))


def shows_only(action: str) -> bool:
    """True if an action only shows what is there and changes nothing."""
    return action.split(" ")[0] in _SHOWING


def try_any(beliefs: Beliefs, rng: np.random.Generator) -> Move | None:
    """Return a random action that may change something; None if there is none.

    A player without memory would otherwise read the same page forever.
    """
    vain = beliefs.plan.vain
    actions = [action for action in beliefs.actions if action not in vain]
    doing = [a for a in actions if not shows_only(a) and a.split(" ")[0] not in _FINAL]
    if not doing:
        return None
    return Move(doing[int(rng.integers(len(doing)))], Aim("wander, try anything", Kind.WANDER))


def _path(beliefs: Beliefs, place: str) -> list[str] | None:
    legs = shortest_path(beliefs.here, place, beliefs.ways)
    return None if legs is None else [leg.direction for leg in legs]


def step_towards(beliefs: Beliefs, place: str) -> str | None:
    """Return the next action on the shortest known way to a place; None if there is none."""
    path = _path(beliefs, place)
    return _leave(beliefs, path[0]) if path else None


def go_to(beliefs: Beliefs, place: str, aim: Aim) -> Move | None:
    """Return a move towards a place; the rest of the way goes into the aim."""
    return _along(beliefs, _path(beliefs, place), aim)


def follow(beliefs: Beliefs) -> Move | None:
    """Return the next move of the way that the last aim planned.

    A planned way stays valid although the map behind it is no longer recalled.
    """
    return _along(beliefs, list(beliefs.plan.aim.route), beliefs.plan.aim)


def _along(beliefs: Beliefs, path: list[str] | None, aim: Aim) -> Move | None:
    action = _leave(beliefs, path[0]) if path else None
    if not path or not action:
        return None
    rest = path[1:] if action == f"go {path[0]}" else path
    return Move(action, changed(aim, route=tuple(rest)))


def _leave(beliefs: Beliefs, direction: str) -> str | None:
    action = f"go {direction}"
    shut = beliefs.openness(beliefs.door(beliefs.here, direction)) in ("closed", "locked")
    if beliefs.can(action) and beliefs.actions and not shut:
        return action
    opening = _open_way(beliefs, direction)
    return opening or (action if beliefs.can(action) else None)


def _open_way(beliefs: Beliefs, direction: str) -> str | None:
    """Return the action that opens or unlocks the door in a direction; None if there is none."""
    door = beliefs.door(beliefs.here, direction)
    that_way = (a for a in beliefs.options("open") if direction in a.split())
    unlocking = (a for a in beliefs.options("unlock") if a.startswith(f"unlock {door} with "))
    named = (f"open {door}", *unlocking) if door else ()
    return next((a for a in (*named, *that_way) if beliefs.can(a)), None)


def explore(beliefs: Beliefs, aim: Aim) -> Move | None:
    """Return a move towards an unexplored exit, or through it.

    The nearest exit is chosen unless the plan leads to another: recalls differ from place to place,
    and the player would turn back at every step. The exit becomes part of the aim.
    """
    frontier = [exit_ for _, exit_ in beliefs.frontier()]
    plan = beliefs.plan
    planned = plan.aim.exit
    here = planned is not None and planned[0] == beliefs.here
    failed = here and not beliefs.shows_place  # a move that succeeds shows the new place
    if planned and failed and plan.action == f"go {planned[1]}":
        opening = _open_way(beliefs, planned[1]) if beliefs.actions else None
        if opening:  # a door believed open, or of unknown name
            return Move(opening, changed(aim, exit=(beliefs.here, planned[1])))
        frontier.sort(key=lambda exit_: exit_ == (beliefs.here, planned[1]))
    elif planned and plan.aim.text.startswith(aim.text):
        if planned in frontier:
            frontier.insert(0, planned)
        elif move := follow(beliefs):
            return move
    for place, direction in frontier:
        path = _path(beliefs, place)
        if path is not None:
            if direction in DIRECTIONS:
                through = changed(aim, exit=(place, direction))
            else:  # a named exit may be none: it is tried once
                through = changed(aim, text=f"{aim.text}, {direction} of {place}")
            move = _along(beliefs, [*path, direction], through)
            if move is not None:
                return move
    return _wait_for_way(beliefs, aim)


def _wait_for_way(beliefs: Beliefs, aim: Aim) -> Move | None:
    """Wait a step for the way to an exit that the memory knows; the aim names the exit."""
    far = beliefs.far_exits()
    if not far:
        return None
    wanted = changed(aim, exit=far[0])
    last = beliefs.plan.aim
    return None if (last.text, last.exit) == (aim.text, far[0]) else Move("look", wanted)


def open_here(beliefs: Beliefs, aim: Aim) -> Move | None:
    """Return a move that opens something shut here, to see its contents."""
    for thing in beliefs.contents(beliefs.here):
        opening = beliefs.opening(thing)
        if opening and beliefs.openness(thing) != "open":
            return Move(opening, aim)
    return None


# ------------------------------------------------------------ moves that every player knows


class RulePolicy(Policy):
    """A policy that reads the observation by the extraction rules of its dialect.

    Between steps it keeps the plan that it publishes as ``focus``, and the part of a growing
    transcript that it has read.
    """

    start: ClassVar[PlanState] = PlanState()
    """Plan before the first step."""
    dialect: ClassVar[str] = "textworld"
    """Dialect to read by if the info of the reset names none."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(0)
        self._task_id, self._dialect = "", self.dialect
        self._transcript = Transcript()
        self.focus = self.start

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:
        """Start an episode without a plan."""
        self.rng = np.random.default_rng(seed)
        self._task_id = info.get("task_id", "")
        self._dialect = info.get("dialect", self._dialect)
        self._transcript = Transcript()
        self.focus = self.start

    def _task(self, obs: Observation) -> Task:
        return Task(self._task_id, obs["task"], self._dialect)

    def _place(self, obs: Observation) -> str:
        """Return the place that the observation names; empty without one."""
        rules = get_extractor(self._dialect)
        found = rules.extract(Step(0, obs["text"]), TemporalGraph(), self._task(obs))
        places = [m.triple.object for m in found.mentions if m.triple[:2] == (PLAYER, "is in")]
        return places[-1] if places else ""


# ------------------------------------------------------------ advisors

Advisor = Callable[[Beliefs], Iterable[Move]]
"""A function from beliefs to possible moves, the best first."""

_PATIENCE = 10
"""Steps without anything new, after which an aim is given up."""
_RESTLESS = 3
"""Steps without anything new, after which a player without memory stops looking at things."""
_WITHOUT_EFFECT_TWICE = ("examine ", "read ", "take ", "open ", "unlock ")
"""Actions that change nothing when repeated at once."""


class AdvisedPolicy(RulePolicy):
    """A policy that follows the first possible advice of its advisors, else tries new things.

    It gives up an aim that failed a few times, or that brought nothing new for many steps.
    ``advisors`` are in order, the most urgent first.
    """

    start: ClassVar[Plan] = Plan()
    focus: Plan

    def __init__(self, *advisors: Advisor) -> None:
        super().__init__()
        self._advisors = advisors

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """Return the next action; publishes the plan behind it as ``focus``."""
        plan = self.focus
        idle, seen = saw(plan, obs["text"], obs["inventory"])
        plan = changed(plan, idle=idle, seen=seen)
        if idle == 0:
            plan = plan.take_up()
        elif idle >= _PATIENCE and not plan.aim.waits:
            plan = changed(plan.give_up(plan.aim), idle=1)
        rules = get_extractor(self._dialect)
        t = info.get("moves")
        beliefs = Beliefs(obs, rules, self._task(obs), plan, self.rng, self._transcript, t)
        if not getattr(rules, "complete", False):  # else giving up aims ends every circle
            plan = beliefs.plan = plan.in_situation(beliefs.here, obs)
        move = self._decide(beliefs, plan)
        forgets = not (obs["memory"] or obs["triples"])
        if forgets and plan.idle >= _RESTLESS and shows_only(move.action):
            move = try_any(beliefs, self.rng) or move
        self.focus = plan.after(move)
        return beliefs.spelled(move.action)

    def _decide(self, beliefs: Beliefs, plan: Plan) -> Move:
        for advise in self._advisors:
            for move in advise(beliefs):
                if (
                    beliefs.can(move.action)
                    and not plan.has_given_up(move.aim)
                    and not plan.is_vain(move)
                    and not (
                        move.action == plan.action and move.action.startswith(_WITHOUT_EFFECT_TWICE)
                    )
                ):
                    return move
        return try_new(beliefs, self.rng)

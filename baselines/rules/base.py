"""Base classes of rule-based players, and moves that all share: going, exploring, trying."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar

import numpy as np

from gym_memory.baselines.base import Policy
from gym_memory.baselines.rules.beliefs import Beliefs, Transcript
from gym_memory.baselines.rules.plan import Aim, Kind, Move, Plan, track_novelty
from gym_memory.core.records import Observation, PlanState, Step, Task, changed
from gym_memory.extract import get_extractor
from gym_memory.graph import TemporalGraph
from gym_memory.graph.map import shortest_path
from gym_memory.graph.schema import DIRECTIONS, OPPOSITE, PLAYER

__all__ = ["AdvisedPolicy", "Advisor", "RulePolicy", "explore", "follow", "go_to", "open_here"]
__all__ += ["seek_new", "shows_only", "step_towards", "try_any", "try_new"]

_WANDERING = Aim("wander", Kind.WANDER)
_PROMISING, _USUAL, _IDLE, _RISKY = range(4)
"""Ranks of verbs; lower ranks are tried first."""
_STATUS_VERBS = ("look", "inventory", "wait", "help")
_PASSIVE_VERBS = (*_STATUS_VERBS, "examine", "read", "goal")
"""Verbs that change nothing."""
_IRREVERSIBLE_VERBS = ("eat", "drink", "burn", "break", "throw", "attack", "kill")
"""Verbs that cannot be undone."""
_VERB_RANKS = {
    **dict.fromkeys(("take", "open", "unlock", "read", "get", "search"), _PROMISING),
    **dict.fromkeys((*_STATUS_VERBS, "drop"), _IDLE),
    **dict.fromkeys(
        (*_IRREVERSIBLE_VERBS, "jump", "cook", "chop", "slice", "dice", "close", "lock"), _RISKY
    ),
}
"""Ranks of the first words of actions; all others are usual."""
_RANKS_LOST_PER_TRY = 2
"""Ranks that an action loses by each earlier try."""

_DARK = re.compile(r"\b(?:pitch[- ](?:black|dark)|too dark to see)\b", re.IGNORECASE)
_MOST_REPETITIONS = 3
"""Repetitions of an action, or steps without anything new, before it is given up."""


def try_new(beliefs: Beliefs, rng: np.random.Generator) -> Move:
    """Return the valid action of the best rank; ties are broken at random.

    A rank depends on the verb and on the number of tries here. Actions on a held thing that the
    task or a text names rank higher. Actions that had no effect in the present situation are
    repeated only if nothing else is left, the oldest first.
    """
    vain = beliefs.plan.vain
    actions = beliefs.actions or ("look", *(f"go {way}" for way in DIRECTIONS))
    if not (beliefs.here and beliefs.actions) and "look" in actions and "look" not in vain:
        return Move("look", Aim("wander, find out where this is", Kind.WANDER))
    if vain and all(action in vain for action in actions):
        return Move(min(actions, key=vain.index), _WANDERING)
    actions = tuple(action for action in actions if action not in vain)
    ranks = {a: _VERB_RANKS.get(a.split(" ")[0], _USUAL) for a in actions}
    wanted = [thing for thing in beliefs.held() if beliefs.is_mentioned(thing)]
    for action, kind in ranks.items():
        if kind == _USUAL and any(f" {thing} " in f"{action} " for thing in wanted):
            ranks[action] = _PROMISING
        if not action.startswith("go "):
            ranks[action] += _RANKS_LOST_PER_TRY * beliefs.tried(action)
    best = [action for action in ranks if ranks[action] == min(ranks.values())]
    return Move(best[int(rng.integers(len(best)))], _WANDERING)


def seek_new(beliefs: Beliefs, rng: np.random.Generator) -> Iterator[Move]:
    """Yield actions for a task that requests nothing specific, the most promising first.

    The order is: promising verbs (take, open, read), unused ways out, other untried actions, the
    nearest unexplored exit, placements, the least used way out.
    """
    tried = {action: beliefs.tried(action) for action in beliefs.actions}
    back = f"go {OPPOSITE[beliefs.plan.action.removeprefix('go ')]}"
    exits = beliefs.unexplored(beliefs.here)
    going = beliefs.options("go")
    ways = [going[i] for i in rng.permutation(len(going))]
    ways.sort(key=lambda way: (tried[way], way.removeprefix("go ") not in exits, way == back))
    kinds = {a: _VERB_RANKS.get(a.split(" ")[0], _USUAL) for a, n in tried.items() if not n}
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
    return action.split(" ")[0] in _PASSIVE_VERBS


def try_any(beliefs: Beliefs, rng: np.random.Generator) -> Move | None:
    """Return a random action that may change something; None if there is none.

    A player without memory would otherwise read the same page forever.
    """
    vain = beliefs.plan.vain
    actions = [action for action in beliefs.actions if action not in vain]
    doing = [a for a in actions if not shows_only(a) and a.split(" ")[0] not in _IRREVERSIBLE_VERBS]
    if not doing:
        return None
    return Move(doing[int(rng.integers(len(doing)))], Aim("wander, try anything", Kind.WANDER))


def _path(beliefs: Beliefs, place: str) -> list[str] | None:
    legs = shortest_path(beliefs.here, place, beliefs.ways)
    return None if legs is None else [leg.direction for leg in legs]


def step_towards(beliefs: Beliefs, place: str) -> str | None:
    """Return the first action on the shortest known way to a place; None if there is no way."""
    path = _path(beliefs, place)
    return _leave_by(beliefs, path[0]) if path else None


def go_to(beliefs: Beliefs, place: str, aim: Aim) -> Move | None:
    """Return a move towards a place, whose aim keeps the rest of the route."""
    return _start_path(beliefs, _path(beliefs, place), aim)


def follow(beliefs: Beliefs) -> Move | None:
    """Return the next move on the route of the last aim.

    The route stays valid if the map is no longer recalled.
    """
    return _start_path(beliefs, list(beliefs.plan.aim.route), beliefs.plan.aim)


def _start_path(beliefs: Beliefs, path: list[str] | None, aim: Aim) -> Move | None:
    action = _leave_by(beliefs, path[0]) if path else None
    if not path or not action:
        return None
    rest = path[1:] if action == f"go {path[0]}" else path
    return Move(action, changed(aim, route=tuple(rest)))


def _leave_by(beliefs: Beliefs, direction: str) -> str | None:
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

    The planned exit is kept, else the nearest one is chosen. Without this, recalls that differ
    between places could make the player turn back at every step.
    """
    frontier = [exit_ for _, exit_ in beliefs.frontier()]
    plan = beliefs.plan
    planned = plan.aim.exit
    here = planned is not None and planned[0] == beliefs.here
    failed = here and not beliefs.shows_place  # a successful move shows the new place
    if planned and failed and plan.action == f"go {planned[1]}":
        opening = _open_way(beliefs, planned[1]) if beliefs.actions else None
        if opening:  # the door was believed open or had no known name
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
            else:  # a named exit may not exist, so it is tried once
                through = changed(aim, text=f"{aim.text}, {direction} of {place}")
            move = _start_path(beliefs, [*path, direction], through)
            if move is not None:
                return move
    return _wait_for_way(beliefs, aim)


def _wait_for_way(beliefs: Beliefs, aim: Aim) -> Move | None:
    """Return a look whose aim names a far exit, so that the memory may recall the way."""
    far = beliefs.far_exits()
    if not far:
        return None
    wanted = changed(aim, exit=far[0])
    last = beliefs.plan.aim
    return None if (last.text, last.exit) == (aim.text, far[0]) else Move("look", wanted)


def open_here(beliefs: Beliefs, aim: Aim) -> Move | None:
    """Return a move that opens a closed thing here, to see its contents."""
    for thing in beliefs.contents(beliefs.here):
        opening = beliefs.opening(thing)
        if opening and beliefs.openness(thing) != "open":
            return Move(opening, aim)
    return None


class RulePolicy(Policy):
    """A policy that reads the observation by the extraction rules of its dialect.

    Between steps it keeps its plan, published as ``focus``, and the graph of the transcript so far.
    """

    start: ClassVar[PlanState] = PlanState()
    """Plan before the first step."""
    dialect: ClassVar[str] = "textworld"
    """Dialect of the extraction rules if the reset info names none."""

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
        """Return the place that the observation names, or an empty string."""
        rules = get_extractor(self._dialect)
        found = rules.extract(Step(0, obs["text"]), TemporalGraph(), self._task(obs))
        places = [m.triple.object for m in found.mentions if m.triple[:2] == (PLAYER, "is in")]
        return places[-1] if places else ""


Advisor = Callable[[Beliefs], Iterable[Move]]
"""A function from beliefs to possible moves, the best first."""

_PATIENCE = 10
"""Steps without anything new before an aim is given up."""
_PATIENCE_WITHOUT_MEMORY = 3
"""Steps without anything new before a player without memory tries any action."""
_IDEMPOTENT_ACTIONS = ("examine ", "read ", "take ", "open ", "unlock ")
"""Actions whose immediate repetition changes nothing."""


class AdvisedPolicy(RulePolicy):
    """A policy that makes the first possible move of its advisors, else tries new actions.

    It gives up an aim after a few failures or many steps without anything new.

    Args:
        advisors: Sources of moves, the most urgent first.
    """

    start: ClassVar[Plan] = Plan()
    focus: Plan

    def __init__(self, *advisors: Advisor) -> None:
        super().__init__()
        self._advisors = advisors

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """Return the next action and publish its plan as ``focus``."""
        plan = self.focus
        idle, seen = track_novelty(plan, obs["text"], obs["inventory"])
        plan = changed(plan, idle=idle, seen=seen)
        if idle == 0:
            plan = plan.resume_exploring()
        elif idle >= _PATIENCE and not plan.aim.waits:
            plan = changed(plan.give_up(plan.aim), idle=1)
        rules = get_extractor(self._dialect)
        t = info.get("moves")
        beliefs = Beliefs(obs, rules, self._task(obs), plan, self.rng, self._transcript, t)
        # with complete rules, giving up aims ends every loop
        if not getattr(rules, "complete", False):
            plan = beliefs.plan = plan.in_situation(beliefs.here, obs)
        move = self._decide(beliefs, plan)
        forgets = not (obs["memory"] or obs["triples"])
        if forgets and plan.idle >= _PATIENCE_WITHOUT_MEMORY and shows_only(move.action):
            move = try_any(beliefs, self.rng) or move
        self.focus = plan.after(move)
        return beliefs.spelled(move.action)

    def _decide(self, beliefs: Beliefs, plan: Plan) -> Move:
        for advise in self._advisors:
            for move in advise(beliefs):
                again = move.action == plan.action and move.action.startswith(_IDEMPOTENT_ACTIONS)
                useless = again or plan.has_given_up(move.aim) or plan.is_vain(move)
                if beliefs.can(move.action) and not useless:
                    return move
        return try_new(beliefs, self.rng)

"""Choose the demonstration that agrees best with the goal and the moves so far.

Progress along it is inferred from the moves, facts and views in the memory. If a measurement
decides the focus, the value measured here replaces the demonstrated one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gym_memory.baselines.rules.scienceworld.demonstrations import Demonstration, nearest
from gym_memory.baselines.rules.scienceworld.phrases import (
    Act,
    Translation,
    condition_of,
    fit,
    is_among,
    is_shown,
    likeness,
    masked,
    named_words,
    terms,
    words,
)
from gym_memory.baselines.rules.scienceworld.scene import (
    ScienceScene,
    is_move,
    is_refused,
    measured,
)
from gym_memory.core.records import Triple

__all__ = ["DemonstrationProgress", "Guide", "choose", "decided", "progress"]

# ------------------------------------------------------------ progress

_LATEST = 60
_SKIP_COST = 0.4
"""Cost of an omitted or an added move, in agreeing moves."""
_FOCUS_SKIP_COST = 2.0
"""Cost of an omitted focus, in agreeing moves."""
_ROUND_COST = 0.02
"""Cost per repetition more or fewer than demonstrated, in agreeing moves."""
_ANSWER_WEIGHT = 0.4
"""Weight of the answer to a move, relative to the move."""
_EFFECT_WEIGHT = 0.3
_ROOM_WEIGHT = 0.5
"""Weight of a move in the room where it was demonstrated."""
_GIVEN_UP_COST = 1000.0
"""Cost of an abandoned next move, in agreeing moves, above the sum of all others."""
_OWN, _MATCH, _AGAIN, _LEAVE_OUT, _BACK = range(5)

Scores = NDArray[np.float64]


class DemonstrationProgress(NamedTuple):
    """Progress along a demonstration.

    ``done`` counts finished moves, whose agreement is ``value``, in agreeing moves. ``pairs`` has
    past moves with the numbers of the demonstrated moves that they match.
    """

    done: int
    value: float
    pairs: tuple[tuple[Act, int], ...]


def progress(
    shown: Demonstration,
    terms: Translation,
    scene: ScienceScene,
    rng: np.random.Generator,
    abandoned: tuple[Act, ...] = (),
) -> DemonstrationProgress:
    """Return the progress along a demonstration.

    Each number of finished moves is scored by its evidence: the moves and answers in the memory, in
    order, effects in its facts, the last answer, the inventory and the published plan. The next
    move is not among the ``abandoned`` ones.
    """
    if scene.plan is None and not scene.done:
        return DemonstrationProgress(0, 0.0, ())
    score = _present(shown, terms, scene)
    done = _counted(scene)
    cut = scene.cut or len(done) >= _LATEST
    alignment = _Alignment(shown, terms, outset=0.0 if cut else 1.0)
    for act, answer in done:
        alignment.add(act, answer)
    if done:
        score += alignment.row
    if scene.facts:
        acts = _acts(shown, terms)
        first = {act: number for number, act in reversed([*enumerate(acts)])}
        found = np.array(
            [
                _EFFECT_WEIGHT * (first[a] == n and _has_effect(a, scene.facts))
                for n, a in enumerate(acts)
            ]
        )
        score[1:] += np.cumsum(found)
        score[:-1] -= np.cumsum(found[::-1])[::-1]
    score -= _GIVEN_UP_COST * _vain(shown, terms, abandoned)
    best = np.flatnonzero(score >= score.max() - 1e-9)
    behind = int(best[rng.integers(len(best))])
    return DemonstrationProgress(behind, float(score.max()), tuple(alignment.pairs(behind)))


def _counted(scene: ScienceScene) -> tuple[tuple[Act, str], ...]:
    """Return the moves since the last gap; a refused one counts from its second refusal on."""
    refused: set[Act] = set()
    counted: list[tuple[Act, str]] = []
    for number, (act, answer) in enumerate(scene.done, 1):
        if number <= scene.gap or is_move(act) or act.verb.isdigit():
            continue
        twice = act in refused or (scene.again and number == len(scene.done))
        if is_refused(answer) and not twice:
            refused.add(act)
        else:
            counted.append((act, masked(answer)))
    return tuple(counted[-_LATEST:])


class _Alignment:
    """An alignment of past moves with demonstrated ones, in order.

    Omitted and added moves have a cost; other numbers of repetitions have a small one. ``row`` has
    the agreement for each number of finished demonstrated moves.
    """

    def __init__(self, shown: Demonstration, terms: Translation, *, outset: float):
        self._shown, self._terms = shown, terms
        cost = np.where(
            shown.repeats, _ROUND_COST, np.where(shown.focuses, _FOCUS_SKIP_COST, _SKIP_COST)
        )
        self._cost = np.concatenate([[0.0], np.cumsum(cost)])
        self._made: list[Act] = []
        self._steps: list[tuple[NDArray[np.int8], NDArray[np.bool_], dict[int, int]]] = []
        self.row: Scores = -self._cost * outset

    def add(self, act: Act, answer: str) -> None:
        """Add the next past move with its answer."""
        fits = _fits(self._shown, self._terms, act)
        agree = fits + _ANSWER_WEIGHT * np.where(fits > 0, _answers(self._shown, answer), 0.0)
        new = self.row - _SKIP_COST
        how = np.full(len(new), _OWN, dtype=np.int8)
        matched = np.where(fits > 0, self.row[:-1] + agree, -np.inf)
        same = self._shown.repeated & (fits > 0.6)
        again = np.where(same, self.row[1:] + agree - _ROUND_COST, -np.inf)
        for kind, value in ((_AGAIN, again), (_MATCH, matched)):
            better = value >= new[1:]
            new[1:] = np.where(better, value, new[1:])
            how[1:][better] = kind
        base = how.copy()
        back: dict[int, int] = {}
        for start, end in self._shown.rounds:
            if new[end] - _ROUND_COST > new[start]:
                new[start], back[start] = new[end] - _ROUND_COST, end
        free = np.maximum.accumulate(new + self._cost) - self._cost
        left_out = free > new + 1e-9
        self.row = np.where(left_out, free, new)
        self._made.append(act)
        self._steps.append((base, left_out, back))

    def pairs(self, behind: int) -> list[tuple[Act, int]]:
        """Return the past moves that match demonstrated ones, latest first."""
        found = []
        for act, (how, left_out, back) in zip(self._made[::-1], self._steps[::-1], strict=True):
            while left_out[behind]:
                behind -= 1
            behind = back.get(behind, behind)
            if how[behind] in (_MATCH, _AGAIN):
                found.append((act, behind - 1))
                behind -= int(how[behind] == _MATCH)
        return found


@lru_cache(maxsize=1 << 8)
def _vain(
    shown: Demonstration, terms: Translation, abandoned: tuple[Act, ...]
) -> NDArray[np.bool_]:
    vain = [is_among(act, abandoned) for act in _acts(shown, terms)]
    last = [vain[start] for start, end in shown.rounds if end == len(vain)]
    return np.array([*vain, any(last)])


@lru_cache(maxsize=1 << 8)
def _acts(shown: Demonstration, terms: Translation) -> tuple[Act, ...]:
    return tuple(terms.put(move.act) for move in shown.moves)


@lru_cache(maxsize=1 << 14)
def _fits(shown: Demonstration, terms: Translation, act: Act) -> Scores:
    return np.array([fit(act, other) for other in _acts(shown, terms)])


@lru_cache(maxsize=1 << 14)
def _answers(shown: Demonstration, answer: str) -> Scores:
    return np.array([likeness(answer, move.answer) for move in shown.moves])


def _has_effect(act: Act, facts: Sequence[Triple]) -> bool:
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
        elif act.verb in ("open", "activate"):
            state = "open" if act.verb == "open" else "on"
            found = (relation, obj) == ("is", state) and likeness(
                subject.partition(" in ")[0], first.partition(" in ")[0]
            ) > 0.6
        elif act.verb == "focus on":
            found = relation == "focused on" and likeness(obj, first) > 0.5
        else:
            return False
        if found:
            return True
    return False


def _present(shown: Demonstration, terms: Translation, scene: ScienceScene) -> Scores:
    score = np.zeros(len(shown.moves) + 1)
    carried = frozenset(thing.name for thing in scene.carried)
    score[1:] += 0.6 * np.array([_shared(move.carried, carried) for move in shown.moves])
    score[0] += 0.6 * _shared(shown.moves[0].carried, carried)
    if scene.plan is None:
        return score
    if scene.until is not None:
        alike = np.maximum(
            _fits(shown, terms, scene.until), _fits(shown, Translation(), scene.until)
        )
        score[:-1] += 2 * alike**2
    fits = _fits(shown, terms, scene.plan)
    if not scene.made:
        score[:-1] += 2 * fits
    elif not is_refused(scene.text) or scene.again:
        here = np.array([scene.room == move.room for move in shown.moves])
        score[1:] += fits + _answers(shown, masked(scene.text)) + _ROOM_WEIGHT * here
    return score


def _shared(one: frozenset[str], other: frozenset[str]) -> float:
    union = len(one | other)
    return len(one & other) / union if union else 1.0


# ------------------------------------------------------------ the guide

_MOST_COMPARED = 10
"""Number of demonstrations, by nearness of their goals, that are compared with the past."""
_GOAL_WEIGHT = 4.0
"""Weight of an equal goal, in agreeing moves."""
_LOOKS_WEIGHT = 2.0
"""Weight of the next move's objects looking as demonstrated, in agreeing moves."""
_LEAST_AGREEMENT = 0.5
"""Least agreement of two moves for replacing the objects of one by those of the other."""
_BOUND = ("focus on", "pick up", "move", "pour", "mix", "look at", "examine", "use")
"""Verbs whose objects reveal replacements."""


class Guide(NamedTuple):
    """A demonstration compared with the present.

    ``terms`` translates it for the present goal, ``standing`` is the progress along it, and
    ``stands_for`` maps demonstrated objects to those used here.
    """

    shown: Demonstration
    terms: Translation
    standing: DemonstrationProgress
    stands_for: dict[str, str]

    def here(self, number: int) -> Act:
        """Return a demonstrated move in terms of the goal and of the objects used here."""
        act = self.terms.put(self.shown.moves[number].act)
        return act._replace(things=tuple(self._same(thing) for thing in act.things))

    def _same(self, phrase: str) -> str:
        core, _, content = phrase.partition(" containing ")
        if core in self.stands_for:
            return self.stands_for[core]
        head, link, holder = core.rpartition(" in ")
        if link and holder in self.stands_for:
            core = f"{head} in {self.stands_for[holder]}"
        return f"{core} containing {content}" if content else core


def choose(
    demonstrations: tuple[Demonstration, ...],
    goal: str,
    scene: ScienceScene,
    rng: np.random.Generator,
    abandoned: tuple[Act, ...] = (),
) -> list[Guide]:
    """Return the demonstrations of the nearest task, by agreement and then by nearness of goal.

    Their next move is not among the ``abandoned`` ones.
    """
    ranked = nearest(goal, demonstrations)
    task = ranked[0][0].task
    found: list[tuple[float, Demonstration, Translation, DemonstrationProgress]] = []
    for shown, alike in [pair for pair in ranked if pair[0].task == task][:_MOST_COMPARED]:
        how = terms(shown.goal, goal, shown.recipe, scene.recipe)
        standing = progress(shown, how, scene, rng, abandoned)
        value = standing.value + _GOAL_WEIGHT * alike
        value += _LOOKS_WEIGHT * resemblance(how, shown, standing.done, scene, goal)
        found.append((round(value, 9), shown, how, standing))
    found.sort(key=lambda one: -one[0])
    return [
        Guide(shown, how, standing, dict(_bound(shown, how, standing)))
        for _, shown, how, standing in found
    ]


def resemblance(
    how: Translation, shown: Demonstration, number: int, scene: ScienceScene, goal: str
) -> float:
    """Return how well the next move's objects in sight look as demonstrated, in [-1, 1].

    An object of the goal that is out of sight must be found in any case, so it counts 0.
    """
    if number >= len(shown.moves):
        return 0.0
    move = shown.moves[number]
    missing = -1.0 if scene.view and move.room == scene.room else 0.0
    found = []
    for phrase, look in zip(how.put(move.act).things, move.looks, strict=True):
        core, _, content = phrase.partition(" containing ")
        held = content or next((new for old, new in how.changes if words(old) <= words(look)), "")
        if held and is_elsewhere(core, held, scene):
            return -1.0
        lines = [
            thing.line
            for thing in (*scene.view, *scene.carried)
            if words(core) <= words(thing.name) and words(content) <= words(thing.line)
        ]
        asks = named_words(goal, core)
        hidden = asks and not any(asks <= words(thing.name) for thing in scene.view)
        found.append(
            max(
                (0.5 + 0.5 * likeness(look, line) for line in lines),
                default=0.0 if hidden else missing,
            )
        )
    return sum(found) / len(found) if found and scene.view else 0.0


def is_elsewhere(holder: str, content: str, scene: ScienceScene) -> bool:
    """True if a content was seen, but never in its demonstrated holder."""
    if not words(content) or words(content) <= words(holder):
        return False
    lines = [line for name, line in scene.kept.items() if words(content) <= words(name)]
    lines += [thing.line for thing in scene.carried if words(content) <= words(thing.name)]
    return bool(lines) and not any(words(holder) <= words(line) for line in lines)


def _bound(
    shown: Demonstration, how: Translation, standing: DemonstrationProgress
) -> Iterator[tuple[str, str]]:
    """Yield replaced objects with their replacements, by the moves in memory, latest first."""
    for act, number in reversed(standing.pairs):
        meant = how.put(shown.moves[number].act)
        if act.verb in _BOUND and fit(act, meant) >= _LEAST_AGREEMENT:
            for there, here in zip(meant.things, act.things, strict=True):
                core = there.partition(" containing ")[0]
                if here not in (there, core):
                    yield core, here


# ------------------------------------------------------------ what the goal leaves open

_SUPERLATIVE = re.compile(r"\b(?:most|least|\w+est)\b")
_THRESHOLD = re.compile(r"(above|below) (-?\d+(?:\.\d+)?)")


def decided(act: Act, goal: str, guide: Guide, scene: ScienceScene) -> Act | None:
    """Return an action on the object that the goal wants; None if it is unknown so far."""
    if act.verb == "focus on" and len(guide.shown.measured) > 1:
        return timed(act, goal, guide, scene)
    for number, phrase in enumerate(act.things):
        condition, other = condition_of(goal, phrase)
        found = _THRESHOLD.search(condition)
        if found is not None:
            if scene.plan and scene.plan.verb == act.verb and not scene.made:
                return scene.plan  # the decision is kept
            above = _is_above(float(found[2]), scene, melting="melting point" in condition)
            if above is None:
                return None
            holds = above == (found[1] == "above")
        else:
            holds = not condition or is_as_shown(goal, guide, scene)
        if not holds:
            things = list(act.things)
            things[number] = other.rpartition(" the ")[2]
            return act._replace(things=tuple(things))
    return act


def timed(act: Act, goal: str, guide: Guide, scene: ScienceScene) -> Act:
    """Return a focus on the object that took longest or shortest, as in the demonstration.

    If the goal asks for the opposite of the demonstration, it is the other object.
    """
    there, here = guide.shown.measured, measured(scene.done)
    chosen = guide.shown.moves[-1].act.things[0]
    if chosen not in there or len(here) < 2:
        return act
    same = _SUPERLATIVE.findall(goal) == _SUPERLATIVE.findall(guide.shown.goal)
    most = (there[chosen] == max(there.values())) == same
    best = (max if most else min)(here, key=lambda name: here[name])
    return act._replace(things=(best,))


def _is_above(threshold: float, scene: ScienceScene, *, melting: bool) -> bool | None:
    if not melting:
        return scene.readings[-1][0] > threshold if scene.readings else None
    solid = [value for value, liquid in scene.readings if not liquid]
    molten = [value for value, liquid in scene.readings if liquid]
    if solid and threshold <= max(solid):
        return True
    if molten and threshold >= min(molten):
        return False
    return threshold < (max(solid) + min(molten)) / 2 if solid and molten else None


def is_as_shown(goal: str, guide: Guide, scene: ScienceScene) -> bool:
    """True if the goal's trait shows here just as it did in the demonstration."""
    shown = is_shown(goal, scene.text) if scene.view else None
    return shown is None or shown == guide.shown.shown

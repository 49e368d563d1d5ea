"""Choose the demonstration that agrees best with the goal and with the moves so far.

The player's progress along it is inferred from the moves, facts and views in the memory. If a
measurement decides the focus, the value measured here replaces the demonstrated one.
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
    likeness,
    masked,
    named_words,
    shows_trait,
    translate_goal,
    words,
)
from gym_memory.baselines.rules.scienceworld.scene import (
    ScienceScene,
    is_move,
    is_refused,
    measured,
)
from gym_memory.core.records import Triple

__all__ = ["DemonstrationProgress", "Guide", "choose", "decide_object", "estimate_progress"]

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
"""Cost of an abandoned next move, in agreeing moves; it exceeds all other costs together."""
_ADDED, _MATCH, _REPEATED = range(3)

Scores = NDArray[np.float64]


class DemonstrationProgress(NamedTuple):
    """Progress along a demonstration.

    ``done`` counts finished moves, and ``value`` is their agreement, in agreeing moves. ``pairs``
    has the past moves with the numbers of the demonstrated moves that they match.
    """

    done: int
    value: float
    pairs: tuple[tuple[Act, int], ...]


def estimate_progress(
    shown: Demonstration,
    translation: Translation,
    scene: ScienceScene,
    rng: np.random.Generator,
    abandoned: tuple[Act, ...] = (),
) -> DemonstrationProgress:
    """Return the most likely progress along a demonstration.

    Each possible number of finished moves gets a score from the moves and answers in the memory,
    the effects in its facts, the last answer, the inventory and the published plan. Numbers with an
    abandoned next move are excluded.
    """
    if scene.pursued is None and not scene.done:
        return DemonstrationProgress(0, 0.0, ())
    score = _score_present(shown, translation, scene)
    done = _counted_moves(scene)
    cut = scene.cut or len(done) >= _LATEST
    alignment = _Alignment(shown, translation, from_start=0.0 if cut else 1.0)
    for act, answer in done:
        alignment.add(act, answer)
    if done:
        score += alignment.row
    if scene.facts:
        acts = _acts(shown, translation)
        first = {act: number for number, act in reversed([*enumerate(acts)])}
        found = np.array(
            [
                _EFFECT_WEIGHT * (first[a] == n and _has_effect(a, scene.facts))
                for n, a in enumerate(acts)
            ]
        )
        score[1:] += np.cumsum(found)
        score[:-1] -= np.cumsum(found[::-1])[::-1]
    score -= _GIVEN_UP_COST * _is_abandoned(shown, translation, abandoned)
    best = np.flatnonzero(score >= score.max() - 1e-9)
    behind = int(best[rng.integers(len(best))])
    return DemonstrationProgress(behind, float(score.max()), tuple(alignment.pairs(behind)))


def _counted_moves(scene: ScienceScene) -> tuple[tuple[Act, str], ...]:
    """Return the moves since the last gap, without first refusals."""
    refused: set[Act] = set()
    counted: list[tuple[Act, str]] = []
    for number, (act, answer) in enumerate(scene.done, 1):
        if number <= scene.gap or is_move(act) or act.verb.isdigit():
            continue
        refused_again = act in refused or (scene.last.retried and number == len(scene.done))
        if is_refused(answer) and not refused_again:
            refused.add(act)
        else:
            counted.append((act, masked(answer)))
    return tuple(counted[-_LATEST:])


class _Alignment:
    """An alignment of past moves with demonstrated ones, in order.

    Omitted and added moves have a cost, and a different number of repetitions a small one. ``row``
    has the agreement by number of finished demonstrated moves.
    """

    def __init__(self, shown: Demonstration, translation: Translation, *, from_start: float):
        self._shown, self._translation = shown, translation
        cost = np.where(
            shown.repeats, _ROUND_COST, np.where(shown.focuses, _FOCUS_SKIP_COST, _SKIP_COST)
        )
        self._cost = np.concatenate([[0.0], np.cumsum(cost)])
        self._made: list[Act] = []
        self._steps: list[tuple[NDArray[np.int8], NDArray[np.bool_], dict[int, int]]] = []
        self.row: Scores = -self._cost * from_start

    def add(self, act: Act, answer: str) -> None:
        """Extend the alignment by the next past move and its answer."""
        fits = _fits(self._shown, self._translation, act)
        agree = fits + _ANSWER_WEIGHT * np.where(fits > 0, _answers(self._shown, answer), 0.0)
        new = self.row - _SKIP_COST
        kinds = np.full(len(new), _ADDED, dtype=np.int8)
        matched = np.where(fits > 0, self.row[:-1] + agree, -np.inf)
        same = self._shown.repeated & (fits > 0.6)
        again = np.where(same, self.row[1:] + agree - _ROUND_COST, -np.inf)
        for kind, value in ((_REPEATED, again), (_MATCH, matched)):
            better = value >= new[1:]
            new[1:] = np.where(better, value, new[1:])
            kinds[1:][better] = kind
        base = kinds.copy()
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
        for act, (kinds, left_out, back) in zip(self._made[::-1], self._steps[::-1], strict=True):
            while left_out[behind]:
                behind -= 1
            behind = back.get(behind, behind)
            if kinds[behind] in (_MATCH, _REPEATED):
                found.append((act, behind - 1))
                behind -= int(kinds[behind] == _MATCH)
        return found


@lru_cache(maxsize=1 << 8)
def _is_abandoned(
    shown: Demonstration, translation: Translation, abandoned: tuple[Act, ...]
) -> NDArray[np.bool_]:
    vain = [is_among(act, abandoned) for act in _acts(shown, translation)]
    last = [vain[start] for start, end in shown.rounds if end == len(vain)]
    return np.array([*vain, any(last)])


@lru_cache(maxsize=1 << 8)
def _acts(shown: Demonstration, translation: Translation) -> tuple[Act, ...]:
    return tuple(translation.apply(move.act) for move in shown.moves)


@lru_cache(maxsize=1 << 14)
def _fits(shown: Demonstration, translation: Translation, act: Act) -> Scores:
    return np.array([fit(act, other) for other in _acts(shown, translation)])


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


def _score_present(shown: Demonstration, translation: Translation, scene: ScienceScene) -> Scores:
    score = np.zeros(len(shown.moves) + 1)
    carried = frozenset(thing.name for thing in scene.carried)
    score[1:] += 0.6 * np.array([_jaccard(move.carried, carried) for move in shown.moves])
    score[0] += 0.6 * _jaccard(shown.moves[0].carried, carried)
    if scene.pursued is None:
        return score
    if scene.last.until is not None:
        nearness = np.maximum(
            _fits(shown, translation, scene.last.until),
            _fits(shown, Translation(), scene.last.until),
        )
        score[:-1] += 2 * nearness**2
    fits = _fits(shown, translation, scene.pursued)
    if not scene.taken:
        score[:-1] += 2 * fits
    elif not is_refused(scene.text) or scene.last.retried:
        here = np.array([scene.room == move.room for move in shown.moves])
        score[1:] += fits + _answers(shown, masked(scene.text)) + _ROOM_WEIGHT * here
    return score


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    union = len(one | other)
    return len(one & other) / union if union else 1.0


_MAX_COMPARED = 10
"""Number of demonstrations with the nearest goals that are aligned with the past."""
_GOAL_WEIGHT = 4.0
"""Weight of an equal goal, in agreeing moves."""
_LOOKS_WEIGHT = 2.0
"""Weight of the look of the next move's objects, in agreeing moves."""
_LEAST_AGREEMENT = 0.5
"""Least agreement of two moves whose objects replace each other."""
_REVEALING_VERBS = ("focus on", "pick up", "move", "pour", "mix", "look at", "examine", "use")
"""Verbs whose objects reveal replacements."""


class Guide(NamedTuple):
    """A demonstration aligned with the present episode.

    ``translation`` adapts it to the present goal, ``progress`` is the progress along it, and
    ``replacements`` maps demonstrated objects to those used here.
    """

    shown: Demonstration
    translation: Translation
    progress: DemonstrationProgress
    replacements: dict[str, str]

    def here(self, number: int) -> Act:
        """Return a demonstrated move for the present goal and the objects used here."""
        act = self.translation.apply(self.shown.moves[number].act)
        return act._replace(things=tuple(self._same(thing) for thing in act.things))

    def _same(self, phrase: str) -> str:
        core, _, content = phrase.partition(" containing ")
        if core in self.replacements:
            return self.replacements[core]
        head, link, holder = core.rpartition(" in ")
        if link and holder in self.replacements:
            core = f"{head} in {self.replacements[holder]}"
        return f"{core} containing {content}" if content else core


def choose(
    demonstrations: tuple[Demonstration, ...],
    goal: str,
    scene: ScienceScene,
    rng: np.random.Generator,
    abandoned: tuple[Act, ...] = (),
) -> list[Guide]:
    """Return guides of the nearest task, ordered by agreement, nearness of goals and looks.

    No guide has an abandoned action as its next move.
    """
    ranked = nearest(goal, demonstrations)
    task = ranked[0][0].task
    found: list[tuple[float, Demonstration, Translation, DemonstrationProgress]] = []
    for shown, nearness in [pair for pair in ranked if pair[0].task == task][:_MAX_COMPARED]:
        translation = translate_goal(shown.goal, goal, shown.recipe, scene.recipe)
        progress = estimate_progress(shown, translation, scene, rng, abandoned)
        value = progress.value + _GOAL_WEIGHT * nearness
        value += _LOOKS_WEIGHT * look_likeness(translation, shown, progress.done, scene, goal)
        found.append((round(value, 9), shown, translation, progress))
    found.sort(key=lambda one: -one[0])
    return [
        Guide(shown, translation, progress, dict(_replacements(shown, translation, progress)))
        for _, shown, translation, progress in found
    ]


def look_likeness(
    translation: Translation, shown: Demonstration, number: int, scene: ScienceScene, goal: str
) -> float:
    """Return the likeness of the next move's objects to the demonstrated ones, in [-1, 1].

    An object of the goal that is out of sight counts 0, since it must be found in any case.
    """
    if number >= len(shown.moves):
        return 0.0
    move = shown.moves[number]
    missing = -1.0 if scene.view and move.room == scene.room else 0.0
    found = []
    for phrase, look in zip(translation.apply(move.act).things, move.looks, strict=True):
        core, _, content = phrase.partition(" containing ")
        held = content or next(
            (new for old, new in translation.changes if words(old) <= words(look)), ""
        )
        if held and is_out_of_place(core, held, scene):
            return -1.0
        lines = [
            thing.line
            for thing in (*scene.view, *scene.carried)
            if words(core) <= words(thing.name) and words(content) <= words(thing.line)
        ]
        goal_words = named_words(goal, core)
        hidden = goal_words and not any(goal_words <= words(thing.name) for thing in scene.view)
        found.append(
            max(
                (0.5 + 0.5 * likeness(look, line) for line in lines),
                default=0.0 if hidden else missing,
            )
        )
    return sum(found) / len(found) if found and scene.view else 0.0


def is_out_of_place(holder: str, content: str, scene: ScienceScene) -> bool:
    """True if a content was seen here, but never in its demonstrated holder."""
    if not words(content) or words(content) <= words(holder):
        return False
    lines = [line for name, line in scene.lines_seen.items() if words(content) <= words(name)]
    lines += [thing.line for thing in scene.carried if words(content) <= words(thing.name)]
    return bool(lines) and not any(words(holder) <= words(line) for line in lines)


def _replacements(
    shown: Demonstration, translation: Translation, progress: DemonstrationProgress
) -> Iterator[tuple[str, str]]:
    """Yield demonstrated objects with their replacements, from the matched moves."""
    for act, number in reversed(progress.pairs):
        translated = translation.apply(shown.moves[number].act)
        if act.verb in _REVEALING_VERBS and fit(act, translated) >= _LEAST_AGREEMENT:
            for there, here in zip(translated.things, act.things, strict=True):
                core = there.partition(" containing ")[0]
                if here not in (there, core):
                    yield core, here


_SUPERLATIVE = re.compile(r"\b(?:most|least|\w+est)\b")
_THRESHOLD = re.compile(r"(above|below) (-?\d+(?:\.\d+)?)")


def decide_object(act: Act, goal: str, guide: Guide, scene: ScienceScene) -> Act | None:
    """Return an action with the objects that the goal's conditions select; None if undecided."""
    if act.verb == "focus on" and len(guide.shown.measured) > 1:
        return decide_by_time(act, goal, guide, scene)
    for number, phrase in enumerate(act.things):
        condition, other = condition_of(goal, phrase)
        found = _THRESHOLD.search(condition)
        if found is not None:
            if scene.last.act.verb == act.verb and not scene.taken:
                return scene.last.act  # keep the last decision
            above = _is_above(float(found[2]), scene, melting="melting point" in condition)
            if above is None:
                return None
            holds = above == (found[1] == "above")
        else:
            holds = not condition or trait_agrees(goal, guide, scene)
        if not holds:
            things = list(act.things)
            things[number] = other.rpartition(" the ")[2]
            return act._replace(things=tuple(things))
    return act


def decide_by_time(act: Act, goal: str, guide: Guide, scene: ScienceScene) -> Act:
    """Return a focus on the object with the longest or shortest time, as demonstrated.

    If the goal asks for the opposite of the demonstrated goal, take the other extreme.
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


def trait_agrees(goal: str, guide: Guide, scene: ScienceScene) -> bool:
    """True unless a view of the goal's feature and the demonstration differ in the trait."""
    shown = shows_trait(goal, scene.text) if scene.view else None
    return shown is None or shown == guide.shown.shown

"""Which demonstration to follow: the one that agrees best with the goal and with what happened."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from gym_memory.baselines.rules.scienceworld.demonstrations import Demonstration, nearest
from gym_memory.baselines.rules.scienceworld.goals import Terms, asked, terms
from gym_memory.baselines.rules.scienceworld.phrases import Act, fit, likeness, words
from gym_memory.baselines.rules.scienceworld.progress import Standing, progress
from gym_memory.baselines.rules.scienceworld.scene import Scene

__all__ = ["Guide", "choose"]

_COMPARED = 10
"""Demonstrations of the task, nearest by their goals, that are held beside what happened."""
_NEAR = 4.0
"""What a goal that is wholly alike counts, in agreeing moves."""
_LOOKS = 2.0
"""What it counts, in agreeing moves, that the things of the next move look as they did then."""
_UNUSED, _UNNAMED = 0.3, 1.5
"""What an ingredient costs that is not needed here, and one whose part no move names."""
_SAME = 0.5
"""Least agreement of two moves for the things of one to stand for those of the other."""
_BOUND = ("focus on", "pick up", "move", "pour", "mix", "look at", "examine", "use")
"""Verbs that show what stands for what."""


class Guide(NamedTuple):
    """Hold a demonstration beside the present.

    ``terms`` say it for the present goal, ``standing`` is how far along it one is, ``stands_for``
    what was used here in the place of what was demonstrated.
    """

    shown: Demonstration
    terms: Terms
    standing: Standing
    stands_for: dict[str, str]

    def here(self, number: int) -> Act:
        """Return a demonstrated move in terms of the goal, and of what replaces what."""
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
    scene: Scene,
    rng: np.random.Generator,
    *,
    history: bool,
    abandoned: tuple[Act, ...] = (),
) -> list[Guide]:
    """Return the demonstrations of the nearest task, that which agrees best first.

    Of equal ones, that with the nearest goal is first. ``history`` is True if moves and facts
    that the memory has count; ``abandoned`` moves are not to be due.
    """
    ranked = nearest(goal, demonstrations)
    task = ranked[0][0].task
    found: list[tuple[float, Demonstration, Terms, Standing]] = []
    for shown, alike in [pair for pair in ranked if pair[0].task == task][:_COMPARED]:
        how = terms(shown.goal, goal, shown.recipe, scene.recipe)
        standing = progress(shown, how, scene, rng, history=history, abandoned=abandoned)
        value = standing.value + _NEAR * alike + _same_recipe(shown, scene)
        value += _LOOKS * _looks_so(how, shown, standing.done, scene, goal)
        found.append((round(value, 9), shown, how, standing))
    found.sort(key=lambda one: -one[0])
    return [
        Guide(shown, how, standing, dict(_bound(shown, how, standing)))
        for _, shown, how, standing in found
    ]


def _looks_so(how: Terms, shown: Demonstration, number: int, scene: Scene, goal: str) -> float:
    """Return how far the next move's things are in sight and look as they did then, in [-1, 1].

    What the goal itself names and is not in sight has to be found whichever is followed.
    """
    if number >= len(shown.moves):
        return 0.0
    move = shown.moves[number]
    missing = -1.0 if scene.view and move.room == scene.room else 0.0
    found = []
    for phrase, look in zip(how.put(move.act).things, move.looks, strict=True):
        core, _, content = phrase.partition(" containing ")
        held = content or next((new for old, new in how.changes if words(old) <= words(look)), "")
        if held and _is_elsewhere(core, held, scene):
            return -1.0
        lines = [
            thing.line
            for thing in (*scene.view, *scene.carried)
            if words(core) <= words(thing.name) and words(content) <= words(thing.line)
        ]
        asks = asked(goal, core)
        hidden = asks and not any(asks <= words(thing.name) for thing in scene.view)
        found.append(
            max(
                (0.5 + 0.5 * likeness(look, line) for line in lines),
                default=0.0 if hidden else missing,
            )
        )
    return sum(found) / len(found) if found and scene.view else 0.0


def _is_elsewhere(holder: str, content: str, scene: Scene) -> bool:
    """True if what a thing should hold was seen, but only where it does not hold it."""
    if not words(content) or words(content) <= words(holder):
        return False
    lines = [line for name, line in scene.kept.items() if words(content) <= words(name)]
    lines += [thing.line for thing in scene.carried if words(content) <= words(thing.name)]
    return bool(lines) and not any(words(holder) <= words(line) for line in lines)


def _same_recipe(shown: Demonstration, scene: Scene) -> float:
    """Return how well what a demonstration mixed serves here, in agreeing moves."""
    there, here = set(shown.recipe), set(scene.recipe)
    if not here or not there:
        return 0.0
    named = {thing for move in shown.moves for thing in move.act.things}
    unnamed = sum(1 for one in there - here if one not in named)
    lacking = max(0, len(here) - len(there))
    return len(there & here) - _UNUSED * len(there - here) - _UNNAMED * unnamed - lacking


def _bound(shown: Demonstration, how: Terms, standing: Standing) -> Iterator[tuple[str, str]]:
    """Return what replaced what, by the moves that the memory has; the latest counts."""
    for act, number in reversed(standing.pairs):
        meant = how.put(shown.moves[number].act)
        if act.verb in _BOUND and fit(act, meant) >= _SAME:
            for there, here in zip(meant.things, act.things, strict=True):
                core = there.partition(" containing ")[0]
                if here not in (there, core):
                    yield core, here

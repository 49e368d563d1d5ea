"""A player that follows the lessons in its observation, and explores otherwise.

It has no knowledge of any game and no state but its published plan, so only the memory can make
two runs differ. It reads sentences with quoted actions, such as CLIN's abstractions, Reflexion's
plans or a model's advice. ``"take ..."`` means any take action, ``"go to shelf"`` any numbered
shelf.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from gym_memory.baselines.rules.base import RulePolicy
from gym_memory.core.records import Observation, PlanState
from gym_memory.core.settings import check_share
from gym_memory.core.text import split_sentences
from gym_memory.graph.map import shortest_path
from gym_memory.memory.reading import split_entries, without_numbers

__all__ = ["LessonFollower"]

_QUOTED = re.compile(r'"([^"]+)"(?: in the ([\w -]+?)(?= (?:MAY|SHOULD|DOES)\b|;|$))?')
_NEGATIVE = re.compile(r"\b(?:not|never|lost|nothing|avoid|waste|stop)\b", re.IGNORECASE)
_FATAL = re.compile(r"\b(?:lost|staying in the game|die[sd]?)\b", re.IGNORECASE)
_UNSURE = re.compile(r"\bmay not\b", re.IGNORECASE)
_SURE = re.compile(r"\bdoes not contribute\b", re.IGNORECASE)
_EFFECT = re.compile(r"\b(?:necessary|contribute) to\b", re.IGNORECASE)
_REACHING = re.compile(r"\bto reach(?:ing)? (?:the )?([\w -]+)", re.IGNORECASE)
_GOAL = re.compile(r"^(?:\d+\. )?Goal: ([^.\n]+)")
_NUMBER = re.compile(r"\d+")
_FROM_PREPOSITION = re.compile(r"(?:^|\s)(?:with|from|into|onto|in|on|to|at)\s.*")


class Advice(NamedTuple):
    """Advice in the lessons.

    ``plan`` lists (action, place) in order; the place may be empty. ``avoid`` has harmful actions,
    or verbs with ``...``, and ``doubt`` doubtful ones. ``ways`` maps each place to its neighbours
    and the actions that lead there. ``verbs`` has the recommended verbs.
    """

    plan: list[Errand]
    avoid: set[str]
    doubt: set[str]
    ways: dict[str, dict[str, str]]
    verbs: set[str]

    @classmethod
    def read(cls, lessons: Sequence[str]) -> Advice:
        """Read lessons in numerical order; a later plan replaces an earlier one."""
        advice = cls([], set(), set(), {}, set())
        for lesson in sorted(lessons, key=_lesson_number):
            plan: list[tuple[str, str]] = []
            for sentence in split_sentences(lesson, ".;!?"):
                plan += advice._read_sentence(sentence)
            if len(plan) > 1:  # a new plan replaces earlier ones
                advice.plan.clear()
            advice.plan.extend(item for item in plan if item not in advice.plan or len(plan) > 1)
        return advice

    def _read_sentence(self, sentence: str) -> list[tuple[str, str]]:
        effect = _EFFECT.search(sentence)
        cause = sentence[: effect.start()] if effect else sentence
        quoted = [(found[1], found[2] or "") for found in _QUOTED.finditer(cause)]
        if _NEGATIVE.search(_QUOTED.sub("", cause)):
            fatal = _FATAL.search(sentence)
            for action, _ in quoted:
                unsure = _UNSURE.search(sentence) or action.endswith(" ...")
                sure = fatal or _SURE.search(sentence) or not unsure
                (self.avoid if sure else self.doubt).add(action)
            return []
        reaching = _REACHING.search(sentence, effect.start()) if effect else None
        if reaching and quoted and quoted[0][1]:
            action, place = quoted[0]
            self.ways.setdefault(place, {}).setdefault(reaching[1], action)
            return []
        self.verbs.update(_verb(action) for action, _ in quoted if action.endswith(" ..."))
        return [item for item in quoted if not item[0].endswith(" ...")]

    def first_action(self, here: str, there: str) -> str:
        """Return the first action on the shortest known way, or an empty string."""
        path = shortest_path(here, there, lambda place: {to: to for to in self.ways.get(place, ())})
        return self.ways[here][path[0].place] if path else ""

    def rejects(self, action: str, *, doubtful: bool) -> bool:
        """True if the lessons reject an action or, with ``doubtful``, doubt it."""
        forms = {action, f"{_verb(action)} ..."}
        return not forms.isdisjoint(self.avoid) or (doubtful and not forms.isdisjoint(self.doubt))


Errand = tuple[str, str]
"""An action and the place in which to take it; the place may be empty."""


@dataclass(frozen=True)
class Course(PlanState):
    """An unfinished part of the lessons' plan, with the player's place."""

    left: tuple[Errand, ...] = ()
    here: str = ""
    begun: bool = False
    kinds: tuple[str, ...] = ()
    tried: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, left: Sequence[Errand], here: str, kinds: Sequence[str] = (), tried: Sequence[str] = ()
    ) -> Course:
        """Build a plan whose aim lists the remaining items.

        ``kinds`` has the finished items, without numbers, and ``tried`` the actions taken for them.
        """
        items = [f'"{action}" in the {place}' if place else f'"{action}"' for action, place in left]
        aim = f"plan: {'; '.join(items)}"
        return cls(
            aim, left=tuple(left), here=here, begun=True, kinds=tuple(kinds), tried=tuple(tried)
        )

    def notes(self) -> dict[str, str]:
        """Return the details to show beside the aim, by name."""
        return {"place": self.here} if self.here else {}


class LessonFollower(RulePolicy):
    """A player that follows its lessons, then explores with actions that they do not reject.

    It prefers actions that the recalled transcript lacks, then those on an object of the plan, then
    those with a recommended verb. Ties are broken at random.

    Args:
        boldness: Share of choices, in [0, 1], that allow doubtful actions.
        fallback: Action to take if the observation lists no valid one.
    """

    start: ClassVar[Course] = Course()
    focus: Course

    def __init__(self, boldness: float = 0.1, fallback: str = "look"):
        super().__init__()
        self.boldness, self.fallback = check_share("boldness", boldness), fallback

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """Return the next action and publish the rest of the plan as ``focus``."""
        advice = Advice.read([_adapt(lesson, obs["task"]) for lesson in obs["lessons"]])
        plan = self.focus.left if self.focus.begun else tuple(advice.plan)
        here = self._place(obs) or self.focus.here
        kinds, tried = self.focus.kinds, self.focus.tried
        action = ""
        while plan and not action:
            item = plan[0]
            action, done = _follow_item(item, here, obs["valid_actions"], advice)
            if not action and _is_kind(item[0], obs["valid_actions"]):
                action, done = _next_of_kind(item[0], kinds, tried, obs["valid_actions"])
                kinds += (item[0],) if action and done else ()
                tried += (action,) if action else ()
            plan = plan[1:] if done else plan
        action = action or self._explore(obs, advice)
        self.focus = Course.of(plan, here, kinds, tried)
        return action

    def _explore(self, obs: Observation, advice: Advice) -> str:
        """Return a random action, if possible one that is neither rejected nor tried."""
        valid = obs["valid_actions"]
        if not valid:
            return self.fallback
        tried = {entry.action for entry in split_entries(obs["memory"])[1]}
        tried.update(action for action, _ in advice.plan)
        doubtful = self.rng.random() >= self.boldness
        allowed = [a for a in valid if not advice.rejects(a, doubtful=doubtful)]
        new = [a for a in allowed if a not in tried]
        things = {_object(action) for action, _ in advice.plan}
        near = [a for a in new if _object(a) in things]
        good = [a for a in near or new if _verb(a) in advice.verbs]
        options = good or near or new or allowed or valid
        return options[int(self.rng.integers(len(options)))]


def _follow_item(
    item: tuple[str, str], here: str, valid: Sequence[str], advice: Advice
) -> tuple[str, bool]:
    """Return the action for an item of the plan or "", and whether the item is finished."""
    action, place = item
    if place and here and place != here:
        move = advice.first_action(here, place)
        return (move, False) if move in valid else ("", True)
    return (action, True) if action in valid else ("", True)


def _adapt(lesson: str, task: str) -> str:
    """Return a lesson about another goal, reworded for the task's goal.

    >>> _adapt('Goal: put a pan in sink. Do "take pan".', "put a red mug in sink.")
    'Goal: put a pan in sink. Do "take pan".'
    >>> _adapt('Goal: put a pan in sink. Do "take pan".', "put a mug in shelf.")
    'Goal: put a mug in shelf. Do "take mug".'
    """
    found = _GOAL.search(lesson)
    ours, theirs = task.rstrip(". ").split(), found[1].split() if found else []
    if len(ours) != len(theirs):
        return lesson
    other = {old: new for old, new in zip(theirs, ours, strict=True) if len(old) > 2}
    return re.sub(r"[\w-]+", lambda word: other.get(word[0], word[0]), lesson)


def _is_kind(action: str, valid: Sequence[str]) -> bool:
    """True if an action lacks the number that valid actions of its kind have."""
    return without_numbers(action) == action and any(without_numbers(a) != a for a in valid)


def _next_of_kind(
    kind: str, before: Sequence[str], tried: Sequence[str], valid: Sequence[str]
) -> tuple[str, bool]:
    """Return a valid action of a kind or "", and whether the item of the plan is finished.

    If there is none, repeat an earlier kind with another object, such as the next shelf, and then
    the last verb with any object.
    """
    found = _actions_of_kind(kind, valid)
    if found:
        return next((action for action in found if action not in tried), found[0]), True
    for step in reversed(before):
        for action in _actions_of_kind(step, valid):
            if action not in tried:
                return action, False
    verb = _verb(before[-1]) if before else ""
    action = next((a for a in valid if _verb(a) == verb and a not in tried), "")
    return action, not action


def _actions_of_kind(kind: str, valid: Sequence[str]) -> list[str]:
    """Return the valid actions of a kind, or else those of its verb on the same object."""
    exact = [action for action in valid if without_numbers(action) == kind]
    act = _verb(kind), _object(kind)
    return exact or [a for a in valid if (_verb(a), without_numbers(_object(a))) == act]


def _verb(action: str) -> str:
    return action.partition(" ")[0]


def _object(action: str) -> str:
    """Return the object of an action, between its verb and the first preposition."""
    return _FROM_PREPOSITION.sub("", action.partition(" ")[2]).strip()


def _lesson_number(lesson: str) -> int:
    found = _NUMBER.match(lesson)
    return int(found[0]) if found else 0

"""What numbered learnings say, whoever wrote them: a plan to follow, and one fact a sentence."""

from __future__ import annotations

import re
from collections.abc import Mapping

from gym_memory.baselines.rules.learner import Advice
from gym_memory.memory.lessons.causes import NEW

__all__ = ["LESSON_FACT", "lessons_of", "plan_in"]

LESSON_FACT = re.compile(
    r'(?:"(?P<action>[^"]+)" in the (?P<here>.+?)|going to the (?P<place>.+?)|'
    r"reading the (?P<page>.+?)|having the (?P<key>.+?)|"
    r"making the (?P<raw>.+) (?P<how>\w+)) (?:MAY|SHOULD) BE NECESSARY TO "
    r"(?:reaching the (?P<there>.+)|finding something new|finding the (?P<thing>.+?)"
    r"(?: in the (?P<holder>.+?))?(?:, which is (?P<state>\w+))?|"
    r"knowing that it says: (?P<text>.+)|opening the (?P<lock>.+)|"
    r"following the (?P<recipe>.+))\."
)
"""A learning that tells of a place, a thing, a key or a recipe."""

_LESSON = re.compile(r"(\d+)\. (.+)")


def lessons_of(memory: str) -> dict[int, str]:
    """The numbered lessons that a memory shows first."""
    lessons: dict[int, str] = {}
    for line in memory.split("\n"):
        found = _LESSON.fullmatch(line)
        if found is not None:
            lessons[int(found[1])] = found[2]
        elif lessons:
            break
    return lessons


def plan_in(lessons: Mapping[int, str]) -> list[tuple[str, str]]:
    """What the lessons tell to do, in order, as (action, place); not where nobody has been."""
    read = [f"{n}. {lesson}" for n, lesson in lessons.items() if not lesson.endswith(f" {NEW}.")]
    return Advice.read(read).plan

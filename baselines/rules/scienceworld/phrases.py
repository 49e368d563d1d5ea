"""Parse ScienceWorld's actions, views, goals and recipes, and compare phrases by their words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from functools import lru_cache
from typing import NamedTuple

from gym_memory.core.text import split_sentences
from gym_memory.core.text import words as words_of

__all__ = ["SAME_ACTION", "Act", "Thing", "Translation", "condition_of", "fit", "is_among"]
__all__ += ["is_named", "likeness", "masked", "named_to_focus_on", "named_words", "parse"]
__all__ += ["recipe_in", "shows_trait", "things_in", "translate_goal", "words"]

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_FUNCTION_WORDS = frozenset(
    {"a", "an", "the", "of", "in", "on", "is", "with", "to", "called", "which"}
)
_IN_ROOM = re.compile(r" in (?:inventory|hallway|kitchen|bathroom|bedroom|living room|workshop|"
                   r"art studio|greenhouse|outside|foundry)$")  # fmt: skip
_ONE_OBJECT = re.compile(
    r"^(open|close|activate|deactivate|pick up|put down|focus on|examine|look at|look in|read|"
    r"eat|flush|mix|disconnect|go to) (.+)$"
)
_SEPARATOR = re.compile(r"[(),.:]+")
_ITEM = re.compile(
    r"(?:containing )?(?:an? |the )?(?:substance called )?([a-z][\w ]*?)(?: titled .*)?$"
)
_NOT_AN_ITEM = re.compile(
    r"(?:in|on) the .* (?:is|you see)$|.* door is (?:open|closed)$|"
    r"(?:which|that|currently|here|titled) |nothing$|agent$|substance$|air$|.* door$"
)


class Act(NamedTuple):
    """An action: its verb, up to two objects, and the preposition between them."""

    verb: str
    things: tuple[str, ...] = ()
    link: str = ""

    def __str__(self) -> str:
        return " ".join((self.verb, f" {self.link} ".join(self.things))).strip()


SAME_ACTION = 0.75
"""Agreement above which two actions count as the same."""


def is_among(act: Act, acts: Iterable[Act]) -> bool:
    """True if an action counts as the same as one of several."""
    return any(fit(act, one) > SAME_ACTION for one in acts)


class Thing(NamedTuple):
    """An object in a view, with the line that names it."""

    name: str
    line: str


@lru_cache(maxsize=1 << 14)
def parse(action: str) -> Act:
    """Split an action into its parts, without the rooms of its objects.

    >>> parse("use thermometer in inventory on lead")
    Act(verb='use', things=('thermometer', 'lead'), link='on')
    """
    lowered = " ".join(action.lower().split())
    if lowered.startswith("use ") and " on " in lowered:
        first, _, second = lowered[4:].partition(" on ")
        return Act("use", (_IN_ROOM.sub("", first), _IN_ROOM.sub("", second)), "on")
    if lowered.startswith("pour ") and " in inventory in " in lowered:
        lowered = lowered.replace(" in inventory in ", " into ")
    if lowered.startswith(("pour ", "dunk ")) and " into " not in lowered:
        head, _, second = lowered.rpartition(" in ")
        verb, _, first = head.partition(" ")
        return Act(verb, (_IN_ROOM.sub("", first), second), "into")
    if lowered.startswith(("move ", "connect ", "pour ", "dunk ")):
        link = " to " if lowered.startswith(("move ", "connect ")) else " into "
        head, _, second = lowered.rpartition(link)
        verb, _, first = head.partition(" ")
        return Act(verb, (_IN_ROOM.sub("", first), _IN_ROOM.sub("", second)), link.strip())
    one = _ONE_OBJECT.match(lowered)
    if one is not None:
        return Act(one[1], (_IN_ROOM.sub("", one[2]),))
    return Act(lowered)


@lru_cache(maxsize=1 << 14)
def words(phrase: str) -> frozenset[str]:
    """Return the content words of a phrase.

    >>> sorted(words("a turtle egg in the pond"))
    ['egg', 'pond', 'turtle']
    """
    return frozenset(words_of(phrase)) - _FUNCTION_WORDS


@lru_cache(maxsize=1 << 16)
def likeness(one: str, other: str) -> float:
    """Return the Jaccard similarity of the words of two phrases, in [0, 1]."""
    first, second = words(one), words(other)
    union = len(first | second)
    return len(first & second) / union if union else float(one == other)


@lru_cache(maxsize=1 << 16)
def fit(one: Act, other: Act) -> float:
    """Return the agreement of two actions, in [0, 1]; 0 if their verbs differ."""
    if one.verb != other.verb or len(one.things) != len(other.things):
        return 0.0
    if not one.things:
        return 1.0
    alike = [likeness(a, b) for a, b in zip(one.things, other.things, strict=True)]
    return 0.3 + 0.7 * sum(alike) / len(alike)


@lru_cache(maxsize=1 << 14)
def masked(text: str) -> str:
    """Return the first line of an answer with each number replaced by 9."""
    return _NUMBER.sub("9", text.strip().partition("\n")[0].lower())


@lru_cache(maxsize=1 << 10)
def things_in(view: str) -> tuple[Thing, ...]:
    """Return the objects in a view or an inventory, in order, without doors."""
    found: dict[str, Thing] = {}
    for line in view.lower().split("\n"):
        if "door to the" in line or line.startswith(("this ", "you also", "in your")):
            continue
        for piece in _SEPARATOR.split(line):
            item = _ITEM.match(piece.strip())
            if item is not None and not _NOT_AN_ITEM.match(item[1]):
                found.setdefault(item[1], Thing(item[1], line.strip()))
    return tuple(found.values())


_TOKEN = re.compile(r"-?\d+(?:\.\d+)?|[\w-]+|[^\w\s]")
_CONDITION = re.compile(r"[Ii]f ([^,.]*(?:\d\.\d[^,.]*)?), ([^.]*)\.")
_TRAIT = re.compile(r"whether (\w+) (\w+) (\w+) is")
_RECIPE = re.compile(r"you need to mix ([^.]+)\.")
_BOX = re.compile(r"\w+ box")
_FOCUS = re.compile(r"focus on the ([^.,]+)")
_STEP_WORDS = ("First,", "Next,", "Then,")
_TASK_PREFIX = ["your", "task", "is", "to"]
_MAX_TOKENS_BETWEEN = 2
"""Most equal tokens between two differences of goals that count as one difference."""


class Translation(NamedTuple):
    """A translation of a demonstration for another goal.

    ``changes`` maps demonstrated names to those of this goal, longest first. ``left_out`` has the
    objects that this goal does not need.
    """

    changes: tuple[tuple[str, str], ...] = ()
    left_out: frozenset[str] = frozenset()

    def apply(self, act: Act) -> Act:
        """Return a demonstrated action for this goal."""
        return act._replace(things=tuple(_substitute(thing, self.changes) for thing in act.things))

    def omits(self, act: Act) -> bool:
        """True if this goal does not need some object of a demonstrated action."""
        return any(words(gone) <= words(thing) for gone in self.left_out for thing in act.things)


@lru_cache(maxsize=1 << 10)
def translate_goal(
    there: str, here: str, mixed_there: tuple[str, ...] = (), mixed_here: tuple[str, ...] = ()
) -> Translation:
    """Return the translation from one goal, with its recipe, to another.

    >>> translate_goal("Boil tin in the red pot.", "Boil ice cream in the red pot.").changes
    (('tin', 'ice cream'),)
    >>> translate_goal("Your task is to boil tin.", "Your task is to heat old lead.").changes
    (('tin', 'old lead'),)
    >>> translate_goal("Which is hotter (A, B)?", "Which is hotter (B, C)?").changes
    (('a', 'b'), ('b', 'c'))
    """
    found = dict(_changes(there, here))
    others = [one for one in mixed_there if one not in mixed_here] if mixed_here else []
    found.update(zip(others, (one for one in mixed_here if one not in mixed_there), strict=False))
    left_out = frozenset(one for one in others if one not in found)
    return Translation(tuple(sorted(found.items(), key=lambda pair: -len(pair[0]))), left_out)


def _changes(there: str, here: str) -> list[tuple[str, str]]:
    first, second = _TOKEN.findall(there.lower()), _TOKEN.findall(here.lower())
    merged: list[list[int]] = []
    for kind, a, b, c, d in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        if (
            merged
            and a - merged[-1][1] <= _MAX_TOKENS_BETWEEN
            and (a == b or c == d or merged[-1][4])
        ):
            merged[-1][1], merged[-1][3] = b, d
        else:
            merged.append([a, b, c, d, int(a == b or c == d)])
    found = []
    for a, b, c, d, _ in merged:
        if min(b - a, d - c) > 1 and first[:a][-len(_TASK_PREFIX) :] == _TASK_PREFIX:
            a, c = start_of_object(first, a, b), start_of_object(second, c, d)
        before, after = _listed(first[a:b]), _listed(second[c:d])
        if len(before) == len(after):
            found += [pair for pair in zip(before, after, strict=True) if all(pair)]
        elif before and after:
            found.append((" ".join(first[a:b]), " ".join(second[c:d])))
    return found


def start_of_object(tokens: list[str], start: int, end: int) -> int:
    """Return the position of the first token after a task's verb, or after its last *of*."""
    links = [i for i in range(start, end - 1) if tokens[i] == "of"]
    return max([start, *links]) + 1


def _listed(tokens: list[str]) -> list[str]:
    return [part.strip() for part in " ".join(tokens).split(",")]


def _substitute(phrase: str, changes: tuple[tuple[str, str], ...]) -> str:
    marked = f" {phrase} "
    for number, (before, _) in enumerate(changes):
        marked = marked.replace(f" {before} ", f" <{number}> ")
    for number, (_, after) in enumerate(changes):
        marked = marked.replace(f"<{number}>", after)
    return marked.strip()


def named_words(goal: str, phrase: str) -> frozenset[str]:
    """Return the words of a phrase that the goal shares.

    >>> sorted(named_words("Focus on an egg. Move it to the blue box.", "blue jay egg"))
    ['egg']
    """
    return words(phrase) & words(goal if "box" in phrase else _BOX.sub("", goal))


@lru_cache(maxsize=64)
def named_to_focus_on(goal: str) -> tuple[str, ...]:
    """Return the objects to focus on according to a goal, without conditional ones.

    >>> named_to_focus_on("First, focus on the battery. If it is low, focus on the red box.")
    ('battery',)
    """
    sentences = (one for one in split_sentences(goal, ".") if one.startswith(_STEP_WORDS))
    return tuple(name for one in sentences for name in _FOCUS.findall(one.lower()))


def is_named(goal: str, name: str) -> bool:
    """True if a goal names an object itself rather than its kind.

    >>> is_named("Your task is to melt ice cream. First, focus on the substance.", "ice cream")
    True
    >>> is_named("Find an animal. Then, move it to the red box.", "red box")
    False
    """
    about = (split_sentences(goal, ".")[0], *named_to_focus_on(goal))
    plain = (re.sub(r"[^\w -]", "", one.lower()) for one in about)
    return bool(words(name)) and any(f" {name.lower()} " in f" {one} " for one in plain)


def recipe_in(text: str) -> tuple[str, ...]:
    """Return the ingredients of a recipe; empty for any other text.

    >>> recipe_in("The recipe reads: To make dough, you need to mix flour, water.")
    ('flour', 'water')
    """
    found = _RECIPE.search(text.lower())
    return tuple(part.strip() for part in re.split(r",| and ", found[1])) if found else ()


def condition_of(goal: str, phrase: str) -> tuple[str, str]:
    """Return the condition under which a goal wants an object, and the alternative.

    >>> condition_of("If it is hot, use the red box. If it is cold, use the blue box.", "red box")
    ('it is hot', 'use the blue box')
    """
    clauses = _CONDITION.findall(goal)
    for number, (condition, wanted) in enumerate(clauses):
        if len(clauses) == 2 and words(phrase) <= words(wanted):
            return condition, clauses[1 - number][1]
    return "", ""


def shows_trait(goal: str, view: str) -> bool | None:
    """True if most objects with the goal's feature show its trait; None without such objects.

    >>> goal = "Find out whether short plant height is a dominant trait."
    >>> shows_trait(goal, "a pea plant with a short height, a pea plant with a tall height")
    True
    >>> shows_trait(goal, "a dead pea plant") is None
    True
    """
    trait = _TRAIT.search(goal.lower())
    if trait is None:
        return None
    part = trait[3] if trait[2] == "plant" else {"leaf": "leaves"}.get(trait[2], trait[2])
    able = [piece for piece in re.split(r"[,.:]", view.lower()) if part in piece.split()]
    shown = sum(1 for piece in able if trait[1] in piece.split())
    return 2 * shown >= len(able) if able else None

"""Analogy by rules: what an example did, carried over to the things that are here.

This stands in for what LDM2 asks its model for. It knows no game. Examples and the present
situation are read from the text of the prompt: subgoals with their state, a summary, what was
seen, the action. A thing of an example stands for that thing of ours of which the same has been
done and is left to do; an action that names one is reworded and compared with what is possible.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

__all__ = ["Situation", "analogies", "read_examples", "read_present"]

_OWN = "So far in this task:"
_EXAMPLE = re.compile(r"^\d+\. (?=Goal: |Subgoal \d+: |Summary: )", re.MULTILINE)
_SUBGOAL = re.compile(r"^Subgoal \d+: (.*) - (incomplete|complete)$", re.MULTILINE)
_SUMMARY = re.compile(r"^Summary: (.*)$", re.MULTILINE)
_SEEN = re.compile(r"^Observation: (.*)^Action: (.*)\Z", re.MULTILINE | re.DOTALL)
_POINTS = re.compile(r" \([\d.e+-]+ points\)$")
_WORD = re.compile(r"[a-z0-9'-]+")
_SMALL = frozenset({"the", "a", "an", "some", "it", "in", "on", "from", "with", "to", "of", "and"})
_FADE = 0.6
"""What the weight of an example is multiplied by for every example that stands before it."""
_ABSENT = 0.05
"""What is left of a likeness where the thing that an action is about is not there."""
_OTHER_VERB = 0.4
"""What is left of it where something else is to be done with the thing."""
_TRIED = 0.2
"""What is left of it where the action was done in this very situation already."""


class _Subgoal(NamedTuple):
    verb: str
    thing: tuple[str, ...]
    done: bool


class Situation(NamedTuple):
    """A situation as a prompt tells it.

    Attributes:
        subgoals: The subgoals in their order.
        last: The action that led to it, as the summary has it.
        seen: The words of what was seen, without things that subgoals name.
        action: What was done then; empty for the present situation.
    """

    subgoals: tuple[_Subgoal, ...]
    last: tuple[str, ...]
    seen: frozenset[str]
    action: tuple[str, ...] = ()

    def things(self) -> dict[tuple[str, ...], str]:
        """Things that subgoals name, with the verb that is left to do with each next."""
        left: dict[tuple[str, ...], str] = {}
        for verb, thing, done in self.subgoals:
            if thing and not left.get(thing):
                left[thing] = "" if done else verb
        return left

    def stage(self, thing: tuple[str, ...]) -> frozenset[tuple[str, bool]]:
        """What is done and what is left to do with a thing."""
        return frozenset((s.verb, s.done) for s in self.subgoals if s.thing == thing)


def read_examples(memory: str) -> list[Situation]:
    """The examples that a memory shows, in their order."""
    shown, _, _ = memory.partition(f"\n{_OWN}\n")
    found = []
    for text in _EXAMPLE.split(shown)[1:]:
        seen = _SEEN.search(text)
        if seen is not None:
            found.append(_situation(text[: seen.start()], seen[1], seen[2]))
    return found


def read_present(memory: str, observation: str) -> Situation:
    """The present situation: what the memory tells of this episode, and what is seen."""
    _, _, own = f"\n{memory}".partition(f"\n{_OWN}\n")
    return _situation(own, observation, "")


def _situation(history: str, seen: str, action: str) -> Situation:
    subgoals = []
    for told, state in _SUBGOAL.findall(history):
        verb, *thing = _words(told) or ("",)
        subgoals.append(_Subgoal(verb, tuple(thing), state == "complete"))
    summary = _SUMMARY.search(history)
    last = _POINTS.sub("", summary[1]).rpartition(", ")[2] if summary else ""
    named = {word for subgoal in subgoals for word in subgoal.thing}
    return Situation(
        tuple(subgoals),
        _words(last),
        frozenset(_words(seen)) - named,
        tuple(_WORD.findall(action.lower())),
    )


@functools.lru_cache(maxsize=1 << 12)
def _words(text: str) -> tuple[str, ...]:
    return tuple(word for word in _WORD.findall(text.lower()) if word not in _SMALL)


def analogies(
    examples: Sequence[Situation],
    present: Situation,
    possible: Sequence[str],
    tried: Iterable[str] = (),
) -> dict[str, float]:
    """How much the examples speak for each possible action; those that nothing speaks for are out.

    Args:
        examples: Situations with their actions, most relevant first.
        present: The present situation.
        possible: The possible actions.
        tried: Actions that led back to this very situation.
    """
    worth: dict[str, float] = {}
    words = {action: tuple(_WORD.findall(action.lower())) for action in possible}
    spoilt = set(tried)
    weight = 1.0
    for example in examples:
        likeness = weight * (0.5 + _alike(example, present))
        weight *= _FADE
        reworded = _reworded(example, present)
        for action in possible:
            value = max(
                near * _match(wanted, thing, words[action]) for wanted, thing, near in reworded
            )
            if value > 0:
                value *= _TRIED if action in spoilt else 1.0
                worth[action] = worth.get(action, 0.0) + likeness * value**3
    return worth


def _alike(example: Situation, present: Situation) -> float:
    """How much two situations have in common, in [0, 1]."""
    stages = [
        frozenset((s.verb, s.done, n) for n, s in enumerate(situation.subgoals))
        for situation in (example, present)
    ]
    return (
        _share(*stages)
        + _share(example.seen, present.seen)
        + (example.last[:1] == present.last[:1])
    ) / 3


def _share(one: frozenset, other: frozenset) -> float:
    return len(one & other) / len(one | other) if one or other else 1.0


def _reworded(
    example: Situation, present: Situation
) -> list[tuple[tuple[str, ...], tuple[str, ...], float]]:
    """The example's action in our terms: words, the thing it is about, how well things match.

    An action about a thing serves the first subgoal that is left to do with it, and becomes the
    action for that of ours, for each of our things in turn. Where it is the very verb of the
    subgoal, it takes our verb; else other verbs make it a worse match.
    """
    action = example.action
    told = []
    for theirs, serves in example.things().items():
        if not _within(theirs, action):
            continue
        for mine, ours in present.things().items():
            wanted = _exchanged(action, theirs, mine)
            alike = _share(example.stage(theirs), present.stage(mine))
            fits = serves == ours
            if serves == wanted[0] and ours:
                wanted, fits = (ours, *wanted[1:]), True
            told.append((wanted, mine, (0.5 + alike / 2) * (1.0 if fits else _OTHER_VERB)))
    return told or [(action, (), 1.0)]


def _within(thing: tuple[str, ...], action: tuple[str, ...]) -> bool:
    return any(action[n : n + len(thing)] == thing for n in range(len(action)))


def _exchanged(
    action: tuple[str, ...], old: tuple[str, ...], new: tuple[str, ...]
) -> tuple[str, ...]:
    for n in range(len(action)):
        if action[n : n + len(old)] == old:
            return action[:n] + new + action[n + len(old) :]
    return action


def _match(wanted: tuple[str, ...], thing: tuple[str, ...], action: tuple[str, ...]) -> float:
    """How near a possible action comes to the one that is wanted, in [0, 1]."""
    if not wanted or not action or wanted[0] != action[0]:
        return 0.0
    here = 1.0 if not thing or _within(thing, action) else _ABSENT
    return here * _share(frozenset(wanted), frozenset(action))

"""Answer the prompt of LDM2: transfer the examples' actions to the present things.

No knowledge of a game is used. A thing of an example corresponds to a present thing with the same
progress. An action that names the former is reworded and compared with the possible actions.
"""

from __future__ import annotations

import functools
import json
import re
import zlib
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from gym_memory.core.text import words as words_of
from gym_memory.memory.reading import split_entries
from gym_memory.testing.chat.registry import Slots, answers

__all__ = ["SituationWords", "analogies", "read_examples", "read_present"]

_OWN = "So far in this task:"
_EXAMPLE = re.compile(r"^\d+\. (?=Goal: |Subgoal \d+: |Summary: )", re.MULTILINE)
_SUBGOAL = re.compile(r"^Subgoal \d+: (.*) - (incomplete|complete)$", re.MULTILINE)
_SUMMARY = re.compile(r"^Summary: (.*)$", re.MULTILINE)
_SEEN = re.compile(r"^Observation: (.*)^Action: (.*)\Z", re.MULTILINE | re.DOTALL)
_POINTS = re.compile(r" \([\d.e+-]+ points\)$")
_WORD_MARKS = "'-"
_SMALL = frozenset({"the", "a", "an", "some", "it", "in", "on", "from", "with", "to", "of", "and"})
_CANDIDATES = 4
_FADE_FACTOR = 0.6
"""Factor of the weight of an example for every example before it."""
_ABSENT_FACTOR = 0.05
"""Factor of an action that does not name the thing."""
_OTHER_VERB_FACTOR = 0.4
"""Factor of an action if another one is still needed for the thing."""
_TRIED_FACTOR = 0.2
"""Factor of an action that was already taken in the same situation."""

Words = tuple[str, ...]


class _GoalWords(NamedTuple):
    verb: str
    thing: Words
    done: bool


class SituationWords(NamedTuple):
    """A situation as words: subgoals, last action, observation, and the action taken."""

    subgoals: tuple[_GoalWords, ...]
    last: Words
    seen: frozenset[str]
    action: Words = ()

    def things(self) -> dict[Words, str]:
        """Return the things that subgoals name, with the next verb for each."""
        left: dict[Words, str] = {}
        for verb, thing, done in self.subgoals:
            if thing and not left.get(thing):
                left[thing] = "" if done else verb
        return left

    def stage(self, thing: Words) -> frozenset[tuple[str, bool]]:
        """Return the finished and the remaining states of a thing."""
        return frozenset((s.verb, s.done) for s in self.subgoals if s.thing == thing)


def read_examples(memory: str) -> list[SituationWords]:
    """Return the examples that a memory shows, in their order."""
    shown, _, _ = memory.partition(f"\n{_OWN}\n")
    texts = _EXAMPLE.split(shown)[1:]
    seen = ((text, _SEEN.search(text)) for text in texts)
    return [_situation(text[: m.start()], m[1], m[2]) for text, m in seen if m]


def read_present(memory: str, observation: str) -> SituationWords:
    """Return the present situation: the recall about this episode, and the observation."""
    _, _, own = f"\n{memory}".partition(f"\n{_OWN}\n")
    return _situation(own, observation, "")


def _situation(history: str, seen: str, action: str) -> SituationWords:
    subgoals = []
    for subgoal, state in _SUBGOAL.findall(history):
        verb, *thing = _words(subgoal) or ("",)
        subgoals.append(_GoalWords(verb, tuple(thing), state == "complete"))
    summary = _SUMMARY.search(history)
    last = _POINTS.sub("", summary[1]).rpartition(", ")[2] if summary else ""
    named = {word for subgoal in subgoals for word in subgoal.thing}
    words = frozenset(_words(seen)) - named
    return SituationWords(
        tuple(subgoals), _words(last), words, tuple(words_of(action, _WORD_MARKS))
    )


@functools.lru_cache(maxsize=1 << 12)
def _words(text: str) -> Words:
    return tuple(word for word in words_of(text, _WORD_MARKS) if word not in _SMALL)


def analogies(
    examples: Sequence[SituationWords],
    present: SituationWords,
    possible: Sequence[str],
    tried: Iterable[str] = (),
) -> dict[str, float]:
    """Return the examples' evidence for each action, without zeros; the first examples weigh most.

    ``tried`` has actions that led back to the same situation.
    """
    worth: dict[str, float] = {}
    words = {action: tuple(words_of(action, _WORD_MARKS)) for action in possible}
    in_vain = set(tried)
    weight = 1.0
    for example in examples:
        likeness = weight * (0.5 + _alike(example, present))
        weight *= _FADE_FACTOR
        reworded = _reworded(example, present)
        for action in possible:
            value = max(
                near * _match(wanted, thing, words[action]) for wanted, thing, near in reworded
            )
            if value > 0:
                value *= _TRIED_FACTOR if action in in_vain else 1.0
                worth[action] = worth.get(action, 0.0) + likeness * value**3
    return worth


def _alike(example: SituationWords, present: SituationWords) -> float:
    """Return the similarity of two situations, in [0, 1]."""
    stages = [
        frozenset((s.verb, s.done, n) for n, s in enumerate(situation.subgoals))
        for situation in (example, present)
    ]
    verb = example.last[:1] == present.last[:1]
    return (_share(*stages) + _share(example.seen, present.seen) + verb) / 3


def _share(one: frozenset, other: frozenset) -> float:
    return len(one & other) / len(one | other) if one or other else 1.0


def _reworded(example: SituationWords, present: SituationWords) -> list[tuple[Words, Words, float]]:
    """Return the example's action for each present thing: words, thing, quality of the match.

    An action about a thing serves the first open subgoal about it. If its verb is that of the
    subgoal, it is replaced by the verb of our subgoal.
    """
    found = []
    for theirs, serves in example.things().items():
        at = _find(theirs, example.action)
        if at is None:
            continue
        for mine, ours in present.things().items():
            wanted = example.action[:at] + mine + example.action[at + len(theirs) :]
            alike = _share(example.stage(theirs), present.stage(mine))
            fits = serves == ours
            if serves == wanted[0] and ours:
                wanted, fits = (ours, *wanted[1:]), True
            found.append((wanted, mine, (0.5 + alike / 2) * (1.0 if fits else _OTHER_VERB_FACTOR)))
    return found or [(example.action, (), 1.0)]


def _find(thing: Words, action: Words) -> int | None:
    """Return the position at which an action names a thing."""
    starts = range(len(action))
    return next((n for n in starts if action[n : n + len(thing)] == thing), None)


def _match(wanted: Words, thing: Words, action: Words) -> float:
    """Return the similarity of a possible action to the wanted one, in [0, 1]."""
    if not wanted or not action or wanted[0] != action[0]:
        return 0.0
    here = 1.0 if not thing or _find(thing, action) is not None else _ABSENT_FACTOR
    return here * _share(frozenset(wanted), frozenset(action))


@answers("ldm2")
def ldm2(slots: Slots) -> str:
    """Return the analogies of the examples; without examples, random actions."""
    possible = [action for action in slots["actions"].split("\n") if action]
    present = read_present(slots["memory"], slots["observation"])
    entries = split_entries(slots["history"])[1]
    seen = _lines(slots["observation"])
    tried = [then.action for entry, then in pairwise(entries) if _lines(entry.text) == seen]
    worth = analogies(read_examples(slots["memory"]), present, possible, tried)
    if not worth:
        draw = np.random.default_rng(zlib.crc32((slots["history"] + slots["observation"]).encode()))
        worth = {possible[int(n)]: 1.0 for n in draw.permutation(len(possible))[:_CANDIDATES]}
    chosen = sorted(worth, key=lambda action: -worth[action])[:_CANDIDATES]
    total = sum(worth[action] for action in chosen)
    return json.dumps(
        {"actions": [{"action": a, "confidence": round(worth[a] / total, 3)} for a in chosen]}
    )


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]

"""Record an episode with the knowledge of an ideal observer at each step."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

from gym_memory.baselines.base import make_policy
from gym_memory.core.records import Oracle, Step, Task, Triple
from gym_memory.evaluate.observe import ObserveOracle, StepSight
from gym_memory.evaluate.quality.observer import IdealObserver, spaced, squeezed
from gym_memory.graph.schema import INVENTORY, LOCATIONS, PLAYER, NameIndex, direction_of, nouns
from gym_memory.memory.reading import quoted
from gym_memory.run import rollout
from gym_memory.run.config import Job

__all__ = ["Account", "Moment", "PlayedEpisode", "StatedFact", "record"]


class Moment(NamedTuple):
    """A step of a played episode.

    ``known`` is the ideal observer's knowledge after it, ``shown`` is what the step itself showed,
    and ``focus`` is the policy's plan. ``exact`` is True if the game itself reports what the step
    showed; its text then states all of it.
    """

    step: Step
    facts: frozenset[Triple]
    known: frozenset[Triple]
    shown: frozenset[Triple]
    focus: str = ""
    exact: bool = False

    @classmethod
    def of(cls, step: Step, oracle: Oracle, observer: IdealObserver, focus: str = "") -> Moment:
        """Build the moment after a step that an observer has seen."""
        exact = not oracle.objects.keys().isdisjoint(("visible", "seen"))
        return cls(step, oracle.facts, observer.known, observer.shown, focus, exact)


class PlayedEpisode(NamedTuple):
    """A played episode; moment 0 is the reset, moment ``t`` the environment step ``t``."""

    job: Job
    task: Task
    moments: tuple[Moment, ...]


def record(job: Job) -> PlayedEpisode:
    """Play a job with its memory, and record the episode."""
    env = job.make_env()
    task = Task("", "")
    moments: list[Moment] = []

    def note(sight: StepSight) -> None:
        nonlocal task
        obs, t = sight.obs, sight.info["moves"]
        if not moments:
            dialect = env.get_wrapper_attr("dialect")
            task = Task(sight.info["task_id"], obs["task"], dialect)
        text, inventory = quoted(obs["text"]), quoted(obs["inventory"])
        seen = (text, sight.action, sight.reward, inventory, obs["valid_actions"], sight.done)
        focus = env.get_wrapper_attr("focus")
        moments.append(Moment.of(Step(t, *seen), sight.oracle, sight.observer, focus))

    try:
        rollout(ObserveOracle(env, note), make_policy(job.policy), job.seed, task_id=job.task_id)
    finally:
        env.close()
    return PlayedEpisode(job, task, tuple(moments))


class StatedFact(NamedTuple):
    """A fact stated by a text, and the places in it that the text does not name.

    A missing place is the agent's present or last one, so a reader who knows that has the fact.
    """

    fact: Triple
    missing: frozenset[str]


class Account:
    """An episode up to some step, as a source of questions.

    ``now`` is that step, ``moment`` its record, and ``known`` the knowledge then, in a fixed order.
    """

    def __init__(self, moments: Sequence[Moment]):
        self.moments = moments
        self.moment = moments[-1]
        self.now = len(moments) - 1
        self.known = sorted(self.moment.known)
        self._shown: dict[Triple, list[int]] = {}
        for t, moment in enumerate(moments):
            for fact in moment.shown:
                self._shown.setdefault(fact, []).append(t)
        self._places = [
            {f.subject: f.object for f in moment.known if f.relation in LOCATIONS}
            for moment in moments
        ]
        self._reported: dict[tuple[int, str], tuple[StatedFact, ...]] = {}
        self._stated: dict[str, tuple[Triple, ...]] = {}

    def reported(self, t: int, text: str) -> tuple[StatedFact, ...]:
        """Return the facts shown by step ``t`` that a text states, without parsing sentences.

        A text with the step's action states a fact if it has all names of the fact. If the game
        itself reports what a step showed, the whole text states all of it.
        """
        found = self._reported.get((t, text))
        if found is None:
            moment, said = self.moments[t], spaced(squeezed(text))
            whole = moment.exact and spaced(squeezed(moment.step.text)) in said
            reported: list[StatedFact] = []
            for fact in sorted(moment.shown):
                missing = _missing(fact, said)
                placed = fact.relation in LOCATIONS and fact.subject not in missing
                if direction_of(fact.relation) or (placed and not whole):
                    reported.append(StatedFact(fact, missing))
                elif whole or not missing:
                    reported.append(StatedFact(fact, frozenset()))
            found = self._reported[t, text] = tuple(reported)
        return found

    def stated(self, sentence: str) -> tuple[Triple, ...]:
        """Return the facts ever known whose names all occur in a sentence."""
        found = self._stated.get(sentence)
        if found is None:
            said = spaced(squeezed(sentence))
            held = any(word in said for word in _HELD)
            found = self._stated[sentence] = tuple(
                fact
                for fact, words in self._ever.items()
                if all(word in said for word in words) and (held or fact.object != INVENTORY)
            )
        return found

    @cached_property
    def _ever(self) -> dict[Triple, frozenset[str]]:
        """Return all facts ever known, by step, with the words that state them."""
        found: dict[Triple, frozenset[str]] = {}
        for moment in self.moments:
            found |= {fact: _words_of(fact) for fact in sorted(moment.known - found.keys())}
        return found

    def place(self, thing: str, t: int | None = None) -> str:
        """Return the holder of a thing after step ``t``, which defaults to now; "" if unknown."""
        return self._places[self.now if t is None else t].get(thing, "")

    def places(self, t: int | None = None) -> dict[str, str]:
        """Return the known holder of each thing."""
        return self._places[self.now if t is None else t]

    def with_short_names(self, text: str) -> str:
        """Return a text with each name after *the* cut to its noun if that is unambiguous."""
        for name in self._names.find(text):
            noun = nouns(name)[-1]
            if noun != name and self._uses[noun] == 1:
                text = re.sub(rf"\bthe {re.escape(name)}\b", f"the {noun}", text, flags=re.I)
        return text

    @cached_property
    def _names(self) -> NameIndex:
        found = NameIndex()
        for name in self._all_names:
            found.learn(name)
        return found

    @cached_property
    def _uses(self) -> Counter[str]:
        return Counter(word for name in self._all_names for word in set(name.split()))

    @cached_property
    def _all_names(self) -> list[str]:
        """Return all names of the game, whether the agent knows them or not."""
        facts = {*self._ever, *self.moment.facts}
        return sorted({name for fact in facts for name in (fact.subject, fact.object)})

    def first(self, fact: Triple) -> int | None:
        """Return the step that first showed a fact, or None."""
        steps = self._shown.get(fact)
        return steps[0] if steps else None

    def age(self, facts: Iterable[Triple], t: int | None = None) -> int:
        """Return the steps since all of these facts were last shown up to ``t``."""
        end = self.now if t is None else t
        oldest = end
        for fact in facts:
            steps = self._shown.get(fact, [0])
            oldest = min(oldest, steps[max(bisect_right(steps, end) - 1, 0)])
        return self.now - oldest


_NAMED_BY = {"requires": (2,), "is": (0,), "has exit": (0,), "needs to be": (0,), "used for": (0,)}
"""Parts of a fact that are names, by relation; in all other relations, both ends are names."""
_HELD = (" hold ", " holding ", " carry ", " carrying ", " inventory ")


def _missing(fact: Triple, said: str) -> frozenset[str]:
    """Return the names of a fact that a text lacks."""
    names = {fact[i] for i in _NAMED_BY.get(fact.relation, (0, 2))} - {PLAYER, INVENTORY}
    return frozenset(name for name in names if spaced(name.lower()) not in said)


def _words_of(fact: Triple) -> frozenset[str]:
    """Return the words that a sentence needs to state a fact, each between spaces."""
    subject, relation, obj = fact
    ends = {subject, obj} - {INVENTORY}
    return frozenset(spaced(name.lower()) for name in {*ends, direction_of(relation) or obj})

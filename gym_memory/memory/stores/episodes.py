"""Episodic memory: all observations with the facts extracted from them.

An episode is AriGraph's episodic vertex, and its facts are the episodic edge E_e. An index follows
a log of episodes, or a graph's log, by a position in it.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import numpy as np

from gym_memory.core.errors import StoreError
from gym_memory.core.files import typed
from gym_memory.core.records import Triple
from gym_memory.core.settings import check_int, check_text
from gym_memory.core.text import without_articles
from gym_memory.graph.schema import DETERMINERS, PLAYER, NameIndex, tried_relation

if TYPE_CHECKING:
    from _typeshed import SupportsLenAndGetItem

__all__ = ["ActionIndex", "Episode", "EpisodeStore", "EpisodicIndex", "Follower", "weight"]

_LAST_STEP = 1 << 53

Item = TypeVar("Item")


class Follower(ABC, Generic[Item]):
    """Base of an index over a growing log, which a restore may cut and extend."""

    _taken = 0
    _last_taken: Item | None = None

    @abstractmethod
    def _reset(self) -> None:
        """Clear the index."""

    def _advance(self, log: SupportsLenAndGetItem[Item]) -> list[Item]:
        """Return the items added since the last call.

        If the log was cut before that position, the index starts again with all items. An item
        that was not cut off is the same object.
        """
        start, end = self._taken, len(log)
        if start == end and (not end or log[end - 1] is self._last_taken):
            return []
        if start > end or (start > 0 and log[start - 1] is not self._last_taken):
            self._reset()
            start = 0
        new = [log[position] for position in range(start, end)]
        self._taken, self._last_taken = end, new[-1] if new else None
        return new


class Episode(NamedTuple):
    """An observation of step ``t``, after ``action``; ``id`` counts from 0."""

    id: int
    t: int
    text: str
    action: str = ""
    triples: tuple[Triple, ...] = ()


class EpisodeStore:
    """A log of observations.

    >>> store = EpisodeStore()
    >>> apple, fridge = Triple("apple", "is in", "fridge"), Triple("fridge", "is", "open")
    >>> _ = store.add(0, "The open fridge holds an apple.", triples=[apple, fridge])
    >>> _ = store.add(1, "You open the fridge.", "open fridge", [fridge])
    >>> store.code_scores([apple, fridge], end=2)
    {0: 1.0, 1: 0.5}
    """

    def __init__(self) -> None:
        self._episodes: list[Episode] = []
        self._links: dict[Triple, list[int]] = {}

    def __len__(self) -> int:
        """Return the number of observations, which is the next id."""
        return len(self._episodes)

    def __bool__(self) -> bool:
        """Return True, even for an empty store."""
        return True

    def __iter__(self) -> Iterator[Episode]:
        """Yield all observations, oldest first."""
        return iter(self._episodes)

    def __reversed__(self) -> Iterator[Episode]:
        """Yield all observations, newest first."""
        return reversed(self._episodes)

    def __getitem__(self, id: int) -> Episode:
        """Return the observation with an id; negative ids count from the newest."""
        return self._episodes[id]

    def add(self, t: int, text: str, action: str = "", triples: Iterable[Triple] = ()) -> Episode:
        """Add an observation with its facts; O(its facts)."""
        episode = Episode(len(self._episodes), t, text, action, tuple(dict.fromkeys(triples)))
        self._append(episode)
        return episode

    def code_scores(
        self, recalled: Iterable[Triple], end: int, similarity: Sequence[float] | None = None
    ) -> dict[int, float]:
        """Score the first ``end`` observations by the authors' code, which differs from equation 1.

        ``n / max n + similarity / max similarity``, up to 2, with n recalled facts. ``similarity``
        of the plan has shape ``(len(self),)``; without it only observations that share a fact have
        a score.
        """
        links = chain.from_iterable(self._links.get(one, ()) for one in dict.fromkeys(recalled))
        shared = Counter(id for id in links if id < end)
        most = max(shared.values(), default=0)
        scores = {id: n / most for id, n in shared.items()}
        near = [float(value) for value in (similarity or ())[:end]]
        nearest = max(near, default=0.0)
        if nearest <= 0:
            return scores
        return {id: scores.get(id, 0.0) + value / nearest for id, value in enumerate(near)}

    def relevance_scores(
        self, relevance: Mapping[Triple, float], similarity: Sequence[float] | None = None
    ) -> dict[int, float]:
        """Score each by ``similarity + r1 + r2 / 2 + r3 / 4 + ...``, with its best facts first."""
        shares: dict[int, list[float]] = {}
        for fact, value in relevance.items():
            for id in self._links.get(fact, ()):
                shares.setdefault(id, []).append(value)
        scores = dict(enumerate(map(float, similarity))) if similarity is not None else {}
        for id, values in shares.items():
            values.sort(reverse=True)
            total = sum(value * 0.5**place for place, value in enumerate(values))
            scores[id] = scores.get(id, 0.0) + total
        return scores

    def snapshot(self) -> tuple[Episode, ...]:
        """Return the observations; O(observations) at the speed of a copy."""
        return tuple(self._episodes)

    def restore(self, snapshot: tuple[Episode, ...]) -> None:
        """Return to a snapshot of any store; O(observations that differ)."""
        common = range(min(len(snapshot), len(self._episodes)))  # two histories share a prefix
        same = bisect_left(common, True, key=lambda at: snapshot[at] is not self._episodes[at])
        while len(self._episodes) > same:
            for triple in self._episodes.pop().triples:
                links = self._links[triple]
                links.pop()
                if not links:
                    del self._links[triple]
        for episode in snapshot[same:]:
            self._append(episode)

    def fork(self) -> EpisodeStore:
        """Return an independent copy; O(observations and links) at the speed of list copies."""
        twin = EpisodeStore()
        twin._episodes = self._episodes.copy()
        twin._links = {triple: links.copy() for triple, links in self._links.items()}
        return twin

    __copy__ = fork

    def state(self) -> dict[str, Any]:
        """Return all observations as JSON-able values; equal histories give equal JSON."""
        facts: dict[Triple, int] = {}
        episodes = [
            [e.t, e.text, e.action, [facts.setdefault(f, len(facts)) for f in e.triples]]
            for e in self._episodes
        ]
        return {"facts": [list(fact) for fact in facts], "episodes": episodes}

    def load_state(self, state: dict[str, Any]) -> None:
        """Load what :meth:`state` returned; after a StoreError, the store is unchanged."""
        fresh = EpisodeStore()
        try:
            facts = [typed(Triple, fact) for fact in state["facts"]]
            for t, text, action, numbers in state["episodes"]:
                for part in (text, action):
                    check_text("an episode", part)
                check_int("its step", t, -_LAST_STEP, _LAST_STEP)
                fresh.add(t, text, action, [facts[number] for number in numbers])
        except (LookupError, TypeError, ValueError) as error:
            raise StoreError(f"expected a state of an episode store, got {error!r}") from error
        self._episodes, self._links = fresh._episodes, fresh._links

    def _append(self, episode: Episode) -> None:
        self._episodes.append(episode)
        for triple in episode.triples:
            self._links.setdefault(triple, []).append(episode.id)


def weight(episode: Episode) -> float:
    """Return ``log2(N) / N`` of equation 1 for an observation of N facts; 0 for N = 1."""
    total = max(len(episode.triples), 1)
    return math.log2(total) / total


_MOST_TRIED = 12
_MOST_STEPS = 4
_NONE = array("i")
_AGE_SCORE = 1e-13
"""Bonus per id, below any difference of scores, so that the newest of equals comes first."""
_LEAST = 1e-6

_EVENT = re.compile(
    r"\bwhat(?:['’]d)? (?:did (?:i|it|you) (?:find|get|say|see)|(?:came|happened)\b)|"
    r"\bwhen (?:i|you)\b",
    re.IGNORECASE,
)
_DONE_BY = re.compile(r"\bi(?:['’]ve|['’]d| have| had)? (\w+)")
_IRREGULAR = {
    "ate": "eat", "drank": "drink", "found": "find", "gave": "give", "got": "get", "lit": "light",
    "said": "say", "threw": "throw", "took": "take", "went": "go", "wore": "wear",
}  # fmt: skip


class EpisodicIndex(Follower[Episode]):
    """A ranking of a store's distinct observations by equation 1 of AriGraph."""

    def __init__(self, store: EpisodeStore):
        self.store = store
        self._reset()

    def _reset(self) -> None:
        self._number: dict[tuple[str, tuple[Triple, ...]], int] = {}
        self._numbers: list[int] = []  # for each observation: the number of its distinct text
        self._newest: list[int] = []  # for each distinct text: its last observation
        self._links: dict[Triple, array[int]] = {}
        self._weights = np.zeros(64)
        self._ages = np.zeros(64)

    def _sync(self) -> None:
        for episode in self._advance(self.store):
            number = self._number.setdefault((episode.text, episode.triples), len(self._newest))
            if number == len(self._newest):
                self._newest.append(episode.id)
                self._link(number, episode)
            self._newest[number] = episode.id
            self._numbers.append(number)
            self._ages[number] = episode.id * _AGE_SCORE

    def _link(self, number: int, episode: Episode) -> None:
        if number == len(self._weights):
            for name in ("_weights", "_ages"):
                values = getattr(self, name)
                setattr(self, name, np.concatenate([values, np.zeros_like(values)]))
        self._weights[number] = weight(episode)
        links = self._links
        for triple in episode.triples:
            found = links.get(triple)
            if found is None:
                found = links[triple] = array("i")
            found.append(number)

    def search(
        self, recalled: Iterable[Triple], *, exclude_last: int = 0, but: Container[str] = ()
    ) -> Iterator[Episode]:
        """Yield observations with distinct texts, best first, and newest first among equals.

        ``exclude_last`` omits the newest ones, ``but`` some texts; repeated facts count once.
        """
        self._sync()
        end = len(self.store) - exclude_last
        count = len(self._newest)
        if end <= 0 or not count:
            return
        links = b"".join([self._links.get(one, _NONE) for one in dict.fromkeys(recalled)])
        shared = np.bincount(np.frombuffer(links, dtype=np.intc), minlength=count)
        scores = shared * self._weights[:count] + self._ages[:count]
        for number in self._numbers[end:]:
            scores[number] = 0.0
        given: set[str] = set()
        while True:
            best = int(scores.argmax())
            if scores[best] < _LEAST:
                return
            scores[best] = 0.0
            episode = self.store[self._newest[best]]
            text = episode.text
            if text not in given and text not in but:
                given.add(text)
                yield episode


class ActionIndex(Follower[Episode]):
    """An index of a store's actions by place."""

    def __init__(self, store: EpisodeStore):
        self.store = store
        self._reset()

    def _reset(self) -> None:
        self._place = ""
        self._counts: dict[str, dict[str, int]] = {}  # actions in the order of their last try
        self._actions = NameIndex()
        self._last: dict[str, int] = {}
        self._by_word: dict[str, dict[str, None]] = {}

    def _sync(self) -> None:
        for episode in self._advance(self.store):
            action = episode.action.lower()
            if not action.isalpha():  # "look" and "wait" are words of any question
                bare = without_articles(action, *DETERMINERS)
                self._actions.learn(bare)
                self._last[bare] = episode.t
                for word in bare.split()[1:]:
                    self._by_word.setdefault(word, {})[bare] = None
            if self._place and action:
                counts = self._counts.setdefault(self._place, {})
                counts[action] = counts.pop(action, 0) + 1
            for subject, relation, obj in episode.triples:
                if subject == PLAYER and relation == "is in":
                    self._place = obj

    def named(self, text: str, things: Iterable[str] = ()) -> list[int]:
        """Return the last steps of the actions (two words or more) that a text names.

        *I opened the box* names an action on ``things``, those in the text: the latest one with a
        verb of the text or, if the text asks what happened, the latest with any verb.
        """
        self._sync()
        bare = without_articles(text.lower(), *DETERMINERS)
        found = self._actions.find(bare) or self._described(text, set(things) - {PLAYER})
        return [self._last[action] for action in found]

    def _described(self, text: str, things: Collection[str]) -> list[str]:
        verbs = {form for verb in _DONE_BY.findall(text.lower()) for form in _present(verb)}
        if not verbs or not things:
            return []
        rare = min((self._by_word.get(name.split()[-1], {}) for name in things), key=len)
        found = [action for action in rare if all(name in action for name in things)]
        exact = [action for action in found if action.split()[0] in verbs]
        found = exact or (found if _EVENT.search(text) else [])
        return sorted(found, key=self._last.__getitem__, reverse=True)[:_MOST_STEPS]

    def tried(self, place: str, valid_actions: tuple[str, ...]) -> list[Triple]:
        """Return the attempts in a place as facts ``place | tried | action``, newest first."""
        self._sync()
        counts = self._counts.get(place, {})
        valid = {action.lower() for action in valid_actions}
        again = [action for action in reversed(counts) if not valid or action in valid]
        return [
            Triple(place, tried_relation(counts[action]), action)
            for action in again[:_MOST_TRIED]
            if not action.startswith("go ")
        ]


def _present(verb: str) -> tuple[str, ...]:
    """Return the possible present forms of a past tense.

    >>> _present("dropped"), _present("took")
    (('dropped', 'dropp', 'droppe', 'drop'), ('took', 'take'))
    """
    if not verb.endswith("ed"):
        return verb, _IRREGULAR.get(verb, verb)
    return verb, verb[:-2], verb[:-1], verb[:-3]

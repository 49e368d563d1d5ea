"""The kinds of questions: how each is made from an episode, and how an answer is graded.

A kind is a class. ``make`` yields what could be asked after some step, best mixed; ``grade`` says
whether a reading of a recall (:mod:`gym_memory.scoring.exam.reading`) holds the answer. A recall is
*right* when it says all of the answer and nothing that contradicts it, *wrong* when it says
something else, and *silent* otherwise. Only what was never seen is to be answered by silence.

A question is dropped when the present observation answers it, so without a memory no question is
answered but those about what was never seen.
"""

from __future__ import annotations

import dataclasses
import random
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import ClassVar, Literal, TypeVar

from gym_memory.schema import INVENTORY, LOCATIONS, PLAYER, direction_of
from gym_memory.scoring.exam.account import Account
from gym_memory.scoring.exam.reading import Reading
from gym_memory.types import Recall, Task, Triple

__all__ = ["KINDS", "Question", "Verdict", "ask"]

Verdict = Literal["right", "wrong", "silent"]
Item = TypeVar("Item")

_READ = ("requires", "needs to be", "used for", "is prepared in", "opens")
"""Relations of facts that are read or told, not seen."""


@dataclasses.dataclass(frozen=True)
class Question(ABC):
    """One question.

    Attributes:
        text: The question in words; the focus of the recall.
        answer: The answer, for people.
        age: Steps since the evidence was last shown; None where there is none.
    """

    kind: ClassVar[str] = ""
    title: ClassVar[str] = ""
    """What is asked, for tables."""

    text: str
    answer: str
    age: int | None

    @classmethod
    @abstractmethod
    def make(cls, account: Account, rng: random.Random) -> Iterator[Question]:
        """Questions of this kind, in random order."""

    @abstractmethod
    def grade(self, reading: Reading) -> Verdict:
        """Whether a reading holds the answer."""


def ask(account: Account, task: Task, rng: random.Random, per_kind: int) -> list[Question]:
    """Questions after the last step of an account.

    Args:
        account: The episode so far.
        task: Its task.
        rng: Chooses among what could be asked.
        per_kind: Most questions of a kind.
    """
    without = Reading(Recall(), account.moment.step, task)
    questions: list[Question] = []
    for kind in KINDS.values():
        asked = 0
        for question in kind.make(account, rng):
            if asked == per_kind:
                break
            if kind is Unseen or question.grade(without) != "right":
                questions.append(question)
                asked += 1
    return questions


@dataclasses.dataclass(frozen=True)
class Where(Question):
    """Where something is now."""

    kind: ClassVar[str] = "where"
    title: ClassVar[str] = "where X is"
    thing: str

    @classmethod
    def make(cls, account: Account, rng: random.Random) -> Iterator[Question]:
        """What is neither carried nor the agent itself."""
        located = [f for f in account.known if f.relation in LOCATIONS and f.subject != PLAYER]
        for fact in _shuffled(located, rng):
            if fact.object != INVENTORY:
                text = f"Where is the {fact.subject}?"
                yield cls(text, fact.object, account.age([fact]), fact.subject)

    def grade(self, reading: Reading) -> Verdict:
        """What it is in or on."""
        return _compared(reading.place(self.thing), self.answer)


@dataclasses.dataclass(frozen=True)
class Read(Question):
    """What was read or told: the recipe, the notes, what things are for."""

    kind: ClassVar[str] = "read"
    title: ClassVar[str] = "what was read"
    facts: tuple[Triple, ...]

    @classmethod
    def make(cls, account: Account, rng: random.Random) -> Iterator[Question]:
        """One question for all facts of one subject and relation; one for each text read."""
        groups: dict[tuple[str, str], list[Triple]] = {}
        for fact in account.known:
            if fact.relation in _READ:
                groups.setdefault((fact.subject, fact.relation), []).append(fact)
        texts = dict.fromkeys(
            moment.step.text for moment in account.moments if _is_reading(moment.step.action)
        )
        found: list[tuple[str, list[Triple]]] = [
            (_reading_question(subject, relation), facts)
            for (subject, relation), facts in groups.items()
        ]
        for moment in account.moments:
            if moment.step.text in texts:
                del texts[moment.step.text]
                said = [f for f in account.known if _is_said(f, moment.step.text)]
                name = moment.step.action.partition(" ")[2]
                if any(fact.relation == "opens" for fact in said):
                    found.append((f"What did the {name} say?", said))
        for text, facts in _shuffled(found, rng):
            answer = "; ".join(map(str, facts))
            yield cls(text, answer, account.age(facts), tuple(facts))

    def grade(self, reading: Reading) -> Verdict:
        """All of what was read."""
        return "right" if all(fact in reading.now for fact in self.facts) else "silent"


@dataclasses.dataclass(frozen=True)
class Near(Question):
    """Which rooms the known ways out of a room lead to."""

    kind: ClassVar[str] = "near"
    title: ClassVar[str] = "rooms next to A"
    place: str

    @classmethod
    def make(cls, account: Account, rng: random.Random) -> Iterator[Question]:
        """Rooms with a known way."""
        for place, ways in _shuffled(list(_map(account).items()), rng):
            text = f"Which rooms does one get to from {_the(place)}?"
            yield cls(text, ", ".join(sorted(ways)), account.age(ways.values()), place)

    def grade(self, reading: Reading) -> Verdict:
        """All of them and no other."""
        said, true = set(reading.ways(self.place).values()), set(self.answer.split(", "))
        return "right" if said == true else "wrong" if said - true else "silent"


@dataclasses.dataclass(frozen=True)
class Past(Question):
    """Where something, or the agent, was after a past step, when that is not where it is now."""

    kind: ClassVar[str] = "past"
    title: ClassVar[str] = "where X was at step t"
    thing: str
    t: int

    @classmethod
    def make(cls, account: Account, rng: random.Random) -> Iterator[Question]:
        """A thing first, then a step; things that moved, in random order, the agent between."""
        moved: dict[str, list[int]] = {}
        for t in range(account.now):
            for thing, place in account.places(t).items():
                if place != account.place(thing):
                    moved.setdefault(thing, []).append(t)
        steps = {thing: _shuffled(found, rng) for thing, found in sorted(moved.items())}
        things = _shuffled([thing for thing in steps if thing != PLAYER], rng)
        turns = [PLAYER, *things] if PLAYER in steps else things
        while turns:
            for thing in turns:
                yield cls._at(account, thing, steps[thing].pop())
            turns = [thing for thing in turns if steps[thing]]

    @classmethod
    def _at(cls, account: Account, thing: str, t: int) -> Past:
        place = account.place(thing, t)
        whom = "were you" if thing == PLAYER else f"was the {thing}"
        evidence = [f for f in account.moments[t].known if f.subject == thing and f.object == place]
        text = f"Where {whom} at step {t}? (It is step {account.now} now.)"
        return cls(text, place, account.age(evidence, t), thing, t)

    def grade(self, reading: Reading) -> Verdict:
        """What it was in or on after that step."""
        return _compared(reading.place_at(self.thing, self.t), self.answer)


@dataclasses.dataclass(frozen=True)
class Did(Question):
    """What was done in a past step."""

    kind: ClassVar[str] = "did"
    title: ClassVar[str] = "what was done at step t"
    t: int

    @classmethod
    def make(cls, account: Account, rng: random.Random) -> Iterator[Question]:
        """All steps but the last one, whose action everybody knows."""
        for t in _shuffled(range(1, account.now), rng):
            text = f"What did you do at step {t}? (It is step {account.now} now.)"
            yield cls(text, account.moments[t].step.action, account.now - t, t)

    def grade(self, reading: Reading) -> Verdict:
        """The command."""
        return _compared(reading.action_at(self.t), self.answer)


@dataclasses.dataclass(frozen=True)
class Order(Question):
    """Which of two rooms was entered first, or which of two things was taken first."""

    kind: ClassVar[str] = "order"
    title: ClassVar[str] = "which came first"
    earlier: Triple
    later: Triple

    @classmethod
    def make(cls, account: Account, rng: random.Random) -> Iterator[Question]:
        """Pairs of the same sort; what was so from the start is neither entered nor taken."""
        past = {fact for moment in account.moments for fact in moment.known}
        entered = sorted(f for f in past if f.subject == PLAYER and f.relation in LOCATIONS)
        taken = sorted(f for f in past if f.object == INVENTORY)
        pairs = []
        for facts, what in ((entered, "enter"), (taken, "take")):
            steps = [(t, fact) for fact in facts if (t := account.first(fact))]
            steps.sort()
            pairs += [
                (what, *one, *two) for i, one in enumerate(steps) for two in steps[i + 1 :]
                if one[0] < two[0]
            ]  # fmt: skip
        for what, t, earlier, _, later in _shuffled(pairs, rng):
            named = [f.object if what == "enter" else f.subject for f in (earlier, later)]
            shown = " or ".join(_the(name) for name in _shuffled(named, rng))
            text = f"Which did you {what} first, {shown}?"
            yield cls(text, named[0], account.now - t, earlier, later)

    def grade(self, reading: Reading) -> Verdict:
        """The steps told for both, in the right order."""
        one, two = reading.first(self.earlier), reading.first(self.later)
        if one is None or two is None:
            return "silent"
        return "right" if one < two else "wrong"


@dataclasses.dataclass(frozen=True)
class Route(Question):
    """The way from one room to another that is not next to it."""

    kind: ClassVar[str] = "route"
    title: ClassVar[str] = "way from A to B"
    source: str
    target: str
    true: frozenset[tuple[str, str]]

    @classmethod
    def make(cls, account: Account, rng: random.Random) -> Iterator[Question]:
        """Pairs of rooms at least two moves apart, over known ways."""
        ways = _map(account)
        true = frozenset((a, b) for a, found in ways.items() for b in found)
        places = list(ways)
        pairs = [(a, b) for a in places for b in places if a != b and b not in ways[a]]
        for source, target in _shuffled(pairs, rng):
            way = _path(source, target, {place: list(found) for place, found in ways.items()})
            if way:
                facts = [ways[a][b] for a, b in pairwise(way)]
                text = f"How does one get from {_the(source)} to {_the(target)}?"
                yield cls(text, " - ".join(way), account.age(facts), source, target, true)

    def grade(self, reading: Reading) -> Verdict:
        """A way of which every part is true; the shortest one that is said."""
        ways: dict[str, list[str]] = {}
        for subject, relation, obj in reading.now.live():
            if direction_of(relation):
                ways.setdefault(obj, []).append(subject)
        way = _path(self.source, self.target, ways)
        if not way:
            return "silent"
        parts = set(pairwise(way))
        return "right" if parts <= self.true else "wrong"


@dataclasses.dataclass(frozen=True)
class Inside(Question):
    """The room of what holds something: two facts in a row."""

    kind: ClassVar[str] = "inside"
    title: ClassVar[str] = "room of what holds X"
    thing: str
    holder: str

    @classmethod
    def make(cls, account: Account, rng: random.Random) -> Iterator[Question]:
        """Things in or on something that is in a room."""
        places = account.places()
        for thing in _shuffled(sorted(places), rng):
            holder = places[thing]
            room = places.get(holder, "")
            if room and room != INVENTORY:
                facts = [f for f in account.known if f[::2] in ((thing, holder), (holder, room))]
                text = f"In which room is the thing that holds the {thing}?"
                yield cls(text, room, account.age(facts), thing, holder)

    def grade(self, reading: Reading) -> Verdict:
        """What holds it, and the room of that."""
        holder = reading.place(self.thing)
        room = reading.place(holder) if holder else ""
        if holder != self.holder:
            return "wrong" if room and room != self.answer else "silent"
        return _compared(room, self.answer)


@dataclasses.dataclass(frozen=True)
class Count(Question):
    """How many things are in or on something of which all contents were seen."""

    kind: ClassVar[str] = "count"
    title: ClassVar[str] = "how many in A"
    holder: str
    things: frozenset[str]

    @classmethod
    def make(cls, account: Account, rng: random.Random) -> Iterator[Question]:
        """Rooms, containers and supporters that hold something and nothing unknown."""
        held: dict[str, set[str]] = {}
        unknown = set()
        known = set(account.known)
        for fact in account.moment.facts:
            if fact.relation in LOCATIONS and fact.subject != PLAYER:
                held.setdefault(fact.object, set()).add(fact.subject)
                if fact not in known:
                    unknown.add(fact.object)
        for holder in _shuffled(sorted(held.keys() - unknown - {INVENTORY}), rng):
            things = frozenset(held[holder])
            facts = [f for f in account.known if f.object == holder and f.subject in things]
            text = f"How many things are right in or on {_the(holder)}?"
            yield cls(text, str(len(things)), account.age(facts), holder, things)

    def grade(self, reading: Reading) -> Verdict:
        """Just these things: the right number of wrong things is no answer."""
        said = reading.contents(self.holder)
        return "right" if said == self.things else "wrong" if said else "silent"


@dataclasses.dataclass(frozen=True)
class Unseen(Question):
    """Where something is that was never seen: nothing must be said."""

    kind: ClassVar[str] = "unseen"
    title: ClassVar[str] = "never seen"
    thing: str

    @classmethod
    def make(cls, account: Account, rng: random.Random) -> Iterator[Question]:
        """Things of the game, heard of or not, whose place was neither seen nor told."""
        ever = {thing for t in range(account.now + 1) for thing in account.places(t)}
        texts = dict.fromkeys(moment.step.text.lower() for moment in account.moments)
        located = sorted(f for f in account.moment.facts if f.relation in LOCATIONS)
        for thing, _, place in _shuffled(located, rng):
            told = any(thing in text and place in text for text in texts)
            if not told and thing not in ever and thing != PLAYER:
                yield cls(f"Where is the {thing}?", "(never seen)", None, thing)

    def grade(self, reading: Reading) -> Verdict:
        """No place."""
        return "wrong" if reading.place(self.thing) else "right"


KINDS: dict[str, type[Question]] = {
    kind.kind: kind for kind in (Where, Read, Near, Past, Did, Order, Route, Inside, Count, Unseen)
}
"""All kinds, in the order of the table."""


def _compared(said: str, answer: str) -> Verdict:
    return "right" if said == answer else "wrong" if said else "silent"


def _shuffled(items: Sequence[Item], rng: random.Random) -> list[Item]:
    return rng.sample(items, len(items))


def _the(name: str) -> str:
    """A name in a sentence; rooms that are called by a letter or number take no article."""
    return name if name.startswith("room ") else f"the {name}"


def _map(account: Account) -> dict[str, dict[str, Triple]]:
    """Known rooms, and for each the rooms that a known way leads to, with the fact that says so."""
    ways: dict[str, dict[str, Triple]] = {}
    for fact in account.known:
        if direction_of(fact.relation):
            ways.setdefault(fact.object, {})[fact.subject] = fact
    return ways


def _path(source: str, target: str, ways: dict[str, list[str]]) -> list[str]:
    """The places on the shortest way, both ends included; empty if there is none."""
    came = {source: ""}
    queue = deque([source])
    while queue and target not in came:
        place = queue.popleft()
        for other in ways.get(place, ()):
            if other not in came:
                came[other] = place
                queue.append(other)
    if target not in came:
        return []
    way = [target]
    while way[-1] != source:
        way.append(came[way[-1]])
    return way[::-1]


def _is_reading(action: str) -> bool:
    return action.startswith(("read ", "examine ", "x ", "look at "))


def _is_said(fact: Triple, text: str) -> bool:
    """Whether a text names both ends of a fact of a kind that notes tell."""
    told = text.lower()
    of_kind = fact.relation == "opens" or fact.relation in LOCATIONS
    return of_kind and fact.subject in told and fact.object in told


def _reading_question(subject: str, relation: str) -> str:
    return {
        "requires": f"What does the {subject} require?",
        "needs to be": f"What does the recipe say to do with the {subject}?",
        "used for": f"What is the {subject} used for?",
        "is prepared in": f"Where is the {subject} to be prepared?",
        "opens": f"What does the {subject} open?",
    }[relation]

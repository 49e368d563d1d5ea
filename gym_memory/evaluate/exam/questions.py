"""The kinds of questions: how each is made from an episode, and how an answer is graded.

A kind is a class. ``make`` yields what could be asked after some step, best mixed; ``grade`` says
whether a reading of a recall (:mod:`.exam.reading`) holds the answer. A recall is
*right* when it says all of the answer and nothing that contradicts it, *wrong* when it says
something false, *unproven* when it says what is true and could not be known, and *silent*
otherwise. Only what was never seen is to be answered by silence.

A question is dropped when the present observation answers it, so without a memory no question is
answered but those about what was never seen.
"""

from __future__ import annotations

import dataclasses
import random
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import ClassVar, Literal, TypeVar

from gym_memory.core.records import Recall, Triple
from gym_memory.evaluate.exam.account import Account
from gym_memory.evaluate.exam.reading import Reading
from gym_memory.evaluate.exam.wordings import Asked, in_words
from gym_memory.evaluate.quality.observer import spaced, squeezed
from gym_memory.graph.schema import INVENTORY, LOCATIONS, PLAYER, direction_of

__all__ = ["KINDS", "Question", "Verdict", "ask"]

Verdict = Literal["right", "wrong", "unproven", "silent"]
Item = TypeVar("Item")

_QUOTED = 200
"""Characters of the game's words that must stand in a recall."""

_TITLE_WORDS = 6

_READ = ("requires", "needs to be", "used for", "is prepared in", "opens")
"""Relations of facts that are read or told, not seen."""


@dataclasses.dataclass(frozen=True)
class Question(ABC):
    """One question.

    Attributes:
        text: The question in words; what is asked is the focus of the recall.
        answer: The answer, for people.
        age: Steps since the evidence was last shown; None where there is none.
    """

    kind: ClassVar[str] = ""
    title: ClassVar[str] = ""
    """What is asked, for tables."""

    text: Asked
    answer: str
    age: int | None

    @property
    def about(self) -> tuple[str, ...]:
        """What a plan must name to be about this; nothing where no plan is."""
        return ()

    @classmethod
    @abstractmethod
    def make(cls, account: Account, rng: random.Random) -> Iterator[Question]:
        """Questions of this kind, in random order."""

    @abstractmethod
    def grade(self, reading: Reading) -> Verdict:
        """Whether a reading holds the answer."""


def ask(account: Account, rng: random.Random, per_kind: int) -> list[Question]:
    """Questions after the last step of an account.

    Args:
        account: The episode so far.
        rng: Chooses among what could be asked, and words.
        per_kind: Most questions of a kind in words, and most by the policy's plan.
    """
    without = Reading(Recall(), account)
    plan = account.moment.focus
    named = spaced(squeezed(plan))
    questions: list[Question] = []
    for kind in KINDS.values():
        left, planned = per_kind, per_kind if plan else 0
        for question in kind.make(account, rng):
            if not (left or planned):
                break
            about = question.about
            to_plan = planned > 0 and bool(about) and all(spaced(n.lower()) in named for n in about)
            if not (left or to_plan):
                continue
            if kind is not Unseen and question.grade(without) == "right":
                continue
            text = question.text if left else Asked()
            text = text._replace(focus=plan) if to_plan else text
            questions.append(dataclasses.replace(question, text=text))
            left, planned = max(left - 1, 0), planned - to_plan
    return questions


@dataclasses.dataclass(frozen=True)
class Where(Question):
    """Where something is now."""

    kind: ClassVar[str] = "where"
    title: ClassVar[str] = "where X is"
    thing: str

    @property
    def about(self) -> tuple[str, ...]:
        """See :attr:`Question.about`."""
        return (self.thing,)

    @classmethod
    def make(cls, account: Account, rng: random.Random) -> Iterator[Question]:
        """What is neither carried nor the agent itself."""
        located = [f for f in account.known if f.relation in LOCATIONS and f.subject != PLAYER]
        for fact in _shuffled(located, rng):
            if fact.object != INVENTORY:
                text = in_words("where", rng, thing=fact.subject)
                yield cls(text, fact.object, account.age([fact]), fact.subject)

    def grade(self, reading: Reading) -> Verdict:
        """What it is in or on."""
        return _compared(reading.place(self.thing), self.answer)


@dataclasses.dataclass(frozen=True)
class Read(Question):
    """What was read or told: the recipe, the notes, what things are for."""

    kind: ClassVar[str] = "read"
    title: ClassVar[str] = "what was read"
    thing: str
    facts: tuple[Triple, ...]

    @property
    def about(self) -> tuple[str, ...]:
        """See :attr:`Question.about`."""
        return (self.thing,)

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
        found: list[tuple[str, str, list[Triple]]] = [
            (relation, subject, facts) for (subject, relation), facts in groups.items()
        ]
        for moment in account.moments:
            if moment.step.text in texts:
                del texts[moment.step.text]
                said = [f for f in account.known if _is_said(f, moment.step.text)]
                name = moment.step.action.partition(" ")[2]
                if any(fact.relation == "opens" for fact in said):
                    found.append(("note", name, said))
        for sort, thing, facts in _shuffled(found, rng):
            text, answer = in_words(sort, rng, thing=thing), "; ".join(map(str, facts))
            yield cls(text, answer, account.age(facts), thing, tuple(facts))

    def grade(self, reading: Reading) -> Verdict:
        """All of what was read."""
        return "right" if all(fact in reading.now for fact in self.facts) else "silent"


@dataclasses.dataclass(frozen=True)
class Near(Question):
    """Which rooms the known ways out of a room lead to."""

    kind: ClassVar[str] = "near"
    title: ClassVar[str] = "rooms next to A"
    place: str
    true: frozenset[str]

    @property
    def about(self) -> tuple[str, ...]:
        """See :attr:`Question.about`."""
        return (self.place,)

    @classmethod
    def make(cls, account: Account, rng: random.Random) -> Iterator[Question]:
        """Rooms with a known way."""
        for place, ways in _shuffled(list(_map(account).items()), rng):
            text, age = in_words("near", rng, place=_the(place)), account.age(ways.values())
            true = frozenset(
                f.subject
                for f in account.moment.facts
                if f.object == place and direction_of(f.relation)
            )
            yield cls(text, ", ".join(sorted(ways)), age, place, true)

    def grade(self, reading: Reading) -> Verdict:
        """All of them and no other."""
        said, known = set(reading.ways(self.place).values()), set(self.answer.split(", "))
        if said - known:
            return "unproven" if said - known <= self.true else "wrong"
        return "right" if said == known else "silent"


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
                yield cls._at(account, thing, steps[thing].pop(), rng)
            turns = [thing for thing in turns if steps[thing]]

    @classmethod
    def _at(cls, account: Account, thing: str, t: int, rng: random.Random) -> Past:
        place, times = account.place(thing, t), _times(account, t)
        text = in_words("past you" if thing == PLAYER else "past", rng, thing=thing, **times)
        evidence = [f for f in account.moments[t].known if f.subject == thing and f.object == place]
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
            text = in_words("did", rng, **_times(account, t))
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
            one, two = (_the(name) for name in _shuffled(named, rng))
            text = in_words(what, rng, one=one, two=two)
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
    known: frozenset[tuple[str, str]]
    true: frozenset[tuple[str, str]]

    @property
    def about(self) -> tuple[str, ...]:
        """See :attr:`Question.about`."""
        return (self.source, self.target)

    @classmethod
    def make(cls, account: Account, rng: random.Random) -> Iterator[Question]:
        """Pairs of rooms at least two moves apart, over known ways."""
        ways = _map(account)
        true = frozenset((a, b) for a, found in ways.items() for b in found)
        possible = frozenset(
            (f.object, f.subject) for f in account.moment.facts if direction_of(f.relation)
        )
        places = list(ways)
        pairs = [(a, b) for a in places for b in places if a != b and b not in ways[a]]
        for source, target in _shuffled(pairs, rng):
            way = _path(source, target, {place: list(found) for place, found in ways.items()})
            if way:
                facts = [ways[a][b] for a, b in pairwise(way)]
                text = in_words("route", rng, source=_the(source), target=_the(target))
                yield cls(text, " - ".join(way), account.age(facts), source, target, true, possible)

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
        if parts <= self.known:
            return "right"
        return "unproven" if parts <= self.known | self.true else "wrong"


@dataclasses.dataclass(frozen=True)
class Inside(Question):
    """The room of what holds something: two facts in a row."""

    kind: ClassVar[str] = "inside"
    title: ClassVar[str] = "room of what holds X"
    thing: str
    holder: str

    @property
    def about(self) -> tuple[str, ...]:
        """See :attr:`Question.about`."""
        return (self.thing,)

    @classmethod
    def make(cls, account: Account, rng: random.Random) -> Iterator[Question]:
        """Things in or on something that is in a room."""
        places = account.places()
        for thing in _shuffled(sorted(places), rng):
            holder = places[thing]
            room = places.get(holder, "")
            if room and room != INVENTORY:
                facts = [f for f in account.known if f[::2] in ((thing, holder), (holder, room))]
                text = in_words("inside", rng, thing=thing)
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

    @property
    def about(self) -> tuple[str, ...]:
        """See :attr:`Question.about`."""
        return (self.holder,)

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
            text = in_words("count", rng, place=_the(holder))
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
    place: str

    @classmethod
    def make(cls, account: Account, rng: random.Random) -> Iterator[Question]:
        """Things of the game, heard of or not, whose place was neither seen nor told."""
        ever = {thing for t in range(account.now + 1) for thing in account.places(t)}
        texts = dict.fromkeys(moment.step.text.lower() for moment in account.moments)
        located = sorted(f for f in account.moment.facts if f.relation in LOCATIONS)
        for thing, _, place in _shuffled(located, rng):
            told = any(thing in text and place in text for text in texts)
            if not told and thing not in ever and thing != PLAYER:
                text = in_words("where", rng, thing=thing)
                yield cls(text, "(never seen)", None, thing, place)

    def grade(self, reading: Reading) -> Verdict:
        """No place."""
        said = reading.place(self.thing)
        return "right" if not said else "unproven" if said == self.place else "wrong"


@dataclasses.dataclass(frozen=True)
class Saw(Question):
    """What the game said when something was done, or under a title: of any game, without facts."""

    kind: ClassVar[str] = "saw"
    title: ClassVar[str] = "what came of an action, what a text said"
    heading: str = ""

    @property
    def about(self) -> tuple[str, ...]:
        """See :attr:`Question.about`."""
        return (self.heading,) if self.heading else ()

    @classmethod
    def make(cls, account: Account, rng: random.Random) -> Iterator[Question]:
        """Answers that came once, to what was done once or under a title of their own."""
        moments = account.moments
        done = Counter(moment.step.action for moment in moments)
        said = Counter(squeezed(moment.step.text) for moment in moments)
        titles = Counter(_title(moment.step.text) for moment in moments)
        for t in _shuffled(range(1, account.now), rng):
            action, text = moments[t].step.action, moments[t].step.text
            answer, heading = squeezed(text), ""
            if not answer or said[answer] > 1:
                continue
            if done[action] == 1:
                asked = in_words("saw", rng, action=action)
            else:
                heading = _title(text)
                if not heading or titles[heading] > 1:
                    continue
                asked = in_words("passage", rng, title=heading)
            yield cls(asked, answer[:_QUOTED], account.now - t, heading)

    def grade(self, reading: Reading) -> Verdict:
        """How the answer begins, word for word."""
        return "right" if reading.says(self.answer) else "silent"


KINDS: dict[str, type[Question]] = {
    kind.kind: kind
    for kind in (Where, Read, Near, Past, Did, Order, Route, Inside, Count, Saw, Unseen)
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


def _title(text: str) -> str:
    """The short first line of a text of several lines, no sentence; empty if there is none."""
    first, _, rest = text.strip().partition("\n")
    plain = first[:1].isalnum() and first[-1:].isalnum() and len(first.split()) <= _TITLE_WORDS
    return first if rest.strip() and plain else ""


def _is_reading(action: str) -> bool:
    return action.startswith(("read ", "examine ", "x ", "look at "))


def _is_said(fact: Triple, text: str) -> bool:
    """Whether a text names both ends of a fact of a kind that notes tell."""
    told = text.lower()
    of_kind = fact.relation == "opens" or fact.relation in LOCATIONS
    return of_kind and fact.subject in told and fact.object in told


def _times(account: Account, t: int) -> dict[str, int]:
    """A step in the ways that a question may name it."""
    return {"t": t, "now": account.now, "ago": account.now - t}

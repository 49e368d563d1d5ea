"""Ask questions about an episode and grade the answers; each kind of question is a class.

A recall is *right* if it has the whole answer and no contradiction, *wrong* if it states something
false, *unproven* if it states something true that the agent could not know, and otherwise *silent*.
A question that the present observation answers is dropped, unless silence is right.
"""

from __future__ import annotations

import dataclasses
import json
import random
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Any, ClassVar, Literal, NamedTuple, TypeVar

from gym_memory.core.records import Triple
from gym_memory.evaluate.exam.account import Account
from gym_memory.evaluate.exam.reading import RecallReading
from gym_memory.evaluate.quality.observer import squeezed
from gym_memory.graph.map import shortest_path
from gym_memory.graph.schema import INVENTORY, LOCATIONS, PLAYER, direction_of

__all__ = ["QUOTED", "WORDINGS", "ExamQuestion", "QuestionText", "Verdict", "compared"]
__all__ += ["draw_wording", "shuffled", "templates", "with_article"]

Verdict = Literal["right", "wrong", "unproven", "silent"]
Item = TypeVar("Item")

QUOTED = 200
"""Number of characters of the game's text that a right recall must quote."""

_TITLE_WORDS = 6

_READ = ("requires", "needs to be", "used for", "is prepared in", "opens")
"""Relations of facts that only a written text states."""


class QuestionText(NamedTuple):
    """Wordings of a question, empty if unused.

    The ``seen`` wording was used in development, the ``unseen`` one was not. ``focus`` is the
    policy's plan at that time, which names the subject. ``partial`` is the unseen wording with
    names cut to nouns if possible; ``everyday`` uses such names in colloquial words.
    """

    seen: str = ""
    unseen: str = ""
    focus: str = ""
    partial: str = ""
    everyday: str = ""


WORDINGS = QuestionText._fields


@cache
def templates() -> dict[str, dict[str, list[str]]]:
    """Return the seen and unseen templates of each kind of question.

    Unseen templates occur nowhere else in this repository, so neither rules nor tests depend on
    them.
    """
    text = (files("gym_memory.evaluate.exam") / "wordings.json").read_text(encoding="utf-8")
    found: dict[str, dict[str, list[str]]] = json.loads(text)
    return found


def draw_wording(sort: str, rng: random.Random, **named: Any) -> QuestionText:
    """Draw a template from each list and fill it with ``named``."""
    halves = templates()[sort]
    texts = {half: rng.choice(halves[half]).format(**named) for half in ("seen", "unseen")}
    plain = random.Random(texts["unseen"])  # a separate generator leaves the other draws unchanged
    texts["everyday"] = plain.choice(halves["everyday"]).format(**named)
    return QuestionText(**{half: text[0].upper() + text[1:] for half, text in texts.items()})


@dataclasses.dataclass(frozen=True)
class ExamQuestion(ABC):
    """A question in words; ``age`` is the number of steps since its evidence was shown, if any.

    A subclass declares its ``kind``, its ``title`` in tables, whether it ``wants_silence`` because
    there is no answer, and ``about``: the fields that name what a plan about the question must
    contain. Without fields, no plan is about it.
    """

    kind: ClassVar[str] = ""
    title: ClassVar[str] = ""
    wants_silence: ClassVar[bool] = False
    _about: ClassVar[tuple[str, ...]] = ()

    text: QuestionText
    answer: str
    age: int | None

    def __init_subclass__(
        cls, *, kind: str, title: str, wants_silence: bool = False, about: tuple[str, ...] = ()
    ):
        cls.kind, cls.title, cls.wants_silence, cls._about = kind, title, wants_silence, about

    @property
    def about(self) -> tuple[str, ...]:
        """Return the names in a plan about this question; () if there is no such plan."""
        return tuple(filter(None, (getattr(self, name) for name in self._about)))

    @classmethod
    @abstractmethod
    def make(cls, account: Account, rng: random.Random) -> Iterator[ExamQuestion]:
        """Yield questions of this kind, in random order."""

    @abstractmethod
    def grade(self, reading: RecallReading) -> Verdict:
        """Grade a reading of a recall."""


@dataclasses.dataclass(frozen=True)
class Where(ExamQuestion, kind="where", title="where X is", about=("thing",)):
    """A question about the present place of a thing."""

    thing: str

    @classmethod
    def make(cls, account: Account, rng: random.Random) -> Iterator[ExamQuestion]:
        """Yield things other than the agent that are not carried."""
        located = [f for f in account.known if f.relation in LOCATIONS and f.subject != PLAYER]
        for fact in shuffled(located, rng):
            if fact.object != INVENTORY:
                text = draw_wording("where", rng, thing=fact.subject)
                yield cls(text, fact.object, account.age([fact]), fact.subject)

    def grade(self, reading: RecallReading) -> Verdict:
        return compared(reading.place(self.thing), self.answer)


@dataclasses.dataclass(frozen=True)
class Read(ExamQuestion, kind="read", title="what was read", about=("thing",)):
    """A question about a text that was read: a recipe, a note, the use of a thing."""

    thing: str
    facts: tuple[Triple, ...]

    @classmethod
    def make(cls, account: Account, rng: random.Random) -> Iterator[ExamQuestion]:
        """Yield one question per subject and relation, and one per text that was read."""
        groups: dict[tuple[str, str], list[Triple]] = {}
        for fact in account.known:
            if fact.relation in _READ:
                groups.setdefault((fact.subject, fact.relation), []).append(fact)
        texts = dict.fromkeys(
            moment.step.text
            for moment in account.moments
            if moment.step.action.startswith(("read ", "examine ", "x ", "look at "))
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
        for sort, thing, facts in shuffled(found, rng):
            text, answer = draw_wording(sort, rng, thing=thing), "; ".join(map(str, facts))
            yield cls(text, answer, account.age(facts), thing, tuple(facts))

    def grade(self, reading: RecallReading) -> Verdict:
        return "right" if all(fact in reading.now for fact in self.facts) else "silent"


@dataclasses.dataclass(frozen=True)
class Near(ExamQuestion, kind="near", title="rooms next to A", about=("place",)):
    """A question about the rooms to which known ways lead from a room."""

    place: str
    true: frozenset[str]

    @classmethod
    def make(cls, account: Account, rng: random.Random) -> Iterator[ExamQuestion]:
        for place, ways in shuffled(list(_map(account).items()), rng):
            text = draw_wording("near", rng, place=with_article(place))
            near = [f for f in account.moment.facts if f.object == place]
            true = frozenset(f.subject for f in near if direction_of(f.relation))
            yield cls(text, ", ".join(sorted(ways)), account.age(ways.values()), place, true)

    def grade(self, reading: RecallReading) -> Verdict:
        """Grade the rooms; right if all of them are named and no other."""
        said, known = set(reading.ways(self.place).values()), set(self.answer.split(", "))
        if said - known:
            return "unproven" if said - known <= self.true else "wrong"
        return "right" if said == known else "silent"


@dataclasses.dataclass(frozen=True)
class Past(ExamQuestion, kind="past", title="where X was at step t"):
    """A question about the place of the agent, or of a thing that has moved since, after a step."""

    thing: str
    t: int

    @classmethod
    def make(cls, account: Account, rng: random.Random) -> Iterator[ExamQuestion]:
        """Draw a thing or the agent, then a step."""
        moved: dict[str, list[int]] = {}
        for t in range(account.now):
            for thing, place in account.places(t).items():
                if place != account.place(thing):
                    moved.setdefault(thing, []).append(t)
        steps = {thing: shuffled(found, rng) for thing, found in sorted(moved.items())}
        things = shuffled([thing for thing in steps if thing != PLAYER], rng)
        turns = [PLAYER, *things] if PLAYER in steps else things
        while turns:
            for thing in turns:
                yield cls._at(account, thing, steps[thing].pop(), rng)
            turns = [thing for thing in turns if steps[thing]]

    @classmethod
    def _at(cls, account: Account, thing: str, t: int, rng: random.Random) -> Past:
        place, times = account.place(thing, t), _times(account, t)
        text = draw_wording("past you" if thing == PLAYER else "past", rng, thing=thing, **times)
        evidence = [f for f in account.moments[t].known if f.subject == thing and f.object == place]
        return cls(text, place, account.age(evidence, t), thing, t)

    def grade(self, reading: RecallReading) -> Verdict:
        return compared(reading.place_at(self.thing, self.t), self.answer)


@dataclasses.dataclass(frozen=True)
class Did(ExamQuestion, kind="did", title="what was done at step t"):
    """A question about the action of a past step."""

    t: int

    @classmethod
    def make(cls, account: Account, rng: random.Random) -> Iterator[ExamQuestion]:
        """Yield all steps but the last, whose action the observation shows."""
        for t in shuffled(range(1, account.now), rng):
            text = draw_wording("did", rng, **_times(account, t))
            yield cls(text, account.moments[t].step.action, account.now - t, t)

    def grade(self, reading: RecallReading) -> Verdict:
        return compared(reading.action_at(self.t), self.answer)


@dataclasses.dataclass(frozen=True)
class OrderQuestion(ExamQuestion, kind="order", title="which came first"):
    """A question about order: which of two rooms was entered, or two things taken, first."""

    earlier: Triple
    later: Triple

    @classmethod
    def make(cls, account: Account, rng: random.Random) -> Iterator[ExamQuestion]:
        """Yield pairs of rooms or of things, without those true from the start."""
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
        for what, t, earlier, _, later in shuffled(pairs, rng):
            named = [f.object if what == "enter" else f.subject for f in (earlier, later)]
            one, two = (with_article(name) for name in shuffled(named, rng))
            text = draw_wording(what, rng, one=one, two=two)
            yield cls(text, named[0], account.now - t, earlier, later)

    def grade(self, reading: RecallReading) -> Verdict:
        one, two = reading.first(self.earlier), reading.first(self.later)
        if one is None or two is None:
            return "silent"
        return "right" if one < two else "wrong"


@dataclasses.dataclass(frozen=True)
class Route(ExamQuestion, kind="route", title="way from A to B", about=("source", "target")):
    """A question about the way between two rooms that are not adjacent."""

    source: str
    target: str
    known: frozenset[tuple[str, str]]
    true: frozenset[tuple[str, str]]

    @classmethod
    def make(cls, account: Account, rng: random.Random) -> Iterator[ExamQuestion]:
        """Yield pairs of rooms at least two moves apart by known ways."""
        ways = _map(account)
        true = frozenset((a, b) for a, found in ways.items() for b in found)
        possible = frozenset(
            (f.object, f.subject) for f in account.moment.facts if direction_of(f.relation)
        )
        places = list(ways)
        pairs = [(a, b) for a in places for b in places if a != b and b not in ways[a]]
        for source, target in shuffled(pairs, rng):
            way = _path(source, target, ways)
            if way:
                facts = [ways[a][b] for a, b in pairwise(way)]
                text = draw_wording(
                    "route", rng, source=with_article(source), target=with_article(target)
                )
                yield cls(text, " - ".join(way), account.age(facts), source, target, true, possible)

    def grade(self, reading: RecallReading) -> Verdict:
        """Grade the shortest stated way; each of its moves must be true."""
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
class Inside(ExamQuestion, kind="inside", title="room of what holds X", about=("thing",)):
    """A question about the room of a thing's holder, which takes two facts."""

    thing: str
    holder: str

    @classmethod
    def make(cls, account: Account, rng: random.Random) -> Iterator[ExamQuestion]:
        places = account.places()
        for thing in shuffled(sorted(places), rng):
            holder = places[thing]
            room = places.get(holder, "")
            if room and room != INVENTORY:
                facts = [f for f in account.known if f[::2] in ((thing, holder), (holder, room))]
                text = draw_wording("inside", rng, thing=thing)
                yield cls(text, room, account.age(facts), thing, holder)

    def grade(self, reading: RecallReading) -> Verdict:
        holder = reading.place(self.thing)
        room = reading.place(holder) if holder else ""
        if holder != self.holder:
            return "wrong" if room and room != self.answer else "silent"
        return compared(room, self.answer)


@dataclasses.dataclass(frozen=True)
class Count(ExamQuestion, kind="count", title="how many in A", about=("holder",)):
    """A question about the number of things in or on a holder with fully known contents."""

    holder: str
    things: frozenset[str]

    @classmethod
    def make(cls, account: Account, rng: random.Random) -> Iterator[ExamQuestion]:
        held: dict[str, set[str]] = {}
        unknown = set()
        known = set(account.known)
        for fact in account.moment.facts:
            if fact.relation in LOCATIONS and fact.subject != PLAYER:
                held.setdefault(fact.object, set()).add(fact.subject)
                if fact not in known:
                    unknown.add(fact.object)
        for holder in shuffled(sorted(held.keys() - unknown - {INVENTORY}), rng):
            things = frozenset(held[holder])
            facts = [f for f in account.known if f.object == holder and f.subject in things]
            text = draw_wording("count", rng, place=with_article(holder))
            yield cls(text, str(len(things)), account.age(facts), holder, things)

    def grade(self, reading: RecallReading) -> Verdict:
        """Grade the things themselves, since the right number of wrong things is not an answer."""
        said = reading.contents(self.holder)
        return "right" if said == self.things else "wrong" if said else "silent"


@dataclasses.dataclass(frozen=True)
class Unseen(ExamQuestion, kind="unseen", title="never seen", wants_silence=True):
    """A question about the place of a thing never seen; the right answer is silence."""

    thing: str
    place: str

    @classmethod
    def make(cls, account: Account, rng: random.Random) -> Iterator[ExamQuestion]:
        """Yield things whose place was neither seen nor read about."""
        ever = {thing for t in range(account.now + 1) for thing in account.places(t)}
        texts = dict.fromkeys(moment.step.text.lower() for moment in account.moments)
        located = sorted(f for f in account.moment.facts if f.relation in LOCATIONS)
        for thing, _, place in shuffled(located, rng):
            named = any(thing in text and place in text for text in texts)
            if not named and thing not in ever and thing != PLAYER:
                text = draw_wording("where", rng, thing=thing)
                yield cls(text, "(never seen)", None, thing, place)

    def grade(self, reading: RecallReading) -> Verdict:
        said = reading.place(self.thing)
        return "right" if not said else "unproven" if said == self.place else "wrong"


@dataclasses.dataclass(frozen=True)
class Saw(
    ExamQuestion, kind="saw", title="what came of an action, what a text said", about=("heading",)
):
    """A question about the game's text after an action or under a title."""

    heading: str = ""

    @classmethod
    def make(cls, account: Account, rng: random.Random) -> Iterator[ExamQuestion]:
        """Yield texts that occurred once, after an action taken once or under their own title."""
        moments = account.moments
        done = Counter(moment.step.action for moment in moments)
        said = Counter(squeezed(moment.step.text) for moment in moments)
        titles = Counter(_title(moment.step.text) for moment in moments)
        for t in shuffled(range(1, account.now), rng):
            action, text = moments[t].step.action, moments[t].step.text
            answer, heading = squeezed(text), ""
            if not answer or said[answer] > 1:
                continue
            if done[action] == 1:
                wording = draw_wording("saw", rng, action=action)
            else:
                heading = _title(text)
                if not heading or titles[heading] > 1:
                    continue
                wording = draw_wording("passage", rng, title=heading)
            yield cls(wording, answer[:QUOTED], account.now - t, heading)

    def grade(self, reading: RecallReading) -> Verdict:
        return "right" if reading.says(self.answer) else "silent"


def compared(said: str, answer: str) -> Verdict:
    """Grade a recall by the name that it states: another name is wrong, none is silent."""
    return "right" if said == answer else "wrong" if said else "silent"


def shuffled(items: Sequence[Item], rng: random.Random) -> list[Item]:
    """Return the items in random order."""
    return rng.sample(items, len(items))


def with_article(name: str) -> str:
    """Return a name with its article; a room with a letter or number takes none."""
    return name if name.startswith("room ") else f"the {name}"


def _map(account: Account) -> dict[str, dict[str, Triple]]:
    """Return the adjacent rooms of each known room, with the facts of the ways."""
    ways: dict[str, dict[str, Triple]] = {}
    for fact in account.known:
        if direction_of(fact.relation):
            ways.setdefault(fact.object, {})[fact.subject] = fact
    return ways


def _path(source: str, target: str, ways: Mapping[str, Iterable[str]]) -> list[str]:
    """Return the places on the shortest way, ends included; [] if there is no way."""
    moves = shortest_path(source, target, lambda place: {n: n for n in ways.get(place, ())})
    return [source, *(move.place for move in moves)] if moves else []


def _title(text: str) -> str:
    """Return the title of a text, a short first line that is not a sentence; "" if it has none."""
    first, _, rest = text.strip().partition("\n")
    plain = first[:1].isalnum() and first[-1:].isalnum() and len(first.split()) <= _TITLE_WORDS
    return first if rest.strip() and plain else ""


def _is_said(fact: Triple, text: str) -> bool:
    """True if a text names both ends of a fact and notes state such facts."""
    text = text.lower()
    of_kind = fact.relation == "opens" or fact.relation in LOCATIONS
    return of_kind and fact.subject in text and fact.object in text


def _times(account: Account, t: int) -> dict[str, int]:
    return {"t": t, "now": account.now, "ago": account.now - t}

"""Beliefs of a player: a graph of recalled and visible facts.

The extraction rules of the graph memories also read recalled text. Players use one spelling of
commands (``go north``, ``take lamp``), which is translated to the game's.
"""

from __future__ import annotations

import re
from functools import cached_property, lru_cache
from operator import itemgetter

import numpy as np

from gym_memory.baselines.rules.plan import Exit, Plan
from gym_memory.core.records import Observation, Step, Task, Triple
from gym_memory.extract import Extractor
from gym_memory.extract.draft import apply
from gym_memory.graph import TemporalGraph
from gym_memory.graph.map import (
    Square,
    beyond,
    current_place,
    distances,
    outermost,
    positions,
    unexplored_exits,
    ways_out,
)
from gym_memory.graph.schema import (
    DIRECTIONS,
    INVENTORY,
    LOCATIONS,
    OPPOSITE,
    PLAYER,
    TRIED,
    UNEXPLORED,
    VERBATIM,
    direction_in,
    direction_of,
    door_direction,
    door_relation,
    named_in,
    nouns,
    times_tried,
)
from gym_memory.memory.reading import TranscriptStep, split_entries

__all__ = ["Beliefs", "Transcript", "canonical"]

_TAKING = re.compile(r"(?:pick up|get|grab) (?!in\b|on\b|out\b|off\b|up\b)(?=\w)")
_LOOKS = frozenset(("look around", "l"))
_INSERTING = re.compile(r"(?:put|place|insert) (?P<thing>.+) (?:in|into|inside) (?P<holder>.+)")
_COOKING = re.compile(r"(?P<cook>cook .+) (?:in|on|using) (?P<appliance>.+)")


@lru_cache(maxsize=1 << 14)
def canonical(action: str) -> str:
    """Return a command in the players' spelling.

    >>> [canonical(a) for a in ("move north", "w", "pick up lamp", "look around", "open gate")]
    ['go north', 'go west', 'take lamp', 'look', 'open gate']
    >>> canonical("cook red onion in oven"), canonical("put coin in box")
    ('cook red onion with oven', 'insert coin into box')
    """
    action = action.lower()
    direction = direction_in(action)
    if direction:
        return f"go {direction}"
    if action in _LOOKS:
        return "look"
    cooked = _COOKING.fullmatch(action)
    if cooked:
        return f"{cooked['cook']} with {cooked['appliance']}"
    into = _INSERTING.fullmatch(action)
    if into:
        return f"insert {into['thing']} into {into['holder']}"
    action = action.replace("put down ", "drop ", 1) if action.startswith("put down ") else action
    return _TAKING.sub("take ", action, count=1) if _TAKING.match(action) else action


class Transcript:
    """A graph of a growing transcript that reads only the new entries."""

    def __init__(self) -> None:
        self._task: Task | None = None
        self._entries: list[TranscriptStep] = []
        self._graph = TemporalGraph()

    def read(
        self, entries: list[TranscriptStep], extractor: Extractor, task: Task
    ) -> TemporalGraph:
        """Return a copy of the graph that the rules read from the entries."""
        known = len(self._entries)
        if task != self._task or entries[:known] != self._entries:
            known, self._graph = 0, TemporalGraph()
        for position, entry in enumerate(entries[known:], known):
            if position and _is_gap(entries[position - 1].t, entry.t):
                self._graph.retire_matching(subject=PLAYER, t=position, by="gap")
            step = Step(position, entry.text, entry.action, entry.reward)
            apply(extractor.extract(step, self._graph, task), self._graph, position)
        self._task, self._entries = task, entries
        return self._graph.fork()


def _is_gap(before: int | None, after: int | None) -> bool:
    """True if steps are missing between two steps, so the agent may have moved."""
    return before is not None and after is not None and after > before + 1


class Beliefs:
    """Conclusions of a player from one observation.

    Args:
        obs: The observation.
        extractor: Rules that read the game's text.
        task: The task.
        plan: The policy's plan, with its last action.
        rng: Draws the order of equal exits; None keeps it.
        transcript: Graph of the recalled text, kept between steps.
        t: The present step; None if unknown.
    """

    def __init__(
        self,
        obs: Observation,
        extractor: Extractor,
        task: Task,
        plan: Plan | None = None,
        rng: np.random.Generator | None = None,
        transcript: Transcript | None = None,
        t: int | None = None,
    ):
        self.text, self.task, self.plan = obs["text"], task, plan or Plan()
        action, reward = self.plan.action, 0.0
        self._rng, self._last_way = rng, action.removeprefix("go ")
        self.recalled = obs["memory"]
        self._spelling: dict[str, str] = {}
        for spelled in obs["valid_actions"]:
            self._spelling.setdefault(canonical(spelled), spelled)
        self.actions = tuple(self._spelling)
        self._options: dict[tuple[str, ...], tuple[str, ...]] = {}
        if obs["triples"]:
            # If facts contradict each other, the first one counts.
            self.graph = TemporalGraph.of(reversed(obs["triples"]))
            if " " not in action or action.startswith("go "):
                action = "look"  # the facts already include its effects
        else:
            text = obs["memory"]
            for lesson in obs["lessons"]:  # lessons describe other games
                text = text.replace(lesson, "")
            last, reward = self._read(text, extractor, transcript or Transcript(), t)
            action = last or action
        now = self.graph.now + 1
        step = Step(now, self.text, action, reward, obs["inventory"], obs["valid_actions"])
        seen = extractor.extract(step, self.graph, task)
        self._mentions = seen.mentions
        apply(seen, self.graph, now)
        self.here = current_place(self.graph) or ""
        self._names_in: dict[str, frozenset[str]] = {}
        self._ways_of: dict[str, dict[str, str]] = {}
        self._exits_of: dict[str, list[str]] = {}

    def _read(
        self, text: str, extractor: Extractor, transcript: Transcript, t: int | None
    ) -> tuple[str, float]:
        """Read recalled text; return the action that it ends with, if any, and its reward."""
        before, entries = split_entries(text)
        dangling, reward = "", 0.0
        if entries and entries[-1].action and not entries[-1].text:
            _, dangling, _, reward = entries.pop()
        entries.insert(0, TranscriptStep(None, "", before))
        dated = [(i if e.t is None else e.t, e) for i, e in enumerate(entries) if any(e[1:])]
        entries = [entry for _, entry in sorted(dated, key=itemgetter(0))]
        self.graph = transcript.read(entries, extractor, self.task)
        if entries and not dangling and _is_gap(entries[-1].t, t):
            self.graph.retire_matching(subject=PLAYER, t=self.graph.now, by="gap")
        return dangling, reward

    @property
    def shows_place(self) -> bool:
        """True if the present text says where the agent is."""
        return any(m.triple[:2] == (PLAYER, "is in") for m in self._mentions)

    def can(self, action: str) -> bool:
        """True if an action is valid; without a list of valid actions, any action counts."""
        return action in self._spelling if self.actions else True

    def spelled(self, action: str) -> str:
        """Return an action in the game's spelling."""
        return self._spelling.get(action, action)

    def options(self, *starts: str) -> tuple[str, ...]:
        """Return valid actions that start with one of the words."""
        found = self._options.get(starts)
        if found is None:
            words = tuple(f"{start} " for start in starts)
            found = tuple(action for action in self.actions if action.startswith(words))
            self._options[starts] = found
        return found

    def taking(self, thing: str) -> str | None:
        """Return the action that takes a thing, from any holder; None if none is valid."""
        if not self.actions:
            return f"take {thing}"
        taken = f"take {thing} from "
        return next((a for a in self.options("take") if f"{a} from ".startswith(taken)), None)

    def putting(self, thing: str, holder: str) -> str | None:
        """Return the action that puts a thing on or into a holder; None if none is valid."""
        actions = (f"put {thing} on {holder}", f"insert {thing} into {holder}")
        return next((a for a in actions if self.can(a)), None)

    def opening(self, thing: str) -> str | None:
        """Return the valid action that opens a thing; None if there is none."""
        action = f"open {thing}"
        return action if action in self._spelling else None

    def objects(self, subject: str, relation: str) -> list[str]:
        """Return objects of the facts ``subject relation *``."""
        return [thing for _, held, thing in self.graph.outgoing(subject) if held == relation]

    def subjects(self, relation: str, obj: str) -> list[str]:
        """Return subjects of the facts ``* relation obj``."""
        return [thing for thing, held, _ in self.graph.incoming(obj) if held == relation]

    def ingredients(self) -> list[str]:
        """Return the ingredients of the recipe and other foods to prepare."""
        due = [thing for thing, relation, _ in self.graph.live() if relation == "needs to be"]
        return list(dict.fromkeys((*self.objects("recipe", "requires"), *due)))

    def held(self) -> list[str]:
        """Return the things that the agent carries."""
        return [t.subject for t in self.graph.incoming(INVENTORY) if t.relation in LOCATIONS]

    @cached_property
    def things(self) -> list[str]:
        """Return the things with a known location."""
        placed = {fact[0] for fact in self.graph.live() if fact[1] in LOCATIONS} - {PLAYER}
        return [name for name in self.graph.entities() if name in placed]

    def holds(self, thing: str) -> bool:
        """True if the agent carries a thing."""
        return self.holder(thing) == INVENTORY

    def holder(self, thing: str) -> str:
        """Return the holder of a thing; empty if unknown."""
        place = self.graph.value(thing, "location")
        return place.object if place else ""

    def put_before(self, thing: str) -> list[str]:
        """Return the holders on or in which the agent has put a thing."""
        return [*self.objects(thing, "was put on"), *self.objects(thing, "was put in")]

    def room_of(self, thing: str) -> str:
        """Return the outermost holder of a thing, usually a room; "" if unknown.

        A carried thing is in the present room. The recalled map may lack the room.
        """
        outer = outermost(self.graph, thing)
        if outer == INVENTORY != thing:
            return self.here
        return outer if outer != thing or self.is_place(thing) else ""

    def is_place(self, name: str) -> bool:
        """True if a name is a room: the agent is in it, or it has exits."""
        if name == self.here:
            return True
        return any(
            direction_of(t.relation) or t.relation in ("has exit", UNEXPLORED)
            for t in self.graph.incident(name)
        )

    def contents(self, name: str) -> list[str]:
        """Return all things in or on a place or thing, at any depth, outermost first."""
        queue = [name]
        for current in queue:
            queue += [
                t.subject
                for t in self.graph.incoming(current)
                if t.relation in LOCATIONS and t.subject not in (PLAYER, *queue)
            ]
        return queue[1:]

    def is_state(self, thing: str, state: str) -> bool:
        """True if the fact ``thing is state`` is believed."""
        return Triple(thing, "is", state) in self.graph

    def openness(self, thing: str) -> str:
        """Return ``open``, ``closed`` or ``locked``; empty if unknown."""
        state = self.graph.value(thing, "openness")
        return state.object if state else ""

    def door(self, place: str, direction: str) -> str:
        """Return the door in a direction; empty if none is known."""
        return next(iter(self.objects(place, door_relation(direction))), "")

    def is_named(self, thing: str, text: str) -> bool:
        """True if a lower-case text has the name of a thing or an unambiguous part of it."""
        if thing in text and re.search(rf"\b{re.escape(thing)}(?!\w)", text):
            return True
        return any(noun in text for noun in nouns(thing)) and thing in self._named_in(text)

    def _named_in(self, text: str) -> frozenset[str]:
        named = self._names_in.get(text)
        if named is None:
            named = self._names_in[text] = named_in(text, self.graph.entities())
        return named

    def is_mentioned(self, thing: str) -> bool:
        """True if the task or a text read so far mentions a thing."""
        texts = (self.task.goal, *self.texts_read())
        return any(self.is_named(thing, text.lower()) for text in texts)

    def texts_read(self) -> list[str]:
        """Return the texts read so far, verbatim."""
        return [t.object for t in self.graph.live() if t.relation in VERBATIM]

    def tried(self, action: str) -> int:
        """Return how often an action was taken here, according to the memory."""
        return max(
            (
                times_tried(t.relation)
                for t in self.graph.outgoing(self.here)
                if canonical(t.object) == action and t.relation.startswith(TRIED)
            ),
            default=0,
        )

    def ways(self, place: str) -> dict[str, str]:
        """Map the directions of known and guessed ways out of a place to the next places."""
        known = self._known_ways(place)
        return {**self._guessed[place], **known} if place in self._guessed else known

    def _known_ways(self, place: str) -> dict[str, str]:
        known = self._ways_of.get(place)
        if known is None:
            out = ways_out(self.graph, place)
            for fact in self.graph.outgoing(place):  # facts state a way in one direction only
                direction = direction_of(fact.relation)
                if direction is not None:
                    out.setdefault(OPPOSITE[direction], fact.object)
            known = self._ways_of[place] = {way: out[way] for way in DIRECTIONS if way in out}
        return known

    def unexplored(self, place: str) -> list[str]:
        """Return the directions in which a place has an unexplored exit."""
        ways = self.ways(place)
        return [exit_ for exit_ in self._exits(place) if exit_ not in ways]

    def _exits(self, place: str) -> list[str]:
        """Return the directions of exits whose destination is unknown."""
        exits = self._exits_of.get(place)
        if exits is None:
            found = [e.object for e in unexplored_exits(self.graph, place)]
            found += self.objects(place, UNEXPLORED)
            known = self._known_ways(place)
            exits = self._exits_of[place] = [e for e in dict.fromkeys(found) if e not in known]
        return exits

    @cached_property
    def distances(self) -> dict[str, int]:
        """Return the number of moves to each place within reach, avoiding locked doors."""
        locked = self._locked_exits

        def unlocked(place: str) -> dict[str, str]:
            ways = self.ways(place).items()
            return {way: other for way, other in ways if (place, way) not in locked}

        return distances(self.here, unlocked if locked else self.ways)

    @cached_property
    def _locked_exits(self) -> set[Exit]:
        return {
            (fact.subject, direction)
            for door in self.subjects("is", "locked")
            for fact in self.graph.incoming(door)
            if (direction := door_direction(fact.relation))
            and self.door(fact.subject, direction) == door
        }

    def frontier(self) -> list[tuple[int, Exit]]:
        """Return unexplored exits with the number of moves to their place, nearest first.

        The way back and exits towards a known place come last. Ties are in random order.
        """
        taken = set(self._squares.values())
        exits = []
        for place, distance in self.distances.items():
            for direction in self.unexplored(place):
                if (place, direction) not in self._locked_exits:
                    back = place == self.here and direction == OPPOSITE.get(self._last_way)
                    known = back or beyond(self._squares.get(place), direction) in taken
                    exits.append((known, distance, place, direction))
        if self._rng is not None and len(exits) > 1:
            exits = [exits[i] for i in self._rng.permutation(len(exits))]
        exits.sort(key=itemgetter(0, 1))
        return [(distance, (place, direction)) for _, distance, place, direction in exits]

    def far_exits(self) -> list[Exit]:
        """Return unexplored exits of places without a known way to them."""
        known = self.distances
        facts = (t for t in self.graph.live() if t.relation == UNEXPLORED)
        return [(t.subject, t.object) for t in facts if t.subject not in known]

    @cached_property
    def _squares(self) -> dict[str, Square]:
        return positions(self.here, self._known_ways)

    @cached_property
    def _guessed(self) -> dict[str, dict[str, str]]:
        """Return guessed ways, which connect unexplored exits that face each other."""
        at: dict[Square | None, str] = {square: place for place, square in self._squares.items()}
        exits = {place: self._exits(place) for place in self._squares}
        guessed: dict[str, dict[str, str]] = {}
        for place, square in self._squares.items():
            for direction in exits[place]:
                other = at.get(beyond(square, direction))
                if other is not None and OPPOSITE[direction] in exits[other]:
                    guessed.setdefault(place, {})[direction] = other
        return guessed

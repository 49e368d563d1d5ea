"""Extraction rules for TextWorld, which read a step in the context of the graph.

A text has up to two parts: the answer to the command, and the description of a room under its
banner. Complete listings (of a room, a container, the inventory) retire the facts that they omit.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import NamedTuple

from gym_memory.core.records import Step, Task, Triple
from gym_memory.extract import Extraction, Mention
from gym_memory.extract.draft import PUTTING, Draft, attributed
from gym_memory.extract.notes import read_report, read_writing
from gym_memory.extract.notes.recipes import HEATS, is_about_cooking, preparation, read_kitchen
from gym_memory.extract.notes.words import DOOR, STATES, kind_of_noun
from gym_memory.games.textworld.rules_sentences import (
    BANNER,
    HolderContents,
    SentenceFacts,
    describe,
    gone,
    read_inventory,
    read_results,
)
from gym_memory.graph import TemporalGraph
from gym_memory.graph.map import is_door
from gym_memory.graph.schema import (
    INVENTORY,
    LOCATIONS,
    PLAYER,
    QUOTED,
    clean_name,
    direction_in,
    direction_of,
    head_noun,
)

__all__ = ["Offers", "TextWorldRules", "offered"]

_MAX_TEXT_CHARS = 100_000
_LOOK_AT = re.compile(r"(?:read|examine|x|look at|search|look in) (?P<name>.+)", re.IGNORECASE)
_KEY = re.compile(r"(?:un)?lock (?P<lock>.+) (?:with|using) (?P<key>.+)", re.IGNORECASE)
_PRONOUNS = frozenset(("it", "them", "me", "myself", "all", "everything"))
_COOKING = re.compile(r"cook .+ (?:with|using|in|on) (?P<tool>.+)", re.IGNORECASE)
_SCORE_NOTICE = "Your score has just gone up"
_MEAL_PREPARED = "Adding the meal to your inventory"
_OPENNESS = ("open", "closed", "locked")


class TextWorldRules:
    r"""Extraction rules for TextWorld.

    >>> step = Step(0, "-= Pantry =-\nYou see a shelf. On the shelf you can see a raw egg.")
    >>> found = TextWorldRules().extract(step, TemporalGraph(), Task("t", "cook"))
    >>> for mention in found.mentions:
    ...     print(mention.triple)
    you, is in, pantry
    shelf, is in, pantry
    egg, is on, shelf
    egg, is, raw
    """

    complete = True
    """True, since texts state all effects of an action."""
    move_prefix = "go "
    """Prefix of directions in commands."""

    @attributed
    def extract(self, step: Step, graph: TemporalGraph, task: Task) -> Extraction:
        """See :class:`~gym_memory.extract.Extractor`."""
        text = step.text[:_MAX_TEXT_CHARS]
        draft = _StepDraft(graph, step.valid_actions)
        command = _read_command(step.action)
        # a walk shows several and ends in the last; a note may contain one
        banners = [] if command.looked_at is not None else list(BANNER.finditer(text))
        banner = banners[-1] if banners else None
        answer = text[: banners[0].start()] if banners else text
        if step.action:
            self._answer(step, command, answer, draft, task.goal.lower())
        else:
            draft.add_reported(draft.goal(answer))
            draft.add_reported(read_kitchen(text, draft.kind_of))
        if banner is not None:
            draft.go(clean_name(banner["room"]), banner.span("room"), step.action)
            room = describe(text[banner.end() :], draft.room)
            draft.offset = banner.end()
            draft.take(draft.with_full_names(room))
            draft.offset = 0
            draft.read_again()
        if _MEAL_PREPARED in answer:
            draft.use_up()
        if step.inventory and not step.done:  # a finished game omits it
            draft.take(read_inventory(step.inventory))
        draft.note_offered()
        draft.note_locked()
        draft.note_misfits()
        draft.note_empty()
        return draft.extraction()

    def _answer(
        self, step: Step, command: _Command, answer: str, draft: _StepDraft, goal: str
    ) -> None:
        thing = ""
        if command.looked_at is not None:
            thing = draft.meant(command.looked_at)
            sure = bool(thing) and thing in goal and is_about_cooking(goal)
            written = read_writing(thing, answer, draft.kind_of, recipe=sure)
            if written:
                draft.add_reported(written, thing)
                return
        draft.unlocking = answer.startswith("You unlock ")
        draft.take(read_results(answer, draft.room, thing))
        if command.heats_with is not None:
            draft.note_use(command.heats_with, answer)
        if command.puts:
            draft.note_placing(praised=_SCORE_NOTICE in answer or step.reward > 0)
        elif step.reward < 0:
            draft.note_loss()
        if command.turns is not None and answer.startswith(("You lock ", "You unlock ")):
            key, lock = map(draft.meant, command.turns)
            draft.add(key, "opens", lock)
        if command.asks_goal:
            draft.add_reported(draft.goal(answer))


class _Command(NamedTuple):
    """A parsed action with clean names; None for parts of other kinds of actions.

    ``turns`` has the key and the lock.
    """

    looked_at: str | None
    heats_with: str | None
    turns: tuple[str, str] | None
    puts: bool
    asks_goal: bool


@lru_cache(maxsize=1 << 10)
def _read_command(action: str) -> _Command:
    action = " ".join(action.split())
    looked, heated, turned = (p.fullmatch(action) for p in (_LOOK_AT, _COOKING, _KEY))
    return _Command(
        clean_name(looked["name"]) if looked else None,
        clean_name(heated["tool"]) if heated else None,
        (clean_name(turned["key"]), clean_name(turned["lock"])) if turned else None,
        PUTTING.match(action) is not None,
        action.lower() == "goal",
    )


class _StepDraft(Draft):
    """A draft of one step's facts, with names and evidence from the valid actions."""

    def __init__(self, graph: TemporalGraph, actions: tuple[str, ...]) -> None:
        super().__init__(graph)
        self._offers = offered(actions)
        self._actions, self._spoken = self._offers.actions, self._offers.names
        self.unlocking = False

    def note(self, mention: Mention) -> None:
        """Add a fact, unless a known fact is more specific."""
        subject, _, obj = mention.triple
        if obj == "closed" and not self.unlocking and self._previous_openness(subject) == "locked":
            return  # a text may call a locked thing *closed*
        if obj == "empty" and is_door(self.graph, subject):
            return  # `You open the gate.` is no more specific
        super().note(mention)

    def take(self, reading: SentenceFacts) -> None:
        """Add the facts of a text, with the names in commands."""
        reading = renamed(reading, called(reading, self._spoken))
        for mention in reading.mentions:
            self.note(mention)
        self.outdated.update(dict.fromkeys(reading.outdated))
        for holder, names in reading.listings:
            self.keep_only(holder, names)

    def goal(self, text: str) -> tuple[Mention, ...]:
        """Add the facts in a goal."""
        return read_report(text, self.kind_of).facts

    def _is_known(self, name: str) -> bool:
        return name != PLAYER and bool(self.graph.outgoing(name))

    def meant(self, name: str) -> str:
        """Resolve a name in a command to a thing within reach; empty if several match.

        For example, ``examine potato`` may mean the purple potato.
        """
        if name in _PRONOUNS:
            return ""
        if not name or self._is_known(name):
            return name
        words = set(name.split())
        in_reach = dict.fromkeys(
            fact.subject if fact.relation in LOCATIONS else fact.object
            for place in (self.room, INVENTORY)
            for fact in self.graph.incident(place)
        )
        inside = (fact.subject for thing in in_reach for fact in self.graph.incoming(thing))
        found = {thing for thing in (*in_reach, *inside) if words <= set(thing.split())}
        if not found:
            return name
        return found.pop() if len(found) == 1 else ""

    def with_full_names(self, room: SentenceFacts) -> SentenceFacts:
        """Return the description of a room with the full names of its furniture.

        The grammar may write *chest* for a rusty chest; the valid actions have the full name.
        """
        unspoken = {
            subject
            for (subject, _, place), _, _ in room.mentions
            if place == self.room and subject not in self._spoken
        }
        if not unspoken:
            return room
        names: dict[str, str] = {}
        described = {mention.triple.subject for mention in room.mentions}
        visible = {a.removeprefix("examine ") for a in self._actions if a[:8] == "examine "}
        for subject in unspoken:
            before = self.graph.value(subject, "location")
            if before is not None and before.object == self.room:
                continue
            longer = [n for n in visible if n.endswith(f" {subject}") and n not in described]
            if len(longer) == 1:
                names[subject] = longer[0]
        return renamed(room, names)

    def read_again(self) -> None:
        """Read notes again if they name a new thing, whose kind is now known."""
        new = {
            name
            for subject, relation, place in self.mentions
            if relation in LOCATIONS
            for name in (subject, place)
            if name not in (PLAYER, INVENTORY) and not self._is_known(name)
        }
        if not new:
            return
        for note, _, text in self.graph.related("says"):
            if any(name in text.lower() for name in new):
                read = read_writing(note, text, self._kind_in_view)
                facts = (Mention(m.triple) for m in read if m.triple[1] not in QUOTED)
                self.add_reported(facts, note)
                self._correct_recipe()

    def _correct_recipe(self) -> None:
        """Retire ingredients with shortened names, such as *tomato* for a tomato plant."""
        now = [f.object for f in self.mentions if f[:2] == ("recipe", "requires")]
        for fact in self.graph.outgoing("recipe"):
            short = fact.object
            if any(short != name and short in name.split() for name in now) and short not in now:
                self.outdate(*fact)
                self.outdate(short, "needs to be")

    def _kind_in_view(self, name: str) -> str | None:
        """Return the kind of a name, from the facts of this step."""
        known = self.kind_of(name)
        if known is not None:
            return known
        shown = [
            f
            for f in self.mentions
            if f.subject == name or (f.object == name and f.relation in LOCATIONS)
        ]
        if any(f.subject == name and f.object in _OPENNESS for f in shown):
            return "container"
        if any(f.object == name and f.relation == "is on" for f in shown):
            return "supporter"
        return "" if shown else None

    def go(self, room: str, span: tuple[int, int], action: str) -> None:
        """Record the agent's move to ``room`` and the way from the command's direction or door."""
        direction = direction_in(action)
        action = action.lower()
        for fact in self.graph.outgoing(self.left) if self.left and action != "look" else ():
            if fact.relation.endswith(" door") and fact.object in action:
                direction = direction or fact.relation.split()[1]
        self.enter(room, span, direction)

    def note_use(self, tool: str, answer: str) -> None:
        """Record the use of an appliance that heated food, as in *You fried the egg*."""
        words = answer.split()
        done = preparation(words[1]) if len(words) > 1 else ""
        if done in HEATS:
            self.add(tool, "used for", HEATS[done])

    def use_up(self) -> None:
        """Retire the ingredients of the recipe, which became the meal."""
        for fact in self.graph.outgoing("recipe"):
            if fact.relation == "requires":
                self.outdated.update(dict.fromkeys(gone(fact.object)))
                self.add(fact.object, "is", "consumed")

    def note_offered(self) -> None:
        """Add exits and things that only valid actions name."""
        room, exits, here = self.room, self._offers.exits, self._offers.here
        if not room or not (exits or here):
            return
        ways, doors = set[str | None](), set[str]()
        about = [*self.graph.outgoing(room)]
        about += [fact for fact in self.mentions if fact[0] == room or fact[2] == room]
        for _, relation, obj in about:
            if relation.endswith(" door"):
                ways.add(relation.split()[1])
                doors.add(obj)
            elif obj == room:
                ways.add(direction_of(relation))
        for direction in exits:
            if direction not in ways and self.graph.value(room, direction) is None:
                self.add(room, "has exit", direction)
        for name, state in here:
            if name in doors or name in self.moved or self.graph.value(name, "location"):
                continue
            self.add(name, "is in", room)
            if state and not self._openness(name):
                self.add(name, "is", state)

    def note_locked(self) -> None:
        """Record closed things in view as locked if no valid action opens them."""
        stated: dict[str, str] = {}
        for subject, relation, obj in self.mentions:
            if relation == "is" and obj in _OPENNESS:
                stated.setdefault(subject, obj)
        for name in self._in_view():
            if (stated.get(name) or self._previous_openness(name)) != "closed":
                continue
            named = f"examine {name}" in self._actions  # commands also use this name
            if named and f"open {name}" not in self._actions:
                self.mentions.pop(Triple(name, "is", "closed"), None)
                self.add(name, "is", "locked")

    def note_misfits(self) -> None:
        """Record held keys that fit no lock in view, according to the valid actions."""
        keys = [key for key in self._inside(INVENTORY) if self._is_unmatched_key(key)]
        if not (keys and self._actions):
            return
        for lock in self._in_view():
            if self._openness(lock) in ("", "open") or f"open {lock}" in self._actions:
                continue
            for key in keys:
                turns = Triple(key, "opens", lock)
                known = turns in self.mentions or turns in self.graph
                if not known and f"unlock {lock} with {key}" not in self._actions:
                    self.add(key, "does not open", lock)

    def note_empty(self) -> None:
        """Record empty holders, and retire that fact for filled ones."""
        value = self.graph.value
        for holder in dict.fromkeys(fact.object for fact in self.moved.values()):
            empty = Triple(holder, "is", "empty")
            if empty in self.graph and empty not in self.mentions:
                self.outdate(*empty)
        places = ((value(name, "location"), now) for name, now in self.moved.items())
        left = dict.fromkeys(was.object for was, now in places if was and was.object != now.object)
        for holder in left:
            if value(holder, "location") is None:  # a room, the inventory
                continue
            rest = (f.subject for f in self.graph.incoming(holder) if f.relation in LOCATIONS)
            if all(name in self.moved and self.moved[name].object != holder for name in rest):
                self.add(holder, "is", "empty")

    def _is_unmatched_key(self, key: str) -> bool:
        """True if a thing is a key without a known lock."""
        if not head_noun(key).endswith("key"):
            return False
        known = (*self.graph.outgoing(key), *self.mentions)
        return not any(f.subject == key and f.relation == "opens" for f in known)

    def _inside(self, holder: str) -> list[str]:
        """Return the direct contents of a room or the inventory."""
        kept = [f.subject for f in self.contents(holder) if f.subject not in self.moved]
        return kept + [n for n, now in self.moved.items() if now.object == holder and n != PLAYER]

    def _in_view(self) -> tuple[str, ...]:
        """Return the things in the room and the doors in its exits."""
        about = (*self.graph.outgoing(self.room), *self.mentions)
        doors = (f.object for f in about if f.subject == self.room and f.relation.endswith(" door"))
        return tuple(dict.fromkeys((*self._inside(self.room), *doors)))

    def _openness(self, name: str) -> str:
        """Return ``open``, ``closed``, ``locked``, or an empty string if unknown."""
        for subject, relation, obj in self.mentions:
            if subject == name and relation == "is" and obj in _OPENNESS:
                return obj
        return self._previous_openness(name)

    def _previous_openness(self, name: str) -> str:
        """Return the openness of a thing before this step."""
        state = self.graph.value(name, "openness")
        return state.object if state else ""


# Valid actions, which may show exits and furniture that a description omits

_ACTION = re.compile(
    r"(?P<verb>open|close|unlock|lock|insert|put|take) (?P<first>.+?)"
    r"(?: (?P<how>with|into|on|from) (?P<second>.+))?"
)
_PREPOSITION = re.compile(r" (?:from|into|in|onto|on|with|to|under|at) ")
_STATE_BEFORE = {"open": "closed", "close": "open", "unlock": "locked", "lock": ""}


class Offers(NamedTuple):
    """An interpretation of the valid actions, in lower case.

    Attributes:
        exits: Directions in which the agent can go.
        here: Things in the room, each with the state that its action implies; empty for none.
        names: Arguments of the ``actions``, which are the game's names of things.
    """

    exits: tuple[str, ...]
    here: tuple[tuple[str, str], ...]
    actions: frozenset[str]
    names: frozenset[str]


@lru_cache(maxsize=256)
def offered(actions: tuple[str, ...]) -> Offers:
    """Interpret a list of valid actions.

    >>> found = offered(("go east", "unlock Red safe with Key 2", "take egg from jar", "look"))
    >>> found.exits, found.here
    (('east',), (('red safe', 'locked'), ('jar', '')))
    >>> sorted(found.names)
    ['east', 'egg', 'egg from jar', 'jar', 'key 2', 'red safe', 'red safe with key 2']
    """
    exits: list[str] = []
    here: dict[str, str] = {}
    lower: list[str] = []
    names: set[str] = set()
    for one in map(_offer, actions):
        lower.append(one.action)
        names.update(one.names)
        if one.exit:
            exits.append(one.exit)
        if one.here is not None:
            name, state = one.here
            here[name] = here.get(name) or state
    return Offers(tuple(exits), tuple(here.items()), frozenset(lower), frozenset(names))


class _Offer(NamedTuple):
    action: str
    exit: str
    here: tuple[str, str] | None
    names: tuple[str, ...]


@lru_cache(maxsize=1 << 12)
def _offer(action: str) -> _Offer:
    action = action.lower()
    rest = action.partition(" ")[2]
    names = tuple(filter(None, (rest, *_PREPOSITION.split(rest))))
    exit_ = direction_in(action) if action.startswith("go ") else None
    return _Offer(action, exit_ or "", _thing_here(action), names)


def _thing_here(action: str) -> tuple[str, str] | None:
    """Return the thing in the room that an action names, with its implied state."""
    found = _ACTION.fullmatch(action)
    if found is None:
        return None
    verb, name = found["verb"], found["second"]
    if verb in _STATE_BEFORE or (verb == "take" and not name):
        name = found["first"]
    if not name or name == INVENTORY or kind_of_noun(name) == DOOR:
        return None
    return name, _STATE_BEFORE.get(verb, "")


# The valid actions have the game's own names: *a pair of court shoes* is `court shoes` there, and
# *a raw meat* may be `meat` that is raw or a thing called `raw meat`.

_MEASURE_WORD = re.compile(r"(?:pair|set|piece|bunch|couple|handful|pile) of (?P<rest>.+)")


def called(reading: SentenceFacts, spoken: Collection[str]) -> dict[str, str]:
    """Map names in a reading that no command uses to names in commands."""
    states: dict[str, list[str]] = {}
    for (subject, relation, obj), _, _ in reading.mentions:
        states.setdefault(subject, [])
        if relation == "is" and obj in STATES:
            states[subject].append(obj)
    names: dict[str, str] = {}
    for name, worn in states.items():
        if name in spoken:
            continue
        whole = " ".join((*worn, name))
        measured = _MEASURE_WORD.fullmatch(name)
        if worn and whole in spoken:
            names[name] = whole
        elif measured is not None and (measured["rest"] in spoken or not spoken):
            names[name] = measured["rest"]
    return names


def renamed(reading: SentenceFacts, names: Mapping[str, str]) -> SentenceFacts:
    """Rename things in a reading, and drop states that became part of a name."""
    if not names:
        return reading
    get = names.get
    return reading._replace(
        mentions=tuple(
            m._replace(triple=Triple(get(s, s), r, get(o, o)))
            for m in reading.mentions
            for s, r, o in (m.triple,)
            if not (r == "is" and o in STATES and o in get(s, "").split())
        ),
        listings=tuple(
            HolderContents(get(holder, holder), tuple(get(n, n) for n in inside))
            for holder, inside in reading.listings
        ),
    )

"""Extraction rules for TextWorld: the text of a step to facts.

A feedback has up to two parts: an answer to the command (:mod:`.textworld_results`; or something
to read, :mod:`.textworld_reading`) and the description of a room under its banner
(:mod:`.textworld_rooms`). This module puts them together with what the graph knows already:

* moving: going east from the kitchen into the hall makes ``hall is east of kitchen``, and the
  way back, for TextWorld's ways lead both ways;
* complete listings: what a room, an open container, a supporter or the inventory no longer
  lists is no longer there; a holder whose last thing was taken is empty;
* preparing a meal uses up the ingredients that the recipe asks for;
* a key that unlocks something opens it.

The rules are written for the grammars that come with TextWorld, not for particular games.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from gym_memory.core.records import Step, Task, Triple
from gym_memory.extract import EXTRACTORS
from gym_memory.extract.base import Extraction, Mention, Pattern
from gym_memory.extract.notes import RULES, Reader, read_report, read_writing
from gym_memory.extract.notes.recipes import HEATS, is_about_cooking, preparation, read_kitchen
from gym_memory.extract.notes.words import clean_name, direction_in, head_noun, is_door, kind_in
from gym_memory.games.textworld.rules_actions import offered
from gym_memory.games.textworld.rules_names import called, names_in, renamed
from gym_memory.games.textworld.rules_results import gone, read_inventory, read_results
from gym_memory.games.textworld.rules_rooms import BANNER, describe
from gym_memory.games.textworld.rules_sentences import Listing, Reading
from gym_memory.graph import TemporalGraph
from gym_memory.graph.schema import (
    INVENTORY,
    LOCATIONS,
    OPPOSITE,
    PLAYER,
    QUOTED,
    direction_of,
    way_relation,
)

__all__ = ["TextWorldRules"]

_MAX_TEXT_CHARS = 100_000
_LOOK_AT = re.compile(r"(?:read|examine|x|look at|search|look in) (?P<name>.+)", re.IGNORECASE)
_KEY = re.compile(r"(?:un)?lock (?P<lock>.+) (?:with|using) (?P<key>.+)", re.IGNORECASE)
_PRONOUNS = frozenset(("it", "them", "me", "myself", "all", "everything"))
_HEAT = re.compile(r"cook .+ (?:with|using|in|on) (?P<tool>.+)", re.IGNORECASE)
_PUT = re.compile(r"(?:put|place|insert) ", re.IGNORECASE)
_PRAISE = "Your score has just gone up"
_PREPARED = "Adding the meal to your inventory"


@EXTRACTORS.register("textworld")
class TextWorldRules:
    r"""The extraction role for TextWorld, by rules.

    Args:
        reader: Who reads notes, goals and recipes.

    >>> from gym_memory.graph import TemporalGraph
    >>> step = Step(0, "-= Pantry =-\nYou see a shelf. On the shelf you can see a raw egg.")
    >>> said = TextWorldRules().extract(step, TemporalGraph(), Task("t", "cook"))
    >>> for mention in said.mentions:
    ...     print(mention.triple)
    you, is in, pantry
    shelf, is in, pantry
    egg, is on, shelf
    egg, is, raw
    """

    def __init__(self, reader: Reader = RULES):
        self._reader = reader

    def extract(self, step: Step, graph: TemporalGraph, task: Task) -> Extraction:
        """Facts of one step; see :class:`~gym_memory.extract.base.Extractor`."""
        text = step.text[:_MAX_TEXT_CHARS]
        draft = _Draft(graph, step.valid_actions, self._reader)
        banners = list(BANNER.finditer(text))  # several where a walk is told: it ends in the last
        banner = banners[-1] if banners else None
        answer = text[: banners[0].start()] if banners else text
        if step.action:
            self._answer(step, answer, draft, task.goal.lower())
        else:
            draft.tell(draft.told(answer))
            draft.tell(read_kitchen(text, draft.kind_of))
        if banner is not None:
            draft.enter(clean_name(banner["room"]), banner.span("room"), step.action)
            room = describe(text[banner.end() :], draft.room)
            draft.take(draft.with_full_names(room), banner.end())
            draft.read_again()
        if _PREPARED in answer:
            draft.use_up()
        if step.inventory and not step.done:  # a game that is over no longer lists it
            draft.take(read_inventory(step.inventory))
        draft.note_offered(step.valid_actions)
        draft.note_locked()
        draft.note_misfits()
        return draft.extraction()

    def _answer(self, step: Step, answer: str, draft: _Draft, goal: str) -> None:
        """What the answer to a command says."""
        action = " ".join(step.action.split())
        looked = _LOOK_AT.fullmatch(action)
        thing = draft.meant(clean_name(looked["name"])) if looked else ""
        if looked is not None:
            asked = bool(thing) and thing in goal and is_about_cooking(goal)
            written = read_writing(thing, answer, draft.kind_of, recipe=asked, reader=self._reader)
            if written:
                draft.tell(written)
                return
        draft.unlocking = answer.startswith("You unlock ")
        draft.take(read_results(answer, draft.room, thing))
        heated = _HEAT.fullmatch(action)
        if heated is not None:
            draft.note_use(clean_name(heated["tool"]), answer)
        if _PUT.match(action):
            draft.note_placing(praised=_PRAISE in answer or step.reward > 0)
        elif step.reward < 0:
            draft.note_loss()
        turned = _KEY.fullmatch(action)
        if turned is not None and answer.startswith(("You lock ", "You unlock ")):
            key, lock = (draft.meant(clean_name(turned[part])) for part in ("key", "lock"))
            if key and lock:
                draft.add((Mention(Triple(key, "opens", lock)),))
        if action.lower() == "goal":
            draft.tell(draft.told(answer))


class _Draft:
    """The extraction of one step while it grows; knows the graph before the step."""

    def __init__(self, graph: TemporalGraph, actions: tuple[str, ...], reader: Reader) -> None:
        self._graph, self._reader = graph, reader
        self._actions = frozenset(action.lower() for action in actions)
        self._spoken = names_in(actions)
        here = graph.value(PLAYER, "location")
        self.room = here.object if here else ""
        self.unlocking = False
        self._mentions: dict[Triple, Mention] = {}
        self._outdated: dict[Pattern, None] = {}
        self._moved: dict[str, Triple] = {}  # things whose place this step states

    def known(self, name: str) -> bool:
        """Whether the graph holds a live fact about a thing or a place."""
        return name != PLAYER and bool(self._graph.outgoing(name))

    def kind_of(self, name: str) -> str | None:
        """What is known of a name, for a text that speaks of it; None if nothing is."""
        return kind_in(self._graph, name, self.room)

    def meant(self, name: str) -> str:
        """The thing at hand that a command calls ``name``; empty if it may be one of several.

        A player may say ``examine potato`` of the purple potato.
        """
        if name in _PRONOUNS:
            return ""
        if not name or self.known(name):
            return name
        words = set(name.split())
        at_hand = dict.fromkeys(
            fact.subject if fact.relation in LOCATIONS else fact.object
            for place in (self.room, INVENTORY)
            for fact in self._graph.incident(place)
        )
        inside = (fact.subject for thing in at_hand for fact in self._graph.incoming(thing))
        found = {thing for thing in (*at_hand, *inside) if words <= set(thing.split())}
        if not found:
            return name
        return found.pop() if len(found) == 1 else ""

    def with_full_names(self, room: Reading) -> Reading:
        """The description of a room with its furniture called as commands call it.

        Where names have adjectives, the grammar also writes *chest* of a rusty chest; which one
        is meant shows in the valid actions.
        """
        names: dict[str, str] = {}
        told = {mention.triple.subject for mention in room.mentions}
        for (subject, _, place), _, _ in room.mentions:
            if place != self.room or subject in self._spoken:
                continue
            before = self._graph.value(subject, "location")
            if before is not None and before.object == place:
                continue
            longer = [n for n in self._visible() if n.endswith(f" {subject}") and n not in told]
            if len(longer) == 1:
                names[subject] = longer[0]
        return renamed(room, names)

    def _visible(self) -> set[str]:
        return {a.removeprefix("examine ") for a in self._actions if a.startswith("examine ")}

    def add(self, mentions: Iterable[Mention], offset: int = 0) -> None:
        """Add facts; ``offset`` is where the text that their spans point into begins."""
        for mention in mentions:
            triple, start, end = mention
            if triple[2] == "closed" and not self.unlocking and self._is_locked(triple[0]):
                continue  # a text that shows a locked thing may call it closed
            if triple[2] == "empty" and is_door(self._graph, triple[0]):
                continue  # `You open the gate.` reveals nothing either
            if triple[1] in LOCATIONS:
                self._moved[triple[0]] = triple
            if triple not in self._mentions:
                shifted = offset and start >= 0
                self._mentions[triple] = (
                    Mention(triple, start + offset, end + offset) if shifted else mention
                )

    def _is_locked(self, name: str) -> bool:
        state = self._graph.value(name, "openness")
        return state is not None and state.object == "locked"

    def take(self, reading: Reading, offset: int = 0) -> None:
        """Add what a text says, of things as commands call them."""
        reading = renamed(reading, called(reading, self._spoken))
        self.add(reading.mentions, offset)
        self._outdated.update(dict.fromkeys(reading.outdated))
        for listing in reading.listings:
            self._only(listing)

    def _only(self, listing: Listing) -> None:
        """Retire what a complete listing leaves out."""
        holder, names = listing
        for triple in self._graph.incoming(holder):
            subject, relation, _ = triple
            if relation in LOCATIONS and subject not in names and subject != PLAYER:
                self._outdated[Pattern(*triple)] = None

    def tell(self, mentions: Iterable[Mention]) -> None:
        """Add what a text tells; it does not overrule where a thing was seen."""
        for mention in mentions:
            subject, relation, _ = mention.triple
            if relation not in LOCATIONS or self._graph.value(subject, "location") is None:
                self.add((mention,))

    def told(self, text: str) -> tuple[Mention, ...]:
        """What a goal tells."""
        return read_report(text, self.kind_of, reader=self._reader).facts

    def read_again(self) -> None:
        """Read notes anew that name what has just come into view: now it is known what it is."""
        new = {
            name
            for subject, relation, place in self._mentions
            if relation in LOCATIONS
            for name in (subject, place)
            if name not in (PLAYER, INVENTORY) and not self.known(name)
        }
        if not new:
            return
        for fact in self._graph.live():
            if fact.relation == "says" and any(name in fact.object.lower() for name in new):
                note, text = fact.subject, fact.object
                for mention in read_writing(note, text, self.kind_in_view, reader=self._reader):
                    if mention.triple.relation not in QUOTED:
                        self.tell((Mention(mention.triple),))
                self._correct_recipe()

    def _correct_recipe(self) -> None:
        """Retire ingredients whose names were cut short: *tomato* where it is a tomato plant."""
        now = [f.object for f in self._mentions if f[:2] == ("recipe", "requires")]
        for fact in self._graph.outgoing("recipe"):
            short = fact.object
            if any(short != name and short in name.split() for name in now) and short not in now:
                self._outdated[Pattern(*fact)] = None
                self._outdated[Pattern(short, "needs to be", None)] = None

    def kind_in_view(self, name: str) -> str | None:
        """What is known of a name, with what this step shows."""
        known = self.kind_of(name)
        if known is not None:
            return known
        shown = [
            f
            for f in self._mentions
            if f.subject == name or (f.object == name and f.relation in LOCATIONS)
        ]
        if any(f.subject == name and f.object in ("open", "closed", "locked") for f in shown):
            return "container"
        if any(f.object == name and f.relation == "is on" for f in shown):
            return "supporter"
        return "" if shown else None

    def enter(self, room: str, span: tuple[int, int], action: str) -> None:
        """The player is in ``room``; after a move this tells a way between two rooms."""
        left, self.room = self.room, room
        self.add((Mention(Triple(PLAYER, "is in", room), *span),))
        direction = direction_in(action) or self._through_door(left, action)
        if direction is not None and left and left != room:
            back = OPPOSITE[direction]
            self.add(
                (
                    Mention(Triple(room, way_relation(direction), left), *span),
                    Mention(Triple(left, way_relation(back), room), *span),
                )
            )

    def _through_door(self, room: str, action: str) -> str | None:
        """The direction of a move that names a door: ``enter the screen door``."""
        action = action.lower()
        for fact in self._graph.outgoing(room) if room and action != "look" else ():
            if fact.relation.endswith(" door") and fact.object in action:
                return fact.relation.split()[1]
        return None

    def note_use(self, tool: str, answer: str) -> None:
        """What something that food was heated with is for, as in *You fried the egg*."""
        done = preparation(answer.split()[1]) if len(answer.split()) > 1 else ""
        if done in HEATS:
            self.add((Mention(Triple(tool, "used for", HEATS[done])),))

    def note_placing(self, *, praised: bool) -> None:
        """Something was put in or on something, and perhaps praised for it."""
        for thing, relation, holder in tuple(self._moved.values()):
            if holder not in (INVENTORY, self.room):
                where = relation.removeprefix("is ")
                if self._holds(Triple(thing, f"belongs {where}", holder)):
                    continue  # put back after it was taken from its place, which is no new attempt
                self.add((Mention(Triple(thing, f"was put {where}", holder)),))
                if praised:
                    self.add((Mention(Triple(thing, f"belongs {where}", holder)),))

    def note_offered(self, actions: tuple[str, ...]) -> None:
        """Exits and things at hand that no text mentions, and that can be acted upon."""
        exits, here = offered(actions)
        if not self.room or not (exits or here):
            return
        about = [*self._graph.outgoing(self.room)]
        about += [fact for fact in self._mentions if self.room in (fact.subject, fact.object)]
        told = (direction_of(fact.relation) for fact in about if fact.object == self.room)
        ways = {direction for direction in told if direction}
        ways |= {f.relation.split()[1] for f in about if f.relation.endswith(" door")}
        for direction in exits:
            if direction not in ways and self._graph.value(self.room, direction) is None:
                self.add((Mention(Triple(self.room, "has exit", direction)),))
        doors = {fact.object for fact in about if fact.relation.endswith(" door")}
        for name, state in here:
            if name in doors or name in self._moved or self._graph.value(name, "location"):
                continue
            self.add((Mention(Triple(name, "is in", self.room)),))
            if state and not self._openness(name):
                self.add((Mention(Triple(name, "is", state)),))

    def note_locked(self) -> None:
        """What is shut in view and yet cannot be opened is locked: the valid actions tell."""
        for name in self._in_view():
            at_hand = f"examine {name}" in self._actions  # called so by commands too
            shut = at_hand and f"open {name}" not in self._actions
            if shut and self._openness(name) == "closed":
                self._mentions.pop(Triple(name, "is", "closed"), None)
                self.add((Mention(Triple(name, "is", "locked")),))

    def note_loss(self) -> None:
        """A reward was lost: what was taken belonged where it was."""
        for thing, _, holder in tuple(self._moved.values()):
            before = self._graph.value(thing, "location")
            if holder == INVENTORY and before is not None and before.object != INVENTORY:
                where = before.relation.removeprefix("is ")
                self.add((Mention(Triple(thing, f"belongs {where}", before.object)),))

    def note_misfits(self) -> None:
        """Keys at hand that turn in none of the locks in view, to judge by the valid actions."""
        keys = [key for key in self._inside(INVENTORY) if self._is_riddle(key)]
        if not (keys and self._actions):
            return
        for lock in self._in_view():
            if self._openness(lock) in ("", "open") or f"open {lock}" in self._actions:
                continue
            for key in keys:
                turns = Triple(key, "opens", lock)
                if f"unlock {lock} with {key}" not in self._actions and not self._holds(turns):
                    self.add((Mention(Triple(key, "does not open", lock)),))

    def _is_riddle(self, key: str) -> bool:
        """Whether it is a key, and nothing is known that it opens."""
        known = (*self._graph.outgoing(key), *self._mentions)
        opens = any(f.subject == key and f.relation == "opens" for f in known)
        return head_noun(key).endswith("key") and not opens

    def _holds(self, fact: Triple) -> bool:
        return fact in self._mentions or fact in self._graph

    def _inside(self, holder: str) -> list[str]:
        """What is directly in a room or the inventory once this step is over."""
        before = (f.subject for f in self._graph.incoming(holder) if f.relation in LOCATIONS)
        kept = [n for n in before if n != PLAYER and n not in self._moved]
        return kept + [n for n, now in self._moved.items() if now.object == holder and n != PLAYER]

    def _in_view(self) -> tuple[str, ...]:
        """What stands in the room and in its exits."""
        about = (*self._graph.outgoing(self.room), *self._mentions)
        doors = (f.object for f in about if f.subject == self.room and f.relation.endswith(" door"))
        return tuple(dict.fromkeys((*self._inside(self.room), *doors)))

    def _openness(self, name: str) -> str:
        """Open, closed, locked or unknown, once this step is over."""
        for subject, relation, obj in self._mentions:
            if subject == name and relation == "is" and obj in ("open", "closed", "locked"):
                return obj
        state = self._graph.value(name, "openness")
        return state.object if state else ""

    def use_up(self) -> None:
        """The ingredients of the recipe have gone into the meal."""
        for fact in self._graph.outgoing("recipe"):
            if fact.relation == "requires":
                self._outdated.update(dict.fromkeys(gone(fact.object)))
                self.add((Mention(Triple(fact.object, "is", "consumed")),))

    def extraction(self) -> Extraction:
        """All facts, with what follows for the holders that things left and came to."""
        self._empty_holders()
        return Extraction(tuple(self._mentions.values()), tuple(self._outdated))

    def _empty_holders(self) -> None:
        value = self._graph.value
        for holder in dict.fromkeys(fact.object for fact in self._moved.values()):
            empty = Triple(holder, "is", "empty")
            if empty in self._graph and empty not in self._mentions:
                self._outdated[Pattern(*empty)] = None
        left: dict[str, None] = {}
        for name, now in self._moved.items():
            before = value(name, "location")
            if before is not None and before.object != now.object:
                left[before.object] = None
        for holder in left:
            if value(holder, "location") is None:  # a room, the inventory
                continue
            rest = (f.subject for f in self._graph.incoming(holder) if f.relation in LOCATIONS)
            if all(name in self._moved and self._moved[name].object != holder for name in rest):
                self.add((Mention(Triple(holder, "is", "empty")),))

"""One decision of the imitator: which move comes next, and how to do it here."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from gym_memory.baselines.imitating.demonstrations import Demonstration, Lore, nearest
from gym_memory.baselines.imitating.goals import Terms, condition_of, is_shown, terms
from gym_memory.baselines.imitating.meaning import Meaning
from gym_memory.baselines.imitating.phrases import Act, Thing, fit, likeness, things_in, words
from gym_memory.baselines.imitating.progress import Standing, progress
from gym_memory.baselines.imitating.scene import Scene, is_refused

__all__ = ["AMBIGUOUS", "Settings", "Turn"]

AMBIGUOUS = "Ambiguous request"
LOOK = "look around"
WAIT = "wait1"
GIVE_UP = 0.05
"""How often a search ends in trying without having found; with no memory, nothing else ends it."""
_COMPARED = 10
"""Demonstrations of the task, nearest by their goals, that are held beside what happened."""
_ANYWHERE = 0.02
"""How likely a room is to hold a thing that demonstrations did not see there."""
_NEAR = 4.0
"""What a goal that is wholly alike counts, in agreeing moves."""
_BOX = re.compile(r"\w+ box")
_SHUT = re.compile(r"because the ([\w ]+?) isn't open")
_HELD = re.compile(r"\(containing ([^(),]*)")
_CLOSED = re.compile(r"The ([\w ]+?) door is closed")
_STIRRED = re.compile(r"You move to the|The (?!door)[\w ]+ is (?:now|already) open")
_SOUGHT = ("pick up", "focus on", "pour")
"""Verbs whose things are worth searching the house for; others need what is at hand, or named."""
_LOOKS = 2.0
"""What it counts, in agreeing moves, that the things of the next move look as they did then."""
_VESSELS = ("mix", "pour", "move")
"""Verbs whose things may be others in every house: a jug here, a cup there."""
_SERIES = 3
"""Rounds before the end of a series that may be left out."""
_SAME = 0.5
"""Least agreement of two moves for the things of one to stand for those of the other."""
_SAME_USE = 0.3
"""Least likeness of what two things are put to, for one to serve in the place of the other."""
_STATES = frozenset({"liquid", "solid", "gaseous"})
_BOUND = ("focus on", "pick up", "move", "pour", "mix", "look at", "examine", "use")
"""Verbs that show what stands for what."""
_LIQUID = "can't pick up a liquid"
_THRESHOLD = re.compile(r"(above|below) (-?\d+(?:\.\d+)?)")


@dataclasses.dataclass(frozen=True)
class Settings:
    """What may be tuned.

    Attributes:
        alike: Least likeness, in [0, 1], for a thing in sight to stand for a demonstrated one.
        history: Whether moves and facts that the memory tells count for how far along it is.
        search: Whether it searches the house for what is not in sight.
        encoder: Name of a text encoder that compares names beside their words; empty for none.
    """

    alike: float = 0.34
    history: bool = True
    search: bool = True
    encoder: str = ""


class _Guide(NamedTuple):
    """A demonstration beside the present: how to say it, and how far along it one is."""

    shown: Demonstration
    terms: Terms
    standing: Standing


class Turn:
    """One decision.

    Args:
        lore: What was learnt.
        goal: The present goal.
        scene: The present situation.
        settings: What may be tuned.
        meaning: How alike two names are.
        rng: Decides between equals.

    Attributes:
        plan: What is to be published.
    """

    def __init__(
        self,
        lore: Lore,
        goal: str,
        scene: Scene,
        settings: Settings,
        meaning: Meaning,
        rng: np.random.Generator,
    ):
        self._lore, self._goal, self._scene = lore, goal, scene
        self._settings, self._meaning, self._rng = settings, meaning, rng
        self._guide = self._choose()
        self._stands_for = dict(self._bound())
        self._number = 0
        self._until = ""
        self.plan = ""

    def action(self) -> str:
        """The next action."""
        scene, shown = self._scene, self._guide.shown
        if scene.made and is_refused(scene.text) and not scene.again:
            shut = _SHUT.search(scene.text)
            self.plan = f"{'later' if shut else 'once more'}: {scene.plan}"
            return f"open {shut[1]}" if shut else LOOK
        number = self._number = self._known_now(self._next_move())
        act = self._decided(self._here(number))
        start = {end: first for first, end in shown.rounds}.get(number)
        if start is not None and (act is None or not self._ready(act)):
            self._until = str(act or self._here(number))
            return self._fulfil(self._here(start), self._put_room(shown.moves[start].room))
        act = act or self._here(number)
        return self._fulfil(act, self._put_room(shown.moves[number].room))

    # ------------------------------------------------------------ what

    def _choose(self) -> _Guide:
        """The demonstration that agrees best with the goal and with what happened."""
        ranked = nearest(self._goal, self._lore.demonstrations)
        task = ranked[0][0].task
        near = [(shown, alike) for shown, alike in ranked if shown.task == task][:_COMPARED]
        best: tuple[float, _Guide] | None = None
        for shown, alike in near:
            how = terms(shown.goal, self._goal, shown.recipe, self._scene.recipe)
            standing = progress(shown, how, self._scene, self._rng, history=self._settings.history)
            value = standing.value + _NEAR * alike + self._same_recipe(shown)
            value += self._looks_so(how, shown, standing.done)
            if best is None or value > best[0] + 1e-9:
                best = value, _Guide(shown, how, standing)
        assert best is not None
        return best[1]

    def _looks_so(self, how: Terms, shown: Demonstration, number: int) -> float:
        """How far the things of the next move are in sight and look as they did then."""
        scene = self._scene
        if number >= len(shown.moves) or not scene.view:
            return 0.0
        move = shown.moves[number]
        missing = -1.0 if move.room == scene.room else 0.0
        found = []
        for phrase, look in zip(how.put(move.act).things, move.looks, strict=True):
            core, _, content = phrase.partition(" containing ")
            lines = [
                thing.line
                for thing in (*scene.view, *scene.carried)
                if words(core) <= words(thing.name) and words(content) <= words(thing.line)
            ]
            found.append(max((0.5 + 0.5 * likeness(look, line) for line in lines), default=missing))
        return _LOOKS * sum(found) / len(found) if found else 0.0

    def _same_recipe(self, shown: Demonstration) -> float:
        """How well what a demonstration mixed serves for what is to be mixed."""
        there, here = set(shown.recipe), set(self._scene.recipe)
        if not here or not there:
            return 0.0
        named = {thing for move in shown.moves for thing in move.act.things}
        unnamed = sum(1 for one in there - here if one not in named)
        missing = max(0, len(here) - len(there))
        return len(there & here) - 0.3 * len(there - here) - 1.5 * unnamed - missing

    def _bound(self) -> Iterator[tuple[str, str]]:
        """What stood for what, by the moves that the memory tells."""
        guide = self._guide
        for act, number in reversed(guide.standing.pairs):
            shown = guide.terms.put(guide.shown.moves[number].act)
            if act.verb in _BOUND and fit(act, shown) >= _SAME:
                yield from (
                    (there.partition(" containing ")[0], here)
                    for there, here in zip(shown.things, act.things, strict=True)
                    if here != there
                )

    def _here(self, number: int) -> Act:
        """A demonstrated move in terms of the goal, and of what stands for what."""
        act = self._guide.terms.put(self._guide.shown.moves[number].act)
        return act._replace(things=tuple(self._same(thing) for thing in act.things))

    def _same(self, phrase: str) -> str:
        core, _, content = phrase.partition(" containing ")
        if core in self._stands_for:
            return self._stands_for[core]
        head, link, holder = core.rpartition(" in ")
        if link and holder in self._stands_for:
            core = f"{head} in {self._stands_for[holder]}"
        return f"{core} containing {content}" if content else core

    def _next_move(self) -> int:
        """The number of the demonstrated move that is to be done."""
        shown, number = self._guide.shown, self._guide.standing.done
        while number < len(shown.moves) and self._needless(number):
            number += 1
        while number and self._was_left_out(number - 1):
            number -= 1
        if number >= len(shown.moves):
            again = [start for start, end in shown.rounds if end == len(shown.moves)]
            # without a round to repeat it should be over: something went wrong
            return again[0] if again else int(self._rng.integers(len(shown.moves)))
        act = shown.moves[number].act
        reads = [i for i, move in enumerate(shown.moves[:number]) if move.act.verb == "read"]
        if reads and not self._scene.recipe and not set(shown.recipe).isdisjoint(act.things):
            self._until = str(act)
            return reads[0]
        return self._focus_first(number)

    def _was_left_out(self, number: int) -> bool:
        """Whether a move was not made, can be made here, and its effect is not in sight."""
        act = self._here(number)
        made = any(other == number for _, other in self._guide.standing.pairs)
        if made or act.verb != "move" or not self._scene.view or self._needless(number):
            return False
        return all(
            any(words(phrase) == words(thing.name) for thing in self._scene.view)
            for phrase in act.things
        )

    def _needless(self, number: int) -> bool:
        """Whether a move is about what this goal does without, or its effect is in sight."""
        if self._guide.terms.needless(self._guide.shown.moves[number].act):
            return True
        act = self._here(number)
        if act.verb == "pick up":
            return any(words(act.things[0]) <= words(t.name) for t in self._scene.carried)
        if act.verb not in ("move", "pour"):
            return False
        return any(
            words(act.things[1]) <= words(thing.name)
            and words(act.things[0]) <= words(thing.line) - words(thing.name)
            for thing in (*self._scene.view, *self._scene.carried)
        )

    def _known_now(self, number: int) -> int:
        """The move that ends a series of measurements where what it depends on is known already."""
        for size, end in ((end - start, end) for start, end in self._guide.shown.rounds):
            if number < end < len(self._guide.shown.moves) and end - number <= _SERIES * size:
                act = self._here(end)
                asked = [condition_of(self._goal, phrase)[0] for phrase in act.things]
                if any(map(_THRESHOLD.search, asked)) and self._decided(act):
                    return end
        return number

    def _focus_first(self, number: int) -> int:
        """An earlier thing to focus on that was not, as far as the memory tells everything."""
        scene, moves = self._scene, self._guide.shown.moves
        due = [i for i, move in enumerate(moves[:number]) if move.act.verb == "focus on"]
        made = {a for a, answer in scene.done if a.verb == "focus on" and not is_refused(answer)}
        kept = scene.facts and not any(fact.relation == "focused on" for fact in scene.facts)
        known = bool(kept) if scene.cut else bool(scene.done)
        if not due or not known or not self._settings.history:
            return number
        return due[len(made)] if len(due) > len(made) else number

    def _put_room(self, room: str) -> str:
        """The room of a move where the goal names another one than the demonstration's."""
        put = self._guide.terms.put(Act("go to", (room,))).things[0]
        return put if put in self._lore.house.exits else room

    def _decided(self, act: Act) -> Act | None:
        """The action with the thing that the goal asks for; None where that is not known yet."""
        if act.verb == "focus on" and len(self._guide.shown.measured) > 1:
            return self._measured(act)
        for number, phrase in enumerate(act.things):
            condition, other = condition_of(self._goal, phrase)
            found = _THRESHOLD.search(condition)
            if found is not None:
                plan = self._scene.plan
                if plan and plan.verb == act.verb and not self._scene.made:
                    return plan  # what was decided stays so
                above = self._is_above(float(found[2]), "melting point" in condition)
                if above is None:
                    return None
                holds = above == (found[1] == "above")
            else:
                holds = not condition or self._is_as_shown()
            if not holds:
                things = list(act.things)
                things[number] = other.rpartition(" the ")[2]
                return act._replace(things=tuple(things))
        return act

    def _is_as_shown(self) -> bool:
        """Whether the mark that the goal asks about is in sight where it was in the demonstration.

        The demonstrated answer, in terms of the present goal, is right then.
        """
        shown = is_shown(self._goal, self._scene.text) if self._scene.view else None
        return shown is None or shown == self._guide.shown.shown

    def _measured(self, act: Act) -> Act:
        """Focus on what was measured to be more, or less, as in the demonstration."""
        there, here = self._guide.shown.measured, self._scene.measured
        chosen = self._guide.shown.moves[-1].act.things[0]
        if chosen not in there or len(here) < 2:
            return act
        most = there[chosen] == max(there.values())
        best = (max if most else min)(here, key=lambda name: here[name])
        return act._replace(things=(best,))

    def _is_above(self, threshold: float, melting: bool) -> bool | None:
        """Whether a temperature, or the one at which something melts, is above a threshold."""
        readings = self._scene.readings
        if not melting:
            return readings[-1][0] > threshold if readings else None
        solid = [value for value, liquid in readings if not liquid]
        molten = [value for value, liquid in readings if liquid]
        if solid and threshold <= max(solid):
            return True
        if molten and threshold >= min(molten):
            return False
        return threshold < (max(solid) + min(molten)) / 2 if solid and molten else None

    def _ready(self, act: Act) -> bool:
        """Whether an action's things are in sight, as far as one has looked."""
        seen = self._scene.view
        return not seen or all(self._in_sight(phrase, act) for phrase in act.things)

    # ------------------------------------------------------------ where and how

    def _publish(self, act: Act, room: str, *, later: bool = False) -> None:
        again = "once more: " if self._scene.again and self._scene.plan == act else ""
        how = "later: " if later else again
        self.plan = f"{how}{act}" + (f", in the {room}" if room else "")
        self.plan += f", until: {self._until}" if self._until else ""

    def _fulfil(self, act: Act, room: str) -> str:
        """Go where an action is done, find its things and do it."""
        scene = self._scene
        if not act.things:
            if room and scene.room and scene.room != room:
                return self._go(room, act)
            self._publish(act, room or scene.room)
            return str(act)
        free = act.verb == "focus on" and not self._asked(act.things[0])
        if free and scene.room != room and f"room {room}" not in scene.sights:
            return self._go(room, act)
        names = [self._in_sight(phrase, act) for phrase in act.things]
        if all(names):
            self._publish(act, scene.room)
            return str(self._poured(act._replace(things=tuple(names))))
        missing = next(p for p, name in zip(act.things, names, strict=True) if not name)
        where = self._place_of(missing, room, act)
        again = scene.again and scene.plan == act
        if scene.room and where != scene.room and not again:
            return self._go(where, act)
        unseen = _STIRRED.match(scene.text) or not scene.room or act.verb == "focus on"
        if not scene.view and unseen:
            self._publish(act, scene.room, later=True)
            return LOOK
        if not scene.view or (again and act.verb != "focus on"):
            self._publish(act, scene.room)
            act = act._replace(things=tuple(self._now_called(phrase) for phrase in act.things))
            return str(act)  # what cannot be seen may be there; a refusal makes it look
        closed = _CLOSED.findall(scene.text)
        if closed and self._is_sought(missing, act):
            self._publish(act, scene.room, later=True)
            return f"open {closed[0]}"
        return self._search(missing, act)

    def _now_called(self, phrase: str) -> str:
        """What a substance is called that melts or freezes, by the last answer that names it."""
        for _, answer in reversed(self._scene.done):
            names = [] if answer.startswith(AMBIGUOUS) else [t.name for t in things_in(answer)]
            if any(words(name) == words(phrase) for name in names):
                return phrase
            for name in names:
                if words(name) ^ words(phrase) <= _STATES:
                    return name
        return phrase

    def _poured(self, act: Act) -> Act:
        """A move of what cannot be picked up: its vessel is poured out instead."""
        if act.verb != "move" or _LIQUID not in self._last_refusal(act):
            return act
        inside = rf"\ban? ([\w ]+) \(containing [^()]*\b{re.escape(act.things[0])}\b"
        vessel = re.search(inside, self._scene.text.lower())
        return Act("pour", (vessel[1], act.things[1]), "into") if vessel else act

    def _last_refusal(self, act: Act) -> str:
        return next((answer for a, answer in reversed(self._scene.done) if a == act), "")

    def _in_sight(self, phrase: str, act: Act) -> str:
        """What to call a thing that is in sight or carried; empty where there is none like it."""
        things = (*self._scene.carried, *self._scene.view)
        core, _, content = phrase.partition(" containing ")
        if act.verb == "focus on":
            return self._to_focus_on(core, things)
        if content:
            held = self._focused(content)
            things = tuple(thing for thing in things if words(held) <= words(thing.line))
        for thing in things:
            if words(core) <= words(thing.name) or words(core) <= words(thing.line):
                return phrase if content and not self._made_free(content) else core
        if core.startswith("substance in "):
            return self._content(core, things)
        asked = self._asked(core)
        if not asked and act.verb in _VESSELS and self._scene.view:
            for other in self._played(phrase, act):
                if any(words(other) <= words(thing.name) for thing in things):
                    return other
            empty = self._as_empty(phrase, act)
            if empty:
                return empty
        ranked = [
            (self._meaning.alike(core, thing.name), thing.name)
            for thing in things
            if asked <= words(thing.line) and (self._scene.view or content)
            and not words(thing.name) <= self._words_of_others(phrase, act)
        ]  # fmt: skip
        value, name = max(ranked, default=(0.0, ""), key=lambda pair: pair[0])
        return name if value >= self._settings.alike else ""

    def _content(self, phrase: str, things: tuple[Thing, ...]) -> str:
        """What to call the substance in a vessel: some are only known by their names."""
        holder = phrase.rpartition(" in ")[2]
        lines = [thing.line for thing in things if words(holder) <= words(thing.name)]
        named = [_HELD.search(line) for line in lines if holder in line]
        if any(found is None or "substance called" in found[1] for found in named):
            return phrase
        return named[0][1].strip() if named and named[0] else ""

    def _asked(self, phrase: str) -> frozenset[str]:
        """The words of a phrase by which the goal asks for the thing."""
        goal = self._goal if "box" in phrase else _BOX.sub("", self._goal)
        return words(phrase) & words(goal)

    def _words_of_others(self, phrase: str, act: Act) -> frozenset[str]:
        return frozenset(w for thing in act.things if thing != phrase for w in words(thing))

    def _made_free(self, content: str) -> bool:
        """Whether a content is what was focused on, which others may call otherwise."""
        return self._focused(content) != content

    def _to_focus_on(self, phrase: str, things: tuple[Thing, ...]) -> str:
        """The thing in sight that is meant; where the goal leaves it free, the best liked one.

        What has other marks than the one that is meant, another stage or another colour, is
        not meant.
        """
        asked = self._asked(phrase)
        if not asked:
            return self._liked(phrase)
        whole, _, fruit = phrase.partition(" on ")
        head, _, holder = phrase.rpartition(" in ")
        core = whole if fruit else phrase
        if head and not holder.endswith("stage"):
            core = phrase if head == "substance" else head
        if head == "substance":
            return self._content(phrase, things)
        exact = [thing.name for thing in things if words(core) == words(thing.name)]
        if exact or fruit:
            return core if exact else ""
        marks = words(core) - asked
        fitting = [
            (self._meaning.alike(core, thing.name), thing.name)
            for thing in things
            if words(thing.name) == marks
            or (
                asked <= words(thing.name)
                and (marks <= words(thing.name) or words(thing.name) - words(core) <= _STATES)
            )
        ]
        value, name = max(fitting, default=(0.0, ""), key=lambda pair: pair[0])
        return name if value >= self._settings.alike else ""

    def _as_empty(self, phrase: str, act: Act) -> str:
        """A thing in sight that looks, but for its name, as the demonstrated vessel did."""
        move = self._guide.shown.moves[min(self._number, len(self._guide.shown.moves) - 1)]
        if act.verb == "mix" or phrase != act.things[-1] or move.act.verb != act.verb:
            return ""
        look = words(move.looks[-1]) - words(move.act.things[-1])
        for thing in self._scene.view:
            rest = words(thing.line) - words(thing.name)
            if look and thing.name not in act.things and len(look & rest) > 0.6 * len(look | rest):
                return thing.name
        return ""

    def _played(self, phrase: str, act: Act) -> list[str]:
        """What played the same part in other demonstrations of the task."""
        slot, count = act.things.index(phrase), len(act.things)
        return sorted(
            {
                other[slot]
                for shown in self._lore.demonstrations
                if shown.task == self._guide.shown.task
                for verb, other, _ in (move.act for move in shown.moves)
                if verb == act.verb and len(other) == count and other[slot] not in act.things
                and (slot == count - 1 or likeness(other[-1], act.things[-1]) > _SAME_USE)
            }
        )  # fmt: skip

    def _liked(self, phrase: str) -> str:
        """The thing in sight that demonstrations would choose."""
        likings = [
            (self._lore.liking(self._guide.shown.task, thing.name)
             + 0.2 * self._meaning.alike(phrase, thing.name), thing.name)
            for thing in self._scene.view
        ]  # fmt: skip
        value, name = max(likings, default=(0.0, ""), key=lambda pair: pair[0])
        return name if value >= self._settings.alike else ""

    def _focused(self, held: str) -> str:
        """What was focused on, as the memory tells, in the place of what a demonstration held."""
        moves = self._guide.shown.moves
        shown = next((m.act.things[0] for m in moves if m.act.verb == "focus on"), "")
        if words(shown) & words(self._guide.shown.goal) or not words(shown) & words(held):
            return held
        told = [act.things[0] for act, answer in self._scene.done if act.verb == "focus on"]
        told = told or [f.object for f in self._scene.facts if f.relation == "focused on"]
        return told[-1].partition(" in the ")[0] if told else held

    def _place_of(self, phrase: str, room: str, act: Act) -> str:
        """Where to look for a thing: where it usually is, else where the memory saw it."""
        scene = self._scene
        core = phrase.partition(" containing ")[0]
        if scene.bound in self._lore.house.exits and scene.plan == act and not scene.view:
            return scene.bound
        looked = bool(scene.view) if scene.room == room else f"room {room}" in scene.sights
        if room and not looked:
            return room
        where = [
            where
            for name, where in scene.sights.items()
            if where in self._lore.house.exits and words(core) <= words(name)
        ]
        if not where:
            return scene.room if scene.room and self._is_sought(phrase, act) else room
        if scene.room in where:
            return scene.room
        return room if room in where else where[-1]

    def _is_sought(self, phrase: str, act: Act) -> bool:
        """Whether a thing is worth searching the house for."""
        named = bool(self._asked(phrase)) or phrase in self._scene.recipe
        return self._settings.search and (act.verb in _SOUGHT or (act.verb == "move" and named))

    def _go(self, room: str, act: Act) -> str:
        """A step on the way, through doors that may be closed."""
        self._publish(act, room, later=True)
        way = self._lore.house.way(self._scene.room, room)
        if not way or is_refused(self._scene.text):
            return LOOK
        text = self._scene.text
        opened = text.startswith(("The door is now open", "The door is already open"))
        if opened or f"door to the {way[0]} (that is open)" in text:
            return f"go to {way[0]}"
        return f"open door to {way[0]}"

    def _search(self, phrase: str, act: Act) -> str:
        """Go where such things were seen in demonstrations, to rooms not searched first."""
        house, scene = self._lore.house, self._scene
        likely = house.likely(phrase.partition(" containing ")[2] or phrase)
        rooms = [
            room for room in sorted(house.exits)
            if room != scene.room and f"room {room}" not in scene.sights
        ]  # fmt: skip
        weights = np.array([_ANYWHERE + likely[room] / max(1, likely.total()) for room in rooms])
        sought = self._is_sought(phrase, act)
        if not sought or not rooms or self._rng.random() < GIVE_UP:
            if act.verb == "focus on":  # a wrong one would end the task
                self._publish(act, scene.room, later=True)
                return WAIT
            self._publish(act, scene.room)
            return str(act)
        target = rooms[int(self._rng.choice(len(rooms), p=weights / weights.sum()))]
        return self._go(target, act)

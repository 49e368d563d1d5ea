"""Valid actions of a story: commands that change its world, found by trying them."""

from __future__ import annotations

import hashlib
import re
from collections import deque
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain, zip_longest
from typing import NamedTuple

import numpy as np

from gym_memory.core.text import letter_words, words
from gym_memory.games.jericho.clock import Clock
from gym_memory.games.jericho.facts import holders_of, is_circular
from gym_memory.games.jericho.meanings import meanings
from gym_memory.games.jericho.outcomes import Outcomes, Twins
from gym_memory.games.jericho.trials import CommandResult, StateTrials
from gym_memory.games.jericho.vocabulary import HELD, NOUN, Bytes, Region, Vocabulary
from gym_memory.games.jericho.words import (
    GENERIC,
    MOVES,
    filled,
    fillings,
    is_refused_verb,
    names_in_view,
    names_offered,
    parts_of,
    preference,
    shape_of,
    story_text,
    understood,
)

__all__ = ["Listing"]

_QUIET = ("look", "inventory", "wait")
"""Commands that every story takes and that change nothing."""
_NONSENSE = ("xqzqxq", "examine xqzqxq")
"""Commands that no parser can read."""
_CHOICE = re.compile(r"\b(?:type|answer) ((?:\w+,? ){1,6}or \w+)\b", re.IGNORECASE)
"""Answers that a story waits for: *Please type YES or NO*."""
_NO_CHOICE = frozenset(("or", "restore", "quit", "restart", "undo"))
"""Words of a choice that no player may use."""
_SELF = "me"
"""Name of the player in every story."""
_ASIDE = re.compile(r"\((?:first |putting |Taken|with the|having )", re.IGNORECASE)
_ONE_THING = 4
"""Words of the longest command about one thing: *open iron mill door*."""
_VERBS_OF_TIME, _SHARE_OF_TIME = 5, 0.067
"""Verbs, and share of all tried commands, from which an effect is only the passing of time."""
_SHARE_OF_NOISE = 0.3
"""Share of the examined things above which a byte that they change shows no effect."""
_SHARE_OF_MARKS = 0.5
"""Share of the shown things above which an attribute that they get is a mark."""
_MOST_THINGS = 24
_MOST_NAMES = 80
"""Names examined in one state."""
_ABSENT = 3
"""Words examined to learn how a story says that a thing is not here."""
_MOST_TRIED = 900
"""Commands tried in one state."""


class Listing:
    """A search for what may be done in one state.

    Names of things come from ``look``, ``inventory``, the last answer, and from what examining
    these says. Commands are the story's templates filled with them. A command counts if it changes
    the story's objects, and not only as waiting does.

    Args:
        trials: The state.
        vocabulary: The story's words.
        region: Where its objects are in dynamic memory.
        templates: Forms of commands.
        story: The story file.
    """

    def __init__(
        self,
        trials: StateTrials,
        vocabulary: Vocabulary,
        region: Region,
        templates: Sequence[tuple[str, ...]],
        story: bytes,
    ):
        self._trials, self._vocabulary, self._region = trials, vocabulary, region
        self._templates, self._story = templates, story
        self._look, self._carried, self._wait = map(trials.result, _QUIET)
        self._examined: dict[str, CommandResult] = {}

    @cached_property
    def key(self) -> str:
        """Return what identifies the state: objects, ``look``, ``inventory``, other things here."""
        quiet = (self._look, self._carried, self._wait)
        regions = [self._region.of(result.memory) for result in quiet]
        same = (regions[0] == regions[1]) & (regions[0] == regions[2])
        seen = "\0".join(story_text(result.text) for result in quiet[:2])
        in_view = self._names(self._look.text + self._carried.text)
        others = [name for name in self._names(self._trials.text) if name not in in_view]
        others = sorted(name for name in others if self._is_here(name))
        world = regions[0][same].tobytes() + "\0".join((seen, *others)).encode()
        return hashlib.sha256(world).hexdigest()

    def commands(self) -> tuple[str, ...]:
        """Return the commands that change the world: the most likely wording for each effect."""
        if self._trials.awaits_key:
            return _QUIET[-1:]
        choice = _CHOICE.search(self._look.text)
        if choice is not None:
            return tuple(word for word in words(choice[1]) if word not in _NO_CHOICE)
        things, held = self._things()
        effects = _Effects(self, *self._masks())
        known = self._vocabulary.knows
        for move in MOVES:
            if known(self._vocabulary.spelled(move)):
                effects.note(move, self._trials.result(move))
        for name in things:
            effects.note(f"examine {name}", self._examined[name])
        if story_text(self._trials.text).endswith("?"):
            for word in ("yes", "no"):
                effects.note(word, self._trials.result(word))
        turns, left = self._turns(things, held), _MOST_TRIED
        while turns and left:
            turn = turns.popleft()
            for names in turn.names_to_try():
                command = filled(turn.template, names)
                result = self._trials.result(command)
                turn.outcomes.note(names, result.text, effects.note(command, result))
                left -= 1
                if not left:
                    break
                if turn.waits and turn.outcomes.dull:
                    turns.append(turn)
                    break
        return (*effects.commands(), *filter(self._trials.can, _QUIET))

    def _names(self, text: str) -> list[str]:
        return names_in_view(text, self._vocabulary)

    def _examine(self, name: str) -> CommandResult:
        if name not in self._examined:
            self._examined[name] = self._trials.result(f"examine {name}")
        return self._examined[name]

    def _is_here(self, name: str) -> bool:
        text, memory, _ = self._examine(name)
        if not understood(text) or story_text(text) == self._absent:
            return False
        return self._clock is None or self._clock.runs(memory)

    @cached_property
    def _clock(self) -> Clock | None:
        """Return the story's clock; None if it has none, or examining takes no time."""
        turns = [self._look.memory, self._carried.memory]
        refused = [self._trials.result(command).memory for command in _NONSENSE]
        clock = Clock(self._trials.memory, turns, refused)
        return clock if clock.runs(self._examine(_SELF).memory) else None

    @cached_property
    def _absent(self) -> str:
        """Return the answer about a thing that is not here, if it is the same for two words."""
        texts = " ".join(result.text for result in (self._trials, self._look, self._carried))
        seen = set(letter_words(texts))
        words = [word for word in self._vocabulary.naming if word not in seen]
        drawn = words[:: len(words) // _ABSENT + 1]
        answers = [story_text(self._trials.result(f"examine {word}").text) for word in drawn]
        return next((text for text in answers if answers.count(text) > 1), "")

    def _things(self) -> tuple[list[str], list[str]]:
        """Return names of things that can be examined, and those of them that are carried."""
        held = self._found_in(self._carried.text)
        here = self._found_in(self._trials.text) + self._found_in(self._look.text)
        names = list(filter(None, chain(*zip_longest(held, here))))
        names += chain(*(self._found_in(self._examined[name].text) for name in names))
        self._meant = meanings(self._story, {n: self._examined[n] for n in dict.fromkeys(names)})
        best = self._meant.best()
        things = list(dict.fromkeys(best[name] for name in names))[:_MOST_THINGS]
        holders = holders_of(self._story, self._trials.memory).tolist()
        carried = {best[name] for name in self._meant.carried(held, holders)}
        return things, [name for name in things if name in carried]

    def _found_in(self, text: str) -> list[str]:
        return [found for name in self._names(text) for found in self._found(name)]

    def _found(self, name: str) -> list[str]:
        """Return the longest part of a run of words that names a thing, or its possible meaning."""
        for part in parts_of(name):
            if len(self._examined) >= _MOST_NAMES and part not in self._examined:
                break
            if self._is_here(part):
                return [part]
            offered = names_offered(self._examine(part).text)
            if offered:
                return [one for one in offered if self._is_here(one)]
        return []

    def _masks(self) -> tuple[Bytes, Bytes]:
        """Return masks of the objects' bits that show effects: with marks, and without them.

        A byte shows no effect if the inventory, waiting, or examining many things changes it. A
        mark is an attribute, such as *mentioned*, that most things get when they are shown.
        """
        of, region = self._region.of, self._region
        first = of(self._look.memory)
        described = {result.text: result.memory for result in self._examined.values()}
        examined = [of(memory) ^ first for text, memory in described.items() if understood(text)]
        carried, waited = (of(result.memory) ^ first for result in (self._carried, self._wait))
        unlike = np.zeros(len(first), int)
        for one in examined:
            unlike += one != 0
        quiet = ((carried | waited) == 0) & (unlike <= max(1, len(described) * _SHARE_OF_NOISE))
        telling = np.where(quiet, 0xFF, 0).astype(np.uint8)
        unmarked = telling.copy()
        shown = np.bitwise_or.reduce([region.attributes(one) for one in (carried, *examined)])
        marked = np.unpackbits(shown, axis=1).sum(axis=0)
        marks = np.packbits(marked > max(1, len(examined) * _SHARE_OF_MARKS))
        region.attributes(unmarked)[:] &= ~marks
        return telling, unmarked

    def _turns(self, things: Sequence[str], held: Sequence[str]) -> deque[_Turn]:
        """Return the templates with the names to try in them, the most promising first."""
        ordered = sorted(self._templates, key=_rank)
        if self._vocabulary.knows("all"):
            ordered[:0] = [("drop", "all")] * (len(held) > 1)
            ordered[:0] = [("take", "all")] * (len(things) > 1)
        words = self._meant.words()
        twins = Twins({name: self._kind(name) for name in things if name not in held})
        return deque(
            _Turn(line, fillings(line, things, held), Outcomes(words, twins), _waits(line))
            for line in ordered
        )

    def _kind(self, name: str) -> tuple[str, str]:
        """Return what a thing is and how it is described, without what sets it apart."""
        *others, noun = name.split()
        described = letter_words(story_text(self._examined[name].text))
        return noun, " ".join(word for word in described if word not in others)

    def still(self) -> list[Bytes]:
        """Return the objects as waiting and as a command that takes no time leave them."""
        return [self._region.of(memory) for memory in (self._look.memory, self._trials.memory)]

    def objects(self, memory: Bytes) -> Bytes:
        """Return the bytes of a memory that hold the objects."""
        return self._region.of(memory)

    def breaks(self, memory: Bytes) -> bool:
        """True if a thing is inside of itself."""
        return is_circular(holders_of(self._story, memory))

    @property
    def doomed(self) -> bool:
        """True if the story ends after any action."""
        return self._wait.ends


class _Effects:
    """Commands found so far, by what they change.

    A command that implies another, *(first taking the box)*, counts only if it names one thing.
    Effects that differ only in marks are equal, unless a command changes nothing but marks.
    """

    def __init__(self, listing: Listing, telling: Bytes, unmarked: Bytes):
        self._listing, self._telling, self._unmarked = listing, telling, unmarked
        self._still = [world & telling for world in listing.still()]
        self._still_plain = [world & unmarked for world in self._still]
        self._unchanged: set[bytes] = set()
        self._found: dict[bytes, list[str]] = {}
        self._implied: dict[bytes, list[str]] = {}
        self._tried = 0

    def commands(self) -> list[str]:
        """Return the likeliest wording for each effect."""
        effects = {**self._implied, **self._found}.values()
        return [min(made, key=preference) for made in effects if not self._is_time(made)]

    def _is_time(self, made: Sequence[str]) -> bool:
        """True if the effect is only that a turn passes, which ``wait`` hides: it takes several.

        Most commands have this effect. Moves to one place also share an effect, but are few.
        """
        verbs = {command.partition(" ")[0] for command in made}
        return len(verbs) >= _VERBS_OF_TIME and len(made) > _SHARE_OF_TIME * self._tried

    def note(self, command: str, result: CommandResult) -> bytes:
        """Note a command, and return its effect; empty if it changed nothing."""
        self._tried += 1
        effect = self._effect(command, result)
        if effect:
            implied = _ASIDE.search(result.text) is not None
            if implied and len(command.split()) > _ONE_THING:
                return effect
            found = self._implied if implied else self._found
            found.setdefault(effect, []).append(command)
        return effect

    def _effect(self, command: str, result: CommandResult) -> bytes:
        if is_refused_verb(result.text):
            return b""
        if result.ends:
            return b"" if self._listing.doomed else command.encode()
        objects = self._listing.objects(result.memory)
        raw = objects.tobytes()
        if raw in self._unchanged:
            return b""
        now = objects & self._telling
        if any(np.array_equal(now, world) for world in self._still):
            self._unchanged.add(raw)
            return b""
        if self._listing.breaks(result.memory):
            return b""
        plain = now & self._unmarked
        only_marks = any(np.array_equal(plain, world) for world in self._still_plain)
        return now.tobytes() if only_marks else plain.tobytes()


class _Turn(NamedTuple):
    """A template, the names left to try, and whether it waits while its answers are dull."""

    template: tuple[str, ...]
    left: Iterator[tuple[str, ...]]
    outcomes: Outcomes
    waits: bool

    def names_to_try(self) -> Iterator[tuple[str, ...]]:
        """Yield names for the slots, until the template has no hope."""
        for names in self.left:
            if self.outcomes.hopeless:
                return
            if not self.outcomes.foreseen(names):
                yield names


def _rank(line: Sequence[str]) -> tuple[bool, bool, int]:
    """Return the sort key of a template: no things, then common forms, then fewer things."""
    return _things_in(line) > 0, shape_of(line) not in _COMMON, _things_in(line)


def _waits(line: Sequence[str]) -> bool:
    """True if a template has one thing and is uncommon, or is for carried things."""
    return _things_in(line) == 1 and (HELD in line or shape_of(line) not in _COMMON)


def _things_in(line: Sequence[str]) -> int:
    return sum(word in (NOUN, HELD) for word in line)


_COMMON = frozenset(map(shape_of, GENERIC))

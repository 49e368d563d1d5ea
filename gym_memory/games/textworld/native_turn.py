"""Play a turn of a generated game without the interpreter: the effects and the answer.

The answers follow Inform's Standard Rules with TextWorld's additions. The interpreter answers
commands outside of this grammar.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from gym_memory.games.textworld.logic import State
from gym_memory.games.textworld.native_game import (
    DIRECTIONS,
    NativeGame,
    is_plain,
    matched,
    parser_words,
)
from gym_memory.games.textworld.native_text import Holdings, UnknownTextError, View

__all__ = ["EngineTurn", "TurnRules"]

_NOT_SEEN = "You can't see any such thing."
_PLAYER, _INVENTORY = "P", "I"
_CUTS = {"slice": "sliced", "dice": "diced", "chop": "chopped"}
_DIRECTION_WORDS = {word: way for way in DIRECTIONS for word in (way, way[0])}


class EngineTurn(NamedTuple):
    """An answer to a command.

    Attributes:
        event: The action in the trace's words if it was executed; else empty.
        counts: Whether the command took a turn, which a refusal by the parser does not.
    """

    text: str
    event: str = ""
    counts: bool = True


class _Unknown(Exception):
    """An error for a command outside of the grammar."""


class _OutOfScope(Exception):
    """An error for a noun that refers to nothing in scope."""


class TurnRules:
    """A set of rules for the actions of one game.

    Args:
        game: Constant data of the game.
        state: Its facts, which the caller updates by the events.
        holdings: Its object tree, also updated by the caller.
    """

    def __init__(self, game: NativeGame, state: State, holdings: Holdings):
        self._game, self._state, self._holdings = game, state, holdings
        self._wording = game.wording
        self._rivals: dict[tuple[str, ...], tuple[tuple[str, int], ...]] = {}
        self.room = ""

    def play(self, command: str, room: str) -> EngineTurn | None:
        """Return the answer to a command in a room; None if it is outside of the grammar."""
        self.room = room
        words = command.lower().split()
        try:
            return self._answer(words)
        except _OutOfScope:
            return EngineTurn(_NOT_SEEN, counts=False)
        except (_Unknown, UnknownTextError):
            return None

    def _answer(self, words: list[str]) -> EngineTurn:
        verb, rest = words[0], words[1:]
        if not rest:
            alone = _WITHOUT_NOUN.get(verb)
            if alone is not None:
                return alone(self)
            if verb in _DIRECTION_WORDS:
                return self._go(_DIRECTION_WORDS[verb])
            raise _Unknown
        if verb == "go" and len(rest) == 1 and rest[0] in _DIRECTION_WORDS:
            return self._go(_DIRECTION_WORDS[rest[0]])
        if verb == "prepare" and rest == ["meal"] and self._game.recipe:
            return self._prepare()
        if verb in _ONE_NOUN and is_plain(rest):
            return _ONE_NOUN[verb](self, self._thing(rest))
        for preposition, action in _TWO_NOUNS.get(verb, ()):
            if rest.count(preposition) == 1:
                at = rest.index(preposition)
                if is_plain(rest[:at]) and is_plain(rest[at + 1 :]):
                    return action(self, verb, rest[:at], rest[at + 1 :])
        raise _Unknown

    def _thing(self, words: list[str]) -> str:
        """Return the only thing in scope that the words name."""
        return self._named(words, self._in_scope)

    def _named(self, words: list[str], in_scope: Callable[[str], bool]) -> str:
        key = parser_words(" ".join(words))
        named = self._game.names.get(key)
        if named is None:
            raise _Unknown
        best = [entity for entity in named if in_scope(entity)]
        if len(best) > 1:
            raise _Unknown
        for rival, length in self._rivals_of(key):
            if rival not in best and (length == len(key) or not best) and in_scope(rival):
                raise _Unknown
        if not best:
            raise _OutOfScope
        return best[0]

    def _rivals_of(self, words: tuple[str, ...]) -> tuple[tuple[str, int], ...]:
        """Return other things to which the words may refer, with the number of matching words."""
        found = self._rivals.get(words)
        if found is None:
            game = self._game
            lengths = (
                (entity, matched(phrases, words, food=game.cooking and entity in game.foods))
                for entity, phrases in game.phrases.items()
            )
            found = self._rivals[words] = tuple(one for one in lengths if one[1])
        return found

    def _in_scope(self, entity: str) -> bool:
        kind = self._game.kinds[entity]
        if kind == "d":
            return self.room in self._game.sides.get(entity, ())
        place = self._holdings.place_of(entity)
        if place in (self.room, _INVENTORY):
            return True
        return self._is_open(place) and self._holdings.place_of(place) == self.room

    def _is_open(self, place: str) -> bool:
        """True if the contents of a piece of furniture are within reach."""
        kind = self._game.kinds.get(place)
        return kind == "s" or (kind == "c" and ("open", place) in self._state)

    def _is_held(self, thing: str) -> bool:
        return self._holdings.place_of(thing) == _INVENTORY

    def _is_portable(self, thing: str) -> bool:
        return self._game.kinds[thing] == "o"

    def _the(self, thing: str) -> str:
        return self._wording.definite(thing)

    def _name(self, thing: str) -> str:
        return self._wording.name(thing)

    def _view(self, noun: str = "") -> View:
        return View(self._state, self._holdings, noun)

    def _listed(self, place: str) -> str:
        return self._wording.listed(self._holdings.within(place), self._state)

    def _not_held(self, thing: str) -> EngineTurn:
        """Return the answer to an action that needs a thing in the player's hands."""
        name = self._name(thing)
        if not self._is_portable(thing):
            return EngineTurn(f"The {name} is fixed in place.")
        return EngineTurn(f"You need to take the {name} first.")

    def describe_room(self, room: str) -> str:
        """Return the description of a room."""
        kinds = self._game.kinds
        floor = [x for x in self._holdings.within(room) if kinds[x] == "o"]
        return self._wording.room(room, self._view(), floor)

    def _look(self) -> EngineTurn:
        return EngineTurn(self.describe_room(self.room), "looking")

    def _inventory(self) -> EngineTurn:
        text = self._wording.inventory(self._holdings.within(_INVENTORY), self._state)
        return EngineTurn(text, "taking inventory")

    def _examine(self, thing: str) -> EngineTurn:
        kind = self._game.kinds[thing]
        parts = [self._wording.thing(thing, self._view(thing))]
        if self._is_open(thing):
            things = self._holdings.within(thing)
            if things:
                where = f"{'On' if kind == 's' else 'In'} {self._the(thing)}"
                verb = "is" if len(things) == 1 else "are"
                parts.append(f"{where} {verb} {self._listed(thing)}.")
            elif kind == "c" and not parts[0]:
                parts.append(f"{self._wording.opening(thing)} is empty.")
        text = "\n\n".join(filter(None, parts))
        if not text:
            article = "" if kind == "d" else "the "
            noun = self._wording.noun(thing, self._state)
            text = f"You see nothing special about {article}{noun}."
        return EngineTurn(text, f"examining {self._the(thing)}")

    def _go(self, direction: str) -> EngineTurn:
        way = self._game.exits.get(self.room, {}).get(direction)
        if way is None:
            return EngineTurn("You can't go that way.")
        if way.door and ("open", way.door) not in self._state:
            return EngineTurn(f"You have to open the {self._name(way.door)} first.")
        return EngineTurn(self.describe_room(way.there), f"going {direction}")

    def _take(self, thing: str, *, verb: str = "take") -> EngineTurn:
        if self._is_held(thing):
            return EngineTurn("You already have that.")
        if not self._is_portable(thing):
            return EngineTurn("That's fixed in place.")
        if len(self._holdings.within(_INVENTORY)) >= self._game.capacity:
            return EngineTurn("You're carrying too many things already.")
        place, name = self._holdings.place_of(thing), self._the(thing)
        if place == self.room:
            return EngineTurn(f"You pick up {name} from the ground.", f"taking {name}")
        text = f"You take {name} from {self._the(place)}."
        if verb == "take":
            return EngineTurn(text, f"removing {name} from {self._the(place)}")
        return EngineTurn(text, f"taking {name}")

    def _take_from(self, verb: str, thing: list[str], place: list[str]) -> EngineTurn:
        """Take a thing out of a place, where nothing else is in scope."""
        try:
            holder = self._thing(place)
            found = self._named(
                thing, lambda x: self._is_open(holder) and self._holdings.place_of(x) == holder
            )
        except _OutOfScope:
            self._thing(thing)  # if only a part of the name is known, the parser reports it
            raise
        return self._take(found)

    def _drop(self, thing: str) -> EngineTurn:
        name = self._the(thing)
        if self._is_held(thing):
            return EngineTurn(f"You drop {name} on the ground.", f"dropping {name}")
        if self._game.kinds[thing] == "d" or self._holdings.place_of(thing) == self.room:
            return EngineTurn(f"{self._wording.opening(thing)} is already here.")
        return EngineTurn("You haven't got that.")

    def _put(self, verb: str, first: list[str], second: list[str]) -> EngineTurn:
        thing, place = self._thing(first), self._thing(second)
        if not self._is_held(thing):
            return self._not_held(thing)
        if thing == place:
            return EngineTurn("You can't put something on top of itself.")
        if self._game.kinds[place] != "s":
            return EngineTurn(f"Putting things on {self._the(place)} would achieve nothing.")
        name, where = self._the(thing), self._the(place)
        return EngineTurn(f"You put {name} on {where}.", f"putting {name} on {where}")

    def _insert(self, verb: str, first: list[str], second: list[str]) -> EngineTurn:
        thing, place = self._thing(first), self._thing(second)
        if not self._is_held(thing):
            return self._not_held(thing)
        if thing == place:
            return EngineTurn("You can't put something inside itself.")
        if self._game.kinds[place] != "c":
            return EngineTurn("That can't contain things.")
        if not self._is_open(place):
            return EngineTurn(f"{self._wording.opening(place)} is closed.")
        name, where = self._the(thing), self._the(place)
        return EngineTurn(f"You put {name} into {where}.", f"inserting {name} into {where}")

    def _open(self, thing: str) -> EngineTurn:
        if self._game.kinds[thing] not in ("c", "d"):
            return EngineTurn("It isn't something you can open.")
        name = self._the(thing)
        if ("locked", thing) in self._state:
            key = self._game.keys.get(thing)
            if key is None:
                return EngineTurn(f"The {self._name(thing)} is welded shut.")
            with_key = f"the {self._name(thing)} with the {self._name(key)}"
            return EngineTurn(f"You have to unlock {with_key} first.")
        if ("open", thing) in self._state:
            return EngineTurn("That's already open.")
        if ("closed", thing) not in self._state:  # the facts would not show that Inform opens it
            raise _Unknown
        inside = self._listed(thing) if self._holdings.within(thing) else ""
        text = f"You open {name}, revealing {inside}." if inside else f"You open {name}."
        return EngineTurn(text, f"opening {name}")

    def _close(self, thing: str) -> EngineTurn:
        if self._game.kinds[thing] not in ("c", "d"):
            return EngineTurn("It isn't something you can close.")
        if ("open", thing) not in self._state:
            return EngineTurn("That's already closed.")
        name = self._the(thing)
        return EngineTurn(f"You close {name}.", f"closing {name}")

    def _lock(self, verb: str, first: list[str], second: list[str]) -> EngineTurn:
        thing, key = self._thing(first), self._thing(second)
        if not self._is_held(key):
            return self._not_held(key)
        if self._game.kinds[thing] not in ("c", "d"):
            return EngineTurn(f"That doesn't seem to be something you can {verb}.")
        name, is_locked = self._the(thing), ("locked", thing) in self._state
        if is_locked == (verb == "lock"):
            return EngineTurn(f"That's {'locked' if is_locked else 'unlocked'} at the moment.")
        if ("open", thing) in self._state:
            return EngineTurn(f"First you would have to close {name}.")
        if self._game.keys.get(thing) != key:
            return EngineTurn("That doesn't seem to fit the lock.")
        return EngineTurn(f"You {verb} {name}.", f"{verb}ing {name} with {self._the(key)}")

    def _eat(self, food: str) -> EngineTurn:
        name = self._the(food)
        if food not in self._game.foods or ("inedible", food) in self._state:
            if ("needs_cooking", food) in self._state:
                return EngineTurn(f"You should cook {name} first.")
            return EngineTurn("That's plainly inedible.")
        if not self._is_held(food):
            return self._not_held(food)
        return EngineTurn(f"You eat {name}. Not bad.", f"eating {name}")

    def _drink(self, thing: str) -> EngineTurn:
        if not self._game.cooking:
            raise _Unknown
        if not self._is_held(thing):
            return self._not_held(thing)
        name = self._the(thing)
        if ("drinkable", thing) not in self._state:
            return EngineTurn(f"You cannot drink {name}.")
        return EngineTurn(f"You drink {name}. Not bad.", f"drinking carried thing {name}")

    def _cut(self, verb: str, first: list[str], second: list[str]) -> EngineTurn:
        self._require_kitchen()
        food, tool = self._thing(first), self._thing(second)
        name = self._the(food)
        if food not in self._game.foods:
            return EngineTurn("Can only cut cuttable food.")
        cut = next((cut for cut in _CUTS.values() if (cut, food) in self._state), "")
        if cut:
            return EngineTurn(f"{self._wording.opening(food)} is already {cut}.")
        if ("sharp", tool) not in self._state:
            return EngineTurn("Cutting something requires a knife.")
        if ("uncut", food) not in self._state:  # the facts would not show how it is cut
            raise _Unknown
        for needed in (food, tool):
            if not self._is_held(needed):
                return self._not_held(needed)
        doing = {"slice": "slicing", "dice": "dicing", "chop": "chopping"}[verb]
        return EngineTurn(f"You {verb} {name}.", f"{doing} {name} with {self._the(tool)}")

    def _cook(self, verb: str, first: list[str], second: list[str]) -> EngineTurn:
        self._require_kitchen()
        food, tool = self._thing(first), self._thing(second)
        if not self._is_held(food):
            return self._not_held(food)
        if food not in self._game.foods:
            return EngineTurn("Can only cook food.")
        heat = self._game.heats.get(tool)
        if heat is None:
            return EngineTurn("Cooking requires a source of heat.")
        name = self._the(food)
        event = f"cooking {name} with {self._the(tool)}"
        if ("cooked", food) in self._state or ("burned", food) in self._state:
            return EngineTurn(f"You burned {name}!", event)
        return EngineTurn(f"You {heat} {name}.", event)

    def _require_kitchen(self) -> None:
        if not self._game.cooking:
            raise _Unknown

    def _prepare(self) -> EngineTurn:
        recipe = self._game.recipe
        assert recipe is not None
        if self.room != recipe.kitchen:
            return EngineTurn(
                f"Can only prepare meal in the {self._wording.heading(recipe.kitchen)}."
            )
        for food, heat, cut in recipe.ingredients:
            if not self._is_held(food):
                return EngineTurn("You still miss something.")
            if self._heat(food) != heat:
                return EngineTurn("Something still needs to be cooked.")
            if next((c for c in _CUTS.values() if (c, food) in self._state), "uncut") != cut:
                return EngineTurn("Something still needs to be cut.")
        return EngineTurn("Adding the meal to your inventory.", "preparing meal")

    def _heat(self, food: str) -> str:
        heats = self._game.heats.values()
        return next((h for h in sorted(set(heats)) if (h, food) in self._state), "raw")


_WITHOUT_NOUN: dict[str, Callable[[TurnRules], EngineTurn]] = {
    "look": TurnRules._look,
    "l": TurnRules._look,
    "inventory": TurnRules._inventory,
    "i": TurnRules._inventory,
}
_ONE_NOUN: dict[str, Callable[[TurnRules, str], EngineTurn]] = {
    "examine": TurnRules._examine,
    "x": TurnRules._examine,
    "take": TurnRules._take,
    "get": lambda rules, thing: rules._take(thing, verb="get"),
    "drop": TurnRules._drop,
    "open": TurnRules._open,
    "close": TurnRules._close,
    "eat": TurnRules._eat,
    "drink": TurnRules._drink,
}
_Double = Callable[[TurnRules, str, list[str], list[str]], EngineTurn]
_TWO_NOUNS: dict[str, tuple[tuple[str, _Double], ...]] = {
    "take": (("from", TurnRules._take_from),),
    "put": (("on", TurnRules._put), ("in", TurnRules._insert), ("into", TurnRules._insert)),
    "insert": (("into", TurnRules._insert),),
    "lock": (("with", TurnRules._lock),),
    "unlock": (("with", TurnRules._lock),),
    "slice": (("with", TurnRules._cut),),
    "dice": (("with", TurnRules._cut),),
    "chop": (("with", TurnRules._cut),),
    "cook": (("with", TurnRules._cook),),
}

"""Skills that explore, walk, fight, and use things in the pack and on the floor."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from gym_memory.games.nethack import grid
from gym_memory.games.nethack.engine import ENTER, ESCAPE, GamePrompt, PackItem
from gym_memory.games.nethack.grid import area_name
from gym_memory.games.nethack.level import Creature, Level
from gym_memory.games.nethack.play import DIRECTION_KEYS, Impossible, NetHackPlay, Stop
from gym_memory.games.nethack.rules import plain_name

__all__ = ["USES", "Use", "cast", "climb", "explore_level", "fight", "find_item", "find_target"]
__all__ += ["go_to", "here_only", "kick", "loot", "move_to", "open_door", "pay", "pick_up"]
__all__ += ["pray", "push_through", "rest", "search", "targets", "use", "use_here"]

Keys = Sequence[int | str]
"""Keys, or their codes, to press one after another."""
_YES: Keys = "y"

_MAX_TRIES = 5
_SEARCH_TURNS = 10
_PATIENCE = 3
_GIVEN_UP = 60
_MAX_ROUNDS = 400
_MAX_KICKS = 8

_META_BIT = 0x80
_MAX_QUESTIONS = 8


def explore_level(play: NetHackPlay) -> str:
    """Explore unvisited areas, then closed doors, then search for hidden ways."""
    searched = 0
    for _ in range(_MAX_ROUNDS):
        level = play.level
        paths = play.paths()
        target = paths.nearest(level.frontier())
        door = _find_closed_door(level, paths)
        if door is not None and (target is None or paths.steps[door[1]] < paths.steps[target]):
            _push_door(play, *door)
        elif target is not None:
            play.walk_to(target)
        elif level.paths().nearest(level.frontier()) is not None:
            raise Stop("You stop: somebody is in the way.")
        elif not _push_boulder(play):
            if searched >= _PATIENCE:
                raise Stop("You searched for hidden ways and found none yet.")
            searched += 1
            _search_somewhere(play)
    return "You looked around for a while."


def _find_closed_door(level: Level, paths: grid.PathMap) -> tuple[int, int] | None:
    """Return the nearest untried closed door and the cell from which to open it."""
    found = [
        (int(paths.steps[beside]), cell, beside)
        for cell, state in level.door_states.items()
        if state == "closed" and level.door_tries.get(cell, 0) < _MAX_TRIES
        for beside in grid.FOUR[cell].tolist()
        if beside < grid.CELLS and paths.reaches(beside)
    ]
    return min(found)[1:] if found else None


def _push_door(play: NetHackPlay, door: int, beside: int) -> None:
    play.walk_to(beside)
    level = play.level
    level.door_tries[door] = level.door_tries.get(door, 0) + 1
    play.step(grid.direction_to(play.here, door))


def _push_boulder(play: NetHackPlay) -> bool:
    """Walk to a place that only a boulder blocks; False if there is none."""
    level = play.level
    mask = level.passable(boulders=True)
    target = level.paths_over(mask).nearest(level.frontier(mask))
    if target is None:
        return False
    play.walk_to(target, boulders=True)
    return True


def _search_somewhere(play: NetHackPlay) -> None:
    """Search at dead ends, then along walls; places with the fewest searches first."""
    level = play.level
    paths = play.paths()
    terrain = np.append(level.terrain, np.int8(grid.WALL))
    beside = terrain[grid.EIGHT]
    walls = (beside == grid.WALL).sum(axis=1)
    open_sides = ((beside >= grid.FLOOR) & (beside < 7)).sum(axis=1)
    worth = np.where(level.terrain == grid.CORRIDOR, np.where(open_sides <= 1, 14, 0), walls)
    score = worth - 0.6 * level.searched - 0.2 * paths.steps
    target = int(score.argmax())
    if score[target] < -_GIVEN_UP:
        raise Stop("You find nothing left to explore on this level.")
    if target != play.here:
        play.walk_to(target)
    search(play, _SEARCH_TURNS)


def search(play: NetHackPlay, turns: int) -> str:
    """Search the surrounding cells for hidden things for a number of turns."""
    around = grid.EIGHT[play.here]
    level = play.level
    level.searched[around[around < grid.CELLS]] += turns
    level.searched[play.here] += turns
    for _ in range(turns):
        play.press("s")
    return f"You searched for {turns} turns."


def targets(play: NetHackPlay, *, whole_level: bool) -> dict[str, int]:
    """Return the possible targets (features, doors, things) by name, with their cells.

    They are in the player's area, or on the whole level. Among equal names, the nearest one counts.
    """
    level = play.level
    current = level.current

    def seen(cell: int) -> bool:
        return whole_level or current in level.areas_of(cell)

    found = {name: cell for cell, name in level.features.items() if seen(cell)}
    found.update({f"door {n}": cell for cell, n in level.doors.items() if seen(cell)})
    items = [(grid.distance(cell, level.here), cell, name) for cell, name in level.items.items()]
    for _, cell, name in sorted(items):
        if seen(cell):
            found.setdefault(name, cell)
    return found


def find_target(play: NetHackPlay, name: str, *, whole_level: bool) -> int:
    """Return the cell of a target; of a room or corridor, the nearest cell."""
    level = play.level
    for area in level.areas():
        if area_name(area) == name:
            cells = np.flatnonzero(level.area == area)
            return int(cells[level.paths().steps[cells].argmin()])
    cell = targets(play, whole_level=whole_level).get(name)
    if cell is None:
        raise Impossible(f"You know of no {name} to go to.")
    return cell


def go_to(play: NetHackPlay, name: str, *, whole_level: bool) -> str:
    """Walk to a room, corridor, feature, door or thing."""
    cell = find_target(play, name, whole_level=whole_level)
    if cell == play.here:
        return f"You are at {name} already."
    if play.is_shut(cell) or (not play.level.paths().reaches(cell)):
        beside = play.beside(cell, straight=play.is_shut(cell))
        if beside is None or not play.is_shut(cell):
            raise Impossible(f"You know no way to {name}.")
        play.walk_to(beside)
        return f"You are beside {name}."
    play.walk_to(cell)
    return f"You reached {name}."


def move_to(play: NetHackPlay, column: int, row: int) -> str:
    """Walk to a cell, given its column and row on the map."""
    cell = row * grid.COLUMNS + column
    if (
        not 0 <= column < grid.COLUMNS
        or not 0 <= cell < grid.CELLS
        or not play.level.paths().reaches(cell)
    ):
        raise Impossible("You know no way to that place.")
    play.walk_to(cell)
    return "You are there."


def climb(play: NetHackPlay, way: str) -> str:
    """Go up or down the stairs under the player."""
    feature = play.level.features.get(play.here, "")
    if not feature.startswith((f"stairs {way}", f"ladder {way}")):
        raise Impossible(f"There are no stairs {way} here.")
    play.press(DIRECTION_KEYS[way])
    return f"You could not go {way}."


def open_door(play: NetHackPlay, name: str, key: str) -> str:
    """Walk to a door of this area (``door 2``) and open it (key ``o``) or close it (``c``)."""
    cell = find_target(play, name, whole_level=False)
    if cell not in play.level.doors:
        raise Impossible(f"{name} is no door.")
    _stand_beside(play, cell)
    play.press(key, asks=True)
    if play.screen.prompt is not None:
        play.press(DIRECTION_KEYS[grid.direction_to(play.here, cell)])
    return f"{name.capitalize()} is {play.level.door_states.get(cell, 'gone')}."


def _stand_beside(play: NetHackPlay, cell: int) -> None:
    beside = play.beside(cell, straight=True)
    if beside is None:
        raise Impossible("You know no way to it.")
    if beside != play.here:
        play.walk_to(beside)


def kick(play: NetHackPlay, what: str) -> str:
    """Kick in a direction, or walk to a closed door and kick it until it breaks."""
    if what in grid.DIRECTIONS:
        _kick(play, what)
        return ""
    cell = find_target(play, what, whole_level=False)
    if not play.is_shut(cell):
        raise Impossible(f"There is nothing to kick at {what}.")
    _stand_beside(play, cell)
    for _ in range(_MAX_KICKS):
        _kick(play, grid.direction_to(play.here, cell))
        if not play.is_shut(cell):
            return "The way is open."
    return "It still holds."


def _kick(play: NetHackPlay, word: str) -> None:
    play.press(4, asks=True)
    if play.screen.prompt is not None:
        play.press(DIRECTION_KEYS[word])


def push_through(play: NetHackPlay, word: str) -> str:
    """Go one step in a direction, whatever is there."""
    play.press(DIRECTION_KEYS[word])
    return ""


def fight(play: NetHackPlay, name: str) -> str:
    """Fight a creature in view until it is gone."""
    target = _nearest(play, name)
    if target is None:
        raise Impossible(f"You see no {name} to fight.")
    for _ in range(_MAX_ROUNDS):
        if grid.distance(play.here, target.cell) > 1:
            _approach(play, target)
        else:
            play.press("F", asks=True)
            play.press(DIRECTION_KEYS[grid.direction_to(play.here, target.cell)])
        following = _nearest(play, name, near=target.cell)
        if following is None:
            return f"The {name} is gone."
        target = following
    return f"The {name} is still there."


def _nearest(play: NetHackPlay, name: str, near: int | None = None) -> Creature | None:
    """Return the nearest creature of a name; after a blow, only one close to its last place."""
    found = [b for b in play.level.creatures if name in (b.label, b.name)]
    if near is not None:
        found = [being for being in found if grid.distance(being.cell, near) <= 2]
    return min(found, key=lambda b: (grid.distance(b.cell, play.here), b.cell), default=None)


def _approach(play: NetHackPlay, target: Creature) -> None:
    beside = play.beside(target.cell)
    if beside is None or beside == play.here:
        raise Stop(f"You stop: there is no way to the {target.name}.")
    path = play.paths().to(beside)
    play.step(grid.direction_to(play.here, path[0]), wary=False)


class Use(NamedTuple):
    """A command for things of some classes in the pack.

    The thing's name must have the remark ``words`` (such as ``being worn``) and lack ``unlike``.
    """

    key: int
    kinds: tuple[str, ...]
    words: str = ""
    unlike: str = ""


USES = {
    "wield": Use(ord("w"), ("weapon",), unlike="weapon in hand"),
    "wear": Use(ord("W"), ("armor",), unlike="being worn"),
    "take off": Use(ord("T"), ("armor",), "being worn"),
    "put on": Use(ord("P"), ("ring", "amulet"), unlike="on "),
    "remove": Use(ord("R"), ("ring", "amulet"), "on "),
    "eat": Use(ord("e"), ("food",)),
    "quaff": Use(ord("q"), ("potion",)),
    "read": Use(ord("r"), ("scroll", "spellbook")),
    "apply": Use(ord("a"), ("tool",)),
    "zap": Use(ord("z"), ("wand",)),
    "throw": Use(ord("t"), ("weapon", "gem")),
    "drop": Use(ord("d"), ()),
    "tip": Use(_META_BIT | ord("T"), ()),
    "dip": Use(_META_BIT | ord("d"), ()),
}
"""Commands by verb; an empty tuple of kinds stands for all kinds."""


def find_item(play: NetHackPlay, words: str) -> PackItem:
    """Return a thing in the pack by its letter, its name, or both."""
    items = play.screen.items
    letter = re.search(r"(?:^|\()([a-zA-Z$])\)?$", words)
    named = [item for item in items if letter is not None and item.letter == letter[1]]
    named += [item for item in items if words in (plain_name(item.name), item.name)]
    near = [item for item in items if words in item.name]
    if not named and len(near) != 1:
        raise Impossible(f"You carry no {words}." if not near else f"Which {words} do you mean?")
    return (named or near)[0]


def use(play: NetHackPlay, verb: str, words: str, direction: str = "", other: str = "") -> str:
    """Use a thing from the pack, and answer the game's questions about it.

    ``verb`` is a key of :data:`USES`; ``direction`` is for wands and throws, ``other`` for the
    thing to dip into.
    """
    letters = [find_item(play, words).letter]
    letters += [find_item(play, other).letter] if other else []
    play.press(USES[verb].key, asks=True)

    def answer(prompt: GamePrompt) -> Keys:
        if prompt.kind != "key":
            return ()
        if "or ?*]" in prompt.text and letters:
            return letters.pop(0)
        if "direction" in prompt.text and direction:
            return DIRECTION_KEYS[direction]
        # this question is about things on the floor, not in the pack
        here = re.search(r"(?:here|fountain|sink|pool)\b.*\[yn", prompt.text)
        return "n" if here else ()

    _answer_questions(play, answer)
    return ""


def _answer_questions(
    play: NetHackPlay, answer: Callable[[GamePrompt], Keys], *, agree: bool = False
) -> bool:
    """Answer the game's questions until ``answer`` has none; True if one was agreed to.

    ``agree`` says yes to the first yes-or-no question.
    """
    agreed = False
    for _ in range(_MAX_QUESTIONS):
        prompt = play.screen.prompt
        if prompt is None:
            break
        if agree and not agreed and prompt.kind == "key" and "[yn" in prompt.text:
            agreed, keys = True, _YES
        else:
            keys = answer(prompt)
        if not keys:
            break
        for key in keys:
            play.press(key, asks=True)
    return agreed


def use_here(play: NetHackPlay, verb: str) -> str:
    """Eat or quaff a thing on the floor here."""

    def answer(prompt: GamePrompt) -> Keys:
        return (ESCAPE,) if prompt.kind == "key" and "or ?*]" in prompt.text else ()

    play.press(USES[verb].key, asks=True)
    agreed = _answer_questions(play, answer, agree=True)
    return "" if agreed else f"There is nothing to {verb} here."


def pick_up(play: NetHackPlay) -> str:
    """Take all things here."""
    play.press(",", asks=True)
    _answer_questions(play, lambda prompt: (",", ENTER) if prompt.kind == "menu" else ())
    if play.screen.prompt is None:
        play.press(":")
    return ""


def loot(play: NetHackPlay) -> str:
    """Open a container here and take everything out of it."""

    def answer(prompt: GamePrompt) -> Keys:
        if prompt.kind != "menu":
            return (ESCAPE,) if "direction" in prompt.text else ()
        letters = [letter for letter, _ in prompt.options]
        if "o" in letters and ":" not in letters:
            return "o"
        return ("A", ENTER) if "A" in letters else (",", ENTER)

    play.press(_META_BIT | ord("l"), asks=True)
    return "" if _answer_questions(play, answer, agree=True) else "There is nothing to loot here."


def pray(play: NetHackPlay) -> str:
    """Pray."""
    play.press(_META_BIT | ord("p"), asks=True)
    if play.screen.prompt is not None:
        play.press("y")
    return ""


def here_only(play: NetHackPlay, key: int) -> str:
    """Give a command about this place, and answer its first question with yes."""
    play.press(key, asks=True)
    prompt = play.screen.prompt
    if prompt is not None and prompt.kind == "key" and "[yn" in prompt.text:
        play.press("y")
    return ""


def pay(play: NetHackPlay) -> str:
    """Pay the shopkeeper for everything."""
    play.press("p", asks=True)
    _answer_questions(play, lambda prompt: "y" if "[yn" in prompt.text else ())
    return ""


def cast(play: NetHackPlay, letter: str, direction: str) -> str:
    """Open the list of spells, or cast a spell."""
    play.press("Z", asks=bool(letter))
    if letter and play.screen.prompt is not None:
        play.press(letter, asks=True)
    if direction and play.screen.prompt is not None:
        play.press(DIRECTION_KEYS[direction])
    return ""


def rest(play: NetHackPlay, turns: int) -> str:
    """Do nothing for a number of turns."""
    for _ in range(turns):
        play.press(".")
    return f"You rested for {turns} turns."

"""Skills that use things: the pack, the floor, the gods."""

from __future__ import annotations

import re
from typing import NamedTuple

from gym_memory.games.nethack.engine import ENTER, ESCAPE, Item
from gym_memory.games.nethack.play import DIRECTION_KEYS, Impossible, Play

__all__ = ["USES", "Use", "cast", "find_item", "here_only", "loot", "pay", "pick_up", "plain_name"]
__all__ += ["pray", "rest", "use", "use_here"]

_META = 0x80
_MOST_QUESTIONS = 8
_COUNT = re.compile(r"^(?:an?|the|\d+) ")
_REMARK = re.compile(r" \([^()]*\)")


class Use(NamedTuple):
    """Hold a command that takes a thing of some classes from the pack.

    Attributes:
        key: Code of its key.
        words: A remark that the thing's name must have (``being worn``); "" for any.
        unlike: A remark that it must not have.
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
    "tip": Use(_META | ord("T"), ()),
    "dip": Use(_META | ord("d"), ()),
}
"""Verb to its command; an empty tuple of kinds stands for all."""

FREE_WORDS = {"drink": "quaff", "takeoff": "take off", "put": "put on"}


def plain_name(item: Item) -> str:
    """Return the name of a thing without number and remarks.

    >>> plain_name(Item("a", "a +1 long sword (weapon in hand)", "weapon"))
    '+1 long sword'
    """
    return _REMARK.sub("", _COUNT.sub("", item.name))


def find_item(play: Play, words: str) -> Item:
    """Return the thing in the pack that words mean: a letter, a name, or a name and a letter.

    Raises:
        Impossible: There is none.
    """
    items = play.screen.items
    letter = re.search(r"(?:^|\()([a-zA-Z$])\)?$", words)
    for item in items:
        if letter is not None and item.letter == letter[1]:
            return item
    for item in items:
        if words in (plain_name(item), item.name):
            return item
    near = [item for item in items if words in item.name]
    if len(near) != 1:
        raise Impossible(f"You carry no {words}." if not near else f"Which {words} do you mean?")
    return near[0]


def use(play: Play, verb: str, words: str, direction: str = "", other: str = "") -> str:
    """Use a thing from the pack, answering the game's questions about it.

    Args:
        play: The game.
        verb: A key of :data:`USES`.
        words: The thing.
        direction: For a wand or a throw.
        other: The thing to dip into.
    """
    letters = [find_item(play, words).letter]
    letters += [find_item(play, other).letter] if other else []
    play.press(USES[verb].key, asks=True)
    for _ in range(_MOST_QUESTIONS):
        prompt = play.screen.prompt
        if prompt is None:
            break
        text = prompt.text
        if prompt.kind == "key" and "or ?*]" in text and letters:
            play.press(letters.pop(0), asks=True)
        elif prompt.kind == "key" and "direction" in text and direction:
            play.press(DIRECTION_KEYS[direction], asks=True)
        elif prompt.kind == "key" and re.search(r"(?:here|fountain|sink|pool)\b.*\[yn", text):
            play.press("n", asks=True)  # that is what lies here; the pack was meant
        else:
            break
    return ""


def use_here(play: Play, verb: str) -> str:
    """Eat or quaff what is here, not in the pack.

    Raises:
        Impossible: Nothing of that kind is here.
    """
    play.press(USES[verb].key, asks=True)
    taken = False
    for _ in range(_MOST_QUESTIONS):
        prompt = play.screen.prompt
        if prompt is None:
            break
        if prompt.kind == "key" and "[yn" in prompt.text and not taken:
            taken = True
            play.press("y", asks=True)
        elif prompt.kind == "key" and "or ?*]" in prompt.text:
            play.press(ESCAPE, asks=True)
        else:
            break
    return "" if taken else f"There is nothing to {verb} here."


def pick_up(play: Play) -> str:
    """Take all things that are here."""
    play.press(",", asks=True)
    for _ in range(_MOST_QUESTIONS):
        prompt = play.screen.prompt
        if prompt is None or prompt.kind != "menu":
            break
        play.press(",", asks=True)
        play.press(ENTER, asks=True)
    if play.screen.prompt is None:
        play.press(":")
    return ""


def loot(play: Play) -> str:
    """Open a container that lies here and take all out of it."""
    play.press(_META | ord("l"), asks=True)
    answered = False
    for _ in range(_MOST_QUESTIONS):
        prompt = play.screen.prompt
        if prompt is None:
            break
        letters = [letter for letter, _ in prompt.options]
        if prompt.kind == "key" and "[yn" in prompt.text and not answered:
            answered = True
            play.press("y", asks=True)
        elif prompt.kind == "menu" and "o" in letters and ":" not in letters:
            play.press("o", asks=True)
        elif prompt.kind == "menu" and "A" in letters:
            play.press("A", asks=True)
            play.press(ENTER, asks=True)
        elif prompt.kind == "menu":
            play.press(",", asks=True)
            play.press(ENTER, asks=True)
        else:
            break
    return "" if answered else "There is nothing to loot here."


def pray(play: Play) -> str:
    """Pray to your god."""
    play.press(_META | ord("p"), asks=True)
    if play.screen.prompt is not None:
        play.press("y")
    return ""


def here_only(play: Play, key: int) -> str:
    """Give a command about this very place, its first question answered with yes."""
    play.press(key, asks=True)
    prompt = play.screen.prompt
    if prompt is not None and prompt.kind == "key" and "[yn" in prompt.text:
        play.press("y")
    return ""


def pay(play: Play) -> str:
    """Pay the shopkeeper for all."""
    play.press("p", asks=True)
    for _ in range(_MOST_QUESTIONS):
        prompt = play.screen.prompt
        if prompt is None or "[yn" not in prompt.text:
            break
        play.press("y", asks=True)
    return ""


def cast(play: Play, letter: str, direction: str) -> str:
    """Open the list of spells, or cast one of them."""
    play.press("Z", asks=bool(letter))
    if letter and play.screen.prompt is not None:
        play.press(letter, asks=True)
    if direction and play.screen.prompt is not None:
        play.press(DIRECTION_KEYS[direction])
    return ""


def rest(play: Play, turns: int) -> str:
    """Do nothing for a number of turns."""
    for _ in range(turns):
        play.press(".")
    return f"You rested for {turns} turns."

"""Parse text actions as skills, and list the possible ones.

The skills are NetPlay's 31 (including its keys and typed text) and a few more. A skill that cannot
begin raises :class:`Impossible`; an interrupted one raises :class:`Stop`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache, partial

from gym_memory.games.nethack import skills
from gym_memory.games.nethack.engine import ENTER, ESCAPE, GamePrompt, PackItem
from gym_memory.games.nethack.grid import CELLS, COLUMNS, DIRECTIONS, EIGHT, area_name, direction_to
from gym_memory.games.nethack.play import DIRECTION_KEYS, Impossible, NetHackPlay
from gym_memory.games.nethack.rules import plain_name

__all__ = ["possible_actions", "read"]

Skill = Callable[[NetHackPlay], str]
"""A function that plays an action and describes how it ended."""

_META_BIT = 0x80
_DEFAULT_TURNS = 10
_NAMED_KEYS = {"escape": ESCAPE, "esc": ESCAPE, "enter": ENTER, "return": ENTER, "space": 32}
_DIRECTION = "|".join(DIRECTIONS)
_ANY_DIRECTION = "|".join(DIRECTION_KEYS)
_KEY = re.compile(r"press key (?P<key>ctrl-[a-z]|meta-[a-z]|\S+)")
_NO_TEXT = re.compile(r"^#\s*(?:q|sh|su|sa|ex)", re.IGNORECASE)


def read(action: str, *, whole_level: bool) -> Skill | None:
    """Return the skill of a text action; None if it is not understood.

    ``whole_level`` allows names of things on the whole level, not only nearby.
    """
    key = _KEY.fullmatch(action)
    if key is not None:
        pressed = _code(key["key"])
        return None if pressed is None else partial(_raw, codes=[pressed])
    if action.startswith("type ") and action.isascii():
        return _typing(action[5:])
    lower = action.lower()
    answer = re.fullmatch(r"(answer|select) (.+)", action)
    if answer is not None:
        return lambda play: _answer(play, answer[2])
    if lower in ("confirm", "cancel"):
        code = ENTER if lower == "confirm" else ESCAPE
        return lambda play: _close(play, code)
    skill = _SIMPLE.get(lower) or _parse_skill(lower, whole_level)
    if skill is None:
        return None
    return lambda play: _begin(play, skill)


def _begin(play: NetHackPlay, skill: Skill) -> str:
    if play.screen.prompt is not None:
        raise Impossible("The game waits for an answer: give it, or cancel.")
    play.settle()
    return skill(play)


def _parse_skill(action: str, whole_level: bool) -> Skill | None:
    for pattern, form in _PARSERS:
        if found := re.fullmatch(pattern, action):
            return lambda play: form(play, found, whole_level)
    return None


def _look(play: NetHackPlay) -> str:
    play.press(":")
    play.tracker.stairs_here(play.screen.message)
    return ""


def _avoid(play: NetHackPlay, avoid: bool) -> str:
    play.avoid = avoid
    return "You keep away from monsters." if avoid else "You no longer keep away from monsters."


_SIMPLE: dict[str, Skill] = {
    "explore level": skills.explore_level,
    "explore": skills.explore_level,
    "avoid monsters": lambda play: _avoid(play, True),
    "do not avoid monsters": lambda play: _avoid(play, False),
    "pick up": skills.pick_up,
    "loot": skills.loot,
    "offer": lambda play: skills.here_only(play, _META_BIT | ord("o")),
    "pray": skills.pray,
    "pay": skills.pay,
    "cast": lambda play: skills.cast(play, "", ""),
    "look": _look,
    "inventory": lambda play: f"You carry {len(play.screen.items)} kinds of things.",
    "eat here": lambda play: skills.use_here(play, "eat"),
    "quaff here": lambda play: skills.use_here(play, "quaff"),
    **dict.fromkeys(("go up", "up"), partial(skills.climb, way="up")),
    **dict.fromkeys(("go down", "down"), partial(skills.climb, way="down")),
}

_Parser = Callable[[NetHackPlay, "re.Match[str]", bool], str]
"""A function that plays an action, given its match and ``whole_level``."""
_PARSERS: tuple[tuple[str, _Parser], ...] = (
    (rf"(?:go )?({_DIRECTION})", lambda play, m, _: skills.push_through(play, m[1])),
    (r"move to (\d{1,2}) (\d{1,2})", lambda play, m, _: skills.move_to(play, int(m[1]), int(m[2]))),
    (r"go to (.+)", lambda play, m, whole: skills.go_to(play, m[1], whole_level=whole)),
    (r"(?:melee attack|attack|fight) (.+)", lambda play, m, _: skills.fight(play, m[1])),
    (rf"kick ({_DIRECTION}|door \d+)", lambda play, m, _: skills.kick(play, m[1])),
    (r"(open|close) (door \d+)", lambda play, m, _: skills.open_door(play, m[2], m[1][0])),
    (r"search(?: (\d{1,2}))?", lambda play, m, _: skills.search(play, _turns(m[1]))),
    (r"rest(?: (\d{1,2}))?", lambda play, m, _: skills.rest(play, _turns(m[1]))),
    (
        rf"cast ([a-z])(?: ({_ANY_DIRECTION}))?",
        lambda play, m, _: skills.cast(play, m[1], m[2] or ""),
    ),
    (r"dip (.+) into (.+)", lambda play, m, _: skills.use(play, "dip", m[1], other=m[2])),
    (
        rf"(zap|throw) (.+?)(?: ({_ANY_DIRECTION}))?",
        lambda play, m, _: skills.use(play, m[1], m[2], m[3] or ""),
    ),
    (rf"({'|'.join(skills.USES)}) (.+)", lambda play, m, _: skills.use(play, m[1], m[2])),
)


def _turns(number: str | None) -> int:
    return max(int(number or _DEFAULT_TURNS), 1)


@lru_cache(maxsize=1024)
def _code(name: str) -> int | None:
    """Return the code of a key; None if it is unknown or forbidden to players."""
    if name.lower() in _NAMED_KEYS:
        return _NAMED_KEYS[name.lower()]
    if re.fullmatch(r"ctrl-[a-z]", name):
        code = ord(name[-1]) & 0x1F
        return None if code in (3, 26) else code
    if re.fullmatch(r"meta-[a-z]", name):
        return None if name[-1] == "q" else ord(name[-1]) | _META_BIT
    if len(name) != 1 or not name.isascii() or name in "S!":
        return None
    return ord(name)


def _typing(text: str) -> Skill | None:
    if not text or _NO_TEXT.match(text):
        return None
    codes = [ord(letter) for letter in text]
    return lambda play: _raw(play, codes + [ENTER] * (_is_line(play) or text.startswith("#")))


def _is_line(play: NetHackPlay) -> bool:
    return play.screen.prompt is not None and play.screen.prompt.kind == "line"


def _raw(play: NetHackPlay, codes: list[int]) -> str:
    play.raw(codes)
    return ""


def _answer(play: NetHackPlay, words: str) -> str:
    prompt = play.screen.prompt
    if prompt is None:
        raise Impossible("The game asks nothing.")
    if prompt.kind == "line":
        if not words.isascii():
            raise Impossible("Only plain letters can be typed.")
        play.raw([*(ord(letter) for letter in words), ENTER])
    elif "direction" in prompt.text and words.lower() in DIRECTION_KEYS:
        play.raw([ord(DIRECTION_KEYS[words.lower()])])
    elif words.lower() in ("yes", "no"):
        play.raw([ord(words[0].lower())])
    elif len(words) == 1 and words.isascii():
        play.raw([ord(words)])
    else:
        raise Impossible("Expected one letter as the answer.")
    return ""


def _close(play: NetHackPlay, code: int) -> str:
    if play.screen.prompt is None:
        raise Impossible("The game asks nothing.")
    play.raw([code])
    return ""


def possible_actions(play: NetHackPlay, *, whole_level: bool) -> tuple[str, ...]:
    """Return the actions that are possible now, in a fixed order."""
    prompt = play.screen.prompt
    if prompt is not None:
        return tuple(_answers(prompt))
    return tuple(
        dict.fromkeys(
            (*_actions(play, whole_level), *_uses(play.screen.items, tuple(_lines(play))))
        )
    )


def _answers(prompt: GamePrompt) -> Iterator[str]:
    if prompt.kind == "menu":
        yield from (f"select {letter}" for letter, _ in prompt.options)
        yield "confirm"
    elif "direction" in prompt.text:
        yield from (f"answer {word}" for word in DIRECTION_KEYS)
    elif prompt.kind == "key":
        offered = re.search(r"\[([^\]]+)\]", prompt.text)
        letters = offered[1].partition(" or ")[0] if offered else "yn"
        yield from ["answer -"] * letters.startswith("- ")  # nothing, or the fingers
        for first, last in re.findall(r"([a-zA-Z])-([a-zA-Z])", letters):
            letters += "".join(map(chr, range(ord(first), ord(last) + 1)))
        yield from (f"answer {x}" for x in dict.fromkeys(letters) if x.isalnum() or x in "$#")
    yield "cancel"


def _actions(play: NetHackPlay, whole_level: bool) -> Iterator[str]:
    level, here = play.level, play.here
    beside = level.creatures
    for being in beside:
        if being.attitude == "hostile":
            yield f"melee attack {being.name}"
    yield "explore level"
    feature = level.features.get(here, "")
    for way in ("down", "up"):
        if feature.startswith((f"stairs {way}", f"ladder {way}")):
            yield f"go {way}"
    if here in level.items:
        yield "pick up"
        if "corpse" in level.items[here] or level.items[here] in _FOOD:
            yield "eat here"
        if level.items[here] in _BOXES:
            yield "loot"
    if feature.startswith(("fountain", "sink")):
        yield "quaff here"
    if "altar" in feature:
        yield "offer"
    reach, current = level.reachable(), level.current
    for area in level.areas():
        if area != current and area in reach.areas:
            yield f"go to {area_name(area)}"
    for name, cell in skills.targets(play, whole_level=whole_level).items():
        if cell != here and reach.cells[cell]:
            yield f"go to {name}"
    for cell in level.exits.get(current, ()):
        name, state = f"door {level.doors[cell]}", level.door_states[cell]
        if state in ("closed", "locked"):
            yield f"go to {name}"
            yield f"open {name}"
            yield f"kick {name}"
        elif state == "open":
            yield f"close {name}"
    for word, other in zip(DIRECTIONS, EIGHT[here].tolist(), strict=True):
        if other < CELLS and reach.cells[other]:
            yield f"go {word}"
    yield from ("search", "rest", "pray", "look", "inventory")
    yield "do not avoid monsters" if play.avoid else "avoid monsters"
    if level.kinds.get(current, "") not in ("", "temple"):
        yield "pay"


_FOOD = frozenset((
    "food ration", "cram ration", "apple", "orange", "pear", "melon", "banana", "carrot",
    "cream pie", "candy bar", "fortune cookie", "pancake", "lembas wafer", "tripe ration", "egg",
    "meatball", "meat stick", "c-ration", "k-ration",
))  # fmt: skip
_BOXES = frozenset(("large box", "chest", "ice box", "sack", "bag"))


@lru_cache(maxsize=256)
def _uses(items: tuple[PackItem, ...], lines: tuple[str, ...]) -> tuple[str, ...]:
    """Return actions that use the pack; ``lines`` has the directions of hostile creatures."""
    found = []
    for item in items:
        name = f"{plain_name(item.name)} ({item.letter})"
        for verb, needs in skills.USES.items():
            fits = item.kind in needs.kinds and needs.words in item.name
            if fits and not (needs.unlike and needs.unlike in item.name):
                if verb == "zap":
                    found += [f"zap {name} {word}" for word in DIRECTION_KEYS]
                elif verb == "throw":
                    found += [f"throw {name} {word}" for word in lines]
                else:
                    found.append(f"{verb} {name}")
        if "being worn" not in item.name:
            found.append(f"drop {name}")
    return tuple(found)


def _lines(play: NetHackPlay) -> Iterator[str]:
    """Return the directions with a hostile creature in a straight line."""
    row, column = divmod(play.here, COLUMNS)
    for being in play.level.creatures:
        down, right = being.cell // COLUMNS - row, being.cell % COLUMNS - column
        if being.attitude == "hostile" and (not down or not right or abs(down) == abs(right)):
            near = max(abs(down), abs(right))
            beside = play.here + down // near * COLUMNS + right // near
            yield direction_to(play.here, beside)

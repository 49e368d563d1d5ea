"""The two descriptors, which put the tracker's content into words.

``room`` describes the room or corridor of the player and those passed on the way here, ``level``
all that was seen of the level. Both use sentences such as ``You are in room 1 of level 1.`` and
``- exits: door 1 (doorway, 4 east); door 2 (closed, 2 west, 1 south)``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gym_memory.games.nethack.areas import area_name
from gym_memory.games.nethack.engine import GamePrompt, Item
from gym_memory.games.nethack.grid import COLUMNS, offset_words
from gym_memory.games.nethack.level import Level
from gym_memory.games.nethack.tracker import AreaEntry, Listing, Status, Tracker, listing, title

__all__ = ["VIEWS", "describe", "inventory_text", "prompt_text"]

Where = Callable[[int], str]


def describe(tracker: Tracker, note: str, prompt: GamePrompt | None, *, whole_level: bool) -> str:
    """Return the text of a step; its listings are noted as shown.

    ``note`` says in a sentence how the action ended.
    """
    level, here = tracker.level, tracker.here()
    lines = [" ".join(dict.fromkeys(tracker.messages))[:2000], note]
    lines += _travelled(tracker)
    place = title(level, here.area) if here.area else f"an unknown place of {level.name}"
    lines.append(f"You are in {place}{_standing(level)}.")
    if here.area:
        lines += _block(level, here, _from(level.here))
    else:
        lines += [f"- monsters: {b.label}" for b in level.adjacent()]
    lines += _passed(tracker, level if whole_level else None)
    if here.area:
        tracker.note_report(level, here)
    if whole_level:
        lines += _others(level, here)
    lines.append(_status(tracker.status))
    if prompt is not None:
        lines.append(prompt_text(prompt))
    return "\n".join([line for line in lines if line])


def _travelled(tracker: Tracker) -> Iterator[str]:
    if tracker.arrival is not None:
        feature, area, level = tracker.arrival
        yield f"You took {feature} of {title(level, area)}."
    for level, gone, kept in tracker.merged:
        yield f"{title(level, gone).capitalize()} is part of {title(level, kept)}."


def _standing(level: Level) -> str:
    feature = level.features.get(level.here)
    if feature is not None:
        return f", on {feature}"
    door = level.doors.get(level.here)
    return f", at door {door}" if door is not None else ""


def _from(start: int) -> Where:
    row, column = divmod(start, COLUMNS)

    def where(cell: int) -> str:
        return offset_words(cell // COLUMNS - row, cell % COLUMNS - column)

    return where


def _block(level: Level, seen: Listing, where: Where | None, head: str = "") -> Iterator[str]:
    """Describe an area and all that it holds."""
    state = "explored" if seen.explored else "partly explored"
    words = filter(None, (area_name(seen.area).capitalize(), seen.kind, state, head))
    yield ", ".join(words) + "."

    def named(entries: tuple[AreaEntry, ...]) -> str:
        return "; ".join([f"{e.name} ({where(e.cell)})" if where else e.name for e in entries])

    if seen.features:
        yield f"- features: {named(seen.features)}"
    if seen.exits:
        doors = [f"{e.state}, {where(e.cell)}" if where else e.state for e in seen.exits]
        parts = [f"{e.name} ({door})" for e, door in zip(seen.exits, doors, strict=True)]
        yield f"- exits: {'; '.join(parts)}"
    if seen.items:
        yield f"- items: {named(seen.items)}"
    if seen.creatures:
        yield f"- monsters: {named(seen.creatures)}"


def _passed(tracker: Tracker, mapped: Level | None) -> Iterator[str]:
    """Describe areas left since the last report, unless the last listing still holds.

    Those of a level that is described as a whole are left out.
    """
    tracker.reported_on_the_way = [seen for seen in tracker.unreported() if seen[0] is not mapped]
    for level, seen in tracker.reported_on_the_way:
        yield f"On the way, in {title(level, seen.area)}:"
        yield from _block(level, seen, None)
        tracker.note_report(level, seen)


def _others(level: Level, here: Listing) -> Iterator[str]:
    """List the other areas of the level, with path lengths to each and its content."""
    steps = level.paths().steps

    def where(cell: int) -> str:
        return f"{steps[cell]} steps" if steps[cell] < COLUMNS * 21 else "no path known"

    yield f"Map of {level.name}:"
    for area in level.areas():
        if area != here.area:
            nearest = int(steps[level.area == area].min())
            away = f"{nearest} steps away" if nearest < COLUMNS * 21 else "no path known"
            yield from _block(level, listing(level, area), where, away)


def _status(status: Status) -> str:
    parts = [
        f"HP {status.hp} of {status.max_hp}, AC {status.ac}, experience level "
        f"{status.experience}, power {status.energy} of {status.max_energy}, "
        f"gold {status.gold}, turn {status.turn}"
    ]
    if status.conditions:
        parts.append("you are " + ", ".join(status.conditions))
    return "Status: " + "; ".join(parts) + "."


def inventory_text(items: tuple[Item, ...]) -> str:
    """List the pack, an item a line."""
    return "\n".join([f"{item.letter} - {item.name}" for item in items]) or "You carry nothing."


def prompt_text(prompt: GamePrompt) -> str:
    """Return the game's question in words."""
    if prompt.kind == "menu":
        lines = [f"A menu is open: {prompt.text}".rstrip(" :") + ":"]
        lines += [f"  {letter} - {words}" for letter, words in prompt.options]
        return "\n".join(lines)
    return f"The game asks: {prompt.text}"


VIEWS = ("room", "level")
"""What an observation may describe."""

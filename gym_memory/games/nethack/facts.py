"""Convert the tracker's knowledge to facts, only for scoring and the control ``oracle``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gym_memory.core.records import Triple
from gym_memory.games.nethack.level import Level
from gym_memory.games.nethack.rules import SIGHTING, area_facts, exit_of, item_facts
from gym_memory.games.nethack.tracker import AreaListing, Tracker, listing, title
from gym_memory.graph.schema import PLAYER, way_relation

__all__ = ["facts_of", "level_facts", "reported_facts"]


def facts_of(tracker: Tracker) -> frozenset[Triple]:
    """Return all facts about the levels seen so far and the pack."""
    facts = {*_player_facts(tracker), *_stair_ways(tracker)}
    for level in tracker.levels.values():
        facts.update(level_facts(level))
    return _folded(facts)


def reported_facts(tracker: Tracker, *, whole_level: bool) -> frozenset[Triple]:
    """Return the facts in the last text, about the player's area and those passed.

    With ``whole_level`` the text describes all areas of the level.
    """
    level = tracker.level
    facts = set(_player_facts(tracker))
    described = [(level, tracker.here())] if level.current else []
    described += tracker.reported_on_the_way
    if whole_level:
        described += [(level, listing(level, area)) for area in level.areas()]
    for seen_on, seen in described:
        facts.update(_listed(seen_on, seen))
        for being in seen.creatures:
            facts.add(Triple(being.name, SIGHTING, title(seen_on, seen.area)))
    return _folded(facts)


def _folded(facts: Iterable[Triple]) -> frozenset[Triple]:
    return frozenset(Triple(s.lower(), relation, o.lower()) for s, relation, o in facts)


def _player_facts(tracker: Tracker) -> Iterator[Triple]:
    """Yield facts about the player's place and belongings."""
    level = tracker.level
    if level.current:
        yield Triple(PLAYER, "is in", title(level, level.current))
    yield from item_facts(tuple(item.name for item in tracker.screen.items))


def _listed(level: Level, seen: AreaListing) -> Iterator[Triple]:
    facts = area_facts(
        title(level, seen.area),
        level.name,
        seen.kind,
        seen.explored,
        tuple(feature.name for feature in seen.features),
        tuple((door.name, door.state) for door in seen.exits),
        tuple(item.name for item in seen.items),
    )
    return (fact for fact, _ in facts)


def level_facts(level: Level) -> Iterator[Triple]:
    """Yield all facts about one level."""
    for area in level.areas():
        yield from _listed(level, listing(level, area))
    for label, area in level.sightings.items():
        yield Triple(label, SIGHTING, title(level, area))
    yield from _ways(level)


def _ways(level: Level) -> Iterator[Triple]:
    """Yield the ways through doors with two known sides."""
    sides: dict[int, list[str]] = {}
    for area, doors in level.exits.items():
        for cell in doors:
            sides.setdefault(cell, []).append(title(level, area))
    for cell, names in sides.items():
        door = exit_of(f"door {level.doors[cell]}")
        for one in names:
            for other in names:
                if one != other:
                    yield Triple(one, way_relation(door), other)


def _stair_ways(tracker: Tracker) -> Iterator[Triple]:
    """Yield the ways by stairs that were taken, in both directions."""
    levels = {level.name: level for level in tracker.levels.values()}
    for (name, cell), (other, landing) in tracker.climbs.items():
        ends = []
        for level, stood in ((levels[name], cell), (levels[other], landing)):
            area = level.area_of(stood)
            feature = exit_of(level.features.get(stood, ""))
            ends.append((title(level, area) if area else "", feature))
        (here, way), (there, back) = ends
        if here and there:
            yield Triple(there, way_relation(way), here)
            if back:
                yield Triple(here, way_relation(back), there)

"""Resolution of a name to a known thing, for short and long names and for namesakes."""

from __future__ import annotations

from typing import Protocol

from gym_memory.core.records import Triple
from gym_memory.extract.notes.words import CONTAINER, kind_of_noun
from gym_memory.graph import TemporalGraph
from gym_memory.graph.schema import INVENTORY, MEANS, head_noun, nouns

__all__ = ["ANOTHER", "Surroundings", "another", "meant"]

_QUANTITIES = ("set of ", "pair of ", "bunch of ", "pile of ", "stack of ", "handful of ")
"""Words before a thing that may go by its own name: *a bunch of keys*."""
ANOTHER = "another "
"""Prefix that tells a second thing of the same name from the first."""
_MAX_NESTING = 4
_MIN_PART_LETTERS = 3
"""Least letters of each part of a compound that may be written as two words."""


class Surroundings(Protocol):
    """A context of names: the facts before the step, the place and the text."""

    graph: TemporalGraph
    room: str
    left: str
    moved: dict[str, Triple]

    @property
    def text(self) -> str:
        """Return the text in lower case."""
        ...


def meant(
    around: Surroundings,
    name: str,
    *,
    carried: bool | None = None,
    anywhere: bool = False,
    typed: bool = False,
) -> str:
    """Return the known thing within reach that a name means; the name itself for a new thing.

    A short name means the only thing whose longer name has the same noun and all its words. A long
    name means the only thing with a shorter name, unless the text also uses that name alone.

    Args:
        around: Context of the name.
        name: Name in a text.
        carried: True for only carried things, False for only others, None for both.
        anywhere: True if the thing may have been out of reach, as one in a list of carried things.
        typed: True for a name in a command, short even if the text has the longer name.
    """
    graph = around.graph
    if graph.knows(name):
        return _of_namesakes(graph, name, carried=carried)
    whole = name.partition(" of ")[2] if name.startswith(_QUANTITIES) else ""
    if whole and graph.knows(whole):
        return whole
    new = [other for other in around.moved if other.endswith(f" {name}")]
    if len(new) == 1 and not graph.knows(new[0]) and _is_definite(around, name, new[0]):
        return new[0]  # a thing that this text names first
    noun = head_noun(name)
    called = [other for other in graph.entities_with((noun,)) if noun in nouns(other)]
    words = set(name.split())
    longer = [other for other in called if words < set(other.split())]
    shorter = [other for other in called if set(other.split()) < words]
    if not (longer or shorter):
        return _spelt_otherwise(graph, name)
    near = [o for o in called if o != name and _is_near(around, o, carried=carried)]
    fit = [other for other in longer if other in near]
    if not fit and anywhere and len(words) > 1:
        fit = longer
    if len(fit) == 1 and (typed or fit[0] not in around.text or _is_definite(around, name, fit[0])):
        return fit[0]
    if len(near) == 1 and near[0] in shorter:
        alone = around.text.count(near[0]) > around.text.count(name)
        return name if alone else near[0]
    return name


def _of_namesakes(graph: TemporalGraph, name: str, *, carried: bool | None) -> str:
    """Return the thing with a known name: what the name means, or the namesake at that place."""
    meaning = graph.value(name, "meaning") if graph.uses(MEANS) else None
    if meaning is not None:
        return meaning.object
    if carried is None or not graph.knows(f"{ANOTHER}{name}"):
        return name
    place = graph.value(name, "location")
    is_carried = place is not None and place.object == INVENTORY
    return name if is_carried == carried else f"{ANOTHER}{name}"


def _is_definite(around: Surroundings, name: str, longer: str) -> bool:
    """True if a text with both names says *the* whenever it uses the shorter one."""
    alone = around.text.count(name) - around.text.count(longer)
    return alone > 0 and around.text.count(f"the {name}") == alone


def _spelt_otherwise(graph: TemporalGraph, name: str) -> str:
    """Return a known name that differs by a space, as *trapdoor* and *trap door*, or the name."""
    if " " in name:
        joined = name.replace(" ", "")
        return joined if graph.knows(joined) else name
    parted = (
        f"{name[:at]} {name[at:]}"
        for at in range(_MIN_PART_LETTERS, len(name) - _MIN_PART_LETTERS + 1)
    )
    return next(filter(graph.knows, parted), name)


def another(name: str) -> str:
    """Return the name of a second thing that shares its name with one elsewhere."""
    return name if name.startswith(ANOTHER) else f"{ANOTHER}{name}"


def _is_near(around: Surroundings, name: str, *, carried: bool | None) -> bool:
    """True if a thing is carried, here, a door of this place, or in or on such a thing."""
    place = around.graph.value(name, "location")
    if place is None:
        here = any(fact.subject == around.room for fact in around.graph.incoming(name))
        return here and carried is not True
    if carried is not None and (place.object == INVENTORY) != carried:
        return False
    for _ in range(_MAX_NESTING):
        if place.object in (INVENTORY, around.room, around.left):
            return True
        outer = around.graph.value(place.object, "location")
        if outer is None:  # furniture of unknown place may be here; a room is another place
            return place.relation == "is on" or kind_of_noun(place.object) == CONTAINER
        place = outer
    return False

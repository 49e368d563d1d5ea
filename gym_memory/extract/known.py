"""Resolution of names to known things: shorter and longer names, two things of one name."""

from __future__ import annotations

from typing import Protocol

from gym_memory.extract.notes.words import CONTAINER, kind_of_noun
from gym_memory.graph import TemporalGraph
from gym_memory.graph.schema import INVENTORY, MEANS, head_noun, nouns

__all__ = ["ANOTHER", "Surroundings", "another", "meant"]

ANOTHER = "another "
"""Begins the name of a second thing that a text calls as the first."""
_MOST_HOLDERS = 4
_LEAST_PART = 3
"""Letters of the parts of a word that may be written apart."""


class Surroundings(Protocol):
    """The context of a name: the facts before the step, the place, and the text."""

    graph: TemporalGraph
    room: str
    left: str

    @property
    def text(self) -> str:
        """Return the text in lower case."""
        ...


def meant(
    around: Surroundings, name: str, *, carried: bool | None = None, anywhere: bool = False
) -> str:
    """Return the known thing within reach that a name means; the name itself for a new thing.

    A name with fewer words means the one thing that has these words and the same noun; a name with
    more words the one thing that has fewer, unless the text has that shorter name by itself. With
    ``carried`` only things that are in hand count, or only those that are not. What is listed in
    hand may have been ``anywhere`` when it was seen last.
    """
    graph = around.graph
    if graph.knows(name):
        meaning = graph.value(name, "meaning") if graph.uses(MEANS) else None
        if meaning is not None:
            return meaning.object
        if carried is None or not graph.knows(f"{ANOTHER}{name}"):
            return name
        place = graph.value(name, "location")
        is_carried = place is not None and place.object == INVENTORY
        return name if is_carried == carried else f"{ANOTHER}{name}"
    noun = head_noun(name)
    called = [other for other in graph.entities_with((noun,)) if noun in nouns(other)]
    if not called:
        return _spelt_otherwise(graph, name)
    words = set(name.split())
    longer = [other for other in called if words < set(other.split())]
    shorter = [other for other in called if set(other.split()) < words]
    if not (longer or shorter):
        return _spelt_otherwise(graph, name)
    near = [o for o in called if o != name and _is_near(around, o, carried=carried)]
    fit = [other for other in longer if other in near]
    if not fit and anywhere and len(words) > 1:
        fit = longer
    if len(fit) == 1 and fit[0] not in around.text:
        return fit[0]
    if len(near) == 1 and near[0] in shorter:
        alone = around.text.count(near[0]) > around.text.count(name)
        return name if alone else near[0]
    return name


def _spelt_otherwise(graph: TemporalGraph, name: str) -> str:
    """Return a known name that differs in one blank, as *trapdoor* and *trap door* do."""
    if " " in name:
        joined = name.replace(" ", "")
        return joined if graph.knows(joined) else name
    parted = (f"{name[:at]} {name[at:]}" for at in range(_LEAST_PART, len(name) - _LEAST_PART + 1))
    return next(filter(graph.knows, parted), name)


def another(name: str) -> str:
    """Return the name of a second thing that is called as one that is somewhere else."""
    return name if name.startswith(ANOTHER) else f"{ANOTHER}{name}"


def _is_near(around: Surroundings, name: str, *, carried: bool | None) -> bool:
    """True if a thing is in hand, here, a door of this place, or in or on such a thing."""
    place = around.graph.value(name, "location")
    if place is None:
        here = any(fact.subject == around.room for fact in around.graph.incoming(name))
        return here and carried is not True
    if carried is not None and (place.object == INVENTORY) != carried:
        return False
    for _ in range(_MOST_HOLDERS):
        if place.object in (INVENTORY, around.room, around.left):
            return True
        outer = around.graph.value(place.object, "location")
        if outer is None:  # a table whose place nobody said may be here, a room is another one
            return place.relation == "is on" or kind_of_noun(place.object) == CONTAINER
        place = outer
    return False

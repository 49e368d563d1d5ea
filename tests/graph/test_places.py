"""Places: Algorithm 3 on hand-worked maps, and every answer against a search from scratch."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from gym_memory.core.records import Triple
from gym_memory.graph import TemporalGraph
from gym_memory.graph.places import (
    UNEXPLORED,
    current_place,
    nearest_places,
    route,
    unexplored_exits,
    visited_places,
    ways_out,
)
from gym_memory.graph.schema import DIRECTIONS, OPPOSITE


def graph_of(*facts: tuple[str, str, str]) -> TemporalGraph:
    graph = TemporalGraph()
    for fact in facts:
        graph.add(Triple(*fact), graph.now)
    return graph


def test_algorithm_3_by_hand() -> None:
    """The paper's example: of the kitchen's exits, those without a known target."""
    graph = graph_of(
        ("you", "is in", "kitchen"),
        ("kitchen", "has exit", "south"),
        ("kitchen", "has exit", "east"),
        ("kitchen", "has exit", "up"),
        ("hall", "is east of", "kitchen"),
        ("kitchen", "is west of", "hall"),
        ("hall", "has exit", "west"),
        ("stove", "is in", "kitchen"),
        ("attic", "is in", "house"),
    )
    assert unexplored_exits(graph, "kitchen") == (
        Triple("kitchen", UNEXPLORED, "south"),
        Triple("kitchen", UNEXPLORED, "up"),
    )
    assert unexplored_exits(graph, "hall") == ()
    assert unexplored_exits(graph, "nowhere") == ()
    graph.add(Triple("cellar", "is south of", "kitchen"), 1)
    assert unexplored_exits(graph, "kitchen") == (Triple("kitchen", UNEXPLORED, "up"),)
    # A way that turned out wrong is unexplored again.
    graph.retire(Triple("hall", "is east of", "kitchen"), 2)
    assert Triple("kitchen", UNEXPLORED, "east") in unexplored_exits(graph, "kitchen")


def test_nowhere_yet() -> None:
    graph = graph_of(("kitchen", "has exit", "east"))
    assert current_place(graph) is None
    assert visited_places(graph) == ()
    assert route(graph, "kitchen") is None


def test_visited_places_are_those_the_agent_was_in() -> None:
    graph = graph_of(
        ("you", "is in", "kitchen"),
        ("hall", "is east of", "kitchen"),
        ("kitchen", "is west of", "hall"),
    )
    assert visited_places(graph) == ()  # the hall is known, not visited
    graph.add(Triple("you", "is in", "hall"), 1)
    assert visited_places(graph) == ("kitchen",)
    assert route(graph, "kitchen") == [("west", "kitchen")]
    graph.add(Triple("you", "is in", "island"), 2)  # no way back is known
    assert visited_places(graph) == ()
    assert route(graph, "hall") is None


rooms = st.sampled_from([f"room {letter}" for letter in "abcdef"])
ways = st.lists(
    st.tuples(rooms, st.sampled_from(DIRECTIONS[:4]), rooms, st.booleans()), max_size=14
)


@settings(derandomize=True, max_examples=150, deadline=None)
@given(ways, rooms)
def test_nearest_places_are_a_breadth_first_search(edges, start) -> None:
    graph = TemporalGraph()
    for source, direction, target, both in edges:
        graph.add(Triple(target, f"is {direction} of", source), 0)
        if both:
            graph.add(Triple(source, f"is {OPPOSITE[direction]} of", target), 0)
    distance = {start: 0}
    frontier = [start]
    while frontier:
        frontier = [
            target
            for place in frontier
            for target in dict.fromkeys(ways_out(graph, place).values())
            if target not in distance and distance.setdefault(target, distance[place] + 1)
        ]
    found = nearest_places(graph, start)
    assert sorted(found) == sorted(distance)
    assert [distance[place] for place in found] == sorted(distance.values())
    graph.add(Triple("you", "is in", start), 0)
    for place in found:
        way = route(graph, place)
        assert len(way) == distance[place]
        assert (way[-1][1] if way else start) == place

"""The map: Algorithm 3 on hand-worked maps, and every answer against a search from scratch."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gym_memory.core.records import Triple
from gym_memory.graph import TemporalGraph
from gym_memory.graph.map import (
    beyond,
    current_place,
    distances,
    first_steps,
    lay_out,
    nearest_places,
    ordered_ways,
    positions,
    route,
    shortest_path,
    unexplored_exits,
    visited_places,
    ways_out,
)
from gym_memory.graph.schema import DIRECTIONS, OPPOSITE, UNEXPLORED


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


def test_map_without_a_place_is_empty() -> None:
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


@pytest.mark.slow
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


def test_equal_ways_share_first_steps() -> None:
    ways = {
        "kitchen": {"north": "hall", "east": "den", "up": "attic"},
        "hall": {"east": "loft", "south": "kitchen"},
        "den": {"north": "loft"},
    }

    def out(place: str) -> dict[str, str]:
        return ways.get(place, {})

    found = first_steps(distances("kitchen", out), out)
    assert {place: list(steps) for place, steps in found.items()} == {
        "kitchen": [],
        "hall": ["north"],
        "den": ["east"],
        "attic": ["up"],
        "loft": ["north", "east"],
    }


def test_shortest_path() -> None:
    """Of equally short paths, the one whose first direction comes first."""
    graph = TemporalGraph()
    for a, way, b, back in (
        ("kitchen", "east", "hall", "west"),
        ("hall", "north", "study", "south"),
        ("hall", "east", "yard", "west"),
        ("study", "east", "gate", "west"),
        ("yard", "north", "gate", "south"),
    ):
        graph.add(Triple(b, f"is {way} of", a), 0)
        graph.add(Triple(a, f"is {back} of", b), 0)
    ways = partial(ordered_ways, graph)
    assert shortest_path("kitchen", "study", ways) == [("east", "hall"), ("north", "study")]
    assert shortest_path("gate", "kitchen", ways) == [
        ("south", "yard"), ("west", "hall"), ("west", "kitchen"),
    ]  # fmt: skip  # as short as over the study; south comes first in DIRECTIONS
    assert shortest_path("hall", "hall", ways) == []
    assert shortest_path("hall", "attic", ways) is None
    assert shortest_path("attic", "hall", ways) is None
    graph.retire_matching("study", "is north of", "hall", t=1)
    assert shortest_path("kitchen", "study", ways) == [
        ("east", "hall"), ("east", "yard"), ("north", "gate"), ("west", "study"),
    ]  # fmt: skip
    graph.add(Triple("you", "is in", "kitchen"), 2)
    assert route(graph, "The Yard") == [("east", "hall"), ("east", "yard")]


def test_searches_take_any_map() -> None:
    ways = {"a": {"east": "b", "up": "attic"}, "b": {"south": "c", "back": "a"}, "c": {"west": "a"}}
    out = lambda place: ways.get(place, {})  # noqa: E731
    assert distances("a", out) == {"a": 0, "b": 1, "attic": 1, "c": 2}
    assert shortest_path("c", "attic", out) == [("west", "a"), ("up", "attic")]
    assert positions("a", out) == {"a": (0, 0), "b": (1, 0), "c": (1, 1)}  # no square is up
    assert beyond((1, 1), "northwest") == (0, 0)
    assert beyond((1, 1), "up") is beyond(None, "north") is None


def test_drawing_places_rooms_by_compass() -> None:
    facts = [
        Triple("b", "is east of", "a"),
        Triple("c", "is south of", "b"),
        Triple("d", "is west of", "c"),
        Triple("e", "is north of", "d"),  # where a lies already
        Triple("far", "is up of", "roof"),
        Triple("apple", "is in", "a"),
    ]
    squares = lay_out(facts)
    assert [squares[n] for n in "abcd"] == [(0, 0), (1, 0), (1, 1), (0, 1)]
    assert len(set(squares.values())) == len(squares) == 7
    assert "apple" not in squares
    # A map that grows keeps its places.
    grown = lay_out([*facts, Triple("z", "is west of", "a")], squares)
    assert {name: grown[name] for name in squares} == squares
    assert grown["z"] == (-1, 0)

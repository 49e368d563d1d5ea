"""The speed benchmark runs, and a step does not cost more the more is known."""

from __future__ import annotations

from typing import Any

import pytest
from benchmark import load
from work import calls


@pytest.fixture(scope="module")
def benchmark():
    return load("benchmarks/arigraph_speed.py")


def test_house_is_read_by_the_rules(benchmark) -> None:
    """What the memory believes after a walk is what the house holds."""
    walk = benchmark.Walk(200, "structural", 90)
    graph, house = walk.memory.graph, walk.house
    assert len(graph) >= 200
    for name in house.held:
        assert graph.value(name, "location").object == "inventory"
    for room, things in enumerate(house.floor):
        for name in things:
            assert graph.value(name, "location").object == f"room {room}"


@pytest.mark.slow
def test_step_makes_about_as_many_calls_in_larger_house(benchmark) -> None:
    small, large = (benchmark.Walk(size, "structural", 0) for size in (200, 2000))
    assert len(large.memory.graph) > 8 * len(small.memory.graph)

    def stroll(memory: Any, house: Any) -> None:
        for _ in range(120):
            benchmark.played(memory, house, house.stroll())

    made = [calls(lambda w=walk: stroll(w.memory, w.house)) / 120 for walk in (small, large)]
    assert made[1] < 1.5 * made[0]
    assert made[0] < 6_000


@pytest.mark.slow
def test_results_are_tabled(benchmark) -> None:
    results = {
        "command": "python benchmarks/arigraph_speed.py",
        "long": benchmark.long(400, 4),
    }
    text = benchmark.markdown(results)
    assert "## long" in text
    assert str(results["long"]["bytes_a_step"]) in text
    assert results["long"]["bytes_a_step"] < 20_000
    assert "## rl" not in text

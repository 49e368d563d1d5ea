"""A step of AriGraph visits the same number of facts, however many are stored."""

from __future__ import annotations

import pytest

from gym_memory.core.records import Cue, Step, Task, Triple
from gym_memory.graph import TemporalGraph
from gym_memory.memory.arigraph import AriGraph

ACTIONS = ("go east", "go west", "look")


def visited_in_steps(facts: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """Count the facts and names that scans of the whole graph yield in ten steps."""
    memory = AriGraph()
    memory.begin(Task("t", "Find thing 7.", "textworld"), 0)
    graph = memory.graph
    for n in range(facts // 2):
        graph.add(Triple(f"thing {n}", "is in", f"hall {n // 20}"), 0)
        graph.add(Triple(f"thing {n}", "is", "open" if n % 2 else "closed"), 0)
    memory.recall(Cue("Ready."), 300)
    visited = 0

    def counted(name: str):
        scan = getattr(TemporalGraph, name)

        def yields(self):
            nonlocal visited
            for item in scan(self):
                visited += 1
                yield item

        monkeypatch.setattr(TemporalGraph, name, yields)

    with monkeypatch.context():
        for name in ("live", "facts", "entities"):
            counted(name)
        for t in range(1, 11):
            text = f"-= Hall {t} =-\nYou see a crate. On the crate you can see a lamp {t}."
            memory.observe(Step(t, text, "go east", valid_actions=ACTIONS))
            recall = memory.recall(Cue(text, "Find thing 7.", "", ACTIONS, f"thing {t}"), 300)
            assert Triple(f"thing {t}", "is in", f"hall {t // 20}") in recall.triples
        monkeypatch.undo()
    return visited


@pytest.mark.slow
def test_a_step_scans_no_stored_facts(monkeypatch: pytest.MonkeyPatch) -> None:
    assert visited_in_steps(1_000, monkeypatch) == visited_in_steps(20_000, monkeypatch) == 0

"""Exits and furniture that only the valid actions name."""

from __future__ import annotations

from gym_memory.core.records import Step, Task, Triple
from gym_memory.extract import get_extractor
from gym_memory.extract.draft import apply
from gym_memory.games.textworld.rules import offered
from gym_memory.graph import TemporalGraph

ACTIONS = (
    "go east", "go west", "open oak door", "unlock Red safe with Key 2", "take Key 2",
    "take egg from jar", "examine rug", "look",
)  # fmt: skip


def read(*steps: Step) -> TemporalGraph:
    graph = TemporalGraph()
    for step in steps:
        extraction = get_extractor("textworld").extract(step, graph, Task("t", "", "textworld"))
        apply(extraction, graph, step.t)
    return graph


def test_valid_actions_show_what_a_description_omits() -> None:
    graph = read(Step(0, "-= Vault =-\nA plain room.", "", 0.0, "", ACTIONS))
    assert {str(fact) for fact in graph.live()} == {
        "you, is in, vault", "vault, has exit, east", "vault, has exit, west",
        "red safe, is in, vault", "red safe, is, locked", "key 2, is in, vault",
        "jar, is in, vault",
    }  # fmt: skip


def test_text_counts_more_than_valid_actions() -> None:
    room = "-= Vault =-\nYou see a shelf. On the shelf you can see a jar. There is an exit east."
    graph = read(Step(0, room, "", 0.0, "", ("take egg from jar", "go east", "look")))
    assert Triple("jar", "is on", "shelf") in graph
    assert Triple("jar", "is in", "vault") not in graph
    assert len(list(graph.live())) == 4


def test_known_way_is_not_another_exit() -> None:
    start = Step(0, "-= Vault =-\nA plain room.", "", 0.0, "", ("go east",))
    moved = Step(1, "-= Hall =-\nA plain room.", "go east", 0.0, "", ("go west", "go up"))
    graph = read(start, moved)
    assert Triple("hall", "is east of", "vault") in graph
    assert Triple("hall", "has exit", "up") in graph
    assert Triple("hall", "has exit", "west") not in graph


def test_without_valid_actions_nothing_is_offered() -> None:
    assert not any(offered(()))


def test_thing_has_its_name_in_commands() -> None:
    text = (
        "-= Hall =-\nYou see a bench. On the bench you can see a pair of blue moccasins, a raw "
        "meat and a White locker."
    )
    actions = ("take blue moccasins from bench", "take meat from bench", "look")
    carried = "You are carrying: a pair of blue moccasins and a raw meat."
    taken = "You pick up the blue moccasins from the bench."
    graph = read(
        Step(0, text, "", 0.0, "", actions),
        Step(
            1,
            taken,
            "take blue moccasins from bench",
            0.0,
            carried,
            ("drop meat", "drop blue moccasins", "look"),
        ),
    )
    assert Triple("blue moccasins", "is in", "inventory") in graph
    assert Triple("meat", "is in", "inventory") in graph
    assert Triple("meat", "is", "raw") in graph
    assert Triple("white locker", "is on", "bench") in graph
    assert not [fact for fact in graph.live() if "pair" in fact.subject]

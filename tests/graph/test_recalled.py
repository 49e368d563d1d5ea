"""An index of recalled facts, without a graph."""

from __future__ import annotations

from gym_memory.core.records import Triple
from gym_memory.graph.recalled import RecalledFacts

FACTS = """
you | is in | kitchen
knife | is on | counter
counter | is in | kitchen
carrot | is in | fridge
carrot | is in | inventory
carrot | is | raw
carrot | needs to be | diced
hall | is north of | kitchen
kitchen | has exit | north
kitchen | has exit | west
kitchen | has north door | gate
recipe | requires | carrot
note | says | Dice it.
"""


def index(text: str = FACTS) -> RecalledFacts:
    return RecalledFacts(Triple(*line.split(" | ")) for line in text.strip().splitlines())


def test_last_place_of_a_thing_counts() -> None:
    facts = index()
    assert facts.here == "kitchen"
    assert facts.held == ["carrot"]
    rooms = [facts.room_of(name) for name in ("knife", "carrot", "hall", "pear")]
    assert rooms == ["kitchen", "inventory", "hall", ""]


def test_way_is_known_in_both_directions() -> None:
    facts = index()
    assert facts.ways("kitchen") == {"north": "hall"}
    assert facts.ways("hall") == {"south": "kitchen"}
    assert facts.unexplored("kitchen") == ["west"]


def test_attributes_and_links_are_apart_and_texts_left_out() -> None:
    facts = index()
    assert facts.values("carrot") == [("is", "raw"), ("needs to be", "diced")]
    assert [str(link.relation) for link in facts.links] == ["has north door", "requires"]

"""Notes by another author: none of these sentences was there when the rules were written."""

from __future__ import annotations

import pytest

from gym_memory.core.records import Triple
from gym_memory.extract.notes import read_writing
from gym_memory.extract.notes.words import kind_in
from gym_memory.graph import TemporalGraph
from gym_memory.graph.schema import QUOTED

OPENS = ("hex bolt", "opens", "tuck box")
AT_HAND = {"hex bolt": "carried", "toothed bar": "carried"}
SEEN = {**AT_HAND, "tuck box": "container", "back yard": "room", "biscuit tin": "supporter"}


def read(text: str, known: dict[str, str]) -> set[tuple[str, ...]]:
    mentions = read_writing("label", text, known.get)
    return {tuple(m.triple) for m in mentions if m.triple.relation not in QUOTED}


@pytest.mark.parametrize("known", [AT_HAND, SEEN], ids=["at hand", "seen"])
@pytest.mark.parametrize(
    "text",
    [
        "Slide the hex bolt into the slot of the tuck box.",
        "The tuck box answers to the hex bolt.",
        "You can't get at the contents of the tuck box unless you are carrying the hex bolt.",
        "I always used the hex bolt whenever I wanted something out of the tuck box.",
        "Seek out the tuck box, and have the hex bolt ready.",
        "Once you hold the hex bolt, nothing keeps you out of the tuck box.",
        "Don't lose the hex bolt, or the tuck box will remain closed for good.",
        "Property label: the hex bolt. Opens: the tuck box.",
    ],
)
def test_what_opens_what(text: str, known: dict[str, str]) -> None:
    assert read(text, known) == {OPENS}


PLACES = {
    "Check the biscuit tin in the back yard for the hex bolt.",
    "Go fetch the hex bolt; it sits on the biscuit tin in the back yard.",
    "In the back yard, on the biscuit tin, is where I left the hex bolt.",
}


@pytest.mark.parametrize("text", sorted(PLACES))
def test_where_a_key_lies(text: str) -> None:
    found = {("hex bolt", "is on", "biscuit tin"), ("biscuit tin", "is in", "back yard")}
    assert read(text, SEEN) == found


@pytest.mark.parametrize(
    ("text", "room"),
    [
        ("The tool chest is kept in Hall of Saints.", "hall of saints"),
        ("The tool chest is kept in the back yard.", "back yard"),
        ("Crow's Nest is where the tool chest ended up.", "crow's nest"),
    ],
)
def test_the_room_of_a_lock(text: str, room: str) -> None:
    assert read(text, {}) == {("tool chest", "is in", room)}


def test_what_is_carried_is_no_furniture_whatever_its_noun_says() -> None:
    graph = TemporalGraph()
    for fact in (
        Triple("toothed bar", "is in", "inventory"), Triple("bar", "is in", "den"),
        Triple("you", "is in", "den"),
    ):  # fmt: skip
        graph.add(fact, 0)
    assert kind_in(graph, "toothed bar", "den") == "carried"
    assert kind_in(graph, "bar", "den") == "thing"
    assert read("The toothed bar operates the tuck box.", AT_HAND) == {
        ("toothed bar", "opens", "tuck box")
    }

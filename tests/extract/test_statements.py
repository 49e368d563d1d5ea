"""What a text tells of keys, locks and places, in words that no rule spells out."""

from __future__ import annotations

import pytest

from gym_memory.core.records import Triple
from gym_memory.extract.notes import read_writing
from gym_memory.extract.notes.recipes import read_kitchen
from gym_memory.extract.notes.statements import read_statements
from gym_memory.extract.notes.words import kind_in
from gym_memory.graph import TemporalGraph
from gym_memory.graph.schema import QUOTED, head_noun

OPENS = ("moss key", "opens", "plum coffer")


def test_spans_point_at_the_subject() -> None:
    text = "I heard that the plum coffer opens with the moss key."
    (fact,) = read_statements(text).facts
    assert text[fact.start : fact.end] == "moss key"


def test_what_is_known_counts_more_than_what_noun_suggests() -> None:
    known = {"brass wotsit": "thing", "grey monolith": "container"}
    (fact,) = read_statements("The brass wotsit opens the grey monolith.", known.get).facts
    assert tuple(fact.triple) == ("brass wotsit", "opens", "grey monolith")


@pytest.mark.parametrize(
    "text",
    [
        "Given the moss key, the plum coffer is easy.",
        "I wonder what the plum coffer holds. Maybe the moss key knows.",
    ],
)
def test_only_key_and_only_lock_of_note_belong_together(text: str) -> None:
    assert not read_statements(text).facts
    (fact,) = read_statements(text, note=True).facts
    assert tuple(fact.triple) == OPENS


@pytest.mark.parametrize(
    "text",
    [
        "Open the plum coffer and take the silver idol.",
        "Unlock the plum coffer and you will hold the silver idol.",
        "The silver idol lies under lock and key in the plum coffer.",
        "Win the silver idol by unlocking the plum coffer.",
        "The silver idol awaits whoever opens the plum coffer.",
        "To win, unlock the plum coffer and grab the silver idol from it.",
        "Do not leave without the silver idol, which is locked in the plum coffer.",
        "Come back with the silver idol that the locked plum coffer holds.",
        "Make the plum coffer surrender the silver idol.",
        "The silver idol is secured in the plum coffer.",
        "Unlock the plum coffer and walk away with the silver idol.",
        "The moss key begins the trail; the plum coffer ends it.",
        "The moss key is the first, and the plum coffer the last.",
        "Follow the keys from the moss key to the plum coffer.",
        "The hunt starts with the moss key and ends in the plum coffer.",
    ],
)
def test_what_a_goal_names_beside_a_lock_opens_nothing(text: str) -> None:
    assert all(m.triple.relation != "opens" for m in read_statements(text).facts)


@pytest.mark.parametrize(
    ("name", "noun"),
    [("Key 12", "key"), ("key holder", "holder"), ("note of the cook", "note"), ("Hall B", "hall")],
)
def test_head_nouns(name: str, noun: str) -> None:
    assert head_noun(name) == noun


def test_order_is_no_part_of_the_name_after_it() -> None:
    report = read_statements("Unlock chest 2 with brass key. Inspect safe 3 in the hall.")
    assert not {name for name in report.names if name.startswith(("unlock", "inspect"))}
    assert "brass key, opens, chest 2" in {str(mention.triple) for mention in report.facts}


def test_a_treasure_that_is_locked_away_opens_nothing() -> None:
    (fact,) = read_statements("The pearl crown is locked away in the plum coffer.").facts
    assert tuple(fact.triple) == ("pearl crown", "is in", "plum coffer")


KEY_5, MEUBLE = ("glyph 5", "opens", "odd meuble"), ("odd meuble", "is in", "low garth")


def test_furniture_only_seen_standing_is_furniture() -> None:
    known = {"moss key": "thing", "plum coffer": "thing", "tin box": "container"}
    text = "Leave the tin box be, the moss key suits the plum coffer."
    (fact,) = read_statements(text, known.get, note=True).facts
    assert tuple(fact.triple) == OPENS


def test_a_place_that_is_named_twice_is_no_key() -> None:
    text = (
        "The plum coffer is in the Solar of Mirrors. The oak shelf is in the Solar of Mirrors. "
        "The plum coffer needs the moss key."
    )
    facts = {tuple(m.triple) for m in read_statements(text, note=True).facts}
    assert ("solar of mirrors", "opens", "plum coffer") not in facts
    assert OPENS in facts


@pytest.mark.parametrize("name", ["chit 4", "torn manifest", "brass plate"])
def test_writing_is_kept_whatever_carries_it(name: str) -> None:
    text = "The tine of bone and the plum coffer came as a set."
    known = {name: "thing", "tine of bone": "thing", "plum coffer": "thing"}
    report = {tuple(m.triple) for m in read_writing(name, text, known.get)}
    assert (name, "says", text) in report
    assert ("tine of bone", "opens", "plum coffer") in report


def test_how_a_thing_looks_is_not_written_on_it() -> None:
    assert not read_writing("oak shelf", "The oak shelf is shaky. On it lies a coin.", {}.get)
    assert not read_writing("glass", "A tall glass that glitters.", {"glass": "thing"}.get)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("If you have to fry, take the gas stove.", "gas stove"),
        ("Frying is done with the small electric stove.", "small electric stove"),
        ("Use the stove to fry.", "stove"),
    ],
)
def test_an_appliance_is_called_by_its_full_name(text: str, name: str) -> None:
    assert [tuple(m.triple) for m in read_kitchen(text)] == [(name, "used for", "frying")]


@pytest.mark.parametrize(
    "text",
    [
        "Frying can be done only with stove, roasting only with oven and grilling only with BBQ.",
        "Fry on the stove, roast in the oven, grill on the BBQ.",
        "You fry things with a stove, roast them in an oven, and grill them on a BBQ.",
        "The stove is for frying, the oven is for roasting and the BBQ is for grilling.",
        "Use the stove to fry, the oven to roast, the BBQ to grill.",
        "A stove fries, an oven roasts, a BBQ grills.",
        "Only the BBQ grills; only the oven roasts; only the stove fries.",
        "Frying requires a stove. Roasting requires an oven. Grilling requires a BBQ.",
        "Cooking with the stove fries it, with the oven roasts it, with the BBQ grills it.",
    ],
)
@pytest.mark.parametrize("known", [{}, {"stove": "supporter", "oven": "container"}])
def test_one_sentence_says_what_every_appliance_does(text: str, known: dict[str, str]) -> None:
    assert {tuple(m.triple) for m in read_kitchen(text, known.get)} == {
        ("stove", "used for", "frying"),
        ("oven", "used for", "roasting"),
        ("bbq", "used for", "grilling"),
    }


def test_carried_thing_is_no_furniture_whatever_its_noun() -> None:
    graph = TemporalGraph()
    for fact in (
        Triple("toothed bar", "is in", "inventory"), Triple("bar", "is in", "den"),
        Triple("you", "is in", "den"),
    ):  # fmt: skip
        graph.add(fact, 0)
    assert kind_in(graph, "toothed bar", "den") == "carried"
    assert kind_in(graph, "bar", "den") == "thing"
    text, known = "The toothed bar operates the tuck box.", {"toothed bar": "carried"}
    facts = {tuple(m.triple) for m in read_writing("label", text, known.get)}
    assert {fact for fact in facts if fact[1] not in QUOTED} == {
        ("toothed bar", "opens", "tuck box")
    }

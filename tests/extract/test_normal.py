"""Markup becomes plain lines, with the way back to the original."""

from __future__ import annotations

import pytest

from gym_memory.core.records import Step, Task, Triple
from gym_memory.extract.normal import normal
from gym_memory.extract.plain import PlainRules
from gym_memory.graph import TemporalGraph


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("\x1b[1;31mCellar\x1b[0m\nCasks.", "Cellar\nCasks."),
        ("<b>Cellar</b><br>You see a cask here.", "Cellar\nYou see a cask here."),
        ("[event]You pick up the rope.[/event]", "You pick up the rope."),
        ("You see a {{blue|sapphire}} here.", "You see a sapphire here."),
        ("[Exits: north]", "[Exits: north]"),
        ("Health....... 80\nMana......... 35", "Health: 80\nMana: 35"),
        ("Well... maybe not.", "Well... maybe not."),
        ("Crate (ID: o7) and hook (id: o8)", "Crate and hook"),
        ("│ HP    20 │\nA bar.", "HP: 20\nA bar."),
        ("(N)orth (E)ast", "Exits: n, e"),
        ("Observation: You are in the den.", "You are in the den."),
        ('{"room": "Den", "exits": ["north"]}', "Room: Den\nExits: north"),
        ('{"room": {"name": "Den", "id": 4}}', "Room: Den"),
        ("<exits>north, east</exits>", "Exits: north, east"),
        ("a - a cap (worn)\nb - 2 figs", "Inventory:\n- a cap (worn)\n- 2 figs"),
        ('{"room": ', '{"room": '),
    ],
)
def test_markup_becomes_plain_lines(written: str, plain: str) -> None:
    assert normal(written).text == plain


@pytest.mark.parametrize(
    "text",
    [
        "\x1b[33mOn the \x1b[1mtable\x1b[0m is a lamp.",
        '{"location": "Bakery", "items": ["loaf"]}',
        "<p>On the shelf is a <i>mug</i>.</p>",
        "Location ..... Bakery\nItems ........ loaf",
    ],
)
def test_evidence_points_into_the_original(text: str) -> None:
    found = PlainRules().extract(Step(1, text), TemporalGraph(), Task("", ""))
    assert found.mentions
    for (subject, _, obj), start, end in found.mentions:
        part = text[start:end].lower()
        assert subject.split()[-1] in part or obj.split()[-1] in part


def test_escape_sequence_enters_no_fact() -> None:
    text = "You see: \x1b[33ma quill\x1b[0m, \x1b[33ma pen\x1b[0m"
    graph = TemporalGraph.of([Triple("you", "is in", "den")])
    found = PlainRules().extract(Step(1, text), graph, Task("", ""))
    assert {m.triple.subject for m in found.mentions} == {"quill", "pen"}


def test_many_tags_in_a_row_are_removed_at_once() -> None:
    assert normal("<b>" * 33_000 + "A lamp.").text == "A lamp."
    assert normal("<p>You see:</p> <ul> <li>" + "<b>" * 33_000 + "a lamp").text.endswith("\na lamp")

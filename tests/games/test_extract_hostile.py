"""Texts that are meant to take long: extraction takes no more than linear time, and never raises.

The pages are the games' own forms; what is repeated in them stands where a pattern may begin
again and again, or where a run of one character may be divided in many ways.
"""

from __future__ import annotations

import re

import pytest
from work import guarded

import gym_memory.games  # noqa: F401 - declares the dialects
from gym_memory.core.records import Step, Task
from gym_memory.extract import get_extractor
from gym_memory.graph import TemporalGraph

pytestmark = pytest.mark.slow

SHOE = "i need hiking boots with ankle support, and price lower than 40.00 dollars"
PAGES = {
    "alfworld": Step(
        1,
        "You arrive at desk 1. On the desk 1, you see a cd 2, and a pen 1. This is a hot mug 1.",
        "go to desk 1",
        inventory="You are carrying: a mug 1.",
    ),
    "scienceworld": Step(
        1,
        "This room is called the hallway. In it, you see: \n\ta counter. On the counter is: a bowl "
        "(containing a red apple, a banana), a drawer.\nYou also see:\n\tA door to the green house "
        "(that is open)\n",
        "look around",
        inventory="In your inventory, you see:\n\tan orange\n",
    ),
    "nethack": Step(
        1,
        "You are in room 1 of level 2, on stairs up.\nRoom 1, explored, 3 known.\n- exits: door 3 "
        "(closed, 2 east); door 4 (open)\n- items: dagger (1 north); 2 arrows",
        "go to door 3",
        inventory="a - a +1 long sword (weapon in hand)\nb - an apple",
    ),
    "webshop": Step(
        1,
        "Back to Search [SEP] Page 1 (Total results: 50) [SEP] Next > [SEP] B09ABC1234 [SEP] "
        "Veltra Boots, Ankle Support - Gift [SEP] $24.5 [SEP] B09ABC1235 [SEP] Tea (12) [SEP] $4.5",
        "search[boots]",
    ),
    "prose": Step(
        1,
        "Neil Peart (drummer)\nNeil Ellwood Peart (September 12, 1952) was a Canadian drummer, and "
        "the lyricist of the band Rush. “The Trees” was written by Alice Lee and Bob in 1978.",
        "search[Neil]",
    ),
    "textworld": Step(
        1,
        "-= Kitchen =-\nYou see a fridge. The fridge contains a red apple and a raw carrot. On the "
        "table you see a knife. There is a closed wooden door leading east.",
        "go north",
        inventory="You are carrying: a red apple and some salt.",
    ),
    "fiction": Step(
        1,
        "West of House\nYou are in an open field west of a white house.\nThe mailbox contains:\n"
        "  A leaflet\nOn the table is a sack.",
        "open mailbox",
        inventory="You are carrying:\n  A brass lantern (providing light)\n",
    ),
}
PIECES = [" ", "\t", "\n", "1", "A ", "(", ")", "((", "( ", ". ", ".", ", ", '"', "is ", " and ",
          "the ", " on ", " in the ", "You see a "]  # fmt: skip


def read(step: Step, dialect: str, goal: str = SHOE) -> None:
    """Extract from a step, guarded."""
    rules, graph = get_extractor(dialect), TemporalGraph()
    rules.extract(Step(0, "A warm\nstart."), TemporalGraph(), Task("t", goal, dialect))
    guarded(lambda: rules.extract(step, graph, Task("t", goal, dialect)))


@pytest.mark.parametrize("field", ["text", "inventory", "action"])
@pytest.mark.parametrize("dialect", PAGES)
def test_repeated_pieces(dialect: str, field: str) -> None:
    page = PAGES[dialect]
    text: str = getattr(page, field)
    cuts = sorted({m.end() for m in re.finditer(r"[.:(\n]|\w+ \w+ \w+ ", text)} | {0, len(text)})
    for piece in [*PIECES, text[: len(text) // 2], text[len(text) // 2 :]]:
        for cut in cuts[:: max(1, len(cuts) // 5)] if piece else ():
            many = text[:cut] + piece * (23_000 // len(piece)) + text[cut:]
            read(page._replace(**{field: many}), dialect)


@pytest.mark.parametrize(
    ("dialect", "step"),
    [
        ("webshop", Step(1, " " * 256_000 + "x")),
        ("webshop", Step(1, "\n \t" * 75_000 + "x")),
        ("webshop", PAGES["webshop"]._replace(text="[SEP] B09ABC1234 [SEP] a" + " " * 200_000)),
        ("alfworld", Step(1, "", inventory="You are carrying: " * 14_000)),
        ("alfworld", Step(1, "On the a 1, you see " * 11_000)),
        ("alfworld", Step(1, "On the a 1, you see a b 2" + " " * 43_000 + "c.")),
        ("scienceworld", PAGES["scienceworld"]._replace(
            text="This room is called the a. In it, you see: \n\t" + "a jar (containing " * 9_999)),
        ("scienceworld", Step(1, " on " * 56_000 + "is now connected to", "connect a to b")),
        ("fiction", Step(1, "", inventory="You are carrying:\n a (b)" + " " * 110_000)),
        ("fiction", PAGES["fiction"]._replace(text="A Room\nThere is " + "the " * 11_000 + ".")),
        ("prose", Step(1, " " * 256_000 + "x\ny")),
        ("prose", Step(1, "Ann Lee\nAnn Lee saw Bob" + " " * 43_000 + "x Cecil Hill.")),
        ("prose", Step(1, "Ann Lee\nAnn Lee saw Bob" + "." * 43_000 + "x Cecil Hill.")),
    ],
)  # fmt: skip
def test_cases_found(dialect: str, step: Step) -> None:
    """Read texts that once took seconds to minutes, or raised RecursionError."""
    read(step, dialect)


def test_a_long_request() -> None:
    page = PAGES["webshop"]
    for goal in (" , " * 68_000 + "boots", "price " * 45_000, "ankle support boot " * 11_000):
        read(page, "webshop", goal)

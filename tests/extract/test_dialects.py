"""The dialect of a game is known by its first text; general rules read what its own cannot."""

from __future__ import annotations

import pytest
from reading import TASK

from gym_memory.core.records import Step
from gym_memory.extract import get_extractor
from gym_memory.extract.draft import apply
from gym_memory.games.base import ENVIRONMENTS
from gym_memory.games.foreign.sources import detect_dialect
from gym_memory.graph import TemporalGraph

FIRST = {
    "Cooking": "textworld", "TreasureHunt": "textworld", "Cleaning": "textworld",
    "FakeHouse": "textworld", "ALFWorld": "alfworld", "NetHack": "nethack", "Jericho": "plain",
    "WebShop": "plain", "MultiHopQA": "plain",
}  # fmt: skip


@pytest.mark.parametrize("name", FIRST)
def test_first_text_decides_the_dialect(name: str) -> None:
    try:
        env = ENVIRONMENTS.get(name)()
        texts = [env.reset(seed=seed)[0]["text"] for seed in (0, 1)]
    except ImportError as error:
        pytest.skip(str(error))
    assert [detect_dialect(text) for text in texts] == [FIRST[name]] * 2
    env.close()


def test_unknown_text_is_plain() -> None:
    for text in ("", "Hello.", "$$$\n\\/", "You are in a room. You see a lamp.", "A: [3, 2, 1]"):
        assert detect_dialect(text) == "plain"
    by_chance = "You are in room 2 of the east wing."  # as NetHack's texts begin
    assert detect_dialect(by_chance) == "plain"


def test_rules_that_find_nothing_give_way() -> None:
    rules, graph = get_extractor("textworld+plain"), TemporalGraph()
    texts = ("-= Kitchen =-\nYou see a fridge.", "Location: Pier\nExits: east\nItems: net")
    for t, text in enumerate(texts):
        apply(rules.extract(Step(t, text, "look" if t else ""), graph, TASK), graph, t)
    assert {"|".join(fact) for fact in graph.live()} == {
        "fridge|is in|kitchen", "fridge|is|closed", "you|is in|pier", "pier|has exit|east",
        "net|is in|pier",
    }  # fmt: skip
    opening = "You wake. There is a bed here. The door is locked. To the north is a hall."
    assert detect_dialect(opening) == "plain"

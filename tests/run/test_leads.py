"""Leads of a memory over its rivals, as README.md states them."""

from __future__ import annotations

import pytest
from leads import lead, lead_rows, lead_sentences

WORLDS = {
    "hunt": {"mine": {"0": 0.9, "1": 0.7}, "one": {"0": 0.5, "1": 0.3}, "two": {"0": 0.9}},
    "kitchen": {"mine": {"0": 0.8}, "one": {"0": 0.4}, "two": {"0": 0.7}},
    "errands": {"mine": {"0": 1.0}, "one": {"0": 0.6}, "two": {"0": 0.1}},
    "shop": {"mine": {"0": 0.5}, "one": {"0": 0.1}},
}


def test_lead_counts_worlds_that_the_rival_played() -> None:
    assert (lead(WORLDS, "mine", "one").mean, lead(WORLDS, "mine", "one").clusters) == (0.4, 4)
    found = lead(WORLDS, "mine", "two")
    assert found.mean == pytest.approx(1 / 3)
    assert found.clusters == 3


def test_sentences_count_sure_leads_and_name_the_widest_world() -> None:
    ((player, number, sure, unsure),) = lead_rows({"rules": WORLDS}, "mine", ("one", "two"))
    assert (player, number, sure) == ("rules", "4", "+0.40 [0.40, 0.40]")
    assert unsure.startswith("+0.33 [-0.")
    said = lead_sentences({"rules": WORLDS}, "mine", ("one", "two"))
    assert said[0] == "Rows of 1 whose interval excludes 0: `one` 1, `two` 0."
    assert said[1].startswith("The first row without errands: `two` +0.05 [")
    assert len(lead_sentences({"rules": WORLDS}, "mine", ("one",))) == 1

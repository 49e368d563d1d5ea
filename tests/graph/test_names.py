"""Names in text: in full, and in part where a single thing fits."""

from __future__ import annotations

import pytest

from gym_memory.graph.schema import NameIndex, nouns

NAMES = ("block of cheese", "brass key", "iron key", "red bell pepper", "green bell pepper", "hall")


@pytest.fixture
def names() -> NameIndex:
    found = NameIndex(partial=True)
    for name in NAMES:
        found.learn(name)
    return found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Where's the cheese?", ("block of cheese",)),
        ("Is my block in the hall?", ("block of cheese", "hall")),
        ("Any green pepper left?", ("green bell pepper",)),
        ("Where is the pepper?", ()),  # fits two
        ("Where is the key?", ()),
        ("Take the stone cheese", ()),  # another cheese
        ("say cheese", ()),  # no determiner
        ("the the cheese", ("block of cheese",)),
        ("the brass key or the iron one", ("brass key", "iron key")),
        ("a brass one", ()),  # any
        ("the bell one, or the one there", ()),  # fits two, says nothing
    ],
)
def test_a_partial_name_counts_if_one_thing_fits(
    names: NameIndex, text: str, found: tuple[str, ...]
) -> None:
    assert names.find(text) == found


def test_a_longer_partial_name_wins_over_a_full_one() -> None:
    names = NameIndex(partial=True)
    for name in ("kitchen", "old kitchen knife", "butter knife"):
        names.learn(name)
    assert names.find("take the kitchen knife to the kitchen") == ("old kitchen knife", "kitchen")


def test_commands_are_found_in_full_alone() -> None:
    names = NameIndex()
    names.learn("open box")
    assert names.find("I opened the box") == ()


def test_cost_depends_on_words_and_not_on_names() -> None:
    """Look up a noun that a thousand things share, without a scan."""
    names = NameIndex(partial=True)
    for number in range(1000):
        names.learn(f"model{number} key")
    assert names.find("the model7 key and the key") == ("model7 key",)
    assert names.find("a model7 sort of key") == ()
    assert nouns("key to the vault") == ("key",)


@pytest.mark.parametrize("partial", [False, True])
def test_name_learnt_later_is_found_in_known_text(partial: bool) -> None:
    names = NameIndex(partial=partial)
    text = "Put the red key on the old desk."
    assert names.find(text) == ()
    for name, found in (("red key", ("red key",)), ("desk", ("red key", "desk"))):
        names.learn(name)
        assert names.find(text) == found
    names.learn("old desk")
    assert names.find(text) == ("red key", "old desk")

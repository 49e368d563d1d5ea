"""What a text tells of keys, locks and places, in words that no rule spells out."""

from __future__ import annotations

import pytest

from gym_memory.english.phrases import head_noun
from gym_memory.english.statements import read_statements

OPENS = ("moss key", "opens", "plum coffer")
IN_HALL = ("plum coffer", "is in", "dim hall")

SAID = {
    "The moss key unlocks the plum coffer.": {OPENS},
    "You need the moss key to unlock the plum coffer. It is in the dim hall.": {OPENS, IN_HALL},
    "For the plum coffer in the dim hall you want the moss key.": {OPENS, IN_HALL},
    "They say the plum coffer yields to the moss key alone.": {OPENS},
    "The moss key does not open the tin box, it opens the plum coffer.": {OPENS},
    "Forget about the tin box: the moss key suits the plum coffer.": {OPENS},
    "Go to the dim hall. The key to the plum coffer is the moss key.": {OPENS, IN_HALL},
    "Key 4 is for Locker 9. Locker 9 stands in Room 12.": {
        ("key 4", "opens", "locker 9"), ("locker 9", "is in", "room 12"),
    },
    "Take the moss key to Room F2. It opens the plum coffer there.": {
        OPENS, ("plum coffer", "is in", "room f2"),
    },
    "You will find the moss key on the oak shelf. Look for the oak shelf in the dim hall.": {
        ("moss key", "is on", "oak shelf"), ("oak shelf", "is in", "dim hall"),
    },
    "The old gardener left the moss key in the small basket.": {
        ("moss key", "is in", "small basket"),
    },
    "The moss key won't budge the tin box but it opens the plum coffer.": {OPENS},
    "You might think the moss key opens the tin box. In fact it opens the plum coffer.": {OPENS},
    "Does the moss key open the tin box? No. It opens the plum coffer.": {OPENS},
    "The tin box has its own key; the moss key is for the plum coffer.": {OPENS},
    "Don't waste the moss key on the tin box, save it for the plum coffer.": {OPENS},
    "The keyhole of the plum coffer has the shape of the moss key.": {OPENS},
    "The moss key is what the plum coffer's lock fits.": {OPENS},
    "The plum coffer used to be in the attic; now it is in the dim hall.": {IN_HALL},
    "The plum coffer was moved from the attic to the dim hall.": {IN_HALL},
    "Go to the dim hall. You will see the plum coffer there.": {IN_HALL},
    "Avoid the attic and make for the dim hall. The moss key opens the plum coffer.": {
        OPENS, IN_HALL,
    },
    "The type A key is for Crate A. It is in the guest room.": {
        ("type a key", "opens", "crate a"), ("crate a", "is in", "guest room"),
    },
    "The Striped Cookery houses the plum coffer.": {("plum coffer", "is in", "striped cookery")},
    "Search the oak slab and you will find the moss key.": {("moss key", "is on", "oak slab")},
    "The moss key does not open the plum coffer.": set(),
    "Put the moss key on the oak shelf.": set(),
    "Begin with the moss key and the torn note.": set(),
    "Nobody told you why you are here.": set(),
}  # fmt: skip


@pytest.mark.parametrize("text", SAID)
def test_what_a_text_says(text: str) -> None:
    assert {tuple(m.triple) for m in read_statements(text).facts} == SAID[text]


def test_spans_point_at_the_subject() -> None:
    text = "I heard that the plum coffer opens with the moss key."
    (fact,) = read_statements(text).facts
    assert text[fact.start : fact.end] == "moss key"


def test_what_is_known_counts_more_than_what_a_noun_suggests() -> None:
    known = {"brass wotsit": "thing", "grey monolith": "container"}
    (fact,) = read_statements("The brass wotsit opens the grey monolith.", known.get).facts
    assert tuple(fact.triple) == ("brass wotsit", "opens", "grey monolith")


def test_the_only_key_and_the_only_lock_of_a_note_belong_together() -> None:
    text = "I wonder what the plum coffer holds. Maybe the moss key knows."
    assert not read_statements(text).facts
    (fact,) = read_statements(text, note=True).facts
    assert tuple(fact.triple) == OPENS


@pytest.mark.parametrize(
    ("name", "noun"),
    [("Key 12", "key"), ("key holder", "holder"), ("note of the cook", "note"), ("Hall B", "hall")],
)
def test_head_nouns(name: str, noun: str) -> None:
    assert head_noun(name) == noun


@pytest.mark.parametrize(
    "text",
    [
        "Key 1 unlocks White locker. You can find White locker in Room B.",
        "White locker can be unlocked with Key 1. It's located in the Room B.",
        "Key 1 unlocks white locker in Room B.",
        "In Room B there is White locker. Unlock it using Key 1.",
        "Congratulations! You've found Key 1! Use it to unlock White locker in Room B.",
        "Key 1: White locker (Room B)",
    ],
)
def test_a_name_without_an_article_goes_on_to_its_noun(text: str) -> None:
    facts = {str(mention.triple) for mention in read_statements(text, note=True).facts}
    assert facts == {"key 1, opens, white locker", "white locker, is in, room b"}


def test_an_order_is_no_part_of_the_name_after_it() -> None:
    told = read_statements("Unlock chest 2 with brass key. Inspect safe 3 in the hall.")
    assert not {name for name in told.names if name.startswith(("unlock", "inspect"))}
    assert "brass key, opens, chest 2" in {str(mention.triple) for mention in told.facts}


@pytest.mark.parametrize(
    "text",
    [
        "Look for Orange locker in Room J, Key 6 will be needed there.",
        "If you want to get into Orange locker, you will need Key 6. Room J is where it stands.",
    ],
)
def test_what_is_needed_opens_and_what_stands_is_no_key(text: str) -> None:
    facts = {str(mention.triple) for mention in read_statements(text, note=True).facts}
    assert facts == {"key 6, opens, orange locker", "orange locker, is in, room j"}

"""What a text tells of keys, locks and places, in words that no rule spells out."""

from __future__ import annotations

import pytest

from gym_memory.extract.notes import read_writing
from gym_memory.extract.notes.recipes import read_kitchen
from gym_memory.extract.notes.statements import read_statements
from gym_memory.extract.notes.words import head_noun

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


@pytest.mark.parametrize(
    "text",
    [
        "Given the moss key, the plum coffer is easy.",
        "I wonder what the plum coffer holds. Maybe the moss key knows.",
    ],
)
def test_the_only_key_and_the_only_lock_of_a_note_belong_together(text: str) -> None:
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


WAYS = {
    OPENS: [
        "The moss key will let you open the plum coffer.",
        "The moss key slips neatly into the keyhole of the plum coffer.",
        "The plum coffer requires the moss key.",
        "The plum coffer is sealed, and the moss key unseals it.",
        "The moss key, as it happens, opens the plum coffer.",
        "What the moss key opens is the plum coffer.",
        "You can get the plum coffer open by turning the moss key.",
        "As soon as the moss key is in your pocket, go and open the plum coffer.",
        "For the plum coffer you will require the moss key.",
        "Keep the moss key for the plum coffer.",
        "The moss key opens the plum coffer rather than the tin box.",
        "My aunt claims that the moss key unlocks the plum coffer.",
        "He who owns the moss key owns what is inside the plum coffer.",
        "The moss key -> the plum coffer.",
        "Never will the plum coffer open without the moss key.",
        "The solution is simple: the moss key opens the plum coffer.",
        "The moss key is necessary to unlock the plum coffer.",
        "The moss key is good for opening the plum coffer.",
        "The moss key can unlock the plum coffer.",
        "The moss key helps to open the plum coffer.",
        "The plum coffer was last opened with the moss key.",
        "The plum coffer, like all good things, needs the moss key.",
        "The plum coffer is the one that the moss key opens.",
        "The moss key disarms the plum coffer.",
        "The moss key sits well in the lock of the plum coffer.",
        "The moss key has its match in the plum coffer.",
        "The moss key must be used on the plum coffer.",
        "The moss key turns in the plum coffer, though not in the tin box.",
        "It was the plum coffer that they locked with the moss key.",
        "Nothing opens the plum coffer like the moss key.",
        "Whoever turned the moss key in the plum coffer became rich.",
        "To see what the plum coffer contains, unlock it with the moss key.",
        "Give the plum coffer a turn of the moss key.",
        "Unlock the plum coffer, for which you have the moss key.",
        "The label on the moss key says that it is for the plum coffer.",
        "I swear that the moss key unlocks the plum coffer.",
        "They gave me the moss key so that I could open the plum coffer.",
        "The moss key = the plum coffer.",
    ],
    IN_HALL: [
        "The plum coffer remains in the dim hall.",
        "The plum coffer turned up in the dim hall.",
        "The plum coffer is hidden away in the dim hall.",
        "The plum coffer is tucked away in the dim hall.",
        "The dim hall hosts the plum coffer.",
        "The dim hall is where I hid the plum coffer.",
        "In a corner of the dim hall stands the plum coffer.",
        "You can find the plum coffer in the dim hall.",
        "You won't find the plum coffer anywhere except in the dim hall.",
        "I remember seeing the plum coffer in the dim hall.",
        "The servants carried the plum coffer into the dim hall.",
        "The plum coffer was once in the cold attic; today it stands in the dim hall.",
        "Visit the dim hall, home of the plum coffer.",
        "Upon arriving in the dim hall, you will spot the plum coffer.",
        "The plum coffer (the dim hall).",
        "As far as I know, the plum coffer is in the dim hall.",
        "Placed in the dim hall, the plum coffer waits for an owner.",
        "The plum coffer keeps to the dim hall.",
        "The plum coffer will be waiting in the dim hall.",
        "The plum coffer is being kept in the dim hall.",
        "The plum coffer never was in the cold attic; you want the dim hall.",
        "The dim hall is the site of the plum coffer.",
        "The dim hall, and no other room, holds the plum coffer.",
        "Ask anybody: the plum coffer is in the dim hall.",
        "Don't expect the plum coffer in the cold attic; expect it in the dim hall.",
        "Get yourself to the dim hall, for the plum coffer is there.",
        "I thought the plum coffer was in the cold attic, but it is in the dim hall.",
        "In the dim hall, not in the cold attic, is where the plum coffer stands.",
        "Look nowhere but in the dim hall for the plum coffer.",
        "On the floor of the dim hall stands the plum coffer.",
        "Proudly the plum coffer stands in the dim hall.",
        "Surely the plum coffer is in the dim hall.",
        "The walls of the dim hall surround the plum coffer.",
        "Turn to the dim hall for the plum coffer.",
        "When they emptied the cold attic, the plum coffer came to the dim hall.",
        "You have to enter the dim hall to see the plum coffer.",
    ],
    ("moss key", "is on", "oak shelf"): [
        "The moss key hides somewhere on the oak shelf.",
        "The moss key was discovered on the oak shelf.",
        "The moss key is situated on the oak shelf.",
        "The moss key may be found on the oak shelf.",
        "There stands the moss key on the oak shelf.",
        "Nowhere but on the oak shelf will you find the moss key.",
        "You won't find the moss key anywhere except on the oak shelf.",
        "I believe that the moss key is on the oak shelf.",
        "Not in the tin box but on the oak shelf is the moss key.",
        "Try looking for the moss key on the oak shelf.",
        "As for the moss key, it is on the oak shelf.",
        "Found on the oak shelf: the moss key.",
        "The oak shelf houses the moss key.",
        "Grab the moss key from the oak shelf.",
        "Go and get the moss key from the oak shelf.",
        "If you need the moss key, get it from the oak shelf.",
        "On the oak shelf, the moss key lies waiting.",
        "The moss key was thrown on the oak shelf by a child.",
        "See the oak shelf? It has the moss key on it.",
        "To find the moss key, open your eyes and look on the oak shelf.",
        "The oak shelf has something on it: the moss key.",
        "The moss key comes from the oak shelf.",
        "The moss key, which you will find on the oak shelf, is small.",
        "From the oak shelf you take the moss key.",
        "Looking on the oak shelf, you will notice the moss key.",
        "Should the moss key be missing, look on the oak shelf.",
        "Until yesterday the moss key was on the tin box; now it is on the oak shelf.",
        "You must first find the moss key, which somebody left on the oak shelf.",
    ],
}


@pytest.mark.parametrize(("fact", "text"), [(f, t) for f, texts in WAYS.items() for t in texts])
def test_one_fact_in_many_ways(fact: tuple[str, str, str], text: str) -> None:
    assert {tuple(m.triple) for m in read_statements(text).facts} == {fact}


@pytest.mark.parametrize(
    "text",
    [
        "The key of bone opens the casket of oak. It stands in the Library of Dust.",
        "Visit the Library of Dust. The Key of Bone is for the Casket of Oak.",
        "The casket of oak is in the library of dust. Nobody opens it but with the key of bone.",
    ],
)
def test_what_a_thing_is_of_belongs_to_its_name(text: str) -> None:
    assert {tuple(m.triple) for m in read_statements(text).facts} == {
        ("key of bone", "opens", "casket of oak"),
        ("casket of oak", "is in", "library of dust"),
    }


def test_a_treasure_that_is_locked_away_opens_nothing() -> None:
    (fact,) = read_statements("The pearl crown is locked away in the plum coffer.").facts
    assert tuple(fact.triple) == ("pearl crown", "is in", "plum coffer")


KEY_5, MEUBLE = ("glyph 5", "opens", "odd meuble"), ("odd meuble", "is in", "low garth")


@pytest.mark.parametrize(
    "text",
    [
        "Glyph 5 unlocks the odd meuble. The odd meuble stands in the low garth.",
        "The odd meuble responds to Glyph 5. The low garth has the odd meuble.",
        "The odd meuble will not open without Glyph 5. It is in the low garth.",
        "Slide Glyph 5 into the odd meuble. Your way leads to the low garth.",
        "The odd meuble accepts Glyph 5. Check the low garth.",
        "The odd meuble is kept shut by a lock made to suit Glyph 5. Enter the low garth.",
    ],
)
def test_a_note_in_unknown_words_tells_what_they_are(text: str) -> None:
    facts = {tuple(m.triple) for m in read_statements(text, note=True).facts}
    assert facts == {KEY_5, MEUBLE}


@pytest.mark.parametrize(
    "text",
    [
        "Every attempt on the odd meuble fails, except with Glyph 5.",
        "Glyph 5 was made for the odd meuble.",
        "Glyph 5 does not open the grey pyx, it opens the odd meuble.",
        "Glyph 5 is for the odd meuble. The odd meuble is located nowhere else.",
    ],
)
def test_a_thing_at_hand_that_serves_for_another_opens_it(text: str) -> None:
    known = {"glyph 5": "thing"}
    facts = {tuple(m.triple) for m in read_statements(text, known.get, note=True).facts}
    assert facts == {KEY_5}


def test_furniture_that_was_only_seen_to_stand_there_is_furniture() -> None:
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


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("The Case of Felt opens with the moss key.", ("moss key", "opens", "case of felt")),
        ("The tin glyph opens the plum coffer.", ("tin glyph", "opens", "plum coffer")),
        ("The plum coffer is in the Square Byre.", ("plum coffer", "is in", "square byre")),
    ],
)
def test_a_noun_that_names_a_kind_may_be_part_of_another_name(
    text: str, fact: tuple[str, str, str]
) -> None:
    assert {tuple(m.triple) for m in read_statements(text, note=True).facts} == {fact}


@pytest.mark.parametrize("name", ["chit 4", "torn manifest", "brass plate"])
def test_what_is_written_is_kept_whatever_it_is_written_on(name: str) -> None:
    text = "The tine of bone and the plum coffer came as a set."
    known = {name: "thing", "tine of bone": "thing", "plum coffer": "thing"}
    told = {tuple(m.triple) for m in read_writing(name, text, known.get)}
    assert (name, "says", text) in told
    assert ("tine of bone", "opens", "plum coffer") in told


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

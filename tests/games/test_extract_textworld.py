"""TextWorld's text to facts: every form of sentence, and what follows from what is known."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from work import calls, guarded

from gym_memory.core.records import Step, Task, Triple
from gym_memory.extract import Extraction, get_extractor
from gym_memory.extract.draft import apply
from gym_memory.extract.notes.words import split_things
from gym_memory.extract.plain import PlainRules
from gym_memory.games.textworld.rules import TextWorldRules
from gym_memory.graph import TemporalGraph
from gym_memory.graph.schema import direction_in

RULES = get_extractor("textworld")
TASK = Task("tw/1", "win")


def facts_of(lines: str) -> set[Triple]:
    """Return facts parsed from text such as ``apple | is in | fridge; fridge | is | open``."""
    return {Triple(*(p.strip() for p in f.split("|"))) for f in lines.split(";") if f.strip()}


def graph_of(lines: str) -> TemporalGraph:
    graph = TemporalGraph()
    for line in filter(str.strip, lines.split(";")):
        graph.add(Triple(*(part.strip() for part in line.split("|"))), 0)
    return graph


def extract(
    text: str,
    action: str = "",
    before: str = "",
    *,
    inventory: str = "",
    valid: Iterable[str] = (),
    done: bool = False,
) -> tuple[Extraction, TemporalGraph]:
    graph = graph_of(before)
    step = Step(1, text, action, 0.0, inventory, tuple(valid), done)
    return RULES.extract(step, graph, TASK), graph


def said(text: str, action: str = "", before: str = "", **known) -> set[Triple]:
    """Return the facts that a step states."""
    return {mention.triple for mention in extract(text, action, before, **known)[0].mentions}


def after(text: str, action: str, before: str, **known) -> set[Triple]:
    """Return the live facts of the graph after the step."""
    extraction, graph = extract(text, action, before, **known)
    apply(extraction, graph, 1)
    return set(graph.live())


KITCHEN = "you|is in|kitchen; kitchen|has exit|east; table|is in|kitchen"
HERE = facts_of("you | is in | attic")


def described(sentence: str) -> set[Triple]:
    """Return the facts of a sentence in the description of the attic."""
    return said(f"-= Attic =-\n{sentence}") - HERE


# --- rooms --------------------------------------------------------------------------------------

SHUT = "crate | is in | attic; crate | is | closed"
PLACED = "crate | is in | attic"

FURNITURE = {
    "You see a crate.": SHUT,
    "You can make out a closed crate.": SHUT,
    "You can see an opened crate.": f"{PLACED}; crate | is | open",
    "You make out a locked crate nearby.": f"{PLACED}; crate | is | locked",
    "You see a closed typical looking crate in the corner.": SHUT,
    "You see a closed crate, which looks normal, right there by you.": SHUT,
    "A closed crate is close by.": SHUT,
    "An opened crate, which looks usual, is in the room.": f"{PLACED}; crate | is | open",
    "There is a closed crate here.": SHUT,
    "You see a gleam over in a corner, where you can see a crate!": SHUT,
    "What's that over there? It looks like it's a crate.": SHUT,
    "You scan the room, seeing a crate.": SHUT,
    "You scan the room for a crate, and you find a crate.": SHUT,
    "You smell a pungent smell, and follow it to a crate.": SHUT,
    "Were you looking for a crate? Because look over there, it's a crate.": SHUT,
    "You rest your hand against a wall, but you miss the wall and fall onto a crate.": SHUT,
    "You hear a noise behind you and spin around, but you can't see anything other than a crate.":
        SHUT,
    "Look out! It's a- oh, never mind, it's just a crate.": SHUT,
    "Look over there! a crate, so there's that.": SHUT,
    "Oh, great. Here's a crate.": SHUT,
    "Hey, want to see a crate? Look over there, a crate.": SHUT,
    "If you haven't noticed it already, there seems to be something there by the wall, it's "
    "a crate.": SHUT,
    "You bend down to tie your shoe. When you stand up, you notice a crate.": SHUT,
    "Oh wow! Is that what I think it is? It is! It's a crate.": SHUT,
    "You lean against the wall, inadvertently pressing a secret button. The wall opens up to "
    "reveal a crate.": SHUT,
    "As if things weren't amazing enough already, you can even see a crate.": SHUT,
}  # fmt: skip


@pytest.mark.parametrize("sentence", FURNITURE)
def test_furniture(sentence: str) -> None:
    assert described(sentence) == facts_of(FURNITURE[sentence])


ON_DESK = "desk | is in | attic; pen | is on | desk; red hat | is on | desk"
IN_CRATE = "crate | is in | attic; crate | is | open; pen | is in | crate; red hat | is in | crate"
BARE = "desk | is in | attic; desk | is | empty"

CONTENTS = {
    "You see a desk. On the desk you see a pen and a red hat.": ON_DESK,
    "You see a desk. The desk is normal. On the desk you can make out a pen and a red hat!":
        ON_DESK,
    "You see a desk. You see a pen and a red hat on the desk. Huh, weird.": ON_DESK,
    "You see a desk. On the desk, you see a pen and a red hat, so there's that.": ON_DESK,
    "You see a crate. The crate contains a pen and a red hat.": IN_CRATE,
    "You see a crate. It is normal, and shelters a pen and a red hat.": IN_CRATE,
    "You see a crate. There is a pen and a red hat in it.": IN_CRATE,
    "You see a crate. In it, you can see a pen and a red hat.": IN_CRATE,
    "You see a crate. Contained within- a pen and a red hat.": IN_CRATE,
    "You see a crate. Let's see what's inside - a pen and a red hat.": IN_CRATE,
    "You see a crate. It reminds you of the containers of your youth. Oh, how they also held "
    "a pen and a red hat.": IN_CRATE,
    "You see a crate. The crate is empty, what a horrible day!":
        f"{PLACED}; crate | is | open; crate | is | empty",
    "You see a crate. Empty! What kind of nightmare TextWorld is this?":
        f"{PLACED}; crate | is | open; crate | is | empty",
    "You see a crate. What a letdown! The crate is empty!":
        f"{PLACED}; crate | is | open; crate | is | empty",
    "You see a desk. But there isn't a thing on it.": BARE,
    "You see a desk. But the thing is empty, unfortunately. Hm. Oh well": BARE,
    "You see a desk. But the thing hasn't got anything on it.": BARE,
    "You see a desk. But oh no! there's nothing on this piece of junk.": BARE,
    "You see a desk. The desk appears to be empty.": BARE,
    "You see a desk. Looks like someone's already been here and taken everything off it, though.":
        BARE,
    "You see a desk. However, the desk, like an empty desk, has nothing on it.": BARE,
}  # fmt: skip


@pytest.mark.parametrize("sentence", CONTENTS)
def test_contents(sentence: str) -> None:
    assert described(sentence) == facts_of(CONTENTS[sentence])


def test_an_unfinished_aside_does_not_swallow_the_next_sentence() -> None:
    text = "You see a desk. But the thing is empty. Hm. Oh well You see a bench. But the thing "
    assert described(text + "is empty.") == facts_of(BARE + "; bench|is in|attic; bench|is|empty")


ASIDES = (
    "You check the price tag that's still affixed to the crate. Ninety bucks?! That's ridiculous!",
    "Is this it? Is this what you came to TextWorld to see? a crate?",
    "A crate... Is that really what you were looking for?",
    "Hmm. You always thought you'd be more excited to see a crate in a room.",
    "You make a mental note to not get your hopes up the next time you see a crate in a room.",
    "You think about smashing the crate to bits, throwing the bits into a pit, etc, until you get "
    "bored.",
    "I guess it's true what they say, if you're looking for a crate, go to TextWorld.",
    "You decide to just list off a complete list of everything you see in the room.",
    "Okay, so you're in an attic, cool, but is it normal? You better believe it is.",
    "Guess what, you are in the place we're calling the attic.",
)


@pytest.mark.parametrize("sentence", ASIDES)
def test_asides_state_no_facts(sentence: str) -> None:
    assert described(sentence) == set()


NORTH = "attic | has exit | north"
BOTH = f"{NORTH}; attic | has exit | west"
GATE = f"{NORTH}; attic | has north door | oak gate"

EXITS = {
    "There is an exit to the north.": NORTH,
    "There is an unguarded exit to the north.": NORTH,
    "There is an exit to the north. Don't worry, there is no door.": NORTH,
    "You need an exit without a door? You should try going north.": NORTH,
    "You need an unblocked exit? You should try going north.": NORTH,
    "You don't like doors? Why not try going north, that entranceway is not blocked by one.": NORTH,
    "An exit unblocked lies to the north.": NORTH,
    "You can go north from here without having to deal with any doors.": NORTH,
    "it looks like you can exit to the north, if doors aren't really your thing.": NORTH,
    "if you want to leave, and doors really aren't your bag you could try going north.": NORTH,
    "If you're not really a door person, you could leave by the north.": NORTH,
    "not a fan of the doors? Why not go north.": NORTH,
    "Hot tip- if you go north, you won't have to deal with any doors.": NORTH,
    "There are unblocked exits to the north and west.": BOTH,
    "Exits unguarded lie to the north and west.": BOTH,
    "You can also go north and west from here.": BOTH,
    "There is a closed oak gate leading north.": f"{GATE}; oak gate | is | closed",
    "There is an open oak gate leading north.": f"{GATE}; oak gate | is | open",
    "The exit to the north is going through an oak gate.": GATE,
    "The north exit has an oak gate blocking it.": GATE,
    "an oak gate leads north": GATE,
}


@pytest.mark.parametrize("sentence", EXITS)
def test_exits(sentence: str) -> None:
    assert described(sentence) == facts_of(EXITS[sentence])


def test_floor() -> None:
    assert described("There is a pen, some salt and an old Cat Calendar on the floor.") == facts_of(
        "pen|is in|attic; salt|is in|attic; old cat calendar|is in|attic"
    )


GROUPS = {
    "You can see two chests, one rusty and one big, here. The rusty one is locked. In the big one, "
    "you can see a pen.":
        "rusty chest|is in|attic; big chest|is in|attic; rusty chest|is|locked; "
        "big chest|is|open; pen|is in|big chest",
    "Your attention is drawn to two rustythings, a chest and a table. The chest is closed. On the "
    "table, you see a pen.":
        "rusty chest|is in|attic; rusty table|is in|attic; rusty chest|is|closed; "
        "pen|is on|rusty table",
    "You can see several things, a pan, a bin and a shelf, here. What a letdown, there's nothing "
    "here. The bin is closed. Look at the shelf. There's nothing on this piece of trash.":
        "pan|is in|attic; bin|is in|attic; shelf|is in|attic; pan|is|empty; bin|is|closed; "
        "shelf|is|empty",
}  # fmt: skip


@pytest.mark.parametrize("sentence", GROUPS)
def test_groups_of_furniture(sentence: str) -> None:
    assert described(sentence) == facts_of(GROUPS[sentence])


def test_noun_alone_means_the_thing_with_the_longer_name() -> None:
    assert described("You see a shelf. On the warm shelf you see a pen.") == facts_of(
        "warm shelf|is in|attic; pen|is on|warm shelf"
    )
    assert described("You see a warm shelf. The shelf appears to be empty.") == facts_of(
        "warm shelf|is in|attic; warm shelf|is|empty"
    )


def test_valid_actions_give_the_longer_name() -> None:
    text = "-= Attic =-\nYou see a shelf. The shelf appears to be empty."
    assert said(text, valid=("examine warm shelf", "look")) - HERE == facts_of(
        "warm shelf|is in|attic; warm shelf|is|empty"
    )
    assert Triple("shelf", "is in", "attic") in said(text, valid=("examine shelf",))
    two = ("examine warm shelf", "examine cold shelf")
    assert Triple("shelf", "is in", "attic") in said(text, valid=two)


# --- names --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "name", "states"),
    [
        ("a raw pork chop", "pork chop", ("raw",)),
        ("some fried sliced red onion", "red onion", ("fried", "sliced")),
        ("a burned diced banana", "banana", ("burned", "diced")),
        ("a red hot pepper", "red hot pepper", ()),
        ("a yellow bell pepper", "yellow bell pepper", ()),
        ("some black pepper", "black pepper", ()),
        ("a Quote of the Day Calendar (closed)", "quote of the day calendar", ()),
        ("an old raw", "old raw", ()),
        ("a raw", "raw", ()),
    ],
)
def test_states_are_taken_out_of_names(words: str, name: str, states: tuple[str, ...]) -> None:
    (thing,) = split_things(words)
    assert (thing.name, thing.states) == (name, states)
    assert words[thing.start : thing.end].lower() == " ".join((*states, name))


def test_lists_are_split_before_articles_only() -> None:
    text = "a half of a bag of chips, some salt and vinegar, and an egg"
    names = [thing.name for thing in split_things(text)]
    assert names == ["half of a bag of chips", "salt and vinegar", "egg"]
    assert split_things("nothing") == ()


@pytest.mark.parametrize(
    ("action", "direction"),
    [("go north", "north"), ("N", "north"), ("walk to the east", "east"), ("look", None),
     ("open north gate", None), ("", None), ("go", None), ("sw", "southwest")],
)  # fmt: skip
def test_directions_in_commands(action: str, direction: str | None) -> None:
    assert direction_in(action) == direction


# --- reading ------------------------------------------------------------------------------------

RECIPE = """You open the copy of "Cooking: A Modern Approach (3rd Ed.)" and start reading:

Recipe #1
---------
Gather all following ingredients and follow the directions to prepare this tasty meal.

Ingredients:
  carrot
  block of cheese

Directions:
  slice the carrot
  roast the carrot
  grill the block of cheese
  prepare meal
"""


def test_recipe() -> None:
    extraction, _ = extract(RECIPE, "examine cookbook", KITCHEN)
    assert {m.triple for m in extraction.mentions} == facts_of(
        "recipe|requires|carrot; recipe|requires|block of cheese; carrot|needs to be|sliced;"
        "carrot|needs to be|roasted; block of cheese|needs to be|grilled"
    )
    shown = {m.triple.relation: RECIPE[m.start : m.end] for m in extraction.mentions}
    assert shown == {"requires": "block of cheese", "needs to be": "block of cheese"}


OPENS = "tin key|opens|teal locker"
NOTES = {
    "The tin key opens the teal locker. It stands in Room K.":
        f"{OPENS}; teal locker|is in|room k",
    "The teal locker in Room K opens with the tin key.": f"{OPENS}; teal locker|is in|room k",
    "Take the tin key to Room K. It opens the teal locker there.":
        f"{OPENS}; teal locker|is in|room k",
    "Go to Room K and unlock the teal locker with the tin key.":
        f"{OPENS}; teal locker|is in|room k",
    "The teal locker opens with the tin key, but you must find the room yourself.": OPENS,
    "Unlock the teal locker with the tin key. Search all the rooms.": OPENS,
}  # fmt: skip


@pytest.mark.parametrize("text", NOTES)
@pytest.mark.parametrize("action", ["read torn note", "examine torn note"])
def test_notes(text: str, action: str) -> None:
    found = said(text, action, f"{KITCHEN}; torn note|is in|inventory")
    stated = facts_of(NOTES[text])
    named = {name for fact in stated for name in (fact.subject, fact.object)}
    mentioned = {Triple("torn note", "mentions", name) for name in named}
    assert found == stated | mentioned | {Triple("torn note", "says", text)}


def test_notes_use_the_longest_known_name() -> None:
    before = f"{KITCHEN}; gate|is|open; oak gate|is|closed; note|is in|inventory; salt|is on|table"
    found = said("Mind the oak gate, and bring salt!", "read note", before)
    assert {f.object for f in found if f.relation == "mentions"} == {"oak gate", "salt"}


def test_note_does_not_replace_seen_facts() -> None:
    before = f"{KITCHEN}; teal locker|is in|hall; note|is in|inventory"
    live = after("The teal locker in Room K opens with the tin key.", "read note", before)
    assert Triple("teal locker", "is in", "hall") in live


def test_descriptions_are_no_notes() -> None:
    for text in ("The old map looks modern.", "That's an old map!", "You see nothing special."):
        assert not [f for f in said(text, "examine old map", KITCHEN) if f.relation == "says"]


GOALS = {
    "Only the golden key opens that locker.": "golden key|opens|locker",
    "Find the treasure! It lies in the golden locker, and only the golden key opens that locker.":
        "treasure|is in|golden locker; golden key|opens|golden locker",
    "Then, make sure that the oak gate in the hall is unlocked with the old key.":
        "old key|opens|oak gate",
    "Next, insert the old key into the oak gate inside the hall's lock to unlock it.":
        "old key|opens|oak gate",
    "Put the old key into the oak gate's lock to unlock it.": "old key|opens|oak gate",
    "If you have picked up the old key, assure that the oak gate within the hall is unlocked.":
        "old key|opens|oak gate",
    "With the old key, unlock the oak gate.": "old key|opens|oak gate",
    "Open the locked oak gate using the old key.": "old key|opens|oak gate",
    "Take the old key and use it to unlock the oak gate.": "old key|opens|oak gate",
    "Unlock c-box with c-key.": "c-key|opens|c-box",
    "The stove fries, the oven roasts, and the BBQ grills.":
        "stove|used for|frying; oven|used for|roasting; bbq|used for|grilling",
    "Fry with the stove; roast with the oven.": "stove|used for|frying; oven|used for|roasting",
    "Prepare the meal in the kitchen once everything is ready.": "meal|is prepared in|kitchen",
    "Check the cookbook in the kitchen. Once done, enjoy your meal!": "",
    "Having closed the oak gate, unlock the chest.": "",
}  # fmt: skip


@pytest.mark.parametrize("text", GOALS)
def test_goals(text: str) -> None:
    assert said(text) == facts_of(GOALS[text])


# --- spans, robustness --------------------------------------------------------------------------

PAGE = (
    "-= Old Kitchen =-\nYou've entered a kitchen.\n\nYou see a closed fridge. You can make out a "
    "table. On the table you see a raw pork chop, some salt and a Cat Calendar.\n\nThere is a "
    "closed screen door leading east. There is an exit to the north.\n\nThere is a knife on the "
    "floor."
)


def test_spans_point_at_the_words() -> None:
    extraction, _ = extract(PAGE, "go west", KITCHEN)
    assert len(extraction.mentions) == 15
    for (subject, relation, obj), start, end in extraction.mentions:
        words = PAGE[start:end].lower()
        named = {subject, obj, relation.split()[1] if relation.startswith("has ") else subject}
        assert any(name in words or words in name for name in named), (subject, relation, obj)
    spans = {m.triple: PAGE[m.start : m.end] for m in extraction.mentions}
    assert spans[Triple("pork chop", "is", "raw")] == "raw pork chop"
    assert spans[Triple("old kitchen", "has exit", "north")] == "north"
    assert spans[Triple("you", "is in", "old kitchen")] == "Old Kitchen"


def test_extractors_keep_no_state() -> None:
    first, _ = extract(PAGE, "go west", KITCHEN)
    RULES.extract(Step(0, "-= Cellar =-\nYou see a rack."), TemporalGraph(), TASK)
    assert extract(PAGE, "go west", KITCHEN)[0] == first
    assert TextWorldRules().extract(Step(1, PAGE, "go west"), graph_of(KITCHEN), TASK) == first


WORDS = (
    "You", "see", "can", "a", "an", "the", "The", "On", "In", "is", "are", "There", "closed",
    "open", "leading", "north", "exit", "to", "crate", "desk", "raw", "egg", "and", ",", ".", "!",
    "contains", "\n", "-=", "Hall", "=-", "-= Hall =-\n", "empty", "it", "key", "unlock", "with",
    "Ingredients:\n", "Directions:\n", "slice the", "from", "take", "You take the", "carrying:",
    "opens", "looking", "which looks", ", so there's that", "meal", "in the", "...", "one",
)  # fmt: skip
text_like = st.one_of(
    st.text(max_size=300),
    st.lists(st.sampled_from(WORDS), max_size=80).map(" ".join),
)


@pytest.mark.slow
@settings(derandomize=True, max_examples=150, deadline=None)
@given(text=text_like, action=text_like, inventory=text_like)
def test_any_text_gives_facts_with_valid_spans(text: str, action: str, inventory: str) -> None:
    extraction, graph = extract(text, action, KITCHEN, inventory=inventory)
    for triple, start, end in extraction.mentions:
        assert all(part.strip() and "<" not in part for part in triple), triple
        assert (start, end) == (-1, -1) or 0 <= start < end <= len(text)
    apply(extraction, graph, 1)
    for dialect in ("plain", "unheard of"):
        step = Step(1, text, action, 0.0, inventory)
        for mention in get_extractor(dialect).extract(step, graph, TASK).mentions:
            assert all(mention.triple)


@pytest.mark.parametrize(
    "piece",
    ["a ", "You see a ", "\n", " ", "the ", "a, ", "You see a crate. ", "On the desk you see a ",
     "-= ", "=-", "the key opens the ", "take the a to the ", "\0", ".", "(", "a-", "it's a "],
)  # fmt: skip
def test_a_megabyte_takes_bounded_time(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    for action in ("", "read note"):
        guarded(lambda action=action: extract(text, action, KITCHEN))


def test_control_characters() -> None:
    assert said("-= Att\x07ic =-\x00\r\nYou see a \x1bcrate.") is not None
    assert Triple("you", "is in", "attic") in said("-= Attic =-\r\nYou see a crate.\r\n")


def test_a_usual_step_makes_few_calls() -> None:
    graph = graph_of(KITCHEN)
    steps = [
        Step(1, re.sub("salt", f"salt{i}", PAGE), "look", 0.0, f"You are carrying: a pen{i}.")
        for i in range(100)
    ]
    made = calls(lambda: [RULES.extract(step, graph, TASK) for step in steps])
    assert made / len(steps) < 1200


# --- other dialects -----------------------------------------------------------------------------


def test_unknown_dialects_are_read_as_plain_english() -> None:
    assert isinstance(get_extractor("klingon"), PlainRules)
    assert get_extractor("klingon") is get_extractor("klingon")
    assert isinstance(get_extractor("textworld"), TextWorldRules)
    step = Step(
        1, "You are in the hall. The lamp is on the desk.", "go east", 0.0, "You have a pen."
    )
    found = get_extractor("klingon").extract(step, graph_of(KITCHEN), TASK)
    assert {m.triple for m in found.mentions} == facts_of(
        "you|is in|hall; hall|is east of|kitchen; lamp|is on|desk; pen|is in|inventory"
    )

"""Clauses of prose: further things, places without titles, states, comings and goings, answers."""

from __future__ import annotations

import pytest
from reading import changes, read

from gym_memory.extract.events import events_in

NOOK = "you|is in|nook"


@pytest.mark.parametrize(
    ("known", "action", "text", "facts"),
    [
        (NOOK, "", "There are six pewter spoons here.", "pewter spoons|is in|nook"),
        (NOOK, "", "There is a dozen or so nails here.", "nails|is in|nook"),
        (NOOK, "", "An anvil is here, along with a pair of tongs and a bucket (empty).",
         "anvil|is in|nook; pair of tongs|is in|nook; bucket|is in|nook; bucket|is|empty"),
        (NOOK, "", "There is a wicker cage, and a finch inside it.",
         "wicker cage|is in|nook; finch|is in|wicker cage"),
        (NOOK, "", "By the loom there is a stool, and on the stool are a shuttle and a comb.",
         "stool|is in|nook; shuttle|is on|stool; comb|is on|stool"),
        (NOOK, "", "In the corner sits a tinker, and a copper pan hangs above the fire.",
         "tinker|is in|nook; copper pan|is in|nook"),
        (NOOK, "", "Opposite you stands a scribe.", "scribe|is in|nook"),
        (NOOK, "", "Chained to a ring is a mastiff.", "mastiff|is on|ring"),
        (NOOK, "", "A skiff has been hauled up the shingle.", "skiff|is in|nook"),
        (NOOK, "", "A goat stares at you from a ledge.", "goat|is in|nook"),
        (NOOK, "", "A chill follows you.", ""),
        (NOOK, "", "A woman shouts through the wall.", ""),
        (NOOK, "", "By the fire, a potter named Ilsa turns a bowl.", "ilsa|is in|nook"),
        (NOOK, "", "Blind Harry is tuning a fiddle.", "blind harry|is in|nook"),
        (NOOK, "", "The dairyman is asleep in his cart.", "dairyman|is in|cart"),
        (NOOK, "", "An awl is in a slot in the bench.", "awl|is in|slot"),
        (NOOK, "", "The garden is back outside to the west.", "nook|has exit|west"),
        (NOOK, "", "There is nothing to the east; the kitchen lies to the south.",
         "nook|has exit|south"),
        (NOOK, "", "The cellar is directly below.", "nook|has exit|down"),
        (NOOK, "", "You think of the North Road, which leads to the sea.", ""),
        (NOOK, "", "A tavern stands on the South Road.", "tavern|is on|south road"),
        ("", "", "The hallway is narrow and damp.", "you|is in|hallway"),
        ("", "", "You wake in a bunk. The cabin is cold.", "you|is in|cabin; cabin|is|cold"),
        ("", "", "You crouch in a ditch behind the mill.", "you|is in|ditch"),
        (NOOK, "", "You crouch in a corner.", ""),
        (NOOK, "go passage", "The passage stretches away into the dark.",
         "you|is in|passage; -" + NOOK),
        (NOOK, "leave", "As you enter the smithy, sparks fly up.", "you|is in|smithy; -" + NOOK),
        (NOOK, "e", "As you step into the smithy you hear a hiss.", "you|is in|smithy; -" + NOOK),
        (NOOK, "e", "You are in what looks like a chapel.", "you|is in|chapel; -" + NOOK),
        (NOOK, "e", "This seems to be a chapel.", "you|is in|chapel; -" + NOOK),
        (NOOK, "", "Your fingers close around the stone.", ""),
        (NOOK, "e", "It is dusk when you reach the toll house.", "you|is in|toll house; -" + NOOK),
        (NOOK, "e", "The lane brings you at last to the mill.", "you|is in|mill; -" + NOOK),
        (NOOK, "", "You can get back out to the north.", "nook|has exit|north"),
        (NOOK, "", "A map drawn on bark is here.", "map|is in|nook"),
        (NOOK, "", "You see a stand (which contains some scores) and a lamp here.",
         "stand|is in|nook; scores|is in|stand; lamp|is in|nook"),
        (NOOK, "", "A dial stands at the centre, and a porter in a red cap is sweeping the step.",
         "dial|is in|nook; porter|is in|nook"),
        (NOOK, "", "The porter is sweeping the step.", "porter|is in|nook"),
        (NOOK, "", "The porter is holding a lamp.", "lamp|is carried by|porter"),
        (NOOK, "", "A nun kneels here in prayer.", "nun|is in|nook"),
        (NOOK, "", "Six levers stand in a row.", "levers|is in|nook"),
        (NOOK, "", "A crib is pushed up against the stove, on which a pan is hissing.",
         "crib|is in|nook"),
        (NOOK, "", "A stone door is revealed at the foot of the stair.", "stone door|is in|nook"),
        (NOOK, "", "Beside it a chest.", "chest|is in|nook"),
        (NOOK, "", "The outer hatch (locked) is ahead.", "outer hatch|is|locked"),
        (NOOK, "", '"Much obliged," says the porter, and hands you his shears.',
         "shears|is in|inventory"),
        (NOOK, "", "You tease the peg free and pocket it.", "peg|is in|inventory"),
        ("", "", "The attic smelled of camphor.", "you|is in|attic"),
        (NOOK, "", "A canoe lies overturned on blocks.", "canoe|is on|blocks"),
        (NOOK, "", "A tall gate stands here, closed and barred.", "tall gate|is in|nook; "
         "tall gate|is|closed"),
        (NOOK, "", "On the ledge behind him stand a bust and a globe.",
         "bust|is on|ledge; globe|is on|ledge"),
        ("", "", "I woke in a barn near the river.", "you|is in|barn"),
        (NOOK, "out", "You leave the nook and find yourself once more in the yard.",
         "you|is in|yard; -" + NOOK),
        ("you|is in|cell 7", "", "The cell holds a pallet.", "pallet|is in|cell 7"),
        (NOOK, "", "The hatch has been left ajar.", "hatch|is|open"),
        (NOOK, "", "The bolt snaps and the front door swings open.", "front door|is|open"),
        (NOOK, "", "The organ coughs to life.", "organ|is|on"),
        (f"{NOOK}; pike|is in|inventory", "", "The pike clatters to the ground.",
         "pike|is in|nook; -pike|is in|inventory"),
        (f"{NOOK}; stoat|is in|nook", "", "The stoat squeals and flees down the stairs.",
         "-stoat|is in|nook"),
        (f"{NOOK}; stoat|is in|nook", "", "A page steps in.", "page|is in|nook"),
        ("", "", "You have a cutlass.", "cutlass|is in|inventory"),
        ("", "", "You have a sword and nothing else.", "sword|is in|inventory"),
        ("", "", "You have a plan. You have a brother. You have a chance to win.", ""),
        ("", "", "You have 2 lives left.", ""),
        (NOOK, "", "A cooler sits squarely in the corner.", "cooler|is in|nook"),
        (NOOK, "", "There is a dial on its lid.", "dial|is on|lid"),
        (NOOK, "", "There are two looms, both idle.", "looms|is in|nook"),
        (NOOK, "", "A warden looks you up and down.", ""),
        (NOOK, "", "Steps lead up and down.", "nook|has exit|up; nook|has exit|down"),
        (NOOK, "", "The bakery is north, the workshop east.",
         "nook|has exit|north; nook|has exit|east"),
        (NOOK, "", "A slab swings aside to reveal an ivory rod.", "ivory rod|is in|nook"),
        (f"{NOOK}; eel|is in|nook", "", "The eel leaps into the vat.",
         "eel|is in|vat; -eel|is in|nook"),
        (f"{NOOK}; torch|is in|inventory", "", "Ulf sets the torch on fire.", ""),
        (NOOK, "", "A tall chest sits open in the corner.",
         "tall chest|is in|nook; tall chest|is|open"),
        (NOOK, "", "A ledger lies open on the desk.", "ledger|is on|desk; ledger|is|open"),
        (NOOK, "", "Scattered about are a boot and a glove.",
         "boot|is in|nook; glove|is in|nook"),
        (NOOK, "", "Here stands a gnarled oak.", "gnarled oak|is in|nook"),
        (NOOK, "", "The safe, which is locked, stands against the far wall.",
         "safe|is in|nook; safe|is|locked"),
        (f"{NOOK}; coin|is in|nook", "", "The coin is now yours.",
         "coin|is in|inventory; -coin|is in|nook"),
        (f"{NOOK}; monk|is in|nook; cup|is in|nook", "", "You are alone.", "-monk|is in|nook"),
        (f"{NOOK}; monk|is in|nook", "", "There's nobody here.", "-monk|is in|nook"),
        (f"{NOOK}; monk|is in|nook", "", "The monk has left.", "-monk|is in|nook"),
        (f"{NOOK}; monk|is in|nook", "", "The monk is nowhere to be found.", "-monk|is in|nook"),
        (f"{NOOK}; monk|is in|nook", "", "The monk drops dead.", "-monk|is in|nook"),
        (f"{NOOK}; lamp|is in|inventory; lamp|is|lit", "", "Your lamp grows faint and goes out.",
         "-lamp|is|lit"),
        (f"{NOOK}; lid|is|open", "", "The lid is shut once again.", "lid|is|closed; -lid|is|open"),
        (f"{NOOK}; ball|is in|nook", "", "The ball goes in the urn.",
         "ball|is in|urn; -ball|is in|nook"),
        (NOOK, "untie punt", "You untie the punt, and it starts to float away.", ""),
        (NOOK, "", "You give the door a hard push and it groans.", ""),
    ],
)  # fmt: skip
def test_clause_gives_its_facts(known: str, action: str, text: str, facts: str) -> None:
    assert changes(known, action, text) == set(filter(None, facts.split("; ")))


@pytest.mark.parametrize(
    ("known", "action", "text", "facts"),
    [
        ("brass gong|is in|nook", "take gong", "Gong taken.",
         "brass gong|is in|inventory; -brass gong|is in|nook"),
        ("brass gong|is in|nook", "take gong", "Got the gong.",
         "brass gong|is in|inventory; -brass gong|is in|nook"),
        ("brass gong|is in|nook", "take gong", "You heft the gong.",
         "brass gong|is in|inventory; -brass gong|is in|nook"),
        ("brass gong|is in|nook", "take gong", "You admire the gong.", ""),
        ("brass gong|is in|nook", "take gong", "take gong", ""),
        ("gong|is in|nook", "take gong and mallet", "gong: Got it.",
         "gong|is in|inventory; -gong|is in|nook"),
        ("token|is in|inventory", "put token in slot", "The token slides in with a soft click.",
         "token|is in|slot; -token|is in|inventory"),
        ("gate|is|locked", "unlock gate", "You hear a dull clunk.", ""),
        ("gate|is|locked", "unlock gate", "You hear a faint click.",
         "gate|is|unlocked; -gate|is|locked"),
        ("gate|is|locked", "unlock gate", "The lock clicks open.",
         "gate|is|unlocked; -gate|is|locked"),
        ("rope|is in|inventory", "tie rope to hook", "You knot the rope around the hook.",
         "rope|is on|hook; -rope|is in|inventory"),
        ("keg|is in|nook; keg|is|closed", "open keg", "You lift the lid and find a herring.",
         "keg|is|open; herring|is in|keg; -keg|is|closed"),
        ("egg|is in|nook", "take egg", "Egg acquired!",
         "egg|is in|inventory; -egg|is in|nook"),
        ("egg|is in|nook", "take egg", "Added egg to inventory.",
         "egg|is in|inventory; -egg|is in|nook"),
        ("egg|is in|inventory", "i", "You're not carrying a thing.", "-egg|is in|inventory"),
        ("lamp|is in|inventory", "light lamp", "Your lamp now glows brightly.", "lamp|is|lit"),
        ("lamp|is in|inventory", "light lamp", "The lamp sheds a feeble light.", "lamp|is|lit"),
        ("pear|is in|inventory", "give pear to ass", "The ass munches the pear.",
         "pear|is|consumed; -pear|is in|inventory"),
        ("pike|is on|altar", "pull pike", "The pike comes free with a shriek.",
         "pike|is in|inventory; -pike|is on|altar"),
        ("suit|is in|nook", "wear suit", "You climb into the suit and seal it.\nO2: 87%",
         "suit|is in|inventory; o2|is|87%; -suit|is in|nook"),
        ("whip|is in|inventory; vial|is in|inventory", "drop it", "Dropped.",
         "vial|is in|nook; -vial|is in|inventory"),
        ("tin|is in|nook; tin|is|closed", "open tin", "Opened: sprat, biscuit.",
         "tin|is|open; sprat|is in|tin; biscuit|is in|tin; -tin|is|closed"),
        ("tin|is in|nook", "open tin", "You open the tin. Inside: a sprat and a key.",
         "tin|is|open; sprat|is in|tin; key|is in|tin"),
        ("cloak|is in|nook", "wear cloak", "You pull on the cloak.",
         "cloak|is in|inventory; -cloak|is in|nook"),
        ("chest|is in|nook", "take pic", "Okay, you now have the picture.",
         "picture|is in|inventory"),
        ("chest|is in|nook; chest|is|open", "close chest", "You let the lid drop shut.",
         "chest|is|closed; -chest|is|open"),
        ("gate|is|locked", "unlock gate", "With a scrape the key turns in the gate's lock.",
         "gate|is|unlocked; -gate|is|locked"),
    ],
)  # fmt: skip
def test_answer_performs_the_action(known: str, action: str, text: str, facts: str) -> None:
    assert changes(f"{NOOK}; {known}", action, text) == set(filter(None, facts.split("; ")))


def test_command_in_the_second_person_is_a_command() -> None:
    _, facts = read("Okay.", "You take the gong.", f"{NOOK}; gong|is in|nook")
    assert "gong|is in|inventory" in facts


def test_description_of_a_thing_is_no_writing() -> None:
    _, facts = read(
        "A boat of paper floats on the pond.", "examine boat", f"{NOOK}; boat|is in|nook"
    )
    assert not any("|says|" in fact for fact in facts)
    known = f"{NOOK}; fob|is in|nook; red key|is in|nook; blue chest|is in|nook"
    _, facts = read("The red key opens the blue chest.", "examine fob", known)
    assert "red key|opens|blue chest" in facts


def test_clause_may_end_with_its_verb() -> None:
    assert events_in("At last the coach stops and the driver calls out, here we are") == ()

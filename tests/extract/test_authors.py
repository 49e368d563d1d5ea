"""Habits of many authors: wrapped lines, short names, and what several sentences say together."""

from __future__ import annotations

import pytest

from gym_memory.core.records import Step, Task, Triple
from gym_memory.extract import get_extractor
from gym_memory.extract.draft import apply
from gym_memory.graph import TemporalGraph
from gym_memory.graph.schema import direction_of

HUT = "you|is in|hut"


def changes(known: str, action: str, text: str) -> set[str]:
    """Return the facts that a step adds, and those that it ends with a minus; no ways taken."""
    graph = TemporalGraph()
    for fact in filter(None, known.split("; ")):
        graph.add(Triple(*fact.split("|")), 0)
    before = set(graph.live())
    found = get_extractor("plain").extract(Step(1, text, action), graph, Task("", ""))
    apply(found, graph, 1)
    after = set(graph.live())
    changed = {"|".join(fact) for fact in after - before if not direction_of(fact.relation)}
    return changed | {f"-{'|'.join(fact)}" for fact in before - after}


@pytest.mark.parametrize(
    ("known", "action", "text", "facts"),
    [
        ("", "", "Day: 12 Place: Mill\n\nA wheel turns.", "day|is|12; you|is in|mill"),
        ("", "", "Weir cottage\nThis is where the keeper slept for most of his life, until the\n"
         "flood came. A rake is here.", "you|is in|weir cottage; rake|is in|weir cottage"),
        ("", "", "Waiting room      [====    ]\nExits: up",
         "you|is in|waiting room; waiting room|has exit|up"),
        (HUT, "east", "You open the gate.\nYou go East.\nYou are in the dark.",
         "gate|is|open; -" + HUT),
        (HUT, "east", "You are at the meeting of two tunnels leading up and west.",
         "you|is in|meeting of two tunnels; meeting of two tunnels|has exit|up; "
         "meeting of two tunnels|has exit|west; -" + HUT),
        (f"{HUT}; old red trunk|is in|hut", "open trunk",
         "The old red trunk is now open. Inside the trunk are the following:\n- a cap\n- a bell",
         "old red trunk|is|open; cap|is in|old red trunk; bell|is in|old red trunk"),
        (HUT, "",
         "The pantry is to the north, the study is back to the east, and the cellar is west.",
         "hut|has exit|north; hut|has exit|east; hut|has exit|west"),
        (HUT, "", "A long shelf runs down one side.", ""),
        (HUT, "", "You carefully make your way down the rope.", ""),
        (HUT, "take hat", "You put on the green hat.", "green hat|is in|inventory"),
        (HUT, "", "You put on the light.", ""),
        (HUT, "", "Bruno opens his mouth and sets the jar down.", "jar|is in|hut"),
        (f"{HUT}; jar|is in|inventory; bruno|is in|hut", "drop jar",
         "Bruno sets the jar carefully under the bench.",
         "jar|is under|bench; -jar|is in|inventory"),
        (f"{HUT}; pie|is in|hut", "eat pie", "Soon there’s nothing left of the pie.",
         "-pie|is in|hut"),
        (f"{HUT}; tin mug|is in|inventory", "drop mug", "You drop the tin mug.",
         "tin mug|is in|hut; -tin mug|is in|inventory"),
        (HUT, "", "Several coins are scattered on the desk.", "coins|is on|desk"),
        (HUT, "", "Your aunt is knitting by the fire. Captain Roe is reading a chart.",
         "aunt|is in|hut; captain roe|is in|hut"),
        (HUT, "", "A paper boat is lying on the ground next to you.", "paper boat|is in|hut"),
        (HUT, "", "You see a tired mule carrying some sacks.", "tired mule|is in|hut"),
        (HUT, "no", "You turn around and leave the hut.", "-" + HUT),
        (HUT, "east", "This is the bakery of the old mill. A broom is here.",
         "you|is in|bakery of old mill; broom|is in|bakery of old mill; -" + HUT),
        (HUT, "x vase", "This is the receipt of a hat.", ""),
        (HUT, "south", "You are on the north rim of a crater, whose bottom cannot be seen.",
         "you|is in|north rim of crater; -" + HUT),
        (HUT, "", "A potter stands here shaping a bowl.", "potter|is in|hut"),
        (HUT, "", "A carter stands here. The carter leaves north.", ""),
        (HUT, "", "You wield an axe.", "axe|is in|inventory"),
        (HUT, "", "There is a green ball 2 steps in front of you and 1 steps to your left.",
         "green ball|is seen|2 steps in front of you and 1 steps to your left"),
        (f"{HUT}; cube1|is in|inventory", "",
         "Cube2 is on the table. Cube3 is open. Your arm is empty.",
         "cube2|is on|table; cube3|is|open; -cube1|is in|inventory"),
        (HUT, "", "To the west is the foot of a cliff that is unclimbable.", ""),
        (HUT, "open hatch", "The hatch slowly opens to reveal a ladder.", "hatch|is|open"),
        (HUT, "north", "There is a wall that way.", ""),
        (HUT, "look", "Above the door is a board reading\n\n   STAFF ONLY", "board|is in|hut"),
        ("", "", "  [Waiting room]\n  Chairs line the walls. A bell hangs here.",
         "you|is in|waiting room; bell|is in|waiting room"),
        (HUT, "", "I am carrying:\nBent fork. *Red pearl*. ",
         "bent fork|is in|inventory; red pearl|is in|inventory"),
        (HUT, "", "The green flask contains:\nA pint of milk.", "pint of milk|is in|green flask"),
        (HUT, "", "You see Parrot, Rules for Guests, a stove, and town map here.",
         "parrot|is in|hut; rules for guests|is in|hut; stove|is in|hut; town map|is in|hut"),
        (HUT, "", "You find stool, harp, and trunk.",
         "stool|is in|hut; harp|is in|hut; trunk|is in|hut"),
        (HUT, "", "There are two rugs, one by the bed.", "rugs|is in|hut"),
        (HUT, "x gate", "The gate is locked but you don't have the key.", "gate|is|locked"),
        (HUT, "", "There are two rooms: the den and the attic. You are in the den.",
         "you|is in|den; -" + HUT),
        (f"{HUT}; cup|is in|inventory", "", "Currently, you are not holding anything in hand.",
         "-cup|is in|inventory"),
        (HUT, "walk to the den", "You are in the den and you notice a stove.",
         "you|is in|den; stove|is in|den; -" + HUT),
        (HUT, "s", "Mrs Cole comes with you.\n\nBarn\nHay is piled up everywhere.",
         "you|is in|barn; mrs cole|is in|barn; -" + HUT),
        (f"{HUT}; crate|is in|hut", "look in crate", "In the crate you see a hen.",
         "hen|is in|crate"),
        (HUT, "enter 123", "The panel beeps.", ""),
        (HUT, "", "You use the small key to unlock the cupboard.", "cupboard|is|unlocked"),
        (f"{HUT}; bin|is in|hut", "open bin",
         'The bin is open. It has a card in it that says "No".',
         "bin|is|open; card|is in|bin"),
        (f"{HUT}; keys|is in|inventory", "i", "You are carrying:\na bunch of keys", ""),
        (HUT, "", "You are in a 30-metre tunnel.", "you|is in|30-metre tunnel; -" + HUT),
        ("", "", "Path by the river\n Reeds grow here.\nExits: old bridge",
         "you|is in|path by river; path by river|has exit|old bridge"),
        (HUT, "", "Nora arrives to hut from gravel path.", "nora|is in|hut"),
        (f"{HUT}; nora|is in|hut", "", "Nora is leaving the hut, heading for the river.",
         "-nora|is in|hut"),
        ("", "", "Inventory:\na: a +1 lance (weapon in hand)\nb: 2 figs",
         "+1 lance|is in|inventory; figs|is in|inventory"),
        (HUT, "wear belt", "You wear a red belt about your waist.", "red belt|is in|inventory"),
        (HUT, "", "The crate contains:\n  -a fig\n  -A bell", "fig|is in|crate; bell|is in|crate"),
        (HUT, "", "A small gate is to the east. It looks locked.",
         "hut|has exit|east; hut|has east door|small gate; small gate|is|locked"),
        (HUT, "i", "Inventory\n1 fig\n2 bells", "fig|is in|inventory; bells|is in|inventory"),
        (HUT, "get cup", "Taken: tin cup.", "tin cup|is in|inventory"),
        (f"{HUT}; pot|is in|hut", "open pot", "The lid rises with a puff of steam.", "pot|is|open"),
        (HUT, "drink tonic from jar", "It warms you.", ""),
        (HUT, "n", "Old Wharf.\nAn anchor is here.\nYou see exits leading west and up.",
         "you|is in|old wharf; anchor|is in|old wharf; old wharf|has exit|west; "
         "old wharf|has exit|up; -" + HUT),
        (HUT, "n", "A muddy ford.\nYou see a single exit leading south.",
         "you|is in|muddy ford; muddy ford|has exit|south; -" + HUT),
        (HUT, "", "A sentry stands here at attention.", "sentry|is in|hut"),
        (HUT, "", "The door to the west is slightly ajar.", "hut|has exit|west; "
         "hut|has west door|door; door|is|open"),
        (HUT, "w", "You are in a tall, empty tower.", "you|is in|tall, empty tower; -" + HUT),
        (HUT, "w", "You are in a den, some chairs stand about.", "you|is in|den; -" + HUT),
        (HUT, "", "There is a well here, and the sky is a deep red.", "well|is in|hut"),
        (HUT, "", "The table has some fish fries, some soup and some plates on it.",
         "fish fries|is on|table; soup|is on|table; plates|is on|table"),
        (HUT, "", "She presses a switch, and Rob lights up.", ""),
        (HUT, "", "The Oats: A tin of oats that nobody has opened for years.", ""),
        (HUT, "", "He goes on: \"Bread, butter and salt.\"", ""),
        (HUT, "", "She gives you a small wave as you walk by.", ""),
        (HUT, "", "You hear the gate open and then close a few seconds later.", ""),
        (HUT, "", "North: You walk north.", ""),
        (HUT, "", "A stool is in front of your desk.", "stool|is in|hut"),
        (HUT, "", "A pole is planted firmly in the ground.", "pole|is in|hut"),
        (HUT, "n", "YOU ARE IN ROOM 9\nCAVES LEAD TO 1 3 7", "you|is in|room 9; -" + HUT),
        (HUT, "", "The gate is now unlocked and open.", "gate|is|unlocked; gate|is|open"),
        (HUT, "n", "You are standing in front of a mill.", "you|is in|in front of mill; -" + HUT),
        (HUT, "", "A slice of pie has been left out on the shelf.", "slice of pie|is on|shelf"),
        (HUT, "", "The room has these items: harp, stool\nThe room has these exits: up",
         "harp|is in|hut; stool|is in|hut; hut|has exit|up"),
        (HUT, "", "This player has these items: Flute", "flute|is in|inventory"),
        ("", "", "Salt marsh\n     Pools of brown water lie between the tussocks as far as one\n"
         "can see.  Gulls cry.\n    There are two obvious exits: east and down",
         "you|is in|salt marsh; salt marsh|has exit|east; salt marsh|has exit|down"),
        ("", "", "Dusty road.\nWagons have cut deep ruts into the clay. It bends.",
         "you|is in|dusty road"),
        ("", "", "A low back room\nBarrels stand in rows along the wall.",
         "you|is in|low back room"),
        (HUT, "", "    There is one obvious exit: out\nA tin soldier.\nDame Olga.",
         "hut|has exit|out; tin soldier|is in|hut; dame olga|is in|hut"),
        (HUT, "", "[Exits: (west)]\nA fig sits on the ground here.\nA maid scratches her nose.",
         "hut|has exit|west; fig|is in|hut; maid|is in|hut"),
        (HUT, "", "A few candles are here. There are quite a few jars on the shelf.",
         "candles|is in|hut; jars|is on|shelf"),
        (HUT, "x post", "The post has a letter nailed to it saying \"No\".", "letter|is on|post"),
        (HUT, "", "An iron ring is bolted to the wall.", "iron ring|is on|wall"),
        (f"{HUT}; cup|is in|inventory", "", "You have nothing in your pack.",
         "-cup|is in|inventory"),
        (f"{HUT}; cup|is in|inventory", "i", "You are carrying nothing, and are wearing a scarf.",
         "scarf|is in|inventory; -cup|is in|inventory"),
        (HUT, "i", "You are carrying a pen, and you're wearing some boots.",
         "pen|is in|inventory; boots|is in|inventory"),
        (HUT, "", "A settle stands by the wide west-facing door.", "settle|is in|hut"),
        (HUT, "", "A rug knotted from rushes is here.", "rug|is in|hut"),
        (HUT, "n", "You are in a gully between two hills.", "you|is in|gully; -" + HUT),
        (HUT, "n", "You are in the middle of a muddy field.",
         "you|is in|middle of muddy field; -" + HUT),
        (HUT, "", "You are in the middle of an argument.", ""),
        (HUT, "", "There is a poster in the back. There are stools all around the room.",
         "poster|is in|hut; stools|is in|hut"),
        (HUT, "", "In the corner are rakes and a spade.", "rakes|is in|hut; spade|is in|hut"),
        (HUT, "", "You can see Polly, a bench (on which are a comb and a pail (in which is a "
         "sponge)) and a mat here.",
         "polly|is in|hut; bench|is in|hut; comb|is on|bench; pail|is on|bench; "
         "sponge|is in|pail; mat|is in|hut"),
        (HUT, "", "It is a long way down to the water.", ""),
        (HUT, "", "There is a hatch on the east side of the room, which creaks.",
         "hut|has exit|east; hut|has east door|hatch"),
        (HUT, "", "To your left you see a loom and to your right you see a wheel.",
         "loom|is in|hut; wheel|is in|hut"),
        ("", "", "This is room B. There is a cot and an exit to the north.",
         "you|is in|room b; cot|is in|room b; room b|has exit|north"),
        (HUT, "", "You found a thin wire in the lamp.", "thin wire|is in|lamp"),
        (f"{HUT}; wolf|is in|hut", "", "You have slain the wolf.", "-wolf|is in|hut"),
        (f"{HUT}; tin|is in|hut", "open tin", "The tin is empty because the mice were here first.",
         "tin|is|empty"),
        (HUT, "", "There are some interesting things in the room: a globe, a map and a clock. "
         "It is warm.", "globe|is in|hut; map|is in|hut; clock|is in|hut"),
        ("", "", "You wake up and find yourself locked in a pantry.", "you|is in|pantry"),
        (HUT, "", "Near the wall is a rack with some hats on it.",
         "rack|is in|hut; hats|is on|rack"),
        (HUT, "", "You pull on the rope, and eventually you get a reading.", ""),
    ],
)  # fmt: skip
def test_text_changes_these_facts(known: str, action: str, text: str, facts: str) -> None:
    assert changes(known, action, text) == set(filter(None, facts.split("; ")))

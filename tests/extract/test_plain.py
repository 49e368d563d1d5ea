"""Texts of any game in general English, and the facts that they state."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading import read
from work import guarded

from gym_memory.core.records import Triple


def test_second_thing_of_name_keeps_its_place_in_text() -> None:
    text = (
        "Current Location: Tutorial, room\n\nTutorial Step 8 — Drop the coin.\n"
        "I am holding 1 coin, 1 bag.\nI see 1 coin near me.\nI see no one nearby."
    )
    extraction, found = read(text, "inspect bag", "you|is in|tutorial, room")
    assert "another coin|is in|tutorial, room" in found
    words = {m.triple.subject: text[m.start : m.end] for m in extraction.mentions if m.start >= 0}
    assert words["another coin"] == words["coin"] == "coin"


@pytest.mark.parametrize(
    "text",
    ["Tutorial Step 8 — Drop the coin.", "First, take the coin. Then drop the coin.",
     "Please drop the coin here.", "Next put the coin in the box."],
)  # fmt: skip
def test_orders_state_no_facts(text: str) -> None:
    assert read(text, known="you|is in|hall")[1] == {"you|is in|hall"}


def test_bracketed_remark_after_label_is_not_part_of_it() -> None:
    carried = "Inventory (maximum capacity is 4 items): \n  a knife\n  a roasted sliced onion"
    wanted = {"knife|is in|inventory", "onion|is in|inventory"}
    wanted |= {"onion|is|roasted", "onion|is|sliced"}
    assert read("You look around.", inventory=carried)[1] == wanted
    assert read(carried, "inventory")[1] == wanted
    assert read("Score (of 50): 12")[1] == {"score|is|12"}


def test_own_thing_stays_in_the_list_of_carried_things() -> None:
    held = {"pager|is in|inventory", "pin|is in|inventory"}
    carried = "You are carrying your pager and a pin."
    assert read("Time passes.", "wait", "pager|is in|inventory", carried)[1] == held
    assert read("You are carrying:\n  your pager\n  a pin", "inventory")[1] == held


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("You are in the Living Room, which is cosy.", "you|is in|living room"),
        ("This outside location is called the yard.", "you|is in|yard"),
        ("You find yourself in trouble. You are in danger. You are in the middle of it.", ""),
        ("You are in a room with 5 buttons: red, blue.", "you|is in|room"),
        ("The lamp is not on the table. If the door is open, go. Is the box open?", ""),
        ("The keys are on the table.", "keys|is on|table"),
        ("You could take the lamp. You can't take the lamp. You have 20 moves.", ""),
        ("You see nothing special here. There is no lamp here.", ""),
        ("The current value is 0.2380. It is late.", "current value|is|0.2380"),
        ("There are 3 apples in the bowl.", "apples|is in|bowl"),
        ("You are in the hall.\nI see 1 apple, 3 coin near me.\nI see a_1, a_2 nearby.",
         "you|is in|hall; apple|is in|hall; coin|is in|hall; a_1|is in|hall; a_2|is in|hall"),
        ("I have equipped 1 small_bag_1.", "small_bag_1|is in|inventory"),
        ("I inspected rope: A long rope.", ""),
        ("You are in the hall.\nNeighboring areas: mill, foot_hills.",
         "you|is in|hall; hall|has exit|mill; hall|has exit|foot_hills"),
        ("You see a fridge that is closed and a lamp (lit).", "fridge|is|closed; lamp|is|lit"),
        ("The stove is turned on.", "stove|is|on"),
        ("You open the box. It's empty inside.", "box|is|open; box|is|empty"),
        ("You take the key from the box.", "key|is in|inventory"),
        ("You see a red ball 2 steps left and 1 step forward.",
         "red ball|is seen|2 steps left and 1 step forward"),
        ("Wins: 2, Losses: 3\nDealer shows: Q\nExample: to win, type: x",
         "wins|is|2; losses|is|3; dealer|shows|q"),
        ("Your hand: 5, 7 (Score: 12)", "your hand|is|5, 7 (score: 12)"),
        ("Loft\nDust.\n\nYou can see a bench (on which are a hook and a flask (closed)) here.",
         "you|is in|loft; bench|is in|loft; hook|is on|bench; flask|is on|bench; flask|is|closed"),
        ("Loft\nDust.\n\nYou can see a jar (containing a red apple, some salt) and a knife here.",
         "you|is in|loft; jar|is in|loft; red apple|is in|jar; salt|is in|jar; knife|is in|loft"),
        ("Loft\nYou see: a jar (containing a red apple, some salt), a knife and a pan.",
         "you|is in|loft; jar|is in|loft; red apple|is in|jar; salt|is in|jar; knife|is in|loft;"
         " pan|is in|loft"),
        ("Inventory: a lamp (lit), wet sack (open, holding a rope and a coin), a bowl (on which are"
         " a fig and a nut).",
         "lamp|is in|inventory; lamp|is|lit; wet sack|is in|inventory; wet sack|is|open;"
         " rope|is in|wet sack; coin|is in|wet sack; bowl|is in|inventory; fig|is on|bowl;"
         " nut|is on|bowl"),
        ("Crew quarters\nSix bunks fold out of the wall.", "you|is in|crew quarters"),
        ("Old Mill, by the weir\nThe wheel is still.", "you|is in|old mill"),
        ("You are carrying:\n  a bag (open)\n    a sandwich\n  a lamp",
         "bag|is in|inventory; bag|is|open; sandwich|is in|bag; lamp|is in|inventory"),
        ("You wake in the infirmary.\n\nExits: Corridor (east)\nCharacters: Nurse Ada\n"
         "Items: bandage x2",
         "you|is in|infirmary; infirmary|has exit|east; corridor|is seen east of|infirmary;"
         " nurse ada|is in|infirmary; bandage|is in|infirmary"),
        ("You can see a fountain, a bench and Tom.\nlamp: taken.",
         "fountain|is seen|here; bench|is seen|here"),
        ("A coil of rope has been left in one corner.", "coil of rope|is seen|here"),
        ("Below you is the yard. In one corner of the house there is a coin.", "coin|is seen|here"),
        ("You came into the **old hall**. You saw a **lamp** there.",
         "you|is in|old hall; lamp|is in|old hall"),
        ("You stand outside in a yard.  Around you, you see:\n\tyourself\n\ta(n) axe\n"
         "\ta pump which is off and drips.\n\ta pail that has rain in it\n"
         "\ta crate that looks to hold out\n\ta mug 2 containing tea\n\tstraw on the ground",
         "you|is in|yard; axe|is in|yard; pump|is in|yard; pump|is|off; pail|is in|yard;"
         " rain|is in|pail; crate|is in|yard; mug 2|is in|yard; tea|is in|mug 2; straw|is in|yard"),
        ("You are in a den. In the den, you see:\n\ta rack. The top hook is empty.\n"
         "\ta trunk that contains the following items:\n\t\ta hat that is wet\n\ta cot\n"
         "You also see:\n\ta way to the loft\n\ta path to north",
         "you|is in|den; rack|is in|den; top hook|is|empty; trunk|is in|den; hat|is in|trunk;"
         " hat|is|wet; cot|is in|den; den|has exit|loft; den|has exit|north"),
        ("You see:\n- a pine 2 steps to your north-west\n\nYour status:\n- health: 9/9\n\n"
         "Your inventory:\n- wood: 2", "pine|is seen|2 steps to your north-west; health|is|9/9;"
         " wood|is in|inventory"),
        ("a wall 1 step forward\na red cube 2 steps left and 1 step forward\nYou carry a key",
         "wall|is seen|1 step forward; red cube|is seen|2 steps left and 1 step forward;"
         " key|is in|inventory"),
        ("Current room: Mill\nItems in room: flour\nCharacters present: Ann\nObjects on the map:\n"
         "a sack 1 step to the left", "you|is in|mill; flour|is in|mill; ann|is in|mill;"
         " sack|is seen|1 step to the left"),
        ("THE PIT\nAn interactive tale\n\nYou wake.", ""),
        ("You step out into a yard. Behind the barrel you find a coin. The gate swings open with a "
         "groan.", "you|is in|yard; coin|is in|yard; gate|is|open"),
        ("You walk through the gate to the north and enter the yard. The yard has a well. "
         "A spade leans against the wall. Exits: south (mill), up: loft (closed).",
         "you|is in|yard; well|is in|yard; spade|is in|yard; yard|has exit|south;"
         " mill|is seen south of|yard; yard|has exit|up; loft|is seen up of|yard"),
        ("You are in a den. There is a table in the center of the room with a bowl of plums on it. "
         "A door to the east leads to the porch. You open the trunk. Inside, you find a fan.",
         "you|is in|den; table|is in|den; bowl of plums|is on|table; den|has exit|east;"
         " porch|is seen east of|den; trunk|is|open; fan|is in|trunk"),
        ("You are in the den. You put the hat in your inventory. The cap is put in the left side "
         "of the trunk. A mug lies in one corner of the room.",
         "you|is in|den; hat|is in|inventory; cap|is in|left side of the trunk; mug|is in|den"),
        ("Shed\nThere's a saw on top of the crate, and a torch, unlit, in the corner. An old gate "
         "to the west is locked. A jug of milk stands on the shelf, half empty.",
         "you|is in|shed; saw|is on|crate; torch|is in|shed; torch|is|unlit;"
         " shed|has west door|old gate; old gate|is|locked; jug of milk|is on|shelf"),
        ("Shed\nUnzipping the bag reveals a map. The chest is open. A rope is inside. Under the "
         "mat you discover a key. Searching the coat reveals a pin.",
         "you|is in|shed; bag|is|open; map|is in|bag; chest|is|open; rope|is in|chest;"
         " key|is under|mat; pin|is in|coat"),
        ("You are in a crypt. A chest, half buried, is here. Inside the urn you can make out a "
         "ring.\nThe book says: The vault lies north of here.",
         "you|is in|crypt; chest|is in|crypt; ring|is in|urn"),
        ("Engine Room\nA toolbox [closed] sits by the boiler.\n> Exits: [fore] [aft]",
         "you|is in|engine room; toolbox|is in|engine room; toolbox|is|closed;"
         " engine room|has exit|fore; engine room|has exit|aft"),
        ("You are in a den. The curtain goes up. The guard has a scar and a spear on his back.",
         "you|is in|den; spear|is carried by|guard"),
        ("You are in a den. A path goes down. Innkeeper has a key.",
         "you|is in|den; den|has exit|down; key|is carried by|innkeeper"),
    ],
)  # fmt: skip
def test_first_text_states_these_facts(text: str, facts: str) -> None:
    assert read(text)[1] == set(filter(None, facts.split("; ")))


def test_room_description_states_things_doors_and_views() -> None:
    text = (
        "You are in the hall. In one part of the room you see a desk that has a pen, and a cup on "
        "it. There is also a chair, that has nothing on it. You also see an open chest.\n"
        "To the North you see the attic. Through a closed oak door, to the East you see the yard. "
        "There is a locked gate leading south."
    )
    assert read(text)[1] == {
        "you|is in|hall", "desk|is in|hall", "pen|is on|desk", "cup|is on|desk", "chair|is in|hall",
        "chair|is|empty", "chest|is in|hall", "chest|is|open", "hall|has exit|north",
        "attic|is seen north of|hall", "hall|has exit|east", "hall|has east door|oak door",
        "oak door|is|closed", "yard|is seen east of|hall", "hall|has exit|south",
        "hall|has south door|gate", "gate|is|locked",
    }  # fmt: skip


def test_list_item_is_its_own_evidence() -> None:
    text = "You are in a den. In the den, you see:\n\ta jar\n\ta stove that has nothing on it"
    found = read(text)[0].mentions
    spans = {" ".join(m.triple): text[m.start : m.end] for m in found}
    assert spans["stove is empty"] == spans["stove is in den"] == "stove"


def test_distant_place_is_not_entered() -> None:
    text = "This room is called the shed."
    assert read(text, "look at shed", "you|is in|hall")[1] == {"you|is in|hall"}
    assert "you|is in|shed" in read(text, "go to shed", "you|is in|hall")[1]


PIECES = (
    *("You are in the ", "You see a ", "that has ", "on it", "To the North ", "is closed", "a box"),
    *("Inventory:\n", " a cup\n", ". ", ", and ", "There is ", "1 step left", "A: b", "\n", "0.5"),
    *("In the den, you see:\n", "\ta(n) pot that has ", " in it", "- a: 1\n", " that is off and "),
)


@pytest.mark.slow
@given(text=st.lists(st.sampled_from(PIECES), max_size=60).map("".join) | st.text(max_size=200))
def test_any_text_gives_facts_with_valid_spans(text: str) -> None:
    for triple, start, end in read(text, "go north", "you|is in|hall")[0].mentions:
        assert all(triple)
        assert (start, end) == (-1, -1) or 0 <= start < end <= len(text)


@pytest.mark.slow
@pytest.mark.parametrize("piece", [*PIECES, "A: b, ", "In the a on the ", "(", "Inventory:\n a\n"])
def test_megabyte_takes_bounded_time(piece: str) -> None:
    guarded(lambda: read(piece * (1_000_000 // len(piece))))


def test_writing_on_things_is_read() -> None:
    recipe = (
        "Gather all following ingredients and follow the directions to prepare this meal.\n\n"
        "Ingredients:\n  cilantro\n  white onion\n\nDirections:\n  dice the white onion\n"
        "  roast the white onion\n  prepare meal\n"
    )
    assert read(recipe, "read cookbook")[1] >= {
        "recipe|requires|cilantro", "recipe|requires|white onion",
        "white onion|needs to be|diced", "white onion|needs to be|roasted",
    }  # fmt: skip
    order = "The current task is to take the peach."
    assert f"instructions book|says|{order}" in read(order, "read instructions book")[1]
    assert not read(recipe, "open cookbook")[1] & {"recipe|requires|cilantro"}


def test_states_of_carried_things_are_read() -> None:
    listed = read("Inventory:\n  a knife\n  a roasted diced white onion\n", "inventory")[1]
    assert listed >= {"white onion|is|diced", "white onion|is|roasted", "knife|is in|inventory"}


@pytest.mark.parametrize(
    ("action", "text", "facts"),
    [
        ("", "Bob has a lamp. Miss Marsh is here.", "lamp|is carried by|bob; miss marsh|is in|hut"),
        ("", "The clerk is holding a bell. A soldier is guarding the door.",
         "bell|is carried by|clerk; soldier|is in|hut"),
        ("take apple", "You take one of the apples.", "apple|is in|inventory"),
        ("", "You can follow the lane to the Smithy.", "hut|has exit|smithy"),
        ("", "There is a button below the plaque.", "button|is in|hut"),
        ("x safe", "It is closed.", "safe|is|closed"),
        ("", "The red key opens the safe.", ""),
        ("", "The crier says the mill is closed. Bob warns that the well is dry.", ""),
        ("", "You get the feeling you're being watched.", ""),
        ("", "An archway opens west onto the garden.", "hut|has exit|west"),
        ("", "The butler is here, carrying a silver tray.",
         "butler|is in|hut; silver tray|is carried by|butler"),
        ("search desk", "Rummaging through the desk, you find a pin.", "pin|is in|desk"),
        ("move rug", "Moving the rug aside, you uncover a hatch.", "hatch|is in|hut"),
        ("", "You are given a medal.", "medal|is in|inventory"),
        ("", "Also here: Bob, a stray cat, and the mayor.",
         "bob|is in|hut; stray cat|is in|hut; mayor|is in|hut"),
        ("", "An old man sits by the fire, whittling.", "old man|is in|hut"),
        ("", "Your pack holds 2 of 8 items: a whistle and a mirror.",
         "whistle|is in|inventory; mirror|is in|inventory"),
        ("", "You can go in any direction except west.", ""),
        ("", "You can type GO NORTH to walk north.", ""),
        ("", "A flight of stone stairs descends into darkness.", "hut|has exit|down"),
        ("", "A skeleton lies slumped in the corner.", "skeleton|is in|hut"),
        ("", "You take the following items:\n- a pin\n- a saw",
         "pin|is in|inventory; saw|is in|inventory"),
        ("", "You have received: holy water.", "holy water|is in|inventory"),
        ("", "You are carrying:\n  a bag, containing:\n    a coin\n  a saw",
         "bag|is in|inventory; coin|is in|bag; saw|is in|inventory"),
        ("", "North: Den. East: Loft (locked). South: --",
         "hut|has exit|north; hut|has exit|east; den|is seen north of|hut; "
         "loft|is seen east of|hut"),
        ("wave", "The world spins. When it stops, you find yourself in the hut.", ""),
        ("", "HP.......: 12/20\nGold.....: 3", "hp|is|12/20; gold|is|3"),
        ("", 'The crier says: "The mill is locked." He gives you a coin.', "coin|is in|inventory"),
        ("", "Guards: Ann, Bo\nHeld object: -", "ann|is in|hut; bo|is in|hut"),
        ("", '{"inventory": {"coin": 5}, "chest": {"name": "chest", "open": false}, "pot": null}',
         "coin|is in|inventory; chest|is|closed"),
        ("", '{"people": [{"name": "Ada", "inventory": ["saw"]}]}',
         "ada|is in|hut; saw|is carried by|ada"),
        ("", "<inventory><item name='nail'/></inventory>", "nail|is in|inventory"),
        ("", "You open the hatch wide enough to crawl in.", "hatch|is|open"),
        ("", "The raft fills and appears seaworthy. The cart comes to a rest on the lawn.", ""),
        ("", "On the west is the foot of a pole. There is an exit down a stair.",
         "hut|has exit|down"),
        ("", "There is a silver cup, finely carved, here. There are two mugs and 3 jugs here.",
         "silver cup|is in|hut; mugs|is in|hut; jugs|is in|hut"),
        ("", "In the sink is: a plug, which is closed, a sponge.",
         "plug|is in|sink; plug|is|closed; sponge|is in|sink"),
        ("", "There is a great rumble here. There is a draft and the hut shakes.", ""),
        ("", "The box is locked, but the pin is in the lock.", "box|is|locked; pin|is in|lock"),
        ("", "A bear bars the way east. Your torch lights the hut. Your hands are full.", ""),
        ("", "You see a pub from here. You see a hook on a beam by the door and grab it.",
         "hook|is on|beam"),
        ("", "You have the following: a saw, a file. You are wearing: a hat.",
         "saw|is in|inventory; file|is in|inventory; hat|is in|inventory"),
        ("", "Action result: failure", ""),
        ("", "There is a hole in the hedge large enough for a cat. You tuck a pin in your boot.",
         "hole|is in|hedge; pin|is in|boot"),
        ("", "On your left is a shelf, on your right a globe.", "shelf|is in|hut"),
        ("", "Contents of chest: ring, cup.\nYou see: 1) a saw 2) a file",
         "ring|is in|chest; cup|is in|chest; saw|is in|hut; file|is in|hut"),
        ("", "HALL QUEST: The Golden Bell\nAn interactive story\n", ""),
        ("", "North: Yard\nEast: open\nSouth: wall", "hut|has exit|north; hut|has exit|east; "
         "yard|is seen north of|hut"),
        ("", "Way out -> door (south)\nWhat you see: a saw", "hut|has exit|south; saw|is in|hut"),
        ("", "Description: A stone press fills the hut. You see a saw.", "saw|is in|hut"),
        ("", "You see a green door 2 steps to your left and a red ball 1 step ahead.",
         "green door|is seen|2 steps to your left; red ball|is seen|1 step ahead"),
        ("", "The gate guard leaves east. Somewhere a door opens. You see the garden beyond.", ""),
        ("", "You arrive at sink 1. On the sink 1, you see a fork 1.",
         "fork 1|is on|sink 1"),
        ("", "Position: (3, 4)\nFacing: north", "facing|is|north"),
        ("", 'Exits: ["east", "gate"]\nItems: ["sage"]',
         "hut|has exit|east; hut|has exit|gate; sage|is in|hut"),
        ("", "Pot: open (contains: pin, cup)", "pot|is|open; pin|is in|pot; cup|is in|pot"),
        ("", "Exits: up (stairs)", "hut|has exit|up"),
        ("", '{"exits": {"north": "mill", "up": false, "east": true}}',
         "hut|has exit|north; mill|is seen north of|hut; hut|has exit|east"),
        ("", '{"exits": [{"dir": "west", "room": "barn"}]}',
         "hut|has exit|west; barn|is seen west of|hut"),
        ("", "Exits: NSE", "hut|has exit|north; hut|has exit|south; hut|has exit|east"),
        ("", "North exit: blocked by rubble\nSouth exit: open\nOthers present: Keeper",
         "hut|has exit|south; keeper|is in|hut"),
        ("", '{"player": {"items": [{"name": "lamp", "lit": true}]}}',
         "lamp|is in|inventory; lamp|is|lit"),
        ("x case", "Your collection of treasures consists of:\n  A bar", "bar|is in|case"),
        ("look", "Your collection of treasures consists of:\n  A bar", ""),
        ("", '{"exits": [{"direction": "west", "to": "Barn"}, {"direction": "up"}]}',
         "hut|has exit|west; barn|is seen west of|hut; hut|has exit|up"),
        ("", '{"items": {"stove": {"state": "hot"}, "kettle": {"on": "stove"}}}',
         "stove|is in|hut; stove|is|hot; kettle|is on|stove"),
        ("", '{"contents": {"crate": ["rope", "hook"]}}',
         "crate|is in|hut; rope|is in|crate; hook|is in|crate"),
        ("", '{"npc": "Greta", "says": "The key is under the mat."}', ""),
        ("", '{"quests": [{"name": "Find the miller", "done": false}]}', ""),
        ("", '{"rooms": [{"name": "Vault", "exits": {"up": "Loft"}, "items": ["cask"]}]}',
         "vault|has exit|up; loft|is seen up of|vault; cask|is in|vault"),
        ("", '{"inventory": {"weapon": "dirk", "armor": null, "bag": ["oil"]}}',
         "dirk|is in|inventory; oil|is in|inventory"),
        ("", "{'inventory': {'torch': {'state': 'lit'}}, 'visible': []}",
         "torch|is in|inventory; torch|is|lit"),
        ("", 'Observation: {"items": ["pew", {"name": "saw", "held": true}]}',
         "pew|is in|hut; saw|is in|inventory"),
        ("", '{"you": {"has": ["saw"]}, "hint": "The key is in the loft."}', "saw|is in|inventory"),
        ("", "exits: {north: Yard, up: Loft}", "hut|has exit|north; yard|is seen north of|hut; "
         "hut|has exit|up; loft|is seen up of|hut"),
        ("", "agent.holding = pail\nlamp.on = true", "pail|is in|inventory; lamp|is|on"),
        ("", "- chest: closed\n- lamp: unlit", "chest|is|closed; lamp|is|unlit"),
        ("", "Exits: north (closed door)\nDown - Too dark to tell", "hut|has exit|north"),
        ("", "The western door leads to the mess. The only way out is back up.",
         "hut|has exit|west; mess|is seen west of|hut; hut|has exit|up"),
        ("", "You see: a desk, a mug on the desk, and a box.",
         "desk|is in|hut; mug|is on|desk; box|is in|hut"),
        ("i", "You are carrying:\n  [ 3] a torch\n  a lamp (providing light)",
         "torch|is in|inventory; lamp|is in|inventory; lamp|is|lit"),
        ("", "You are using:\n<worn on head>   a steel cap", "steel cap|is in|inventory"),
        ("", "( 2) A cracked jug lies here.", "cracked jug|is in|hut"),
        ("", "I see 1 rope near me, and 2 crates 3 steps to my left.",
         "rope|is in|hut; crates|is seen|3 steps to my left"),
        ("", "[Gained: silver key]  [Lost: 5 coins]", "silver key|is in|inventory"),
        ("", "Action failed: the drawer 3 is locked.", "drawer 3|is|locked"),
        ("", "*You gain a Ruby Ring.*", "ruby ring|is in|inventory"),
        ("", "[Items] coin\n[Exits] up\nIn: 9", "coin|is in|hut; hut|has exit|up"),
        ("", "There are two exits: a stairway up and a door to the west.",
         "hut|has exit|up; hut|has exit|west"),
        ("", "Containers: crate (closed)", "crate|is in|hut; crate|is|closed"),
        ("", "Inventory updated: + lantern", ""),
        ("", '{"objects": [{"name": "altar", "on": ["cup"]}]}', "altar|is in|hut; cup|is on|altar"),
        ("", "You are carrying: [apple, knife].", "apple|is in|inventory; knife|is in|inventory"),
        ("", '{"exits": [["north", "Weir"]]}', "hut|has exit|north; weir|is seen north of|hut"),
        ("", "Exits: N: Weir; S: Mill", "hut|has exit|north; weir|is seen north of|hut; "
         "hut|has exit|south; mill|is seen south of|hut"),
        ("look in bag", "bag (carried) :\n  a biscuit", "biscuit|is in|bag"),
        ("", "There are three obvious exits: north door (closed), up, and out.\nDoors: porch",
         "hut|has exit|north; hut|has exit|up; hut|has exit|out"),
        ("", "The cliff path goes back up to the north.", "hut|has exit|north"),
        ("", "Stone steps lead up to the east.", "hut|has exit|up; hut|has exit|east"),
        ("", '{"neighbors": {"north": "Hill"}, "entities": [{"name": "toad", "hp": 3}]}',
         "hut|has exit|north; hill|is seen north of|hut; toad|is in|hut"),
        ("", '{"lamp": {"location": "shelf", "state": "off"}, "cup": {"location": "inventory"}}',
         "lamp|is in|shelf; lamp|is|off; cup|is in|inventory"),
        ("", '{"events": ["The door opens.", "Ann leaves."]}', "door|is|open"),
        ("", "YOU SEE: A TRUNK\nYOU ARE: TIRED", "trunk|is in|hut"),
        ("i", "You are carrying:\n  a basket\n    containing a pearl",
         "basket|is in|inventory; pearl|is in|basket"),
        ("", '{"exits": {"north": {"to": "Yard", "locked": true}, "down": null}}',
         "hut|has exit|north; yard|is seen north of|hut"),
        ("", "Pillared archways beckon you north and east.",
         "hut|has exit|north; hut|has exit|east"),
        ("", "A graceful staircase sweeps upstairs.", "hut|has exit|up"),
        ("", "The door to the upstairs hall is shut. You can go downstairs.",
         "door to the upstairs hall|is|closed; hut|has exit|down"),
        ("", "On the crate is your pager, right where you left it.", "pager|is on|crate"),
        ("close hatch", "That's already closed.", ""),
        ("close hatch", "The hatch's closed already.", "hatch|is|closed"),
        ("lock hatch", "They're already locked.", ""),
    ],
)  # fmt: skip
def test_text_states_these_facts(action: str, text: str, facts: str) -> None:
    found = read(text, action, "you|is in|hut")[1]
    assert found == {"you|is in|hut", *filter(None, facts.split("; "))}


@pytest.mark.parametrize("title", ["« Harbor »", "📍 Harbor"])
def test_title_between_signs_names_place(title: str) -> None:
    assert "you|is in|harbor" in read(f"{title}\nExits: pier, market", "look")[1]


@pytest.mark.parametrize(
    "text",
    ["Mill | HP 12 | MP 4", '{"location": {"id": "r7", "title": "Mill"}, "hp": 12, "mp": 4}',
     "LOC: Mill | HP: 12 | MP: 4", '{"here": {"name": "Mill", "exits": []}, "hp": 12, "mp": 4}'],
)  # fmt: skip
def test_status_names_place_and_counts(text: str) -> None:
    assert read(text)[1] == {"you|is in|mill", "hp|is|12", "mp|is|4"}


@pytest.mark.parametrize("title", ["The Quay [N, W]", "The Quay [ ENW ]"])
def test_title_with_ways_names_place_and_exits(title: str) -> None:
    found = read(f"{title}\nSome nets hang here.", "east", "you|is in|hut")[1]
    assert {"you|is in|quay", "quay|has exit|north", "quay|has exit|west"} <= found


def test_words_of_a_quotation_are_of_the_thing_alone() -> None:
    text = 'It reads "The red key is in the oven." You take a coin from it.'
    extraction, found = read(text, "examine safe", "you|is in|hut; safe|is in|hut")
    assert {"coin|is in|inventory", "red key|is in|oven"} <= found
    assert extraction.said[Triple("red key", "is in", "oven")] == "safe"

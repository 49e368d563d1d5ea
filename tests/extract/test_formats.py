"""Formats of text: titles, lines of status, exits, lists, records and telegrams."""

from __future__ import annotations

import pytest
from reading import changes

NOOK = "you|is in|nook"


@pytest.mark.parametrize(
    ("known", "action", "text", "facts"),
    [
        ("", "", "The Upper Gallery of the Old Royal Weather Station\nRain drums. A bench is here.",
         "you|is in|upper gallery of old royal weather station; "
         "bench|is in|upper gallery of old royal weather station"),
        ("", "", "##### Salt Pier 🌊\n\nGulls cry overhead.", "you|is in|salt pier"),
        ("", "", "=> Drone Bay\nExits: aft", "you|is in|drone bay; drone bay|has exit|aft"),
        ("", "", "-[ Tin Market ]-  exits: N W\nAn oak cask (sealed)",
         "you|is in|tin market; tin market|has exit|north; tin market|has exit|west; "
         "oak cask|is in|tin market"),
        ("", "", "Sail Loft -- Dust everywhere. [exits: SE] [items: awl, bale] [hp 3/9]",
         "you|is in|sail loft; sail loft|has exit|southeast; awl|is in|sail loft; "
         "bale|is in|sail loft; hp|is|3/9"),
        ("", "", "Ledge of slate. Exits N, W. Goat horn, twine.",
         "you|is in|ledge of slate; ledge of slate|has exit|north; ledge of slate|has exit|west; "
         "goat horn|is in|ledge of slate; twine|is in|ledge of slate"),
        ("", "", "A kettle hums.\nYou are carrying: a spoon\n[Cabin 4 | Day 2, 09:15 | Thirst 7]",
         "you|is in|cabin 4; spoon|is in|inventory; day|is|2; time|is|09:15; thirst|is|7"),
        (NOOK, "", "It rains.\n[Alarm 4 | Day 2]", "alarm|is|4; day|is|2"),
        ("", "", "> You are currently in: Boathouse\n> You can see: oar, lead weight\n"
         "> You can go: slipway",
         "you|is in|boathouse; oar|is in|boathouse; lead weight|is in|boathouse; "
         "boathouse|has exit|slipway"),
        ("", "", "PLACE: Mint\nEXITS: [E] Assay Hall, [D] Vault\nOBJECTS: * steel die * gold leaf",
         "you|is in|mint; mint|has exit|east; mint|has exit|down; steel die|is in|mint; "
         "gold leaf|is in|mint; assay hall|is seen east of|mint; vault|is seen down of|mint"),
        ("", "", "**Barn**\n*Exits:* up (ladder), west (low hatch, bolted)",
         "you|is in|barn; barn|has exit|up; barn|has exit|west"),
        ("", "", "**Paths:** `up` to Nest · `down` to Root\n\n# Bough",
         "you|is in|bough; bough|has exit|up; bough|has exit|down; nest|is seen up of|bough; "
         "root|is seen down of|bough"),
        ("", "", '{"location": "Dairy", "rooms": [{"id": "dairy", "exits": ["east"]}, '
         '{"id": "byre", "exits": ["west"], "objects": ["pail"]}]}',
         "you|is in|dairy; dairy|has exit|east; byre|has exit|west; pail|is in|byre"),
        ("", "", '{"rooms": {"byre": {"exits": ["west"], "items": ["pail"]}}}',
         "byre|has exit|west; pail|is in|byre"),
        ("", "", "<room><name>Vestry</name><exits><exit dir='up'>Belfry</exit><exit dir='south'/>"
         "</exits><items><item>cope</item><item state='lit'>taper</item></items></room>",
         "you|is in|vestry; vestry|has exit|up; belfry|is seen up of|vestry; "
         "vestry|has exit|south; cope|is in|vestry; taper|is in|vestry; taper|is|lit"),
        ("", "", "🛖 Tool Shed\nYou see 🪑 stool, 🔔 bell (broken), key on the shelf.\n"
         "➡️ Exits: lawn",
         "you|is in|tool shed; tool shed|has exit|lawn; stool|is in|tool shed; "
         "bell|is in|tool shed; bell|is|broken; key|is on|shelf"),
        (NOOK, "", "INVENTORY (2/8)\n 1. Brass Ring\n 2. Fig x3",
         "brass ring|is in|inventory; fig|is in|inventory"),
        (NOOK, "", "CONNECTS TO: Weir, Ford", "nook|has exit|weir; nook|has exit|ford"),
        (NOOK, "", "Ways out: N, S. You may also go up.",
         "nook|has exit|north; nook|has exit|south; nook|has exit|up"),
        (NOOK, "", "You see exits leading n, e and w.",
         "nook|has exit|north; nook|has exit|east; nook|has exit|west"),
        (NOOK, "e", "~ Larder ~\nHams hang here.", "you|is in|larder; -" + NOOK),
        (NOOK, "e", "*** Larder ***\nCold.", "you|is in|larder; -" + NOOK),
        (NOOK, "e", ">> Larder <<\nCold.", "you|is in|larder; -" + NOOK),
        (NOOK, "e", "Pantry:\nHams and cheeses.", "you|is in|pantry; -" + NOOK),
        (NOOK, "e", "Pantry (you are here)\nExits: West: Nook",
         "you|is in|pantry; pantry|has exit|west; nook|is seen west of|pantry; -" + NOOK),
        (NOOK, "e", "Now at: Pantry", "you|is in|pantry; -" + NOOK),
        (NOOK, "e", "You have entered: Pantry", "you|is in|pantry; -" + NOOK),
        (NOOK, "e", "Pantry. Hams hang from hooks. A cleaver lies here.",
         "you|is in|pantry; cleaver|is in|pantry; -" + NOOK),
        (NOOK, "e", "Beyond the arch lies a pantry.", "-" + NOOK),
        ("", "", '{"scene": "Tannery", "items": ["hide"]}',
         "you|is in|tannery; hide|is in|tannery"),
        (NOOK, "", "Gripper: ladle", "ladle|is in|inventory"),
        (f"{NOOK}; ladle|is in|inventory", "", "Gripper: empty", "-ladle|is in|inventory"),
        (NOOK, "", "Objects on this tile: boots.", "boots|is in|nook"),
        ("", "", "''The Orangery''\n\nA [[marble urn->urn]] stands here.\n\n[[Go out]]",
         "you|is in|orangery; marble urn|is in|orangery"),
        (NOOK, "", "//You now have: a fork, a spoon.//",
         "fork|is in|inventory; spoon|is in|inventory"),
        (NOOK, "", "fuel_left = 30", "fuel_left|is|30"),
        (NOOK, "", "Table: bread knife, jam", "bread knife|is on|table; jam|is on|table"),
        (NOOK, "", "You are carrying:\n a pin   A steel pin with a pearl.",
         "pin|is in|inventory"),
        (NOOK, ",", "b - an oak staff (in hand).\nDL:4  AC:5", "oak staff|is in|inventory; "
         "dl|is|4; ac|is|5"),
        (NOOK, "", "Exits: out, upstairs and Quay",
         "nook|has exit|out; nook|has exit|up; nook|has exit|quay"),
        (NOOK, "", "(Humming) A tuning fork lies on the bench.", "tuning fork|is on|bench"),
        (NOOK, "", "Two things catch your eye: a sword driven into the earth, and a satchel.",
         "sword|is in|nook; satchel|is in|nook"),
        (NOOK, "", "Exits: (north) (up) (east: closed)",
         "nook|has exit|north; nook|has exit|up; nook|has exit|east"),
        ("", "", "You are in the linen room. You can see: mangle (open), hamper (contains: sheet, "
         "towel), line. Exits: hall (door open).",
         "you|is in|linen room; mangle|is in|linen room; mangle|is|open; hamper|is in|linen room; "
         "sheet|is in|hamper; towel|is in|hamper; line|is in|linen room; linen room|has exit|hall"),
        ("", "", "### Mill — Upper Floor\nYou enter a loft. **Who's here:** two carters\n"
         "**Ways on:** stairs up, yard (south)",
         "you|is in|mill — upper floor; carters|is in|mill — upper floor; "
         "mill — upper floor|has exit|up; mill — upper floor|has exit|south; "
         "yard|is seen south of|mill — upper floor"),
        (NOOK, "", "held=taper(lit)", "taper|is in|inventory; taper|is|lit"),
        ("", "", "Quay. Wet stones. Barrel on sledge. Exit: up.",
         "you|is in|quay; quay|has exit|up; barrel|is on|sledge"),
        ("", "", "[Turn 4] [HP 8/9] [Torch 31]\nYou are in a grotto. Passages lead N, SE and down.",
         "you|is in|grotto; turn|is|4; hp|is|8/9; torch|is|31; grotto|has exit|north; "
         "grotto|has exit|southeast; grotto|has exit|down"),
        ("", "", "[Cabin 3]\nDust. A chest is here.", "you|is in|cabin 3; chest|is in|cabin 3"),
        ("", "", "FOUNDRY - cold and still. Doors N (closed), W.\nOn the anvil: tongs, mallet.",
         "you|is in|foundry; foundry|has exit|north; foundry|has exit|west; tongs|is on|anvil; "
         "mallet|is on|anvil"),
        ("", "", ">You find yourself once again at the old ford.", "you|is in|old ford"),
        ("", "", "Observation: agent is in scullery. scullery contains: sink, crate (closed).",
         "you|is in|scullery; sink|is in|scullery; crate|is in|scullery; crate|is|closed"),
        (f"{NOOK}; stove|is in|nook", "", "stove is on.", "stove|is|on"),
        (NOOK, "", "nothing is on.", ""),
        (NOOK, "search", "You grope about. (Candle added to inventory.)",
         "candle|is in|inventory"),
        (NOOK, "open crate", "You open the crate. In it: a brush, a mop.",
         "crate|is|open; brush|is in|crate; mop|is in|crate"),
    ],
)  # fmt: skip
def test_format_gives_its_facts(known: str, action: str, text: str, facts: str) -> None:
    assert changes(known, action, text) == set(filter(None, facts.split("; ")))


@pytest.mark.parametrize("part", ["(b) ", "(b: c) ", " [a: b]", "> a: b\n", "[[a->", "(north) "])
def test_long_run_of_marks_is_read(part: str) -> None:
    assert isinstance(changes(NOOK, "", f"Exits: {part * 3000}x"), set)

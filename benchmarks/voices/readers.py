"""Score the reader of notes.

    python benchmarks/voices/readers.py --out benchmarks/voices/readers.json

Reads the notes of planned hunts (``TreasureHunt?level=voices-*``), each on its own. The planned
facts of a note are right: the key of a lock and, if stated, the room of the lock, the holder of the
key and its room. Each note is read twice: with unseen names, and with names known from play.
``rare`` replaces the split's nouns by nouns that are in no list of the rules (*the pewter larnax*,
*the Spindle of Bone*, *Narthex 4*). Prints numbers only, so that it may be run on the test split.
"""

from __future__ import annotations

import argparse
import copy
import json
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch

from gym_memory.extract.notes import read_writing
from gym_memory.games.textworld import voices
from gym_memory.games.textworld.treasure_hunt import TreasureHunt
from gym_memory.games.textworld.voices.hunts import KeyAndLock, VoicedHunt, plan_voiced_hunt

RARE_WORDS = {
    "key nouns": ["tine", "spindle", "latchpin", "glyph", "turnpin", "wand"],
    "key materials": ["bone", "amber", "flint", "tallow", "willow"],
    "lock nouns": ["pyx", "larnax", "aumbry", "cassapanca", "bombard", "meuble"],
    "lock materials": ["slate", "oakum", "jasper", "felt"],
    "note nouns": ["screed", "chit", "jotting", "manifest"],
    "room nouns": ["oubliette", "solar", "garth", "narthex", "hypocaust", "byre", "croft"],
    "room materials": ["echoes", "dust", "mirrors", "whispers", "tides"],
}
RARE_NAMES = {
    "key": ["{noun} {letter}", "{adj} {noun}", "{Adj} {Noun}", "{noun} of {mat}", "{NOUN} {n}"],
    "lock": ["{adj} {noun}", "{Noun} {letter}", "{noun} of {mat}", "{Noun} of {Mat}"],
    "room": ["{Noun} {n}", "{adj} {noun}", "{Adj} {Noun}", "{Noun} of {Mat}"],
}
Fact = tuple[str, str, str]


def stated(link: KeyAndLock, rooms: Mapping[Any, voices.Name]) -> set[Fact]:
    """Return the planned facts of a note."""
    facts = {(link.key.name, "opens", link.lock.name)}
    if rooms[link.cell].name in link.text:
        facts.add((link.lock.name, "is in", rooms[link.cell].name))
    if link.apart is not None:
        holder = link.apart.name.name
        facts.add((link.key.name, f"is {link.apart.prep}", holder))
        facts.add((holder, "is in", rooms[link.apart.cell].name))
    return {(a.lower(), relation, b.lower()) for a, relation, b in facts}


def known(plan: VoicedHunt) -> dict[str, str]:
    """Return the known names of a game after all of it was seen."""
    kinds = {name.name: "room" for name in plan.rooms.values()}
    kinds |= {name.name: "container" for name, _ in plan.decoys}
    for link in plan.links:
        kinds |= {link.key.name: "thing", link.note.name: "thing", link.lock.name: "container"}
    for holder in plan.holders:
        kinds[holder.name.name] = "supporter" if holder.prep == "on" else "container"
    return {name.lower(): kind for name, kind in kinds.items()}


def plans(level: str, split: str, games: int, *, rare: bool) -> Iterator[VoicedHunt]:
    """Yield the games of a level, perhaps with rare words."""
    data = dict(copy.deepcopy(voices.load_voices(split)))
    if rare:
        data["words"], data["names"] = data["words"] | RARE_WORDS, data["names"] | RARE_NAMES
    with patch.object(voices, "load_voices", lambda _: data):
        for seed in range(games):
            yield plan_voiced_hunt(TreasureHunt.levels[level], split, seed)[0]


def score(level: str, split: str, games: int, *, rare: bool, seen: bool) -> Counter:
    """Count facts said, read and right."""
    count: Counter[str] = Counter()
    for plan in plans(level, split, games, rare=rare):
        kinds = known(plan) if seen else {}
        for link in plan.links:
            name = link.note.name.lower()
            mentions = read_writing(name, link.text, kinds.get)
            read = {tuple(m.triple) for m in mentions} if mentions else set()
            read = {fact for fact in read if fact[1] not in ("says", "mentions")}
            truth = stated(link, plan.rooms)
            count.update(notes=1, stated=len(truth), read=len(read), right=len(read & truth))
    return count


def main() -> None:
    """Print a row for each set of notes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--split", default="test")
    parser.add_argument("--games", type=int, default=60)
    parser.add_argument("--out", type=Path, help="JSON to write")
    args = parser.parse_args()
    rows = []
    for rare in (False, True):
        for level in ("voices-easy", "voices-hard"):
            for seen in (False, True):
                begun = time.process_time()
                found = score(level, args.split, args.games, rare=rare, seen=seen)
                spent = time.process_time() - begun
                row = {
                    "level": level, "words": "rare" if rare else args.split,
                    "names": "seen" if seen else "unseen", "notes": found["notes"],
                    "precision": round(found["right"] / max(found["read"], 1), 4),
                    "recall": round(found["right"] / found["stated"], 4),
                    "cpu_ms_a_note": round(1000 * spent / found["notes"], 2),
                }  # fmt: skip
                rows.append(row)
                print(json.dumps(row), flush=True)
    if args.out:
        args.out.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")


if __name__ == "__main__":
    main()

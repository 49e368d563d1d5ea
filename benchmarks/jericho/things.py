"""Measure how many of the things that a story's texts name have a place in the graph.

    python -m benchmarks jericho/things --stories FOLDER

The walkthrough of each story is played. A thing counts if it is carried at some time, lies in the
room of the player by the object tree, and the text names it in full; it is placed if the graph has
a place for something with its noun. ``things.json`` beside this file has the counts of each story;
``before`` is what the reader of commit 8f592aa5 placed.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from jericho import FrotzEnv

from gym_memory.core.records import Step, Task
from gym_memory.core.text import words
from gym_memory.extract import get_extractor
from gym_memory.extract.draft import apply
from gym_memory.graph import TemporalGraph
from gym_memory.graph.schema import LOCATIONS, PLAYER, head_noun

OUT = Path(__file__).with_name("things.json")
MAX_STEPS = 400
MIN_LETTERS = 3


def texts_of(env: Any, actions: list[str]) -> list[tuple[str, str, dict[int, Any], int]]:
    """Return the action, the text, the objects by number and the room of each step."""
    text, played = env.reset()[0], []
    for action in ("", *actions):
        if action:
            text, _, done, _ = env.step(action)
        objects = {one.num: one for one in env.get_world_objects()}
        room = env.get_player_location()
        played.append((action, text, objects, room.num if room else -1))
        if action and done:
            break
    return played


def count(story: Path) -> dict[str, Any]:
    """Play a story's walkthrough; return how many things were named, and how many placed."""
    env = FrotzEnv(str(story))
    player = env.get_player_object()
    steps = texts_of(env, env.get_walkthrough()[:MAX_STEPS]) if player else []
    env.close()
    carried = {n for _, _, objects, _ in steps for n, one in objects.items()
               if one.parent == player.num}  # fmt: skip
    graph, rules = TemporalGraph(), get_extractor("plain")
    named = placed = 0
    for t, (action, text, objects, room) in enumerate(steps):
        apply(rules.extract(Step(t, text, action), graph, Task("", "", "plain")), graph, t)
        known = {fact.subject for fact in graph.live() if fact.relation in LOCATIONS} - {PLAYER}
        nouns = {head_noun(name) for name in known} | {
            word for name in known for word in words(name)
        }
        shown = f" {' '.join(words(text))} "
        for number in carried & objects.keys() - {player.num}:
            name = " ".join(words(objects[number].name))
            if objects[number].parent == room and len(name) >= MIN_LETTERS and f" {name} " in shown:
                named += 1
                placed += head_noun(name) in nouns
    return {"story": story.stem, "named": named, "placed": placed}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--stories", type=Path, required=True)
    before = {row["story"]: row["before"] for row in json.loads(OUT.read_text("utf-8"))}
    rows = [count(story) for story in sorted(parser.parse_args().stories.glob("*.z*"))]
    rows = [{**row, "before": before.get(row["story"])} for row in rows]
    OUT.write_text("[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n", encoding="utf-8")
    named, placed = (sum(row[key] for row in rows) for key in ("named", "placed"))
    print(f"{len(rows)} stories, {named} named, {placed} placed: {placed / named:.3f}")


if __name__ == "__main__":
    main()

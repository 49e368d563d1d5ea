"""Measure the share of walkthrough actions that are listed as valid.

    python -m benchmarks jericho/walkthroughs --stories FOLDER --steps 15

For each story with a walkthrough in Jericho, steps that change an object are drawn. Such a step is
found if it is listed, or a listed action leads to the same objects. Each story has a line in
benchmarks/jericho/walkthroughs.json.

Jericho knows a story by its checksum. It finds the walkthrough of another release, such as
``zork1.z3``, by the file's name; random numbers differ there, so the seed with the best score is
used.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from random import Random

import jericho.game_info
import numpy as np

from gym_memory.games.jericho.engine import ParserEngine
from gym_memory.games.jericho.trials import StateTrials
from gym_memory.games.jericho.words import is_refused_verb

OUT = Path(__file__).with_name("walkthroughs.json")
QUIET = ("look", "inventory", "wait")
SEEDS = range(1, 61)
"""Seeds to play the walkthrough of another release with."""
PREPOSITIONS = ("in", "on", "at", "with")
"""Words that only some releases require between a verb and a thing: *jump lake*."""


def solution(story: Path) -> tuple[int | None, tuple[str, ...]]:
    """Return the seed and the actions of the walkthrough that Jericho has of a story, if any."""
    engine = ParserEngine()
    engine.start(story)
    own = engine.walkthrough()
    engine.close()
    lines = getattr(jericho.game_info, story.stem, {}).get("walkthrough", "")
    if own or not lines:
        return None, own
    plays = [(seed, *replay(story, seed, lines.split("/"))) for seed in SEEDS]
    seed, _, played = max(plays, key=lambda play: (play[1], -play[0]))
    return seed, played


def replay(story: Path, seed: int, lines: list[str]) -> tuple[float, tuple[str, ...]]:
    """Return the score of some actions and their required wording, up to the end of the story."""
    engine, played = ParserEngine(seed), []
    score = engine.start(story).score
    for line in lines:
        begun = engine.save()
        verb, _, rest = line.lower().partition(" ")
        for command in (line, *(f"{verb} {word} {rest}" for word in PREPOSITIONS if rest)):
            engine.load(begun)
            answer = engine.send(command)
            if not is_refused_verb(answer.text):
                break
        played.append(command)
        score = max(score, answer.score)
        if answer.won or answer.lost:
            break
    engine.close()
    return score, tuple(played)


def measure(story: Path, steps: int) -> dict[str, object]:
    """Return the number of drawn walkthrough steps that are found, and the misses."""
    seed, walkthrough = solution(story)
    engine = ParserEngine(seed)
    engine.start(story)
    drawn = Random(story.name).sample(range(len(walkthrough)), min(4 * steps, len(walkthrough)))
    missed: list[str] = []
    found, seconds, listed, lists = 0, 0.0, 0, 0
    for at, action in enumerate(walkthrough):
        if at in drawn and found + len(missed) < steps:
            wanted = effect(engine, action)
            if wanted is not None:
                begun = time.process_time()
                here = engine.save()
                others = engine.list_here()
                engine.load(here)
                seconds += time.process_time() - begun
                lists += 1
                listed += len(others)
                same = action in others or any(effect(engine, o) == wanted for o in others)
                found += same
                missed += [] if same else [f"{at} {action}"]
        if engine.send(action).won:
            break
    engine.close()
    return {
        "story": story.name, "steps": found + len(missed), "found": found, "missed": missed,
        "listed": round(listed / max(1, lists), 1), "ms": round(1000 * seconds / max(1, lists)),
    }  # fmt: skip


def effect(engine: ParserEngine, action: str) -> bytes | None:
    """Return the objects after an action; None if waiting has the same effect, or it has none."""
    known, begun = engine.facts_of_story, engine.save()
    trials = StateTrials(engine.machine, known.vocabulary, lambda command: True)
    regions = [known.region.of(trials.result(command).memory) for command in QUIET]
    same = np.logical_and(regions[0] == regions[1], regions[0] == regions[2])
    now = known.region.of(trials.result(action).memory)[same]
    engine.load(begun)
    still = (regions[0][same], known.region.of(trials.memory)[same])
    return None if any(np.array_equal(now, one) for one in still) else now.tobytes()


def main() -> None:
    """Measure every story, and write each line as it comes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--stories", type=Path, required=True, help="a folder of story files")
    parser.add_argument("--steps", type=int, default=15, help="steps of a story, at most")
    parser.add_argument("--only", nargs="*", help="names of stories")
    parser.add_argument("--out", type=Path, default=OUT)
    args = parser.parse_args()
    rows: list[dict[str, object]] = []
    for story in sorted(args.stories.glob("*.z[3-8]")):
        if args.only and story.name not in args.only:
            continue
        row = measure(story, args.steps)
        if not row["steps"]:
            print(f"{story.name}: no walkthrough in Jericho, by checksum or name", flush=True)
            continue
        rows.append(row)
        print(json.dumps(row), flush=True)
        lines = ",\n".join(json.dumps(row) for row in rows)
        args.out.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    steps = sum(int(str(row["steps"])) for row in rows)
    if not steps:
        sys.exit(f"no story of {args.stories} has a walkthrough in Jericho, by checksum or name")
    print(f"{sum(int(str(row['found'])) for row in rows)} of {steps} steps are listed")


if __name__ == "__main__":
    main()

"""Compare the plain reader's places of things in games of ByteSized32 with their object trees.

    python -m benchmarks foreign_games/bytesized FOLDER
    python -m benchmarks foreign_games/bytesized FOLDER --unseen

FOLDER is a clone of cognitiveailab/BYTESIZED32, whose programs are run. The 32 games are played by
their walkthroughs. Similar games written by a language model, which were not inspected except those
named *object*, are played at random; those that fail or stop are left out. After each step every
thing that a text has named counts: the memory has it in the right place, in a wrong one, or in
none.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import io
import json
import random
import re
import signal
from collections import Counter
from pathlib import Path
from typing import Any

from gym_memory.core.records import Step, Task
from gym_memory.extract import get_extractor
from gym_memory.extract.draft import apply
from gym_memory.graph import TemporalGraph
from gym_memory.graph.schema import INVENTORY, PLAYER

OUT = Path(__file__).with_name("bytesized.json")
STEPS, SECONDS = 20, 10
_COMMAND = re.compile(r"^> (?!help$)(.+)", re.MULTILINE)


def load(program: Path) -> Any:
    spec = importlib.util.spec_from_file_location("game", program)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.TextGame(0)


def names(thing: Any) -> set[str]:
    """Return the name of a thing, in lower case and without an article."""
    said = [*thing.getReferents(), getattr(thing, "name", "")]
    return {re.sub(r"^(?:an?|the) ", "", str(name).lower()) for name in said if name}


def play(program: Path, actions: list[str]) -> Counter[str]:
    """Play the actions, or at random without any; count things right, wrong and missing."""
    game, chance = load(program), random.Random(0)
    reader, graph = get_extractor("plain"), TemporalGraph()
    text, read, counts = game.observationStr, "", Counter[str]()
    for t in range(1 + (len(actions) or STEPS)):
        action = ""
        if t:
            valid = sorted(map(str, game.generatePossibleActions()))
            action = actions[t - 1] if actions else chance.choice(valid)
            text = str(game.step(action)[0])
        read += " " + " ".join(text.split()).lower()
        found = reader.extract(Step(t, text, action), graph, Task("", "", "plain"))
        apply(found, graph, t)
        for thing in game.rootObject.getAllContainedObjectsRecursive():
            counts[_verdict(game, thing, read, graph)] += 1
    return counts


def _verdict(game: Any, thing: Any, read: str, graph: TemporalGraph) -> str:
    place, agent = getattr(thing, "parentContainer", None), getattr(game, "agent", None)
    if thing in (agent, game.rootObject) or not place:
        return ""
    called = names(thing)
    if not any(re.search(rf"\b{re.escape(name)}\b", read) for name in called):
        return ""
    true = {INVENTORY} if place is agent else names(place)
    here = graph.value(PLAYER, "location")
    if here and place in (game.rootObject, getattr(agent, "parentContainer", None)):
        true.add(here.object)
    said = {fact.object for name in called if (fact := graph.value(name, "location"))}
    return "right" if said & true else "wrong" if said else "missing"


def stop(*_: Any) -> None:
    raise TimeoutError("a game without an answer")


def main() -> None:
    parser = argparse.ArgumentParser(description="ByteSized32's games and the plain reader.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--unseen", action="store_true", help="games that a language model wrote")
    parser.add_argument("--reader", default="now", help="name of the row, if it is another version")
    options = parser.parse_args()
    made, data = options.folder / "results/GPT-4-32k/generated_games", options.folder / "data"
    walks = sorted(data.glob("playthroughs/*.txt"))
    jobs = [(p, []) for p in sorted(made.glob("*.py")) if "_object_" not in p.name]
    if not options.unseen:
        texts = {p.name.removesuffix("-playthrough.txt"): p.read_text("utf-8") for p in walks}
        texts["lit-lightbulb"] = texts.pop("lit-light-bulb")
        jobs = [(data / f"programs/{n}.py", _COMMAND.findall(t)) for n, t in sorted(texts.items())]
    signal.signal(signal.SIGALRM, stop)
    total: Counter[str] = Counter()
    for program, actions in jobs:
        signal.alarm(SECONDS)
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                counts = play(program, actions)
        except (Exception, SystemExit):  # games of a language model fail in many ways
            continue
        finally:
            signal.alarm(0)
        total += counts
        total["games"] += 1
    row = {key: total[key] for key in ("games", "right", "wrong", "missing")}
    rows = json.loads(OUT.read_text("utf-8")) if OUT.exists() else {}
    rows.setdefault("unseen" if options.unseen else "walkthroughs", {})[options.reader] = row
    OUT.write_text(json.dumps(rows, indent=1) + "\n", "utf-8")
    print(options.reader, row)


if __name__ == "__main__":
    main()

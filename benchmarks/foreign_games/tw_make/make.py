"""Make a set of games with TextWorld's own makers and random options.

    python benchmarks/foreign_games/tw_make/make.py --set 2 --first 25 --out FOLDER

A set is a seed of options and games: equal sets have equal games, of all makers in turn.
A game that TextWorld cannot make (no quest of that length in such a world, an error of its own) is
left out. ``games.json`` in the folder has the command of each game.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

Options = list[str]
_CPU_SECONDS = 30
"""After which a game counts as one that cannot be made."""


def custom(rng: random.Random) -> Options:
    """Draw worlds of 1 to 25 rooms and quests of 1 to 15 actions, stated in every way."""
    size = rng.choice((1, 2, 3, 5, 8, 12, 17, 25))
    options = ["--theme", rng.choice(("house", "house", "basic")), "--world-size", str(size)]
    options += ["--nb-objects", str(size + rng.choice((4, 10, 20)))]
    if rng.random() < 0.7:
        options += ["--quest-length", str(rng.choice((1, 2, 4, 6, 9, 15)))]
    else:
        options += ["--quest-max-length", str(rng.choice((4, 8)))]
        options += ["--quest-max-depth", str(rng.choice((2, 4)))]
    options += ["--quest-breadth", str(rng.choice((1, 1, 2, 3)))]
    if rng.random() < 0.2:
        options += ["--nb-parallel-quests", "2"]
    flags = (
        "include-adj", "blend-descriptions", "only-last-action", "blend-instructions",
        "entity-numbering",  # ambiguous instructions are "not tested", says TextWorld, and refuses
    )  # fmt: skip
    return [*options, *(f"--{how}" for how in flags if rng.random() < 0.35)]


def simple(rng: random.Random) -> Options:
    """Draw the apartment, with each goal and each way of giving points."""
    goal = rng.choice(("detailed", "brief", "none"))
    return ["--rewards", rng.choice(("dense", "balanced", "sparse")), "--goal", goal]


def coin_collector(rng: random.Random) -> Options:
    """Draw from all three modes: no dead ends, dead ends, and longer ones."""
    return ["--level", str(rng.choice((0, 100, 200)) + rng.choice((5, 12, 20, 30)))]


def treasure_hunter(rng: random.Random) -> Options:
    """Draw from all thirty levels."""
    return ["--level", str(rng.randint(1, 30))]


def cooking(rng: random.Random) -> Options:
    """Draw kitchens with each option, with food and preparations of the splits train and valid."""
    recipe = rng.randint(1, 5)
    options = ["--recipe", str(recipe), "--take", str(rng.randint(1, recipe))]
    options += [
        "--go",
        rng.choice(("1", "6", "9", "12")),
        "--split",
        rng.choice(("train", "valid")),
    ]
    options += ["--recipe-seed", str(rng.randint(1, 9999))]
    return [*options, *(f"--{do}" for do in ("open", "cook", "cut", "drop") if rng.random() < 0.6)]


MAKERS: dict[str, tuple[Callable[[random.Random], Options], int]] = {
    "custom": (custom, 8),
    "tw-simple": (simple, 5),
    "tw-coin_collector": (coin_collector, 5),
    "tw-treasure_hunter": (treasure_hunter, 8),
    "tw-cooking": (cooking, 8),
}
"""Maker to the function that draws its options, and its number of games in a set."""


def commands(number: int) -> Iterator[tuple[str, Options]]:
    """Name and command of each game of a set."""
    chances = {maker: random.Random(f"{number} {maker}") for maker in MAKERS}
    for game in range(max(count for _, count in MAKERS.values())):
        for maker, (draw, count) in MAKERS.items():
            if game < count:
                options = draw(chances[maker])
                seed = str(chances[maker].randrange(10**6))
                yield f"{maker.removeprefix('tw-')}-{game:02}", [maker, *options, "--seed", seed]


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_SECONDS, _CPU_SECONDS))


def main() -> None:
    """Make the games of a set."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--set", type=int, required=True)
    parser.add_argument("--first", type=int, help="so many commands; default: all")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    made: dict[str, str] = {}
    for name, options in islice(commands(args.set), args.first):
        story = args.out / f"{name}.z8"
        command = ["tw-make", *options, "--output", str(story), "--silent"]
        try:
            if not story.exists():
                subprocess.run(command, check=True, capture_output=True, preexec_fn=_limit)
            made[name] = " ".join(options)
        except subprocess.CalledProcessError:
            print(f"not made: {' '.join(options)}", flush=True)
    (args.out / "games.json").write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

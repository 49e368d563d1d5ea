"""Compare scores of story files with the stock engine's, under every kind of file name.

    python benchmarks/textworld_scores/scores.py --games 50

Games of TextWorld's own challenges, made as ``tw-make`` makes them. Each is played to the end by
its walkthrough (*won*), continued at random from halfway (*cut*), and, if possible, lost by eating
an ingredient (*lost*), under names with the prefix ``tw-`` (TextWorld's default, which Jericho
treats as a known game) and others, with and without the .json beside it. The stock engine
(``textworld.start``) plays the same commands on the same file.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import textworld
from textworld.challenges import CHALLENGES

from gym_memory.games.textworld.challenges import StoryFile
from gym_memory.games.textworld.games import compile_game, quiet_random_state

_SEED = 940_000
_NAMES = {
    "tw-x.z8": True, "x.z8": True, "tw-y.z8": False, "y.z8": False, "tw-folder/z.z8": True,
    "plain/tw-z.z8": True,
}  # fmt: skip
"""File name, and whether the .json is beside it."""
_CUT_STEPS = 12


class Kind(NamedTuple):
    """A challenge of TextWorld with settings drawn for each game."""

    challenge: str
    settings: dict[str, tuple[Any, ...]]


KINDS = (
    Kind("tw-cooking", {
        "recipe": (1, 2, 3), "take": (0, 1), "go": (1, 6, 9), "open": (True, False),
        "cook": (True, False), "cut": (True,), "drop": (True, False), "recipe_seed": (0,),
        "split": (None,),
    }),
    Kind("tw-coin_collector", {"level": (1, 5, 110, 203)}),
    Kind("tw-treasure_hunter", {"level": (1, 8, 14, 23)}),
    Kind("tw-simple", {
        "rewards": ("dense", "balanced", "sparse"), "goal": ("detailed", "brief", "none"),
        "test": (False,),
    }),
)  # fmt: skip


class Row(NamedTuple):
    """One way to play one game under one name."""

    game: str
    play: str
    name: str
    described: bool
    steps: int
    differ: int
    stock: float
    ours: float
    ended: str


def make_game(number: int) -> tuple[str, Any]:
    """Make game ``number``; return it and its description."""
    rng = random.Random(_SEED + number)
    kind = KINDS[0] if number % 5 < 2 else KINDS[number % 5 - 1]
    while True:
        settings = {name: rng.choice(values) for name, values in kind.settings.items()}
        options = textworld.GameOptions()
        options.seeds = rng.randrange(1_000_000)
        with quiet_random_state(), contextlib.suppress(ValueError):  # not all can be made
            game = CHALLENGES[kind.challenge][1](settings, options)
            return f"{kind.challenge} {number} {json.dumps(settings)}", game


def plays(story: Path, number: int) -> Iterator[tuple[str, list[str]]]:
    """Yield ways to play a game: name and commands."""
    env = StoryFile(story, max_steps=500)
    env.reset(seed=0)
    walkthrough = list(env.oracle().walkthrough)
    yield "won", walkthrough
    rng = random.Random(number)
    env.reset(seed=0)
    half = walkthrough[: len(walkthrough) // 2]
    cut = [*half]
    for command in half:
        env.step(command)
    for _ in range(_CUT_STEPS):
        actions = env.valid_actions()
        if not actions:
            break
        cut.append(rng.choice(actions))
        env.step(cut[-1])
    yield "cut", cut
    env.reset(seed=0)
    spoilt: list[str] = []
    recipe = {fact.object for fact in env.oracle().facts if fact.relation == "requires"}
    for command in walkthrough:
        eaten = next((f"eat {f}" for f in sorted(recipe) if f"eat {f}" in env.valid_actions()), "")
        if eaten:
            yield "lost", [*spoilt, eaten]
            break
        env.step(command)
        spoilt.append(command)
    env.close()


def stock_scores(story: Path, commands: Sequence[str]) -> list[float]:
    """Return the scores that TextWorld's own environment gives, the start first."""
    env = textworld.start(str(story), textworld.EnvInfos(score=True))
    scores = [env.reset().score]
    for command in commands:
        _, score, done = env.step(command)
        scores.append(score)
        if done:
            break
    env.close()
    return [float(score) for score in scores]


def our_scores(story: Path, commands: Sequence[str]) -> tuple[list[float], str]:
    """Return the scores of a :class:`StoryFile`, the start first, and how it ended."""
    env = StoryFile(story, max_steps=len(commands) + 1)
    _, info = env.reset(seed=0)
    scores, ended = [info["score"]], "cut"
    for command in commands:
        *_, over, _, info = env.step(command)
        scores.append(info["score"])
        if over:
            ended = "won" if info["success"] else "lost"
            break
    env.close()
    return scores, ended


def compare(number: int, folder: Path) -> list[Row]:
    """Compare all ways to play game ``number`` under all names."""
    label, game = make_game(number)
    made = folder / "made.z8"
    compile_game(game, made)
    rows = []
    for play, commands in plays(made, number):
        for name, described in _NAMES.items():
            story = folder / name
            story.parent.mkdir(exist_ok=True)
            shutil.copy(made, story)
            description = story.with_suffix(".json")
            shutil.copy(made.with_suffix(".json"), description)
            stock = stock_scores(story, commands)
            if not described:
                description.unlink()
            ours, ended = our_scores(story, commands)
            differ = sum(a != b for a, b in zip(stock, ours, strict=False))
            differ += abs(len(stock) - len(ours))
            steps = len(stock) - 1
            rows.append(
                Row(label, play, name, described, steps, differ, stock[-1], ours[-1], ended)
            )
    return rows


def main() -> None:
    """Compare, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--games", type=int, default=50)
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".json"))
    options = parser.parse_args()
    rows: list[Row] = []
    for number in range(options.games):
        with tempfile.TemporaryDirectory() as folder:
            rows += compare(number, Path(folder))
    ends = Counter((row.game, row.ended) for row in rows)
    summary = {
        "games": options.games,
        "episodes": len(rows),
        "steps": sum(row.steps for row in rows),
        "steps with another score": sum(row.differ for row in rows),
        "games won, lost, cut": [
            sum(end == how for _, end in ends) for how in ("won", "lost", "cut")
        ],
        "by name": {name: sum(row.differ for row in rows if row.name == name) for name in _NAMES},
    }
    text = json.dumps(summary, indent=1) + "\n"
    print(text, end="")
    options.out.write_text(text)


if __name__ == "__main__":
    main()

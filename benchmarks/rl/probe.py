"""Clone a linear policy from a few episodes, to measure the worth of the features.

The planner, always with AriGraph, plays 1, 5 or 20 training games. A linear policy, with one weight
per feature of an action, learns its choices, and plays the test games greedily, 100 steps a game.
There are no rewards and no exploration, so the score comes from the features. Run in the root of
the repository::

    OMP_NUM_THREADS=1 python benchmarks/rl/probe.py --level rl-4

If interrupted, run it again. It keeps every test episode in ``probe.jsonl.gz`` and writes the table
``probe.md``. ``--seeds`` draws other training games (20 of seed s, from game 20 s on);
``--unseen-foods`` takes training games that share no food with any recipe of the test games.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from gym_memory.baselines.rl.shared.features import describe, names_of
from gym_memory.baselines.rl.shared.lexicon import Lexicon
from gym_memory.run.results import intervals
from gym_memory.run.results.report import format_interval
from gym_memory.train.steps import AdvisedObservation
from gym_memory.wrappers.make import make_env

HERE = Path(__file__).parent
ARMS = (
    ("arigraph", "related"), ("arigraph", "plain"), ("arigraph", "rendered"),
    ("present", "plain"), ("history", "plain"), ("none", "plain"),
)  # fmt: skip
"""Memories, with the use of their facts."""
DEMONSTRATIONS = (1, 5, 20)
TEST_GAMES, TEST_STEPS = 20, 100


class Shown(NamedTuple):
    """A state of a demonstration: the features of each action, and the chosen one."""

    actions: tuple[tuple[str, ...], ...]
    label: int


def demonstrate(
    level: str, memory: str, facts: str, games: Sequence[int]
) -> tuple[Lexicon, list[Shown]]:
    """Return the planner's games as a learner sees them."""
    env: Any = AdvisedObservation(_env(level, "train", memory, 50))
    lexicon = Lexicon(0.8)
    played: list[tuple[Any, int]] = []
    for game in games:
        obs, info = env.reset(seed=game)
        over = False
        while not over and obs["advice"] in obs["valid_actions"]:
            describe(obs, lexicon, info["task_id"], facts=facts)
            played.append((obs, obs["valid_actions"].index(obs["advice"])))
            obs, _, terminated, truncated, info = env.step(obs["advice"])
            over = terminated or truncated
    env.close()
    # Common names are known only now.
    return lexicon, [Shown(_actions(obs, lexicon, facts), label) for obs, label in played]


def _actions(obs: Any, lexicon: Lexicon, facts: str) -> tuple[tuple[str, ...], ...]:
    return tuple(map(names_of, describe(obs, lexicon, facts=facts).actions))


def fit(shown: Sequence[Shown], decay: float = 1e-3, steps: int = 300) -> dict[str, float]:
    """Fit the weight of each feature: a softmax over the actions, by maximum likelihood."""
    rows = {
        name: i for i, name in enumerate(sorted({f for s in shown for a in s.actions for f in a}))
    }
    bags = [[rows[f] for f in action] for s in shown for action in s.actions]
    flat = torch.tensor([row for bag in bags for row in bag])
    starts = torch.tensor(np.cumsum([0, *map(len, bags[:-1])]))
    counts = [len(s.actions) for s in shown]
    table = torch.nn.EmbeddingBag(len(rows), 1, mode="sum")
    torch.nn.init.zeros_(table.weight)
    adam = torch.optim.Adam(table.parameters(), lr=0.05)
    labels = torch.tensor([s.label for s in shown])
    for _ in range(steps):
        logits = table(flat, starts).squeeze(1).split(counts)
        padded = torch.nn.utils.rnn.pad_sequence(logits, batch_first=True, padding_value=-torch.inf)
        loss = torch.nn.functional.cross_entropy(padded, labels)
        loss = loss + decay * table.weight.square().sum()
        adam.zero_grad()
        loss.backward()
        adam.step()
    return dict(zip(rows, table.weight.detach().squeeze(1).tolist(), strict=True))


def play(
    level: str, memory: str, facts: str, lexicon: Lexicon, weights: dict[str, float]
) -> Iterator[dict[str, Any]]:
    """Play the test games greedily."""
    env = _env(level, "test", memory, TEST_STEPS)
    for game in range(TEST_GAMES):
        obs, info = env.reset(seed=game)
        over, steps = False, 0
        while not over:
            actions = _actions(obs, lexicon, facts)
            worth = [sum(weights.get(f, 0.0) for f in action) for action in actions]
            obs, _, terminated, truncated, info = env.step(
                obs["valid_actions"][int(np.argmax(worth))]
            )
            over, steps = terminated or truncated, steps + 1
        yield {
            "task_id": info["task_id"],
            "normalized": round(info["normalized_score"], 4),
            "steps": steps,
        }
    env.close()


def _env(level: str, split: str, memory: str, steps: int) -> Any:
    return make_env(
        "Cooking", memory=memory, level=level, gata_actions=True, split=split, max_steps=steps
    )


def foods(level: str, split: str, games: Sequence[int]) -> list[frozenset[str]]:
    """Return the foods of the recipes of some games, from the engine."""
    env = _env(level, split, "none", 1)
    found = []
    for game in games:
        env.reset(seed=game)
        facts = env.get_wrapper_attr("oracle")().facts
        found.append(frozenset(fact.object for fact in facts if fact.relation == "requires"))
    env.close()
    return found


def page(rows: Sequence[dict[str, Any]]) -> str:
    """Return the table: a row for each arm, a column for each number of demonstrations."""
    heads = ["level", "training foods", "memory", "facts", *(f"{n} shown" for n in DEMONSTRATIONS)]
    out = [f"| {' | '.join(heads)} |", "|---" * 4 + "|---" * 3 + "|"]
    for level, training in dict.fromkeys((row["level"], row["foods"]) for row in rows):
        for memory, facts in ARMS:
            cells = []
            for number in DEMONSTRATIONS:
                arm = {
                    "level": level,
                    "foods": training,
                    "memory": memory,
                    "facts": facts,
                    "shown": number,
                }
                group = [row for row in rows if arm.items() <= row.items()]
                scores = [row["normalized"] for row in group]
                runs = [row["seed"] for row in group]
                labels = {"runs": runs} if len(set(runs)) > 1 else {}
                sure = intervals.scores(scores, [row["task_id"] for row in group], **labels)
                cells.append(
                    f"{sure.mean:.2f} {format_interval(sure.interval())}" if group else "–"
                )
            out.append(f"| {level} | {training} | {memory} | {facts} | {' | '.join(cells)} |")
    draws = sorted({row["seed"] for row in rows})
    return "\n".join(
        [*out, "", f"Draws of training games: {draws}; {TEST_GAMES} test games a cell.", ""]
    )


def main() -> None:
    """Play the missing games, write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--level", default="rl-4")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0], help="draws of training games")
    parser.add_argument("--unseen-foods", action="store_true")
    args = parser.parse_args()
    torch.set_num_threads(1)
    kept = HERE / "probe.jsonl.gz"
    rows: list[dict[str, Any]] = []
    if kept.exists():
        with gzip.open(kept, "rt", encoding="utf-8") as file:
            rows += map(json.loads, file)
    training = "unseen in tests" if args.unseen_foods else "any"
    pool = list(range(100))
    if args.unseen_foods:
        tested = frozenset[str]().union(*foods(args.level, "test", range(TEST_GAMES)))
        pool = [
            g
            for g, own in zip(pool, foods(args.level, "train", pool), strict=True)
            if not own & tested
        ]
        print(f"{len(pool)} training games share no food with the test games: {pool}")
    for seed in args.seeds:
        for memory, facts in ARMS:
            for number in DEMONSTRATIONS:
                games = pool[20 * seed : 20 * seed + number]
                arm = {"level": args.level, "foods": training, "memory": memory, "facts": facts}
                arm |= {"shown": number, "seed": seed}
                if len(games) < number or any(arm.items() <= row.items() for row in rows):
                    continue
                started = time.process_time()
                lexicon, shown = demonstrate(args.level, memory, facts, games)
                weights = fit(shown)
                new = [{**arm, **row} for row in play(args.level, memory, facts, lexicon, weights)]
                rows += new
                with gzip.open(kept, "at", encoding="utf-8") as file:
                    file.writelines(f"{json.dumps(row)}\n" for row in new)
                mean = np.mean([row["normalized"] for row in new])
                spent = time.process_time() - started
                print(f"{memory} {facts} {number}: {mean:.2f}, {spent:.0f} CPU s", flush=True)
    (HERE / "probe.md").write_text(page(rows), encoding="utf-8")


if __name__ == "__main__":
    main()

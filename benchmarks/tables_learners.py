"""Write the tables of trained players: RL, readers of text, small language models."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from tables_budgets import (
    RIVALS,
    areas_line,
    areas_table,
)
from tables_kept import by_run, markdown_table, read, rows_of, short_name

from gym_memory.run.results import intervals
from gym_memory.run.results.score import Unit, format_interval

_LEVEL = r"-(?=(?:rl|hunt)-[^-]+$)"


class Trained(NamedTuple):
    """A player of benchmarks/rl; those of a cell differ by the seed of training.

    Attributes:
        test: Score of each game of the level that it was trained on.
        elsewhere: Level to the score of each game, if it was also played on others.
        result: Result of the training.
    """

    test: list[float]
    elsewhere: dict[str, list[float]]
    result: dict[str, Any]


@cache
def _trained() -> dict[tuple[str, str, str], dict[int, Trained]]:
    """Return (kind, level, memory) to seed to player; a kind is the name given by `one.sh`."""
    played: dict[str, dict[str, list[float]]] = {}
    for name, episodes in by_run("rl/episodes.jsonl.gz").items():
        run, _, level = name.partition("/")
        scores = [row["normalized"] for row in sorted(episodes, key=itemgetter("task_id"))]
        played.setdefault(run, {})[level] = scores
    found: dict[tuple[str, str, str], dict[int, Trained]] = {}
    for name, [run] in sorted(by_run("rl/runs.jsonl.gz").items()):
        memory, seed = run["config"]["memory"], run["config"]["training"]["seed"]
        kind, level = re.split(_LEVEL, name.removesuffix(f"-{memory}-{seed}"))
        scores = played[name]
        cell = found.setdefault((kind, level, memory), {})
        cell[seed] = Trained(scores.pop(""), scores, run["result"])
    return found


def rl() -> str:
    """Tabulate DRRN under equal reward, with memories and with features made by hand."""
    rows = []
    for protocol, level in itertools.product(PROTOCOLS, LEARNT_LEVELS):
        named = f"{level}, {protocol.partition('-')[0]}{otherwise(protocol)}"
        for arm, features in LEARNT.items():
            tests, gaps = _beside_the_graph(protocol, level, arm)
            if tests:
                number = str(len(next(iter(tests.values()))))
                rows.append([named, f"`{arm[1]}`, {features}", number, by_seed(tests), _gap(gaps)])
    heads = ["level, training games", "what the learner sees", "n", "score by training, 95 %"]
    return markdown_table([*heads, _LEAD], 2, rows)


def rl_means() -> str:
    """Return the same over trainings, a row for each input of the learner, with 100 games."""
    shown = {"rl-4": "100", "rl-3": "100", "hunt-easy": "100-cloned"}
    rows = []
    for arm, features in LEARNT.items():
        row = [f"`{arm[1]}`, {features}"]
        for level, protocol in shown.items():
            tests, gaps = _beside_the_graph(protocol, level, arm)
            score = f"{np.mean([*tests.values()]):.2f}" if tests else ""
            row += [score, _gap(gaps)]
        rows.append(row)
    heads = [head for level in shown for head in (level, _LEAD)]
    return markdown_table(["what the learner sees", *heads], 1, rows)


def _beside_the_graph(
    protocol: str, level: str, arm: tuple[str, str]
) -> tuple[dict[int, list[float]], dict[int, list[float]]]:
    """Return scores by training, and the lead of the graph over them.

    Its learner sees the same features; bare ones where the other has none or is the graph's too.
    """
    (facts, memory), trained = arm, _trained()
    like = "plain" if memory == "arigraph" else facts
    graph = trained.get((f"{like}-{protocol}", level, "arigraph"), {})
    runs = trained.get((f"{facts}-{protocol}", level, memory), {})
    tests = {seed: run.test for seed, run in runs.items()}
    both = {} if runs is graph else {seed: graph[seed] for seed in runs if seed in graph}
    return tests, {s: np.subtract(it.test, tests[s]).tolist() for s, it in both.items()}


_LEAD = "`arigraph`, like features - it"
PROTOCOLS = ("100", "100-unhinted", "100-cloned", "20")
"""Training games, and the special settings of sweep.sh."""
LEARNT = {
    ("related", "arigraph"): "all features",
    ("plain", "arigraph"): "bare features",
    ("plain", "present"): "bare features",
    ("plain", "stma"): "bare features",
    ("plain", "summary"): "bare features",
    ("plain", "history"): "as text",
    ("plain", "shuffled"): "bare features",
    ("plain", "none"): "as text",
    ("rendered", "arigraph"): "as text",
    ("related", "present"): "all features",
    ("related", "shuffled"): "all features",
    ("related", "stma"): "all features",
    ("related", "summary"): "all features",
}
"""The use of facts, and the memory; see rl/sweep.sh."""
LEARNT_LEVELS = ("rl-4", "rl-3", "hunt-easy")
"""Levels of Cooking, and of TreasureHunt."""


def otherwise(kind: str) -> str:
    """Return the special settings of sweep.sh."""
    return {"unhinted": ", no hint", "cloned": ", cloned first"}.get(kind.rpartition("-")[2], "")


def elsewhere() -> str:
    """Return the scores of players on levels on which they were not trained."""
    rows = []
    for (kind, level, memory), runs in _trained().items():
        for other in sorted({name for run in runs.values() for name in run.elsewhere}):
            played = {s: run.elsewhere[other] for s, run in runs.items() if other in run.elsewhere}
            features = LEARNT[kind.partition("-")[0], memory]
            named = level + otherwise(kind)
            rows.append([named, other, f"`{memory}`, {features}", by_seed(played)])
    return markdown_table(
        ["trained on", "played on", "what it sees", "score by training, 95 %"], 3, rows
    )


def learners(only: str = "") -> str:
    """Return other learners and memories, of one learner and level or of all; see rl/others.sh."""
    rows = []
    for (kind, level, memory), runs in sorted(_trained().items()):
        if kind.partition("-")[0] in {"levels", *(facts for facts, _ in LEARNT)}:
            continue
        if only not in ("", f"{kind} {level}"):
            continue
        results = [run.result for run in runs.values()]
        steps = np.mean([result["steps"] for result in results])
        minutes = np.mean([result["cpu_seconds"] for result in results]) / 60
        tests = {seed: run.test for seed, run in runs.items()}
        cells = [f"`{kind}`", level, f"`{memory}`", by_seed(tests), f"{steps:,.0f}"]
        rows.append([*cells, f"{minutes:.1f}"])
    heads = ["learner", "level", "memory", "score by training, 95 %", "training steps", "CPU min"]
    return markdown_table(heads, 3, rows)


LEVELS = {"rl-1": 4, "rl-2": 5, "rl-3": 3, "rl-4": 11}
"""Levels of GATA's paper, with the most points of a game."""
PUBLISHED = {
    "GATA-GTF, by Wang et al. (2024)": ((2.73, 0.26), (1.77, 0.16), (1.47, 0.05), (2.25, 0.33)),
    "their MIPO, with DistilBERT": ((3.12, 0.20), (1.94, 0.04), (2.16, 0.04), (2.64, 0.21)),
}
"""Points on 20 test games after training on 100, with standard deviations: their Table 2."""


def levels() -> str:
    """Tabulate learners on GATA's four levels beside published scores."""
    rows = []
    for games, memory in itertools.product((100, 20), ("arigraph", "none")):
        arms = (_trained()[f"levels-{games}-drrn", level, memory] for level in LEVELS)
        cells = [by_seed({seed: run.test for seed, run in arm.items()}) for arm in arms]
        rows.append([f"DRRN, `{memory}`", str(games), *cells])
    for title, points in PUBLISHED.items():
        cells = [
            f"{mean / most:.2f} ± {deviation / most:.2f}"
            for (mean, deviation), most in zip(points, LEVELS.values(), strict=True)
        ]
        rows.append([title, "100", *cells])
    return markdown_table(["learner", "training games", *LEVELS], 2, rows)


def learner() -> str:
    """Tabulate areas under score against token budget of the transformer over words."""
    return areas_table([areas_line(world, RIVALS) for world in learnt_worlds()], RIVALS)


def learnt_worlds() -> list[list[Unit]]:
    """Return the test games of each world of text/mixed.py under all its budgets."""
    rows = [row for row in rows_of("text/mixed.jsonl") if "memory" in row]
    largest = max(row["budget"] for row in rows)
    curves = {row["memory"] for row in rows if row["budget"] < largest}
    worlds = dict.fromkeys(row["world"] for row in rows)
    return [
        [unit for row in rows if row["world"] == world and row["memory"] in curves
         for unit in _learnt(row)]
        for world in worlds
    ]  # fmt: skip


def _learnt(row: Mapping[str, Any]) -> Iterable[Unit]:
    env = row["world"].removesuffix("&gata_actions=true")
    for game, score in enumerate(row["model"]):
        yield Unit(
            "single_episode", env, row["memory"], "text", row["budget"], game, str(game),
            failed="", score=score, success=score == 1, steps=0, memory_ms=0.0,
            tokens=row["tokens"], cost_usd=0.0, curve=(), trials=(score,), counters={}, raw=False,
        )  # fmt: skip


def own_readers() -> str:
    """Tabulate readers that were trained on one memory beside the one that all share."""
    shared = {
        (row["world"], row["memory"], row["budget"]): row["model"]
        for row in rows_of("text/mixed.jsonl")
        if "memory" in row
    }
    alone: dict[tuple[str, str, int], dict[int, list[float]]] = {}
    rules = {}
    for row in rows_of("text/own.jsonl"):
        arm = row["world"], row["memory"], row["budget"]
        alone.setdefault(arm, {})[row["seed"]] = row["model"]
        rules[arm] = row["rules"]
    rows = [
        [short_name(arm[0]), f"`{arm[1]}`", by_seed(alone[arm])]
        + [by_seed({0: scores}) for scores in (shared[arm], rules[arm])]
        for arm in alone
    ]
    heads = ["world", "memory", "readers of it alone, 95 %", "shared reader", "planner"]
    return markdown_table(heads, 2, rows)


def by_seed(trainings: Mapping[int, Sequence[float]]) -> str:
    """Return the mean of each training over games, and the interval."""
    means = ", ".join(f"{np.mean(scores):.2f}" for scores in trainings.values())
    return f"{means} {_sure(intervals.scores, trainings)}"


def _gap(trainings: Mapping[int, Sequence[float]]) -> str:
    """Return the mean of the gaps and its interval; nothing if there are none."""
    if not trainings:
        return ""
    return f"{np.mean([*trainings.values()]):+.2f} {_sure(intervals.gaps, trainings)}"


def _sure(kind: Callable[..., Any], trainings: Mapping[int, Sequence[float]]) -> str:
    """Return the interval over games, and over trainings if there are several."""
    labelled = [(seed, game, x) for seed, one in trainings.items() for game, x in enumerate(one)]
    seeds, games, scores = zip(*labelled, strict=True)
    return format_interval(kind(scores, games, seeds if len(trainings) > 1 else None).interval())


def smollm() -> str:
    """Tabulate SmolLM2 cloned by memory; see smollm/clone.py."""
    kept = [row for row in rows_of("smollm/clone.jsonl") if row["game"] is not None]
    rows = []
    for level in dict.fromkeys(row["level"] for row in kept):
        scores = {
            memory: {
                row["game"]: row["score"]
                for row in kept
                if (row["level"], row["memory"]) == (level, memory)
            }
            for memory in ("arigraph", "none", "summary")
        }
        gaps = [score - scores["none"][game] for game, score in scores["arigraph"].items()]
        cells = [by_seed({0: [*one.values()]}) if one else "" for one in scores.values()]
        rows.append([level, str(len(gaps)), *cells, _gap({0: gaps})])
    heads = ["level", "n", "`arigraph`, 95 %", "`none`", "`summary`", "`arigraph` - `none`"]
    return markdown_table(heads, 1, rows)


def smollm_gpu() -> str:
    """Tabulate the trainings of smollm/gpu.py."""
    rows = []
    for r in rows_of("smollm/gpu.jsonl"):
        agreed = r["held_out_agreed"]
        rows.append(
            [r["level"], f"`{r['memory']}`", r["device"], f"{r['states']:,}",
             f"{r['updates']:,}", "" if agreed is None else f"{agreed:.3f}", f"{r['seconds']:,}"]
        )  # fmt: skip
    heads = ["level", "memory", "on", "states", "updates", "held-out states answered", "seconds"]
    return markdown_table(heads, 3, rows)


LEARNERS = {
    "drrn": "DRRN",
    "sb3": "MaskablePPO",
    "words": "DRRN, words alone",
    "words-levels": "DRRN, words alone, easier levels first",
    "text": "transformer",
    "text-levels": "transformer, easier levels first",
    "critic": "transformer, actor-critic",
    "alike": "DRRN, words alone, directions alike",
}
"""Learners of rl/million.py; ``alike`` does not distinguish directions, and ``critic`` is
the transformer's former learning."""
LEADS = {
    "words": (
        ("arigraph", "none"), ("history", "none"), ("summary", "none"),
        ("arigraph", "history"), ("arigraph", "summary"),
    ),
    "text-levels": (("arigraph", "none"),),
}  # fmt: skip
"""Memories that are compared, by learner of rl/million.py."""
ENTROPY = 0.03
"""Default weight of PPO's entropy."""


def million() -> str:
    """Tabulate the long trainings by learner and memory; see rl/million.py."""
    found: dict[tuple[str, str, int], list[dict[str, Any]]] = {}
    for row in read("rl/million.json"):
        found.setdefault((row["learner"], row["memory"], row["curve"][-1][0]), []).append(row)
    rows = []
    order = [*LEARNERS]
    for key, own in sorted(found.items(), key=lambda item: order.index(item[0][0])):
        learner, memory, steps = key
        best = [max(row["curve"], key=itemgetter(2)) for row in own]
        seconds = [row["curve"][-1][1] for row in own]
        minutes = (row["minutes"] and f"{row['minutes']:.0f}" for row in own)
        rows.append(
            [f"{LEARNERS[learner]}, `{memory}`", f"{steps:,}",
             ", ".join(filter(None, minutes)), ", ".join(f"{one / 60:.0f}" for one in seconds),
             f"{steps * len(own) / sum(seconds):.0f}",
             ", ".join(f"{score:.2f} ({at:,})" for at, _, score in best),
             str(len(own[0]["scores"])), by_seed({row["seed"]: row["scores"] for row in own})]
        )  # fmt: skip
    heads = ["learner, memory", "steps", "minutes", "CPU minutes", "steps a CPU-second"]
    heads += ["best valid score (first at step)", "n", "held-out score by training, 95 %"]
    gaps = ""
    for learner, steps in sorted({(learner, steps) for learner, _, steps in found}):
        said = []
        for memory, rival in LEADS.get(learner, ()):
            rows_of_both = (found.get((learner, one, steps), ()) for one in (memory, rival))
            own, other = ({row["seed"]: row["scores"] for row in both} for both in rows_of_both)
            scores = {seed: np.subtract(own[seed], other[seed]) for seed in own if seed in other}
            if scores:
                said.append(f"`{memory}` - `{rival}` {_gap(scores)} ({len(scores)})")
        if said:
            gaps += f"{LEARNERS[learner]}, {steps:,} steps (trainings): {', '.join(said)}.\n"
    said = []
    for (learner, memory, _), own in found.items():
        if learner == "text-levels":
            scores = (f"{level} {score:.2f}" for level, score in own[0]["best"].items())
            said.append(f"`{memory}` {', '.join(scores)}")
    gaps += f"Its best valid scores by level: {'; '.join(said)}.\n"
    return f"{markdown_table(heads, 1, rows)}\n{gaps}"


def sb3() -> str:
    """Tabulate SB3's PPO on Cooking rl-4 by memory and weight of entropy; see rl/sb3.py."""
    names = {"arigraph": "MaskablePPO, `arigraph`", "ppo": "PPO, `arigraph`",
             "none": "MaskablePPO, `none`"}  # fmt: skip
    found: dict[tuple[str, float], list[dict[str, Any]]] = {}
    for row in read("rl/sb3.json"):
        found.setdefault((row["arm"], row["ent_coef"]), []).append(row)
    rows = []
    for arm, title in names.items():
        for entropy in sorted(weight for name, weight in found if name == arm):
            own = found[arm, entropy]
            seeds = ", ".join(str(row["seed"]) for row in own)
            steps = ", ".join(f"{row['curve'][-1][0]:,}" for row in own)
            minutes = ", ".join(f"{row['cpu_seconds'] / 60:.0f}" for row in own)
            scores = by_seed({row["seed"]: row["scores"] for row in own})
            n = str(len(own[0]["scores"]))
            rows.append([title, f"{entropy}", seeds, steps, minutes, n, scores])
    heads = ["learner, memory", "`ent_coef`", "seeds", "steps", "CPU minutes", "n"]
    heads.append("score by training, 95 %")
    return markdown_table(heads, 1, rows)

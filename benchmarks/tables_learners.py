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
from tables_kept import by_run, markdown_table, read, rows_of

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
        if kind.partition("-")[0] in {facts for facts, _ in LEARNT}:
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


def text() -> str:
    """Tabulate a transformer over words by level, memory and training length; see text/run.py."""
    arms: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows_of("text/arms.jsonl"):
        arms.setdefault(tuple(row[field] for field in _ARM), []).append(row)
    rows = []
    for arm in sorted(arms, key=lambda one: (one[0], -one[1], one[2] != "own")):
        level, steps, words, memory, budget = arm
        runs, own = arms[arm], (level, steps, words, "arigraph")
        best = {run["seed"]: run for run in arms.get((*own, budget)) or arms.get((*own, 500), [])}
        cells = [f"{level}, {steps:,}" + (", MiniLM's words" if words == "minilm" else "")]
        cells += [f"`{memory}`" if budget == 500 else f"`{memory}` ({budget:,})"]
        cells += [str(round(np.mean([run["tokens"] for run in runs])))]
        for mode in ("greedy", "sample"):
            cells.append(by_seed({run["seed"]: run[mode] for run in runs}))
        for mode in ("greedy", "sample"):
            gaps = {
                run["seed"]: np.subtract(best[run["seed"]][mode], run[mode])
                for run in runs
                if run["seed"] in best
            }
            shown = memory != "arigraph" and len(gaps) == len(runs)
            cells.append(_gap(gaps) if shown else "")
        rows.append(cells)
    heads = ["level, steps", "memory", "tokens", "greedy, by training, 95 %", "sampled"]
    return markdown_table([*heads, "`arigraph` - it, greedy", "sampled"], 2, rows)


_ARM = ("game", "steps", "words", "memory", "budget")
"""Fields that distinguish the arms of text/arms.jsonl; rows of an arm differ by their seed."""


def learner() -> str:
    """Tabulate areas under score against token budget of the transformer over words."""
    return areas_table([areas_line(world, RIVALS) for world in learnt_worlds()], RIVALS)


def learnt_worlds() -> list[list[Unit]]:
    """Return the test games of each level of which text/run.py has a curve; one greedy training."""
    found: dict[str, dict[str, list[Unit]]] = {env: {} for env, _ in _CURVES.values()}
    for row in rows_of("text/arms.jsonl"):
        env, steps = _CURVES.get(row["game"], ("", 0))
        if env and (row["steps"], row["words"], row["seed"]) == (steps, "own", 0):
            found[env].setdefault(row["memory"], []).extend(_learnt(env, row))
    return [_under_its_budgets(memories) for memories in found.values()]


def _under_its_budgets(memories: Mapping[str, Sequence[Unit]]) -> list[Unit]:
    """Return the arms under all of the graph's budgets, and those without a budget."""
    budgets = {unit.budget for unit in memories["arigraph"]}
    found: list[Unit] = []
    for memory, group in memories.items():
        if memory in _FREE or budgets <= {unit.budget for unit in group}:
            found += [unit for unit in group if unit.budget in budgets]
    return found


_CURVES = {
    "rl-4": ("Cooking?level=rl-4", 4800),
    "rl-3": ("Cooking?level=rl-3", 4800),
    "hunt": ("TreasureHunt?level=easy", 4800),
    "stma-2": ("Cooking?level=stma-2", 2400),
    "medium": ("Cooking?level=medium", 2400),
    "hunt, voices": ("TreasureHunt?level=voices-easy", 2400),
}
"""Level of text/run.py to its environment and the steps of training of its curve."""
_FREE = ("none", "history?full=true")
"""Memories that ignore the budget."""


def _learnt(env: str, row: Mapping[str, Any]) -> Iterable[Unit]:
    for game, score in enumerate(row["greedy"]):
        yield Unit(
            "single_episode", env, row["memory"], "text", row["budget"], game, str(game),
            failed="", score=score, success=score == 1, steps=row["steps"], memory_ms=0.0,
            tokens=row["tokens"], cost_usd=0.0, curve=(), trials=(score,), counters={}, raw=False,
        )  # fmt: skip


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


LEARNERS = {"drrn": "DRRN", "sb3": "MaskablePPO", "words": "DRRN, words alone"}
"""Learners of rl/million.py."""
ENTROPY = 0.03
"""Default weight of PPO's entropy."""


def million() -> str:
    """Tabulate the trainings of a million steps by learner and memory; see rl/million.py."""
    rows = []
    for row in read("rl/million.json"):
        steps, seconds, _ = row["curve"][-1]
        best = max(score for *_, score in row["curve"])
        first = next(curve for curve in row["curve"] if curve[-1] == best)
        minutes = "" if row["minutes"] is None else f"{row['minutes']:.0f}"
        score = by_seed({row["seed"]: row["scores"]})
        rows.append(
            [f"{LEARNERS[row['learner']]}, `{row['memory']}`", f"{steps:,}", minutes,
             f"{seconds / 60:.0f}", f"{steps / seconds:.0f}", f"{best:.2f} ({first[0]:,})",
             str(len(row["scores"])), score]
        )  # fmt: skip
    heads = ["learner, memory", "steps", "minutes", "CPU minutes", "steps a CPU-second"]
    heads += ["best valid score (first at step)", "n", "held-out score, 95 %"]
    return markdown_table(heads, 1, rows)


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

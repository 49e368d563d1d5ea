"""Write the tables of README.md, docs/results and benchmark pages from the kept data.

A table stands between ``<!-- table NAME -->`` and ``<!-- end -->``; what stands there is written by
this script and by nobody else. Run in the root of the repository::

    python benchmarks/tables.py            # write them
    python benchmarks/tables.py --check    # change nothing; exit status 1 where one differs
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import leads
import numpy as np
import speed
import tables_docs
from keep import read_rows
from rank import LARGEST, shipped

from gym_memory.core.names import Spec
from gym_memory.evaluate.rank.result import main_table, more_tables
from gym_memory.evaluate.rank.suite import load_suite
from gym_memory.papers.experiments import load_experiment
from gym_memory.run.config import EpisodeRow
from gym_memory.run.results import intervals, sweep
from gym_memory.run.results.score import Unit, format_interval, grouped, units
from gym_memory.run.results.streams import stream_sentences, stream_tables, transfer_sentences

HERE = Path(__file__).parent
README = HERE.parent / "README.md"
RESULTS = HERE.parent / "docs" / "results"
_TABLE = re.compile(r"(<!-- table (\w+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def _read(path: str) -> Any:
    data = (HERE / path).read_bytes()
    return json.loads(gzip.decompress(data) if path.endswith(".gz") else data)


def _rows(path: str) -> list[dict[str, Any]]:
    return list(read_rows(HERE / path))


@cache
def _by_run(path: str) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of each run that keep.py packed into a file."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in read_rows(HERE / path):
        found.setdefault(row.pop("run"), []).append(row)
    return found


def _table(heads: Sequence[str], words: int, rows: Iterable[Sequence[str]]) -> str:
    """Markdown; the first columns are words, the others numbers."""
    line = "|---" * words + "|--:" * (len(heads) - words) + "|"
    return "\n".join([_line(heads), line, *map(_line, rows), ""])


def _made(make: Callable[[], tables_docs.Table]) -> str:
    return _table(*make())


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _game(env: str) -> str:
    name, settings = Spec(env).parts
    return f"{name} {settings.get('level', '')}".strip()


def foreign_games() -> str:
    """Games of other authors, and of TextWorld's own makers; every score is kept."""
    kept = _read("foreign_games/tidy_up.json") + _read("foreign_games/tw_make/scores.json")
    heads = ("random", "none", "`shuffled`", "history", "`arigraph`", "oracle")
    rows = []
    for games, title in _FOREIGN.items():
        found = {
            row["memory"] if row["policy"] == "planner" else "random": row["scores"]
            for row in kept
            if row["games"] == games
        }
        shown = (found.get(head.strip("`")) for head in heads)
        cells = (f"{np.mean(np.concatenate(scores)):.2f}" if scores else "" for scores in shown)
        rows.append([title, str(len(found["none"])), *cells])
    unseen = dict(zip(heads, rows[-1][2:], strict=True))
    said = ", ".join(
        f"`{memory.strip('`')}` {unseen[memory]}" for memory in ("history", "`arigraph`")
    )
    made = _table(["games of others", "n", *heads], 1, rows)
    return f"{made}\nIn the games that nobody looked at: {said}.\n"


_FOREIGN = {
    "easy": "TextWorld Commonsense, tidying, easy",
    "medium": "the same, medium",
    "hard": "the same, hard",
    "set1": "TextWorld's five makers, options by chance",
    "set2": "the same, games that nobody looked at",
}
"""Folder of games to what it holds."""


def fiction() -> str:
    """Every player of a story under each protocol, in points; see jericho/run.py."""
    heads = ("protocol", "policy", "memory", "jobs", "points [95 %]", "best of any job", "replayed")
    jobs: dict[str, list[dict[str, Any]]] = {}
    for row in _read("jericho/scores.json"):
        jobs.setdefault(row["arm"], []).append(row)
    rows = []
    for arm, played in sorted(jobs.items()):
        points = [row["score"] for row in played]
        shown = f"{np.mean(points):.1f}"
        if len(points) > 1:
            shown += f" {format_interval(intervals.values(points).interval())}"
        replayed = sum(row["replayed"] for row in played) / sum(row["steps"] for row in played)
        best = max(row["best"] for row in played)
        names = [f"`{name}`" for name in arm.split()]
        rows.append([*names, str(len(points)), shown, f"{best:g}", f"{replayed:.0%}"])
    return _table(heads, 3, rows)


def fiction_trials() -> str:
    """Return the mean points of ten trials at a time under EvoTest's protocol."""
    jobs: dict[str, list[list[float]]] = {}
    for row in _read("jericho/scores.json"):
        if row["arm"].startswith("evotest"):
            jobs.setdefault(row["arm"], []).append(row["trials"])
    parts = [slice(at, at + 10) for at in range(0, 50, 10)]
    rows = [
        [
            *(f"`{name}`" for name in arm.split()),
            *(f"{np.mean([t[p] for t in trials]):.1f}" for p in parts),
        ]
        for arm, trials in sorted(jobs.items())
    ]
    heads = ("protocol", "policy", "memory", *(f"{p.start + 1}-{p.stop}" for p in parts))
    return _table(heads, 3, rows)


def makers() -> str:
    """TextWorld's own makers, one by one; see foreign_games/tw_make."""
    kept = _read("foreign_games/tw_make/scores.json")

    def cells(games: str, maker: str) -> list[str]:
        found = [_by_maker(kept, games, arm, maker) for arm in ("random", *_ARMS)]
        first = [_by_maker(kept, f"{games} before", arm, maker) for arm in ("none", "arigraph")]
        shown = [found[0], *first, *found[1:]]
        return [str(len(found[0])), *(f"{np.mean(one):.2f}".removeprefix("0") for one in shown)]

    rows = [
        [f"`{title}`" if maker else f"all of set {games[-1]}", used, *cells(games, maker)]
        for games, used in (("set1", "yes"), ("set2", "no"))
        for maker, title in _MAKERS.items()
    ]
    heads = ("games", "used for fixing", "n", "random", "before: none", "before: arigraph")
    return _table([*heads, *_ARMS], 2, rows)


_ARMS = ("none", "history", "arigraph")
_MAKERS = {
    "custom": "custom", "simple": "tw-simple", "coin": "tw-coin_collector",
    "treasure": "tw-treasure_hunter", "cooking": "tw-cooking", "": "",
}  # fmt: skip
"""How names of games begin, to their maker; all of them last."""


def _by_maker(rows: Sequence[Mapping[str, Any]], games: str, arm: str, maker: str) -> list[float]:
    """Of each game of a maker, the mean of its episodes."""
    found = {
        (row["games"], row["memory" if row["policy"] == "planner" else "policy"]): row
        for row in rows
    }
    kept = found[games, arm]
    stories = zip(kept["stories"], kept["scores"], strict=True)
    return [float(np.mean(scores)) for name, scores in stories if name.startswith(maker)]


def planner() -> str:
    """The planner on games of our own generators."""
    kept = {(row["env"], row["memory"]): row for row in _rows("planner/table.jsonl.gz")}
    paper = {
        _game(cell.env): f"{numbers['top3']}"
        for cell, numbers in load_experiment("arigraph-fig3").expected.items()
        if cell.memory.startswith("arigraph?")
        and Spec(cell.memory).kwargs.keys().isdisjoint({"episodic", "exploration"})
    }
    rows = []
    for env in dict.fromkeys(env for env, _ in kept):
        if kept[env, "none"]["score"] == 1:
            continue  # no memory is needed there
        row = [_game(env)]
        for memory in ("none", "history", "shuffled", "arigraph", "oracle"):
            found = kept[env, memory]
            steps = f" ({found['steps']:.0f})" if memory == "arigraph" else ""
            row.append(f"{found['score']:.2f}{steps}")
        rows.append([*row, paper.get(_game(env), "")])
    memories = ["none", "history", "shuffled", "`arigraph` (steps)", "oracle"]
    return _table(["game", *memories, "paper: Ariadne, GPT-4"], 1, rows)


def voices() -> str:
    """The planner on wordings of our own."""
    scores = {
        (row["env"], row["memory"] if row["policy"] == "planner" else row["policy"]): row["score"]
        for row in _rows("voices/table.jsonl.gz")
    }
    heads = ("random", "none", "`shuffled`", "history", "`arigraph`", "oracle")
    rows = []
    for env in dict.fromkeys(env for env, _ in scores):
        shown = [scores[env, head.strip("`")] for head in heads]
        rows.append([_game(env), *(f"{score:.2f}" for score in shown)])
    return _table(["game", *heads], 1, rows)


WORLDS = {
    **{
        f"budgets/{name}-once": [f"budgets/{name}"]
        for name in (
            "hunt-hard", "hunt-hardest", "cooking-hard", "cooking-hardest", "cleaning", "shop",
        )
    },
    "life/unlimited-1000": [f"life/rivals-{n}" for n in (100, 300, 1000, 4000, 16000)],
}  # fmt: skip
"""What takes no notice of the budget, to what does."""
AGENT_WORLDS = {
    f"budgets/agent-{name}-once": [f"budgets/agent-{name}"]
    for name in (
        "hunt-hard", "hunt-hardest", "hunt-voices", "cooking-hard", "cooking-hardest", "cleaning",
    )
}  # fmt: skip
"""The same for the agent that asks a language model."""
RIVALS = ("history", "rag", "summary", "stma")


def budgets(worlds: Mapping[str, Sequence[str]]) -> str:
    """Areas under score against token budget, and what the uncut transcript comes to."""
    return _areas_table([_areas(world, RIVALS) for world in _played(worlds)], RIVALS)


def _played(worlds: Mapping[str, Sequence[str]]) -> list[list[Unit]]:
    """What was played in each world, with the rows that take no notice of a budget."""
    return [
        [*units([row for path in bounded for row in _traces(path)]), *units(_traces(free))]
        for free, bounded in worlds.items()
    ]


def together() -> str:
    """By how much the graph is above its rivals, with the world as the unit, by who decides."""
    players = {
        "`planner`, `shopper`: rules": _played(WORLDS),
        "`ariadne`: the planner's rules, served": _played(AGENT_WORLDS),
        "`text`: the planner, cloned": learnt_worlds(),
    }
    named = {
        player: {_game(world[0].env): _by_task(world) for world in worlds}
        for player, worlds in players.items()
    }
    heads = ["who decides", "worlds", *(f"`arigraph` - `{rival}`" for rival in RIVALS)]
    made = _table(heads, 1, leads.lead_rows(named, "arigraph", RIVALS))
    return "\n".join([made, *leads.lead_sentences(named, "arigraph", RIVALS), ""])


def _by_task(played: Sequence[Unit]) -> dict[str, dict[str, float]]:
    """Memory to the area of each game."""
    return {
        memory.partition("?")[0]: {unit.task_id: unit.score for unit in group}
        for memory, group in grouped(sweep.comparable(played), lambda u: u.memory).items()
    }


def _areas(played: Sequence[Unit], rivals: Sequence[str]) -> list[str]:
    """The line of a world."""
    areas = _by_task(played)
    shown = {curve.memory: curve for curve in sweep.curves(played)}
    known = [memory for memory in rivals if memory in areas]
    best = max(known, key=lambda memory: np.mean([*areas[memory].values()]))
    gaps = [areas["arigraph"][task] - score for task, score in areas[best].items()]
    enough, uncut = shown["arigraph"].enough, shown.get("history?full=true")
    return [
        _game(played[0].env),
        str(len(gaps)),
        *(
            f"{np.mean([*areas[memory].values()]):.2f}" if memory in areas else ""
            for memory in ("arigraph", *rivals)
        ),
        f"{np.mean(gaps):+.2f} {format_interval(intervals.gaps(gaps).interval())} ({best})",
        f"{enough:,.0f}" if enough else "-",
        f"{uncut.points[-1].score:.2f} ({uncut.points[-1].tokens:,.0f})" if uncut else "",
    ]


def _areas_table(rows: Iterable[Sequence[str]], rivals: Sequence[str]) -> str:
    names = (f"`{memory}`" for memory in ("arigraph", *rivals))
    heads = ["area under the curve", "n", *names, "`arigraph` - best rival, 95 %"]
    return _table([*heads, "its tokens for 95 %", "uncut history (tokens)"], 1, rows)


def _traces(path: str) -> list[EpisodeRow]:
    folder, _, run = path.partition("/")
    return [EpisodeRow.from_json(row) for row in _by_run(f"{folder}/episodes.jsonl.gz")[run]]


def exam() -> str:
    """What memories still know at 500 tokens, in words that development did not see."""
    marks = {
        (mark["memory"], mark["wording"]): mark
        for mark in _read("exam/exam.json.gz")["marks"]
        if (mark["budget"], mark["kind"]) == (500, "all")
    }
    rows = []
    for memory in ("arigraph", "stma", "summary", "history", "simulacra", "rag", "present", "none"):
        by_wording = {wording: marks[memory, wording] for wording in ("unseen", "seen", "focus")}
        main, shown = by_wording["unseen"], [f"{mark['right']:.2f}" for mark in by_wording.values()]
        shown[0] += f" {format_interval(main['ci'])}"
        also = (f"{main[name]:.2f}" for name in ("wrong", "unproven"))
        rows.append([f"`{memory}`", *shown, *also, f"{main['tokens']:.0f}"])
    heads = ["memory", "unseen wordings, 95 %", "seen wordings", "the players' plans"]
    return _table([*heads, "wrong", "unproven", "tokens"], 1, rows)


def names() -> str:
    """Answers at 500 tokens by how things are named, and by kinds of events."""
    marks: dict[str, dict[tuple[str, str], Any]] = {}
    for mark in _read("exam/names.json.gz")["marks"]:
        marks.setdefault(mark["memory"], {})[mark["wording"], mark["kind"]] = mark
    wordings = {"unseen": "full names", "partial": "partial names", "everyday": "everyday"}
    kinds = ("moved", "dropped", "next", "there", "pitfall", "premise")
    shown = []
    for memory, found in marks.items():
        whole = [found[wording, "all"] for wording in wordings]
        by_kind = [found.get(("everyday", kind)) for kind in kinds]
        shown.append([
            f"`{memory}`",
            *(f"{mark['right']:.2f} {format_interval(mark['ci'])}" for mark in whole),
            *(f"{mark['right']:.2f}" if mark else "-" for mark in by_kind),
        ])  # fmt: skip
    return _table(["memory", *(f"{name}, 95 %" for name in wordings.values()), *kinds], 1, shown)


def everyday() -> str:
    """The questions that a person wrote, answered at 500 tokens."""
    found: dict[str, list[dict[str, Any]]] = {}
    kept = _read("exam/everyday_rows.json")
    for row in kept["rows"]:
        found.setdefault(row["memory"], []).append(row)
    table, first = [], kept["first"]
    for memory, rows in found.items():
        right = [float(row["verdict"] == "right") for row in rows]
        ci = intervals.scores(right, [row["env"] for row in rows]).interval()
        wrong = sum(row["verdict"] == "wrong" for row in rows)
        tokens = np.mean([row["tokens"] for row in rows])
        before = first[memory] / len(rows)
        shares = f"{np.mean(right):.2f} {format_interval(ci)}", f"{before:.2f}"
        more = f"{wrong / len(rows):.2f}", f"{len(rows)}", f"{tokens:.0f}"
        table.append([f"`{memory}`", *shares, *more])
    heads = ["memory", "right, 95 %", "when first asked", "wrong", "questions", "tokens"]
    return _table(heads, 1, table)


_LEVEL = r"-(?=(?:rl|hunt)-[^-]+$)"


class Trained(NamedTuple):
    """A player of benchmarks/rl; those of a cell differ by the seed of training.

    Attributes:
        test: Score of each game of the level that it was trained on.
        elsewhere: Level to the score of each game, where it was played on others too.
        result: What the training came to.
    """

    test: list[float]
    elsewhere: dict[str, list[float]]
    result: dict[str, Any]


@cache
def _trained() -> dict[tuple[str, str, str], dict[int, Trained]]:
    """(kind, level, memory) to seed to player; a kind is the name that `one.sh` gave it."""
    played: dict[str, dict[str, list[float]]] = {}
    for name, episodes in _by_run("rl/episodes.jsonl.gz").items():
        run, _, level = name.partition("/")
        scores = [row["normalized"] for row in sorted(episodes, key=itemgetter("task_id"))]
        played.setdefault(run, {})[level] = scores
    found: dict[tuple[str, str, str], dict[int, Trained]] = {}
    for name, [run] in sorted(_by_run("rl/runs.jsonl.gz").items()):
        memory, seed = run["config"]["memory"], run["config"]["training"]["seed"]
        kind, level = re.split(_LEVEL, name.removesuffix(f"-{memory}-{seed}"))
        scores = played[name]
        cell = found.setdefault((kind, level, memory), {})
        cell[seed] = Trained(scores.pop(""), scores, run["result"])
    return found


def rl() -> str:
    """DRRN under equal reward: what memories are worth to it, and features made by hand."""
    rows = []
    for protocol, level in itertools.product(PROTOCOLS, LEARNT_LEVELS):
        named = f"{level}, {protocol.partition('-')[0]}{otherwise(protocol)}"
        for arm, features in LEARNT.items():
            tests, gaps = _beside_the_graph(protocol, level, arm)
            if tests:
                number = str(len(next(iter(tests.values()))))
                rows.append([named, f"`{arm[1]}`, {features}", number, _by_seed(tests), _gap(gaps)])
    heads = ["level, training games", "what the learner sees", "n", "score by training, 95 %"]
    return _table([*heads, _LEAD], 2, rows)


def rl_means() -> str:
    """The same over trainings, a row for what the learner sees, with 100 training games."""
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
    return _table(["what the learner sees", *heads], 1, rows)


def _beside_the_graph(
    protocol: str, level: str, arm: tuple[str, str]
) -> tuple[dict[int, list[float]], dict[int, list[float]]]:
    """Scores by training, and by how much the graph is above them.

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
"""Training games, and what sweep.sh did otherwise."""
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
"""What is made of the facts, and the memory; see rl/sweep.sh."""
LEARNT_LEVELS = ("rl-4", "rl-3", "hunt-easy")
"""Levels of Cooking, and of TreasureHunt."""


def otherwise(kind: str) -> str:
    """Return what sweep.sh did otherwise."""
    return {"unhinted": ", no hint", "cloned": ", cloned first"}.get(kind.rpartition("-")[2], "")


def elsewhere() -> str:
    """What was trained on one level, played on others."""
    rows = []
    for (kind, level, memory), runs in _trained().items():
        for other in sorted({name for run in runs.values() for name in run.elsewhere}):
            played = {s: run.elsewhere[other] for s, run in runs.items() if other in run.elsewhere}
            features = LEARNT[kind.partition("-")[0], memory]
            named = level + otherwise(kind)
            rows.append([named, other, f"`{memory}`, {features}", _by_seed(played)])
    return _table(["trained on", "played on", "what it sees", "score by training, 95 %"], 3, rows)


def learners(only: str = "") -> str:
    """The other learners and memories, of one learner and level or of all; see rl/others.sh."""
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
        cells = [f"`{kind}`", level, f"`{memory}`", _by_seed(tests), f"{steps:,.0f}"]
        rows.append([*cells, f"{minutes:.1f}"])
    heads = ["learner", "level", "memory", "score by training, 95 %", "training steps", "CPU min"]
    return _table(heads, 3, rows)


def text() -> str:
    """A transformer over words by level, memory and length of training; see text/run.py."""
    arms: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in _rows("text/arms.jsonl"):
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
            cells.append(_by_seed({run["seed"]: run[mode] for run in runs}))
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
    return _table([*heads, "`arigraph` - it, greedy", "sampled"], 2, rows)


_ARM = ("game", "steps", "words", "memory", "budget")
"""Fields that distinguish the arms of text/arms.jsonl; rows of an arm differ by their seed."""


def learner() -> str:
    """Areas under score against token budget of the transformer over words."""
    return _areas_table([_areas(world, RIVALS) for world in learnt_worlds()], RIVALS)


def learnt_worlds() -> list[list[Unit]]:
    """The test games of each level of which text/run.py has a curve; one training, greedily."""
    found: dict[str, dict[str, list[Unit]]] = {env: {} for env, _ in _CURVES.values()}
    for row in _rows("text/arms.jsonl"):
        env, steps = _CURVES.get(row["game"], ("", 0))
        if env and (row["steps"], row["words"], row["seed"]) == (steps, "own", 0):
            found[env].setdefault(row["memory"], []).extend(_learnt(env, row))
    return [_under_its_budgets(memories) for memories in found.values()]


def _under_its_budgets(memories: Mapping[str, Sequence[Unit]]) -> list[Unit]:
    """Those played under all of the graph's budgets, and those that take no notice of any."""
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
"""Memories that take no notice of the budget."""


def _learnt(env: str, row: Mapping[str, Any]) -> Iterable[Unit]:
    for game, score in enumerate(row["greedy"]):
        yield Unit(
            "single_episode", env, row["memory"], "text", row["budget"], game, str(game),
            failed="", score=score, success=score == 1, steps=row["steps"], memory_ms=0.0,
            tokens=row["tokens"], cost_usd=0.0, curve=(), trials=(score,), counters={}, raw=False,
        )  # fmt: skip


def _by_seed(trainings: Mapping[int, Sequence[float]]) -> str:
    """The mean of each training over games, and the interval."""
    means = ", ".join(f"{np.mean(scores):.2f}" for scores in trainings.values())
    return f"{means} {_sure(intervals.scores, trainings)}"


def _gap(trainings: Mapping[int, Sequence[float]]) -> str:
    """The mean of the gaps and its interval; nothing where there are none."""
    if not trainings:
        return ""
    return f"{np.mean([*trainings.values()]):+.2f} {_sure(intervals.gaps, trainings)}"


def _sure(kind: Callable[..., Any], trainings: Mapping[int, Sequence[float]]) -> str:
    """The interval over games, and over trainings where there are several."""
    labelled = [(seed, game, x) for seed, one in trainings.items() for game, x in enumerate(one)]
    seeds, games, scores = zip(*labelled, strict=True)
    return format_interval(kind(scores, games, seeds if len(trainings) > 1 else None).interval())


def smollm() -> str:
    """SmolLM2 cloned by memory; see smollm/clone.py."""
    kept = [row for row in _rows("smollm/clone.jsonl") if row["game"] is not None]
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
        cells = [_by_seed({0: [*one.values()]}) if one else "" for one in scores.values()]
        rows.append([level, str(len(gaps)), *cells, _gap({0: gaps})])
    heads = ["level", "n", "`arigraph`, 95 %", "`none`", "`summary`", "`arigraph` - `none`"]
    return _table(heads, 1, rows)


def smollm_gpu() -> str:
    """Trainings of smollm/gpu.py."""
    rows = [[r["level"], f"`{r['memory']}`", r["device"], f"{r['states']:,}", f"{r['updates']:,}",
             f"{r['held_out_agreed']:.3f}", f"{r['seconds']:,}"]
            for r in _rows("smollm/gpu.jsonl")]  # fmt: skip
    heads = ["level", "memory", "on", "states", "updates", "held-out states answered", "seconds"]
    return _table(heads, 3, rows)


_READERS = {
    "random": "chance", "plain": "rules (scripted server)", "choose": "SmolLM2-135M",
    "lm cpu": "the same, fine-tuned on a CPU", "lm gpu": "the same, fine-tuned on a GPU",
}  # fmt: skip


def models() -> str:
    """The same memories and prompt before several readers; see agents/models.sh."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for run, rows in _by_run("agents/models.jsonl.gz").items():
        for row in rows:
            if row["trial"] >= int(Spec(row["protocol"]).kwargs["shown"]):
                name = Spec(row["policy"]).name
                reader = _READERS[f"{name} {run.split('-')[1]}" if name == "lm" else name]
                by_memory = found.setdefault(reader, {})
                by_memory.setdefault(row["memory"], {})[row["task_id"]] = row["normalized"]
    for row in _rows("smollm/clone.jsonl"):
        if row["level"] == "rl-2" and row["game"] is not None:
            by_memory = found.setdefault(_READERS["lm cpu"], {})
            by_memory.setdefault(row["memory"], {})[str(row["game"])] = row["score"]
    memories = list(found["chance"])
    rows = []
    for reader, one in found.items():
        cells = [_by_seed({0: [*one[m].values()]}) if m in one else "" for m in memories]
        rows.append([reader, str(len(one["arigraph"])), *cells])
    return _table(["reader", "n", *(f"`{memory}`" for memory in memories)], 1, rows)


def ranking(tier: str) -> str:
    """The results of `gym-memory rank` that ship for a tier."""
    made = shipped(tier)
    shown = (main_table(made), *more_tables(made))
    tables = [f"**{title}**\n\n{_table(head, 1, rows)}" for title, head, rows in shown]
    left = [f"`{m}`" for m in load_suite(tier).memories if m not in {card.memory for card in made}]
    said = f"Tier `{tier}`." + f" Not played yet: {', '.join(left)}." * bool(left)
    return f"{said}\n\n" + "\n".join(tables)


def stream_units(part: str) -> list[Unit]:
    """Return the jobs of a part of streams/run.py, each with the short name of its memory."""
    rows = (EpisodeRow.from_json({**row, "memory": row["run"]})
            for row in _rows(f"streams/{part}.jsonl.gz"))  # fmt: skip
    return units(rows)


def stream(part: str, *titles: str) -> str:
    """Return tables of a part, and what cannot be distinguished in it."""
    own = stream_units(part)
    tables = [table for table in stream_tables(own) if table.title.startswith(titles)]
    shown = [f"**{t.title}**\n\n{_table(t.heads, t.words, t.rows)}" for t in tables]
    said = stream_sentences(own) if "Gain" in titles else transfer_sentences(own)
    return "\n".join([*shown, *(f"{line}\n" for line in said)])


PAGES: dict[Path, dict[str, Callable[[], str]]] = {
    README: {"together": together},
    README.with_name("SECURITY.md"): {"defences": partial(_made, tables_docs.defences)},
    RESULTS / "planner.md": {"planner": planner, "voices": voices,
                             "worlds": partial(_made, tables_docs.worlds)},
    RESULTS / "other-authors.md": {"foreign_games": foreign_games},
    RESULTS / "interactive-fiction.md": {"fiction": fiction, "fiction_trials": fiction_trials,
                                         "published": partial(_made, tables_docs.published)},
    RESULTS / "budgets.md": {"together": together, "budgets": partial(budgets, WORLDS)},
    RESULTS / "exam.md": {"exam": exam, "names": names, "everyday": everyday},
    RESULTS / "ranking.md": {"ranking": partial(ranking, LARGEST),
                             "ranking_streams": partial(ranking, "streams")},
    speed.PAGE: {name: partial(_made, make) for name, make in speed.TABLES.items()},
    RESULTS / "streams.md": {
        "stream_alfworld": partial(stream, "alfworld", "Score", "Gain", "Store"),
        "stream_scienceworld": partial(stream, "scienceworld", "Score", "Gain", "Store"),
        "stream_types": partial(stream, "types", "Transfer"),
        "stream_grid": partial(stream, "grid", "Transfer"),
    },
    RESULTS / "learners.md": {"rl": rl_means, "learner": learner},
    RESULTS.parent / "tutorials" / "train-an-agent.md": {"drrn": partial(learners, "drrn rl-1")},
    HERE / "budgets" / "README.md": {"agents": partial(budgets, AGENT_WORLDS)},
    HERE / "doors" / "README.md": {"doors": partial(_made, tables_docs.doors),
                                   "door_faults": partial(_made, tables_docs.door_faults)},
    HERE / "foreign_games" / "tw_make" / "README.md": {"makers": makers},
    HERE / "papers" / "README.md": {"papers": partial(_made, tables_docs.papers),
                                    "pairs": partial(_made, tables_docs.paper_pairs),
                                    "prompts": partial(_made, tables_docs.paper_prompts)},
    HERE / "rl" / "README.md": {"rl": rl, "elsewhere": elsewhere, "learners": learners},
    HERE / "text" / "README.md": {"learner": learner, "text": text},
    HERE / "smollm" / "README.md": {"smollm": smollm, "smollm_gpu": smollm_gpu},
    RESULTS / "language-agents.md": {"models": models},
    **{RESULTS.parent / f"{page}.md": {name: partial(_made, make) for name, make in made.items()}
       for page, made in tables_docs.PAGES.items()},
}  # fmt: skip


def differing(page: str, tables: Mapping[str, Callable[[], str]]) -> tuple[str, list[str]]:
    """The page with all tables made again, and the names of those that were otherwise."""
    wrong: list[str] = []

    def made(block: re.Match[str]) -> str:
        table = f"\n{tables[block[2]]()}\n"
        if table != block[3]:
            wrong.append(block[2])
        return f"{block[1]}{table}{block[4]}"

    new = _TABLE.sub(made, page)
    return new, wrong + sorted(tables.keys() - {block[2] for block in _TABLE.finditer(page)})


def main() -> int:
    """Write or check; returns the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="change nothing")
    check, status = parser.parse_args().check, 0
    for path, tables in PAGES.items():
        new, wrong = differing(path.read_text(encoding="utf-8"), tables)
        if not check:
            path.write_text(new, encoding="utf-8")
        if wrong:
            name, done = path.relative_to(HERE.parent), "differs" if check else "rewritten"
            print(f"{name}: {done}: {', '.join(wrong)}")
            status = int(check)
    return status


if __name__ == "__main__":
    sys.exit(main())

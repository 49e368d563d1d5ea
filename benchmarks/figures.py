"""Draw figures of docs/results from kept data; benchmarks/tables.py writes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import numpy as np
from poison import run as poison
from rank import LARGEST, shipped
from tables_docs import who_decided
from tables_kept import read, rows_of, short_name

from gym_memory.draw.figures import colours
from gym_memory.draw.forest import ForestRow, forest_figure
from gym_memory.draw.svg import picture
from gym_memory.evaluate.exam.session import KINDS, SILENCE
from gym_memory.evaluate.harm.game import attacks
from gym_memory.evaluate.rank.page import exam_figure, lead_figure
from gym_memory.run.results import intervals

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"


def exam() -> str:
    """Return the figure of exam against play, a point per memory."""
    made = shipped(LARGEST)
    return picture(exam_figure(made), colours(card.memory for card in made))


def leads(tier: str) -> str:
    """Return the gap of each memory to the best one."""
    return picture(lead_figure(shipped(tier)), {})


def knows() -> str:
    """Return the right answers of the exam at 500 tokens: all, and each kind of question."""
    asked = [
        mark
        for mark in read("exam/exam.json.gz")["marks"]
        if (mark["budget"], mark["wording"]) == (500, "unseen")
    ]
    kinds = {mark["kind"]: KINDS[mark["kind"]].title for mark in asked if mark["kind"] in KINDS}
    kinds = {kind: title for kind, title in kinds.items() if kind not in SILENCE}
    rows = []
    for mark in sorted(asked, key=lambda mark: -mark["right"]):
        if mark["kind"] == "all":
            own = {m["kind"]: m["right"] for m in asked if m["memory"] == mark["memory"]}
            parts = {title: own[kind] for kind, title in kinds.items() if kind in own}
            rows.append(ForestRow(mark["memory"], mark["right"], tuple(mark["ci"]), parts))
    title, along = "What do memories still know?", "right answers at 500 tokens"
    figure = forest_figure("exam", title, along, rows, [*kinds.values()], "the game")
    return picture(figure, {})


def deceived() -> str:
    """Return the shares of planted facts that memories believe: all texts, and single ones."""
    rows = poison.believed(poison.kept_rows(), [*attacks().values()])
    title, along = "Which memory believes it?", "share of games in which a recall states it"
    names = [name for name in attacks() if any(row.parts[name] for row in rows)]
    unit = "the game, mean over all texts"
    return picture(forest_figure("poison", title, along, rows, names, unit), {})


def _scores(rows: Iterable[tuple[str, str, float]], name: str, title: str, unit: str) -> str:
    """Return the mean score of each name over its worlds, best first, a dot a world."""
    found: dict[str, dict[str, list[float]]] = {}
    for who, world, score in rows:
        found.setdefault(who, {}).setdefault(world, []).append(score)
    lines = []
    for who, worlds in found.items():
        parts = {world: float(np.mean(scores)) for world, scores in worlds.items()}
        low, high = intervals.values([*parts.values()]).interval()
        ends = max(low, 0.0), min(high, 1.0)  # no score is outside
        lines.append(ForestRow(who, float(np.mean([*parts.values()])), ends, parts))
    lines.sort(key=lambda line: -line.mean)
    names = [*dict.fromkeys(world for line in lines for world in line.parts)]
    return picture(forest_figure(name, title, "mean score", lines, names, unit), {})


_PLANNER = ("none", "shuffled", "history", "arigraph", "oracle")


def planned() -> str:
    """Return the planner's score by memory: our generators, and the same in other words."""
    kept = [*rows_of("planner/table.jsonl.gz"), *rows_of("voices/table.jsonl.gz")]
    easy = {row["env"] for row in kept if row["memory"] == "none" and row["score"] == 1}
    rows = []
    for row in kept:
        if row["memory"] in _PLANNER and row["policy"] == "planner" and row["env"] not in easy:
            game, _, level = short_name(row["env"]).partition(" ")
            words = ", other words" if level.startswith("voices") else ""
            rows.append((row["memory"], f"{game}{words}", row["score"]))
    return _scores(rows, "planner", "Does memory help the planner?", "the kind of game")


def by_others() -> str:
    """Return the planner's score by memory in games of other authors."""
    kept = read("foreign_games/tidy_up.json") + read("foreign_games/tw_make/scores.json")
    titles = {"easy": "tidying, easy", "medium": "tidying, medium", "hard": "tidying, hard"}
    titles |= {"set1": "TextWorld's makers, used", "set2": "TextWorld's makers, not looked at"}
    rows = [
        (row["memory"] if row["policy"] == "planner" else "random", titles[row["games"]], score)
        for row in kept
        if row["games"] in titles
        for score in np.concatenate([np.atleast_1d(one) for one in row["scores"]])
    ]
    whole = {who for who, world, _ in rows if world == titles["set2"]}
    rows = [row for row in rows if row[0] in whole]
    return _scores(rows, "others", "Games by other authors", "the set of games")


STORIES = {"zork1.z3": "Zork I", "zork3.z3": "Zork III"}
"""Story file to its title."""


def in_zork() -> str:
    """Return the points of each player of Zork I, 1,000 interactions."""
    lines = []
    jobs: dict[str, list[float]] = {}
    for row in read("jericho/scores.json"):
        if row["story"] == "zork1.z3" and row["arm"].startswith("interactions "):
            jobs.setdefault(row["arm"].partition(" ")[2].replace(" ", ", "), []).append(
                row["score"]
            )
    for arm, points in jobs.items():
        ci = intervals.values(points).interval()
        lines.append(ForestRow(arm, float(np.mean(points)), ci, {}))
    lines.sort(key=lambda line: -line.mean)
    title, along = "How far does it get in Zork I?", "points of 350 in 1,000 interactions"
    return picture(forest_figure("fiction", title, along, lines, [], "the job"), {})


def beside_learners() -> str:
    """Return the score of each policy with the graph, ten games of Cooking rl-4."""
    lines = []
    for row in read("agents/beside.json")["rows"]:
        if (row["protocol"], row["memory"]) == ("single_episode", "arigraph"):
            found = intervals.scores(row["first"], [str(game) for game in range(len(row["first"]))])
            mean = float(np.mean(row["first"]))
            lines.append(
                ForestRow(f"{row['policy']}: {who_decided(row['by'])}", mean, found.interval(), {})
            )
    lines.sort(key=lambda line: -line.mean)
    title, along = "Learners, rules and agents with arigraph", "mean score, and who decided"
    return picture(forest_figure("beside", title, along, lines, [], "the game"), {})


FIGURES: dict[Path, Callable[[], str]] = {
    PICTURES / "beside-rl.svg": beside_learners,
    PICTURES / "exam-and-play.svg": exam,
    PICTURES / "exam.svg": knows,
    PICTURES / "fiction.svg": in_zork,
    PICTURES / "other-authors.svg": by_others,
    PICTURES / "planner.svg": planned,
    PICTURES / "poison.svg": deceived,
    PICTURES / "ranking.svg": partial(leads, LARGEST),
    PICTURES / "ranking-streams.svg": partial(leads, "streams"),
}

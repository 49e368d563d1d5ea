"""Write the tables and figures of README.md, docs/results and benchmark pages from the kept data.

This script alone writes the text between ``<!-- table NAME -->`` and ``<!-- end -->``. Run in the
root of the repository::

    python benchmarks/tables.py            # write them
    python benchmarks/tables.py --check    # change nothing; exit status 1 where one differs
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import figures
import leads
import numpy as np
import speed
import tables_docs
import tables_rank
from tables_budgets import (
    AGENT_WORLDS,
    RIVALS,
    WORLDS,
    budgets,
    by_task,
    played_worlds,
)
from tables_kept import HERE, README, RESULTS, by_run, markdown_table, read, rows_of, short_name
from tables_learners import (
    by_seed,
    elsewhere,
    learner,
    learners,
    learnt_worlds,
    levels,
    million,
    own_readers,
    rl,
    rl_means,
    sb3,
    smollm,
    smollm_gpu,
)

from gym_memory.core.names import Spec
from gym_memory.papers.experiments import load_experiment
from gym_memory.run.config import EpisodeRow
from gym_memory.run.results import intervals
from gym_memory.run.results.score import Unit, format_interval, units
from gym_memory.run.results.streams import (
    Table,
    stream_sentences,
    stream_tables,
    transfer_sentences,
)

_TABLE = re.compile(r"(<!-- table (\w+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def _made(make: Callable[[], tables_docs.Table]) -> str:
    return markdown_table(*make())


def foreign_games() -> str:
    """Tabulate games of other authors, and of TextWorld's own makers; every score is kept."""
    kept = read("foreign_games/tidy_up.json") + read("foreign_games/tw_make/scores.json")
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
    made = markdown_table(["games of others", "n", *heads], 1, rows)
    return f"{made}\nIn the games that nobody looked at: {said}.\n"


_FOREIGN = {
    "easy": "TextWorld Commonsense, tidying, easy",
    "medium": "the same, medium",
    "hard": "the same, hard",
    "set1": "TextWorld's five makers, options by chance",
    "set2": "the same, games that nobody looked at",
}
"""Folder of games to its title."""


def _jobs_of_stories(protocol: str = "") -> dict[tuple[str, str], list[dict[str, Any]]]:
    """Return the jobs of each story and arm, in order, whose protocol has this prefix."""
    jobs: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in read("jericho/scores.json"):
        if row["arm"].startswith(protocol):
            story = f"{figures.STORIES[row['story']]} ({row['max_score']:g})"
            jobs.setdefault((story, row["arm"]), []).append(row)
    return dict(sorted(jobs.items()))


def fiction() -> str:
    """Tabulate every player of a story under each protocol, in points; see jericho/run.py."""
    heads = ("story", "protocol", "policy", "memory", "jobs", "points [95 %]")
    rows = []
    for (story, arm), played in _jobs_of_stories().items():
        points = [row["score"] for row in played]
        shown = f"{np.mean(points):.1f}"
        if len(points) > 1:
            shown += f" {format_interval(intervals.values(points).interval())}"
        replayed = sum(row["replayed"] for row in played) / sum(row["steps"] for row in played)
        best = max(row["best"] for row in played)
        names = [f"`{name}`" for name in arm.split()]
        rows.append([story, *names, str(len(points)), shown, f"{best:g}", f"{replayed:.0%}"])
    return markdown_table((*heads, "best of any job", "replayed"), 4, rows)


def fiction_gain() -> str:
    """Tabulate `explorer` with `arigraph` beside `none` on the same seeds of each story."""
    jobs = _jobs_of_stories("interactions explorer ")
    rows = []
    for story in dict.fromkeys(story for story, _ in jobs):
        with_, without = (
            {row["seed"]: row["score"] for row in jobs[story, f"interactions explorer {memory}"]}
            for memory in ("arigraph", "none")
        )
        seeds = sorted(with_.keys() & without.keys())
        gains = [with_[seed] - without[seed] for seed in seeds]
        means = (f"{np.mean([points[seed] for seed in seeds]):.1f}" for points in (with_, without))
        shown = f"{np.mean(gains):+.1f} {format_interval(intervals.values(gains).interval())}"
        rows.append([story, str(len(seeds)), *means, shown])
    return markdown_table(("story", "seeds", "`arigraph`", "`none`", "gain [95 %]"), 1, rows)


def fiction_trials() -> str:
    """Return the mean points of ten trials at a time under EvoTest's protocol."""
    parts = [slice(at, at + 10) for at in range(0, 50, 10)]
    rows = [
        [
            *(story, *(f"`{name}`" for name in arm.split())),
            *(f"{np.mean([row['trials'][p] for row in played]):.1f}" for p in parts),
        ]
        for (story, arm), played in _jobs_of_stories("evotest").items()
    ]
    heads = ("story", "protocol", "policy", "memory", *(f"{p.start + 1}-{p.stop}" for p in parts))
    return markdown_table(heads, 4, rows)


def makers() -> str:
    """Tabulate TextWorld's own makers, one by one; see foreign_games/tw_make."""
    kept = read("foreign_games/tw_make/scores.json")

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
    return markdown_table([*heads, *_ARMS], 2, rows)


_ARMS = ("none", "history", "arigraph")
_MAKERS = {
    "custom": "custom", "simple": "tw-simple", "coin": "tw-coin_collector",
    "treasure": "tw-treasure_hunter", "cooking": "tw-cooking", "": "",
}  # fmt: skip
"""Prefix of game names to their maker; all of them last."""


def _by_maker(rows: Sequence[Mapping[str, Any]], games: str, arm: str, maker: str) -> list[float]:
    """Return the mean of the episodes of each game of a maker."""
    found = {
        (row["games"], row["memory" if row["policy"] == "planner" else "policy"]): row
        for row in rows
    }
    kept = found[games, arm]
    stories = zip(kept["stories"], kept["scores"], strict=True)
    return [float(np.mean(scores)) for name, scores in stories if name.startswith(maker)]


def planner() -> str:
    """Tabulate the planner on games of our own generators."""
    kept = {(row["env"], row["memory"]): row for row in rows_of("planner/table.jsonl.gz")}
    paper = {
        short_name(cell.env): f"{numbers['top3']}"
        for cell, numbers in load_experiment("arigraph-fig3").expected.items()
        if cell.memory.startswith("arigraph?")
        and Spec(cell.memory).kwargs.keys().isdisjoint({"episodic", "exploration"})
    }
    rows = []
    for env in dict.fromkeys(env for env, _ in kept):
        if kept[env, "none"]["score"] == 1:
            continue  # no memory is needed there
        row = [short_name(env)]
        for memory in ("none", "history", "shuffled", "arigraph", "oracle"):
            found = kept[env, memory]
            steps = f" ({found['steps']:.0f})" if memory == "arigraph" else ""
            row.append(f"{found['score']:.2f}{steps}")
        rows.append([*row, paper.get(short_name(env), "")])
    memories = ["none", "history", "shuffled", "`arigraph` (steps)", "oracle"]
    return markdown_table(["game", *memories, "paper: Ariadne, GPT-4"], 1, rows)


def voices() -> str:
    """Tabulate the planner on wordings of our own."""
    scores = {
        (row["env"], row["memory"] if row["policy"] == "planner" else row["policy"]): row["score"]
        for row in rows_of("voices/table.jsonl.gz")
    }
    heads = ("random", "none", "`shuffled`", "history", "`arigraph`", "oracle")
    rows = []
    for env in dict.fromkeys(env for env, _ in scores):
        shown = [scores[env, head.strip("`")] for head in heads]
        rows.append([short_name(env), *(f"{score:.2f}" for score in shown)])
    return markdown_table(["game", *heads], 1, rows)


def together(*, ranked: bool = False) -> str:
    """Tabulate the lead of the graph over its rivals, with the world as the unit, by player.

    The rules play the worlds of the ranking if ``ranked``, else those of the budgets.
    """
    rules = "`planner`, `shopper`: rules"
    players = {
        rules: played_worlds(WORLDS),
        "`ariadne`: the planner's rules, served": played_worlds(AGENT_WORLDS),
        "`text`: the planner, cloned": learnt_worlds(),
    }
    named = {
        player: {short_name(world[0].env): by_task(world) for world in worlds}
        for player, worlds in players.items()
    }
    if ranked:
        named[rules] = tables_rank.played_worlds()
    heads = ["who decides", "worlds", *(f"`arigraph` - `{rival}`" for rival in RIVALS)]
    made = markdown_table(heads, 1, leads.lead_rows(named, "arigraph", RIVALS))
    return "\n".join([made, *leads.lead_sentences(named, "arigraph", RIVALS), ""])


def exam() -> str:
    """Tabulate the exam at 500 tokens, in unseen wordings."""
    marks = {
        (mark["memory"], mark["wording"]): mark
        for mark in read("exam/exam.json.gz")["marks"]
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
    return markdown_table([*heads, "wrong", "unproven", "tokens"], 1, rows)


def names() -> str:
    """Tabulate answers at 500 tokens by kind of name, and by kind of event."""
    marks: dict[str, dict[tuple[str, str], Any]] = {}
    for mark in read("exam/names.json.gz")["marks"]:
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
    return markdown_table(
        ["memory", *(f"{name}, 95 %" for name in wordings.values()), *kinds], 1, shown
    )


def everyday() -> str:
    """Tabulate the hand-written questions, answered at 500 tokens."""
    found: dict[str, list[dict[str, Any]]] = {}
    kept = read("exam/everyday_rows.json")
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
    return markdown_table(heads, 1, table)


_READERS = {
    "random": "chance", "plain": "rules (scripted server)", "choose": "SmolLM2-135M",
    "lm cpu": "the same, fine-tuned on a CPU", "lm gpu": "the same, fine-tuned on a GPU",
}  # fmt: skip


def models() -> str:
    """Tabulate the same memories and prompt with several readers; see agents/models.sh."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for run, rows in by_run("agents/models.jsonl.gz").items():
        for row in rows:
            if row["trial"] >= int(Spec(row["protocol"]).kwargs["shown"]):
                name = Spec(row["policy"]).name
                reader = _READERS[f"{name} {run.split('-')[1]}" if name == "lm" else name]
                by_memory = found.setdefault(reader, {})
                by_memory.setdefault(row["memory"], {})[row["task_id"]] = row["normalized"]
    for row in rows_of("smollm/clone.jsonl"):
        if row["level"] == "rl-2" and row["game"] is not None:
            by_memory = found.setdefault(_READERS["lm cpu"], {})
            by_memory.setdefault(row["memory"], {})[str(row["game"])] = row["score"]
    memories = list(found["chance"])
    rows = []
    for reader, one in found.items():
        cells = [by_seed({0: [*one[m].values()]}) if m in one else "" for m in memories]
        rows.append([reader, str(len(one["arigraph"])), *cells])
    return markdown_table(["reader", "n", *(f"`{memory}`" for memory in memories)], 1, rows)


@cache
def stream_units(part: str) -> list[Unit]:
    """Return the jobs of a part of streams/run.py, each with the short name of its memory."""
    rows = (EpisodeRow.from_json({**row, "memory": row["run"]})
            for row in rows_of(f"streams/{part}.jsonl.gz"))  # fmt: skip
    return units(rows)


def stream(part: str) -> str:
    """Return the scores of a stream with gains over none, and memories without a gain."""
    own = stream_units(part)
    score, gain = (table for table in stream_tables(own) if table.title in ("Score", "Gain"))
    over = gain.heads.index("over none")
    rows = sorted(
        ([*row, more[over]] for row, more in zip(score.rows, gain.rows, strict=True)),
        key=lambda row: -float(row[score.heads.index("learning")].split()[0]),
    )
    table = _varied(Table("", [*score.heads, "over none"], score.words, rows))
    return f"{stream_sentences(own)[0]}\n\n{markdown_table(table.heads, 1, table.rows)}"


def stream_more(part: str) -> str:
    """Return the gains over each rival, and the stores, of a stream."""
    return _stream_tables(stream_units(part), "Gain", "Store")


def transfer(part: str) -> str:
    """Return memories without a significant gain after learning elsewhere."""
    return "\n".join(f"{line}\n" for line in transfer_sentences(stream_units(part)))


def transfer_more(part: str) -> str:
    """Return the gains after learning elsewhere."""
    return _stream_tables(stream_units(part), "Transfer")


def _stream_tables(own: list[Unit], *titles: str) -> str:
    shown = []
    for table in stream_tables(own):
        if table.title.startswith(titles):
            shown.append(f"**{table.title}**\n\n{markdown_table(*_varied(table)[1:])}")
    return "\n".join(shown)


def _varied(table: Table) -> Table:
    """Return a table without its constant columns of words."""
    return table.columns(lambda n, values: n > 2 or len(values) > 1)


_STREAMS, _TRANSFERS = ("alfworld", "scienceworld"), ("types", "grid")
"""Parts of streams/run.py with one stream, and those that test transfer."""

PAGES: dict[Path, dict[str, Callable[[], str]]] = {
    README: {"leads": partial(together, ranked=True)},
    README.with_name("SECURITY.md"): {"defences": partial(_made, tables_docs.defences)},
    RESULTS / "planner.md": {"planner": planner, "voices": voices,
                             "worlds": partial(_made, tables_docs.worlds)},
    RESULTS / "other-authors.md": {"foreign_games": foreign_games},
    RESULTS / "interactive-fiction.md": {"fiction": fiction, "fiction_trials": fiction_trials,
                                         "fiction_gain": fiction_gain,
                                         "published": partial(_made, tables_docs.published)},
    RESULTS / "budgets.md": {"together": together, "budgets": partial(budgets, WORLDS)},
    RESULTS / "exam.md": {"exam": exam, "names": names, "everyday": everyday},
    RESULTS / "ranking.md": tables_rank.TABLES,
    speed.PAGE: {name: partial(_made, make) for name, make in speed.TABLES.items()},
    RESULTS / "streams.md": {
        **{f"stream_{part}": partial(stream, part) for part in _STREAMS},
        **{f"stream_{part}": partial(transfer, part) for part in _TRANSFERS},
    },
    HERE / "streams" / "README.md": {
        **{f"stream_{part}_more": partial(stream_more, part) for part in _STREAMS},
        **{f"stream_{part}_more": partial(transfer_more, part) for part in _TRANSFERS},
    },
    RESULTS / "learners.md": {"rl": rl_means, "learner": learner, "sb3": sb3, "million": million,
                               "levels": levels},
    RESULTS.parent / "tutorials" / "train-an-agent.md": {"drrn": partial(learners, "drrn rl-1")},
    HERE / "budgets" / "README.md": {"agents": partial(budgets, AGENT_WORLDS)},
    HERE / "doors" / "README.md": {"doors": partial(_made, tables_docs.doors)},
    HERE / "doors" / "faults.md": {"door_faults": partial(_made, tables_docs.door_faults)},
    HERE / "foreign_games" / "tw_make" / "README.md": {"makers": makers},
    HERE / "papers" / "README.md": {"papers": partial(_made, tables_docs.papers)},
    HERE / "papers" / "prompts.md": {"pairs": partial(_made, tables_docs.paper_pairs),
                                     "prompts": partial(_made, tables_docs.paper_prompts)},
    HERE / "rl" / "trainings.md": {"rl": rl, "elsewhere": elsewhere, "learners": learners},
    HERE / "text" / "README.md": {"learner": learner, "own_readers": own_readers},
    HERE / "smollm" / "README.md": {"smollm": smollm},
    HERE / "smollm" / "trainings.md": {"smollm_gpu": smollm_gpu},
    RESULTS / "language-agents.md": {"models": models},
    **{RESULTS.parent / f"{page}.md": {name: partial(_made, make) for name, make in made.items()}
       for page, made in tables_docs.PAGES.items()},
}  # fmt: skip


def differing(page: str, tables: Mapping[str, Callable[[], str]]) -> tuple[str, list[str]]:
    """Return the page with all tables made again, and the names of the changed ones."""
    wrong: list[str] = []

    def made(block: re.Match[str]) -> str:
        table = f"\n{tables[block[2]]()}\n"
        if table != block[3]:
            wrong.append(block[2])
        return f"{block[1]}{table}{block[4]}"

    new = _TABLE.sub(made, page)
    return new, wrong + sorted(tables.keys() - {block[2] for block in _TABLE.finditer(page)})


def main() -> int:
    """Write or check; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="change nothing")
    check, status = parser.parse_args().check, 0
    for path, draw in figures.FIGURES.items():
        drawn = draw()
        if path.exists() and path.read_text(encoding="utf-8") == drawn:
            continue
        if not check:
            path.write_text(drawn, encoding="utf-8")
        print(f"{path.relative_to(HERE.parent)}: {'differs' if check else 'drawn again'}")
        status |= check
    for path, tables in PAGES.items():
        new, wrong = differing(path.read_text(encoding="utf-8"), tables)
        if not check:
            path.write_text(new, encoding="utf-8")
        if wrong:
            name, done = path.relative_to(HERE.parent), "differs" if check else "rewritten"
            print(f"{name}: {done}: {', '.join(wrong)}")
            status |= check
    return status


if __name__ == "__main__":
    sys.exit(main())

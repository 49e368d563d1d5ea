"""Tables of the pages in docs/ that are not results: heads, number of columns of words, rows."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from doors.run import DOORS
from keep import measured

from gym_memory.cli.doctor import PURPOSES
from gym_memory.panels.panel import load_panel, panel_names
from gym_memory.papers.experiments import experiment_names
from gym_memory.run.results import intervals
from gym_memory.run.results.expected import expected_rows
from gym_memory.run.results.labels import decider
from gym_memory.run.results.score import format_interval

HERE = Path(__file__).parent
Table = tuple[list[str], int, list[list[str]]]
PASSAGES = {
    "bm25": "BM25",
    "history": "last ten passages",
    "rag, hash": "rag, hash",
    "rag, MiniLM": "rag, MiniLM",
    "simulacra, MiniLM": "simulacra, MiniLM",
    "arigraph, structural": "arigraph, structural recall",
    "arigraph, eq. 1, MiniLM": "arigraph, eq. 1, MiniLM",
    "arigraph, authors' code, MiniLM": "arigraph, authors' code, MiniLM",
    "arigraph, relevance, hash": "arigraph, relevance, hash",
    "arigraph, relevance, MiniLM": "arigraph, relevance, MiniLM",
}


def _read(path: str) -> Any:
    return json.loads((HERE / path).read_text(encoding="utf-8"))


def _lines(path: str) -> list[list[str]]:
    """Return the cells of all table rows of a Markdown file."""
    lines = (HERE / path).read_text(encoding="utf-8").splitlines()
    return [[c.strip() for c in line.strip("|").split("|")] for line in lines if line[:1] == "|"]


def passages() -> Table:
    """Tabulate the share of passages that each memory finds; see qa/retrieval.py."""
    sets = {"isles": "isles", "hotpotqa": "HotpotQA", "musique": "MuSiQue"}
    found = {(row["memory"], row["dataset"]): row for row in _read("qa/retrieval.json")["rows"]}
    heads = [head for name in sets.values() for head in (f"{name} recall@5", "all@5")]
    rows = [
        [title, *(f"{found[name, data][k]:.2f}" for data in sets for k in ("recall@5", "all@5"))]
        for name, title in PASSAGES.items()
    ]
    return ["memory", *heads], 1, rows


def arena() -> Table:
    """Return the scores of a random player in TextArena's games; see foreign/arena.py."""
    rows = [
        [
            *(str(row[key]) for key in ("game", "episodes", "positive")),
            f"{row['best']:.2f}",
            "unknown" if row["successes"] is None else str(row["successes"]),
        ]
        for row in measured("foreign/arena")
    ]
    return ["game", "episodes", "with a positive reward", "best reward", "successes"], 1, rows


def odyssey() -> Table:
    """Return the results of memories in AgentOdyssey's exam and in ours; see exam/odyssey.py."""
    kept = measured("exam/odyssey")
    kinds = [kind for kind in next(iter(kept.values()), {}) if kind != "ours"]
    rows = [
        [
            f"`{memory}`",
            *(f"{row[kind]:.2f}" for kind in kinds),
            f"{sum(row[kind] for kind in kinds) / len(kinds):.2f}",
            f"{row['ours']:.2f}",
        ]
        for memory, row in kept.items()
    ]
    heads = [kind.replace("_", " ") for kind in kinds]
    return ["memory", *heads, "mean of its kinds", "our exam"], 1, rows


def reader() -> Table:
    """Return the time of a step of the plain reader and the earlier one; see foreign/reader.py."""
    kept = measured("foreign/reader")
    rows = [
        [
            row["world"],
            *(str(row[key]) for key in ("steps", "texts")),
            *(f"{row[which]['facts']:,}" for which in ("before", "now")),
            *(f"{row['now'][way]:.0f}" for way in ("first", "play")),
            *(f"{row['now'][way] / row['before'][way]:.2f}" for way in ("first", "play", "again")),
        ]
        for row in kept
    ]

    def all_worlds(way: str) -> str:
        now, before = (sum(row[w][way] for row in kept) for w in ("now", "before"))
        return f"{now / before:.2f}"

    rows.append(["mean of the worlds", *[""] * 6, *map(all_worlds, ("first", "play", "again"))])
    heads = ["world", "steps", "texts", "facts before", "facts now", "us, first", "us, play"]
    return [*heads, "first", "play", "again"], 1, rows


def readers() -> Table:
    """Return the plain reader beside SmolLM2 on the same sentences; see battery/run.py."""
    from battery.run import HALVES, SAMPLE, rows_of, score

    lines = [row for half in HALVES for row in rows_of(half)][::SAMPLE]
    found = {"plain reader": [score(row)[1:4] for row in lines]}
    found["`llm=` with SmolLM2-135M"] = [tuple(row[1:4]) for row in _read("battery/smollm.json")]
    rows = [
        [name, str(len(counts)), *(str(sum(column)) for column in zip(*counts, strict=True))]
        for name, counts in found.items()
    ]
    return ["reader", "sentences", "facts stated", "facts read", "of these right"], 1, rows


def batteries() -> Table:
    """Return the score of the plain reader on its batteries; see battery/run.py."""
    from battery.run import BATTERIES, HALVES, rows_of, score, summary

    rows = []
    for battery in BATTERIES:
        for half in HALVES:
            results = [score(row) for row in rows_of(half, battery)]
            shares = (f"{share:.2f}" for share in summary(results))
            rows.append([battery, half, str(len(results)), *shares])
    return ["battery", "half", "texts", "recall", "precision", "exact"], 2, rows


def things() -> Table:
    """Return how many named things of stories have a place; see jericho/things.py."""
    kept = [row for row in _read("jericho/things.json") if row["named"]]
    named = sum(row["named"] for row in kept)
    rows = [
        [reader, str(len(kept)), f"{named:,}", f"{sum(row[key] for row in kept) / named:.2f}"]
        for reader, key in (("before", "before"), ("now", "placed"))
    ]
    return ["reader", "stories", "things named", "placed"], 1, rows


def state_truth() -> Table:
    """Return the share of live facts that the engines confirm; see state_truth/run.py."""
    table = json.loads((HERE / "state_truth/table.json").read_text("utf-8"))
    rows = [
        [world, *(f"{row[key]:,}" for key in ("steps", "judged")),
         f"{row['true'] / max(row['judged'], 1):.3f}",
         *(f"{true / judged:.3f}" if judged else "" for judged, true in row["relations"].values()),
         str(row["pairs"])]
        for world, row in table.items()
    ]  # fmt: skip
    relations = next(iter(table.values()))["relations"]
    return ["world", "steps", "judged", "true", *relations, "pairs"], 1, rows


def bytesized() -> Table:
    """Return the reader's places of things in ByteSized32; see foreign_games/bytesized.py."""
    sets = {
        "walkthroughs": "by their walkthroughs, used in development",
        "unseen": "by GPT-4, at random, not looked at",
    }
    found = json.loads((HERE / "foreign_games/bytesized.json").read_text("utf-8"))
    rows = []
    for key, name in sets.items():
        for reader, row in found[key].items():
            read = row["right"] + row["wrong"]
            shares = row["right"] / (read + row["missing"]), row["right"] / read
            rows.append([name, str(row["games"]), reader, *(f"{share:.2f}" for share in shares)])
    return ["games", "n", "reader", "recall", "precision"], 1, rows


def listed() -> Table:
    """Tabulate the share of effective actions in a list from a story file; see valid_actions.py."""
    rows = [
        [
            *(str(row[key]) for key in ("game", "states", "effects")),
            f"{row['found']:.2f}",
            f"{row['without effect']} of {row['listed']}",
            f"{row['s a state']:.2f}",
        ]
        for row in measured("valid_actions")["rows"]
    ]
    heads = ["game", "states", "effects", "found", "listed without effect", "s a list"]
    return heads, 1, rows


def _times(before: float | None, now: float | None) -> list[str]:
    """Return milliseconds and their ratio; blanks if one was not measured."""
    if not before or now is None:
        return ["", "", ""]
    return [f"{before:.0f}", f"{now:.0f}", f"{now / before:.2f}"]


def listings() -> Table:
    """Tabulate listings in each story, those that ended Python, and their time; see listings.py."""
    rows = [
        [
            f"`{row['story']}`",
            f"{row['listings']:,}",
            "yes" if row["ended"] else "no",
            *_times(row.get("ms_before"), row.get("ms_now")),
        ]
        for row in _read("jericho/listings.json")
    ]
    return ["story", "listings", "Python ended", "ms before", "ms now", "ratio"], 1, rows


def prompt_size() -> Table:
    """Tabulate the tokens of a prompt early and late; see serving/prompt_size.py."""
    rows = []
    for row in measured("serving/prompt_size"):
        sizes = [
            f"{row[kind][0]:,}, {row[kind][1]:,} ({row[f'{kind}_ratio']} x)"
            for kind in ("state", "appended")
        ]
        env = row["env"].partition("&")[0].replace("?level=", ", ")
        rows.append([env, str(row["budget"]), *sizes])
    constant, appended = "constant size: step 10, 150", "appended turns: step 10, 150"
    return ["environment", "memory budget", constant, appended], 1, rows


def shop() -> Table:
    """Tabulate the shopper with each memory, from the reports of webshop/run.sh."""
    rows: list[list[str]] = []
    for cells in _lines("webshop/report.md"):
        if cells[0] == "`WebShop`" and len(cells) == 12:
            key = [f"`{cells[1]}`", cells[2]]
            budget = "whole" if key in [row[:2] for row in rows] else "1,000"
            rows.append([*key, budget, *cells[5:9], cells[10]])
    return ["memory", "policy", "budget", "score", "95 %", "success", "steps", "tokens"], 2, rows


def worlds() -> Table:
    """Return the rule-based players of other worlds, from their own benchmarks."""
    found: dict[str, dict[str, str]] = {}

    def keep(title: str, n: object, memory: str, shown: str) -> None:
        found.setdefault(f"{title} | {n}", {}).setdefault(memory, shown)

    for cells in _lines("alfworld/report.md"):
        if (cells[0], cells[2]) == ("`ALFWorld`", "searcher"):
            title = "ALFWorld valid_seen, done within 50 steps (mean steps)"
            keep(title, cells[3], cells[1], f"{cells[7]} ({cells[8]})")
    for policy, memory, n, *shares in _lines("alfworld/within.md"):
        if (policy, n) == ("searcher", "140"):
            keep("ALFWorld valid_seen, within 10 steps", n, memory, shares[0])
    for cells in _lines("webshop/report.md"):
        if (cells[0], cells[2]) == ("`WebShop`", "shopper"):
            keep("WebShop, our catalogue, success", cells[3], cells[1], cells[7])
    for view, row in measured("nethack/descent")["table"].items():
        view, _, memory = view.partition(", ")
        keep(f"NetHack, {view}, points", row["n"], memory or "none", f"{row['score'][0]:.0f}")
    for cells in _lines("scienceworld/report.md"):
        if "clin" in cells[0] and cells[2].startswith("imitator"):
            title = "ScienceWorld, CLIN's 18 tasks, `imitator`, -100 counted as 0"
            keep(title, cells[3], cells[1], f"{float(cells[5]):.2f}")
    for row in _read("qa/retrieval.json")["rows"]:
        memory = {"arigraph, relevance, MiniLM": "arigraph"}.get(row["memory"], row["memory"])
        if row["dataset"] == "musique" and memory in ("arigraph", "history"):
            title = "MuSiQue, supporting passages among the first 5"
            keep(title, row["n"], memory, f"{row['recall@5']:.2f}")
    memories = ("none", "history", "shuffled", "arigraph", "oracle")
    rows = [[*key.split(" | "), *(row.get(m, "") for m in memories)] for key, row in found.items()]
    return ["game", "n", *memories], 1, rows


def sizes() -> Table:
    """Return the packages and megabytes of each extra; see install_sizes.py."""
    found = measured("install_sizes")
    core = "the loop, the memories, the results; Fetch and MultiHopQA"
    purposes = {"": core, **PURPOSES, "all": "what all but the rows without a size bring"}
    rows = [
        [
            f"`{extra}`" if extra else "(none)",
            purpose,
            *(f"{n:,}" if n else "" for n in found[extra] or (0, 0)),
        ]
        for extra, purpose in purposes.items()
    ]
    return ["extra", "for", "packages", "MB"], 2, rows


def published() -> Table:
    """Return the published scores of Zork I; see jericho/published.json."""
    heads = ["system", "budget", "who decides", "allowed", "points"]
    return heads, 4, [[row[head] for head in heads] for row in _read("jericho/published.json")]


def defences() -> Table:
    """Return the cost of defences per step; see checksums.py and isolation.py."""
    sums, isolated = measured("checksums"), measured("isolation")
    ends = [isolated[f"step_ms_{where}"] for where in ("here", "isolated")]
    rows = [
        [what, f"{row['checksums_ms']:.3f}", f"{row['step_ms']:.1f}", f"{row['share_percent']} %"]
        for what, row in zip(
            ("Checksums, steps recorded", "Checksums, facts also in a store"),
            sums.values(),
            strict=True,
        )
    ]
    added = ends[1] - ends[0]
    rows.append(
        ["`isolate=process`", f"{added:.3f}", f"{ends[0]:.1f}", f"{100 * added / ends[0]:.1f} %"]
    )
    return ["defence", "added, ms", "a step, ms", "share"], 1, rows


def viewer() -> Table:
    """Tabulate the speed of the pages, in ms of Chromium; see viewer_speed.py."""
    rows = [
        [what.removesuffix(", ms"), str(times["best"]), str(times["median"]), str(times["worst"])]
        for what, times in measured("viewer_speed").items()
        if what.endswith(", ms")
    ]
    return ["episode: what, in ms", "best", "median", "worst"], 1, rows


def rivals() -> Table:
    """Return the rule-based rivals in their own worlds; see agents/rivals.py."""
    rows = []
    for row in _read("agents/rivals.json"):
        names = [f"`{row[key]}`" for key in ("env", "protocol", "policy")]
        paper = f"{row['published']:.2f} ({row['source']})" if row["published"] else ""
        rows.append([*names, str(len(row["normalized"])), _mean(row["normalized"]), paper])
    return ["game", "protocol", "policy", "n", "score [95 %]", "published"], 3, rows


def _mean(scores: list[float]) -> str:
    found = intervals.scores(scores, [str(game) for game in range(len(scores))])
    interval = format_interval(found.interval())
    return f"{sum(scores) / len(scores):.2f} {interval}"


def beside() -> Table:
    """Return language agents, learners and rules, one episode each; see agents/beside.py."""
    memories = ("none", "history", "arigraph")
    found: dict[tuple[str, str], dict[str, str]] = {}
    for row in _read("agents/beside.json")["rows"]:
        if row["protocol"] == "single_episode":
            column = row["memory"] if row["memory"] in memories else "own"
            found.setdefault((who_decided(row["by"]), row["policy"]), {})[column] = _mean(
                row["first"]
            )
    clone: dict[str, list[float]] = {}
    for line in (HERE / "smollm/clone.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if (row["level"], row["memory"]) in (("rl-4-gpu", "none"), ("rl-4-gpu", "arigraph")):
            clone.setdefault(row["memory"], []).append(row["score"])
    found[who_decided("cloning"), "lm"] = {
        memory: _mean(scores) for memory, scores in clone.items()
    }
    rows = [
        [f"`{policy}`", by, *(cells.get(column, "") for column in (*memories, "own"))]
        for (by, policy), cells in sorted(found.items())
    ]
    heads = ["policy", "decides by", *(f"`{memory}`" for memory in memories), "its paper's memory"]
    return heads, 2, rows


def who_decided(by: str) -> str:
    """Return the decider of a policy; for a model, the server behind the calls."""
    model = _read("agents/beside.json")["about"]["model"]
    return {"language model": decider([model]), "cloning": "a cloned model"}.get(by, by)


def beside_trials() -> Table:
    """Return the agents that learn over trials, first and third trial; see agents/beside.py."""
    rows = [
        [f"`{row['policy']}`", who_decided(row["by"]), f"`{row['memory']}`", str(len(row["first"])),
         _mean(row["first"]), _mean(row["last"])]
        for row in _read("agents/beside.json")["rows"]
        if row["protocol"] != "single_episode"
    ]  # fmt: skip
    heads = ["policy", "decides by", "memory", "n", "first trial [95 %]", "third trial [95 %]"]
    return heads, 3, rows


def shipped() -> Table:
    """Return the shipped players; see agents/trained.py."""
    rows = []
    for path in sorted((HERE.parent / "baselines/rl/trained").glob("*.safetensors")):
        content = path.read_bytes()
        head = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
        record = json.loads(head["__metadata__"]["record"])
        about = record.get("about", record)
        measured_on = about["training"]["valid_games"]
        valid = f"{about['measured']['valid_score']:.2f}" if measured_on > 1 else ""
        digest = hashlib.sha256(content).hexdigest()
        rows.append([f"`{path.stem}`", f"`{digest}`", f"{len(content) / 1e3:,.0f}", valid])
    return ["player", "SHA-256", "kB", "valid games"], 2, rows


_EXPECTED = (
    *(("none", ""), ("history", ""), ("arigraph", "")),
    *(("none", "walkthrough"), ("none", "random")),
)
"""Memory and policy of the expected rows; an empty policy is the panel's own player."""


def panels() -> Table:
    """Return the panels of the package."""
    rows = [
        [f"`{p.name}`", p.about, str(len(p.tasks)), f"{p.n_texts:,}", f"`{p.digest}`"]
        for p in map(load_panel, panel_names())
    ]
    return ["panel", "what", "tasks", "texts", "digest"], 2, rows


def panel_rows() -> Table:
    """Return the expected rows of panels, scores with 95 % intervals, and the time of a replay."""
    lines = []
    again = measured("panel_replay")
    for panel in map(load_panel, panel_names()):
        found = {(row.memory, row.policy): row for row in expected_rows(panel)}
        player = next((p for _, p in found if p not in ("walkthrough", "random")), "")
        cells = []
        for memory, policy in _EXPECTED:
            row = found.get((memory, policy or player))
            ends = row and row.estimate.interval()
            cells.append(f"{row.estimate.mean:.2f} {format_interval(ends)}" if row else "–")
        replay = again.get(panel.name)
        cells += [f"{replay['cpu_s'] / 60:.1f}", f"`{replay['commit']}`"] if replay else ["–", "–"]
        if found:
            lines.append([f"`{panel.name}`", f"`{player}`", *cells])
        else:
            lines.append([f"`{panel.name}`", panel.unplayed or "no rows yet", *["–"] * len(cells)])
    arms = ["none", "history", "arigraph", "walkthrough", "random"]
    return ["panel", "player", *arms, "CPU min", "commit"], 2, lines


def panel_leaks() -> Table:
    """Return the number of training tasks compared with the panels, and the shared ones."""
    rows = [
        [
            *(name, ", ".join(f"`{panel}`" for panel in entry["panels"])),
            *(str(entry["splits"]), f"{entry['tasks']:,}"),
            *(str(entry.get("alike", 0)), str(len(entry["shared"]))),
        ]
        for name, entry in sorted(measured("panel_leaks").items())
    ]
    heads = ["environment", "panels", "training splits", "their tasks", "begin alike", "in a panel"]
    return heads, 2, rows


def panel_ways() -> Table:
    """Return the ways of playing a panel, and the number of rows that differ."""
    rows = [
        [f"`{name}`", f"`{entry['player']}`", way, str(found["rows"]), str(found["differ"])]
        for name, entry in sorted(measured("panel_ways").items())
        for way, found in entry["ways"].items()
    ]
    return ["panel", "player", "way", "rows", "differ"], 3, rows


def doors() -> Table:
    """Return the result of each door from an empty environment, with call times; doors/run.py."""
    found, rows = measured("doors"), []
    for name, door in DOORS.items():
        row = {"before": "not run" if door.before != "" else "no door", "now": "not run"}
        row |= found.get(name, {})
        calls = row.get("calls", {})
        bare = f"{calls['bare']:.2f}" if "bare" in calls else "–"
        ways = [
            f"{way} {ms:.1f} (+{ms - calls['bare']:.1f}, {ms / calls['bare']:.0f} x)"
            for way, ms in calls.get("ms", {}).items()
        ]
        if "cpu_s" in calls:
            ways.append(f"an update: {calls['cpu_s']:.0f} CPU-s")
        rows.append([name, _line(row["before"]), _line(row["now"]), bare, ", ".join(ways) or "–"])
    return ["door", "before", "now", "bare step, ms", "through the door, ms"], 3, rows


def _line(text: str) -> str:
    """Return a line of a program for a cell; a word or two as such."""
    return f"`{text[:140].replace('|', '/').replace('`', chr(39))}`" if len(text) > 9 else text


def papers() -> Table:
    """Return the result of each published experiment at its smallest size; see papers/run.py."""
    found, rows = measured("papers"), []
    for name in experiment_names():
        row = found.get(name, {})
        said = row.get("said") or row.get("fault") or "not run"
        took = (str(row.get(part, "–")) for part in ("seconds", "lines"))
        rows.append([f"`{name}`", *took, said.replace("|", "/")])
    return ["experiment", "s", "lines", "printed below the table"], 4, rows


def paper_pairs() -> Table:
    """Return the beginning and input of each half of CLIN's pairs; see papers/pairs.py."""
    heads = ["pair", "learnt in", "which begins in", "played", "which begins in", "learnings got"]
    cut = len("scienceworld/")
    rows = [
        [number, f"`{learnt[cut:]}`", first, f"`{task[cut:]}`", *more]
        for number, learnt, first, task, *more in measured("papers/pairs")
    ]
    return heads, 5, rows


def paper_prompts() -> Table:
    """Return the last prompt of a trial, cut and whole; see papers/prompt.py."""
    rows = [[f"`{most}`", *map(str, more)] for most, *more in measured("papers/prompt")]
    return ["`history_tokens`", "steps", "tokens of the last prompt", "steps in it"], 1, rows


def learned_rank() -> Table:
    """Return scores under a learnt ranking of facts and under the rules'; see learned_rank.py."""
    rows = [
        [row["world"], str(row["budget"]), f"{row['rules']:.2f}", f"{row['learned']:.2f}",
         "{:+.2f} [{:+.2f}, {:+.2f}]".format(*row["gain"])]
        for row in _read("learned_rank.json")
    ]  # fmt: skip
    return ["world", "tokens", "ranked by rules", "learnt", "gain, 95 %"], 1, rows


def door_faults() -> Table:
    """Return the message for each mistake at a door; see doors/calls.py."""
    titles = {"token": "a wrong token", "handle": "a wrong handle, a lost session or a wrong split",
              "schema": "a wrong argument", "dead": "a dead service"}  # fmt: skip
    rows = [
        [name, title, _line(row["calls"][kind])]
        for name, row in measured("doors").items()
        for kind, title in titles.items()
        if kind in row.get("calls", {})
    ]
    return ["door", "mistake", "answer"], 3, rows


PAGES: dict[str, dict[str, Callable[[], Table]]] = {
    "cite-a-number": {
        **{"panels": panels, "panel_rows": panel_rows},
        **{"panel_ways": panel_ways, "panel_leaks": panel_leaks},
    },
    "agentodyssey": {"odyssey": odyssey},
    "credit": {"learned_rank": learned_rank},
    "foreign-environments": {"arena": arena},
    "install": {"sizes": sizes},
    "jericho": {"listed": listed, "listings": listings},
    "results/llm-beside-rl": {
        "beside": beside,
        "trials": beside_trials,
        "rivals": rivals,
        "shipped": shipped,
    },
    "plain-reader": {
        "batteries": batteries,
        "things": things,
        "bytesized": bytesized,
        "reader": reader,
        "readers": readers,
        "state_truth": state_truth,
    },
    "question-answering": {"passages": passages},
    "training-language-models": {"prompt_size": prompt_size},
    "viewer": {"viewer": viewer},
    "webshop": {"shop": shop},
}

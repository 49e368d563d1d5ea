"""Tables of the pages in docs/ that are not results: heads, number of columns of words, rows."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gym_memory.run.results import intervals
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


def passages() -> Table:
    """Which memory finds the passages of a question; see qa/retrieval.py."""
    sets = {"isles": "isles", "hotpotqa": "HotpotQA", "musique": "MuSiQue"}
    found = {(row["memory"], row["dataset"]): row for row in _read("qa/retrieval.json")["rows"]}
    heads = [head for name in sets.values() for head in (f"{name} recall@5", "all@5")]
    rows = [
        [title, *(f"{found[name, data][k]:.2f}" for data in sets for k in ("recall@5", "all@5"))]
        for name, title in PASSAGES.items()
    ]
    return ["memory", *heads], 1, rows


def listed() -> Table:
    """Which effective actions a list from a story file holds; see valid_actions.py."""
    rows = [
        [
            *(str(row[key]) for key in ("game", "states", "effects")),
            f"{row['found']:.2f}",
            f"{row['without effect']} of {row['listed']}",
            f"{row['cpu s a state']:.2f}",
        ]
        for row in _read("valid_actions.json")["rows"]
    ]
    heads = ["game", "states", "effects", "found", "listed without effect", "CPU s a list"]
    return heads, 1, rows


def prompt_size() -> Table:
    """Tokens of a prompt early and late; see serving/prompt_size.py."""
    rows = []
    for row in _read("serving/prompt_size.json"):
        sizes = [
            f"{row[kind][0]:,}, {row[kind][1]:,} ({row[f'{kind}_ratio']} x)"
            for kind in ("state", "appended")
        ]
        env = row["env"].partition("&")[0].replace("?level=", ", ")
        rows.append([env, str(row["budget"]), *sizes])
    constant, appended = "constant size: step 10, 150", "appended turns: step 10, 150"
    return ["environment", "memory budget", constant, appended], 1, rows


def shop() -> Table:
    """The shopper with each memory, from the reports of webshop/run.sh."""
    rows: list[list[str]] = []
    for line in (HERE / "webshop" / "report.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("| `WebShop` | ") and line.count("|") == 13:
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            key = [f"`{cells[1]}`", cells[2]]
            budget = "whole" if key in [row[:2] for row in rows] else "1,000"
            rows.append([*key, budget, *cells[5:9], cells[10]])
    return ["memory", "policy", "budget", "score", "95 %", "success", "steps", "tokens"], 2, rows


def viewer() -> Table:
    """How fast the pages open and move, in ms of Chromium; see viewer_speed.py."""
    rows = [
        [what.removesuffix(", ms"), str(times["best"]), str(times["median"]), str(times["worst"])]
        for what, times in _read("viewer_speed.json").items()
        if what.endswith(", ms")
    ]
    return ["episode: what, in ms", "best", "median", "worst"], 1, rows


def rivals() -> Table:
    """Return the scores of SayCan and CALM by their rules; see agents/rivals.sh."""
    rows = []
    for row in _read("agents/rivals.json"):
        scores = row["normalized"]
        interval = format_interval(intervals.values(scores).interval())
        names = [f"`{row[key]}`" for key in ("env", "memory", "policy")]
        rows.append([*names, str(len(scores)), f"{sum(scores) / len(scores):.2f} {interval}"])
    return ["game", "memory", "policy", "n", "score [95 %]"], 3, rows


PAGES: dict[str, dict[str, Callable[[], Table]]] = {
    "jericho": {"listed": listed},
    "results/language-agents": {"rivals": rivals},
    "question-answering": {"passages": passages},
    "training-language-models": {"prompt_size": prompt_size},
    "viewer": {"viewer": viewer},
    "webshop": {"shop": shop},
}

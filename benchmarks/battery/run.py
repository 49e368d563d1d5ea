"""Score the plain reader on four batteries, each with a held-out part.

    python -m benchmarks battery
    python -m benchmarks battery --missed     # list what it misses in the development halves
    python -m benchmarks battery --llm        # SmolLM2 as the reader, on every tenth sentence

*sentences* has 300 sentences in ten categories, *styles* 300 texts in fifteen styles of games, one
half of each untouched, and *kinds* 300 texts in ten styles, of which 60 are untouched. *second
author* has 160 texts by another author, who did not know the reader, half of them untouched. A line
of a table has a category, the action, the known facts, the text (``\\n`` a line break, ``\\e`` an
escape character), and its facts; ``-`` before a fact says that it ends. *Recall* is the share of
expected facts that hold after the text, *precision* the share of the facts read that are expected,
*exact* the share of texts with both. Statements of a letter or a speaker do not count.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from gym_memory.core.records import Step, Task, Triple
from gym_memory.extract import Extraction, Extractor, get_extractor
from gym_memory.extract.draft import apply
from gym_memory.extract.things import place_name
from gym_memory.graph import TemporalGraph

HERE = Path(__file__).parent
BATTERIES = {
    "sentences": HERE,
    "styles": HERE / "styles",
    "kinds": HERE / "kinds",
    "second author": HERE / "second_author",
}
HALVES = ("development", "untouched")
LOCKS = {
    "sentences": "1548234531abf5ccbadbe57a9f11107c654cf0079fca13bd82274cad30ca9ae1",
    "styles": "a09c52f8ab0c3fb109d4ca0e8d4f926ce5ccfeb6025ad46b9df043fd592143bc",
    "kinds": "0c0b5fa5ca517262b0a5f6843ae633046235ac731406a82ebafdb0107bde6279",
    "second author": "086fac59af3ae293b1fd2effeb27a159e02f8efdef09d22f1273fcdf9eb55c0a",
}
"""Checksums of the untouched parts."""

SAMPLE, TOKENS = 10, 160
MODEL = HERE / "smollm.json"
"""Counts of every tenth sentence, read by SmolLM2."""


class Result(NamedTuple):
    """Counts of the facts of a sentence: expected, read, and both."""

    category: str
    expected: int
    read: int
    right: int
    missed: str


def rows_of(half: str, battery: str = "sentences") -> Iterator[dict[str, str]]:
    """Yield the lines of a table."""
    with (BATTERIES[battery] / f"{half}.tsv").open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)


def is_locked(battery: str = "sentences") -> bool:
    """True if the untouched half is unchanged."""
    data = (BATTERIES[battery] / "untouched.tsv").read_bytes()
    return hashlib.sha256(data).hexdigest() == LOCKS[battery]


def facts_of(cell: str) -> set[Triple]:
    """Return the facts of a cell, normalised as the graph does."""
    return {_named(Triple(*fact.split("|"))) for fact in cell.split("; ") if fact}


def _named(fact: Triple) -> Triple:
    """Return a fact without articles, as in names of places."""
    return Triple(place_name(fact[0]), fact[1], place_name(fact[2]))


def score(row: dict[str, str], reader: Extractor | None = None) -> Result:
    """Read one sentence, by the plain reader unless another is given."""
    graph, known = TemporalGraph(), facts_of(row["known"])
    for fact in sorted(known):
        graph.add(fact, 0)
    text = row["text"].replace("\\n", "\n").replace("\\e", "\x1b")
    step = Step(1, text, row["action"])
    reader = reader or get_extractor("plain")
    apply(reader.extract(step, graph, Task("", "", "plain")), graph, 1)
    live = {_named(fact) for fact in graph.live() if not graph.said_by(fact)}
    cells = [cell for cell in row["facts"].split("; ") if cell]
    wanted = facts_of("; ".join(cell for cell in cells if cell[0] != "-"))
    ended = facts_of("; ".join(cell[1:] for cell in cells if cell[0] == "-"))
    read = live - known
    right = len(wanted & live) + len(ended - live)
    extra = read - wanted
    lost = [*sorted(wanted - live), *(f"-{fact}" for fact in sorted(ended & live))]
    note = f"{text!r}: lost {', '.join(map(str, lost)) or '-'}; read {sorted(extra) or '-'}"
    return Result(
        row["category"], len(wanted) + len(ended), right + len(extra), right,
        note if lost or extra else "",
    )  # fmt: skip


def summary(results: list[Result]) -> tuple[float, float, float]:
    """Return recall, precision and the share of exact sentences."""
    expected, read, right = (sum(r[i] for r in results) for i in (1, 2, 3))
    exact = sum(not r.missed for r in results) / len(results)
    return right / expected if expected else 1.0, right / read if read else 1.0, exact


def compare_model() -> None:
    """Print and keep the scores of the reader ``llm=`` and the plain one on the same sentences.

    A call that fails reads nothing here, where in play the plain reader answers instead.
    """
    from gym_memory.llm import make_model
    from gym_memory.llm.smollm import LlamaServer
    from gym_memory.memory.roles.llm import LLMExtractor

    rows = [row for half in HALVES for row in rows_of(half)][::SAMPLE]
    with LlamaServer() as server:
        reader = LLMExtractor(make_model(f"openai?model=smollm&base_url={server.base_url}"))
        reader.rule = lambda *_: Extraction((), ())
        reader.max_tokens = TOKENS
        by_model = []
        for row in rows:
            by_model.append(score(row, reader))
            MODEL.write_text(json.dumps([r[:4] for r in by_model], indent=None) + "\n", "utf-8")
    for name, results in (("plain", [score(row) for row in rows]), ("SmolLM2", by_model)):
        print(f"{name:12} {len(rows):3} " + " ".join(f"{v:7.3f}" for v in summary(results)))
    print(f"{reader.calls} calls, {reader.fallbacks} of them failed")


def main() -> None:
    """Print both halves."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--missed", action="store_true", help="list faults in the development half")
    parser.add_argument("--llm", action="store_true", help="read by SmolLM2 through llama.cpp")
    args = parser.parse_args()
    if args.llm:
        compare_model()
        return
    print(f"{'battery':10} {'half':12} {'category':14} {'n':>3} recall precision exact")
    for battery in BATTERIES:
        for half in HALVES:
            results = [score(row) for row in rows_of(half, battery)]
            for category in [*dict.fromkeys(r.category for r in results), "all"]:
                own = [r for r in results if category in (r.category, "all")]
                values = " ".join(f"{value:7.3f}" for value in summary(own))
                print(f"{battery:10} {half:12} {category:14} {len(own):3} {values}")
            if args.missed and half == "development":
                print(*(r.missed for r in results if r.missed), sep="\n")
        print(f"{battery}: untouched half as written: {'yes' if is_locked(battery) else 'NO'}")


if __name__ == "__main__":
    main()

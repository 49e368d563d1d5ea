"""Play the reference of `gym-memory rank` memory by memory, and keep the shipped results.

Plays the missing memories of a folder, so the same command continues an interrupted run, then
merges all finished ones into the shipped results. The games of `smoke` are among those of
`standard`: two memories play them as a check, and the others' results come from `standard`. With
measures or environments it plays only these, for all memories or some, and replaces their cells in
the shipped results::

    python -m benchmarks rank standard results/rank/standard
    python -m benchmarks rank streams results/rank/streams
    python -m benchmarks rank smoke results/rank/smoke
    python -m benchmarks rank standard results/rank/play play history rag
    python -m benchmarks rank smoke results/rank/harm stale+poison
    python -m benchmarks tables
"""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from gym_memory.core.errors import ResultsError
from gym_memory.evaluate.rank.card import Card, cards
from gym_memory.evaluate.rank.result import backends_of, build, hash_games, load_reference
from gym_memory.evaluate.rank.suite import Suite, SuiteCell, cells_of, load_suite
from gym_memory.run.compare import compare
from gym_memory.run.config import parse_seeds

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "gym_memory" / "evaluate" / "rank" / "reference"
LARGEST = next(t for t in ("full", "standard", "smoke") if load_reference(t)["memories"])
"""The largest tier of single episodes whose results ship."""
_SMALL, _PLAYED = "smoke", ("history", "arigraph")
"""The tier whose games another one has, and the memories that play it."""


def shipped_cells(tier: str) -> dict[str, list[SuiteCell]]:
    """Return the cells of the results that ship for a tier."""
    known = load_reference(tier)["memories"]
    return {memory: [SuiteCell.from_json(c) for c in found] for memory, found in known.items()}


@cache
def shipped(tier: str) -> list[Card]:
    """Return the cards of the results that ship for a tier."""
    return cards(load_suite(tier), shipped_cells(tier))


def taken(cells: Iterable[SuiteCell], larger: Suite, smaller: Suite) -> list[SuiteCell]:
    """Return the cells of a smaller tier; costs are means over the games of the larger one."""
    wanted = {part.name: part for part in smaller.parts}
    known = {part.name: part for part in larger.parts}
    found = []
    for cell in cells:
        part = wanted.get(cell.part)
        if part is None or cell.env not in part.played or cell.budget not in part.budgets:
            continue
        if cell.failed:
            raise ResultsError(f"expected no failure in {cell.part} of {cell.env}")
        seeds = parse_seeds(known[cell.part].seeds)
        places = [seeds.index(seed) for seed in parse_seeds(part.seeds)]
        found.append(
            dataclasses.replace(
                cell,
                tasks=tuple(cell.tasks[n] for n in places),
                scores=tuple(cell.scores[n] for n in places),
                marks={
                    name: tuple(counts[n] for n in places) for name, counts in cell.marks.items()
                },
            )
        )
    return found


def outcome(cells: Iterable[SuiteCell]) -> list[tuple[Any, ...]]:
    """Return the part of a cell that must be equal in a repetition: all except costs."""
    return [
        (c.part, c.env, c.policy, c.budget, c.tasks, c.scores, sorted(c.marks.items()))
        for c in cells
    ]


def play(tier: str, memories: Sequence[str], folder: Path) -> None:
    """Rank memories alone, each in a folder of its own."""
    for memory in memories:
        command = [sys.executable, "-P", "-m", "gym_memory", "rank", memory]
        command += ["--tier", tier, "--alone", "--json"]
        out = folder / re.sub(r"\W", "-", memory)
        subprocess.run([*command, "--out", str(out)], stdout=subprocess.DEVNULL)


def replay(tier: str, folder: Path, what: str, memories: Sequence[str]) -> None:
    """Play measures or environments, joined by ``+``, again; replace their shipped cells."""
    suite, found = load_suite(tier), load_reference(tier)
    known = {m: list(map(SuiteCell.from_json, cells)) for m, cells in found["memories"].items()}
    for part in suite.parts:
        envs = [env for env in part.envs if {part.measure, env} & {*what.split("+")}]
        if not envs:
            continue
        own = folder / part.name
        rows = compare(part._replace(envs=envs).config(memories, ()), own)
        rows.sort(key=lambda row: row.job.seed)
        for memory, cells in cells_of(part, rows, own / "steps").items():
            cells = [_with_time_of(cell, known[memory]) for cell in cells]
            again = {(cell.part, cell.env) for cell in cells}
            rest = [cell for cell in known[memory] if (cell.part, cell.env) not in again]
            known[memory] = [*cells, *rest]
        found["backends"] = {**backends_of(own), **found["backends"]}
        digests: dict[str, Any] = {}
        hash_games(own, rows, digests)  # of new games; others may be in several parts
        new = {env: digest.hexdigest() for env, digest in digests.items()}
        found["games"] = {**new, **found["games"]}
    order = [(p.name, b, env) for p in suite.parts for b in p.budgets for env in p.played]
    for memory, cells in known.items():
        cells.sort(key=lambda cell: order.index((cell.part, cell.budget, cell.env)))
        found["memories"][memory] = json.loads(json.dumps([*map(dataclasses.asdict, cells)]))
    if tier == _SMALL:
        _complete(found["memories"], load_suite(LARGEST), suite)
    _write(tier, suite, found)


def _with_time_of(cell: SuiteCell, older: Iterable[SuiteCell]) -> SuiteCell:
    """Return a cell with the time of the replaced one, so that all times are of one machine."""
    place = (cell.part, cell.env, cell.policy, cell.budget)
    same = [c.ms for c in older if (c.part, c.env, c.policy, c.budget) == place]
    return dataclasses.replace(cell, ms=same[0]) if same else cell


def merge(tier: str, folders: Iterable[Path]) -> None:
    """Write the reference of a tier."""
    suite, found = load_suite(tier), load_reference(tier)
    for folder in folders:
        try:
            record, _ = build(folder, suite, "", "", alone=True)
        except ResultsError as error:
            print(f"left out: {error}")
            continue
        manifest = record["manifest"]
        for name in ("games", "backends"):
            if found[name] not in ({}, manifest[name]):
                sys.exit(f"{folder}: other {name} than those before it; delete them to start again")
            found[name] = manifest[name]
        found["memories"] |= record["memories"]
    if tier == _SMALL:
        _complete(found["memories"], load_suite(LARGEST), suite)
    _write(tier, suite, found)


def _write(tier: str, suite: Suite, found: Mapping[str, Any]) -> None:
    order = [m for m in (*suite.controls, *suite.memories) if m in found["memories"]]
    lines: list[Any] = [f'"{m}": {json.dumps(found["memories"][m])}' for m in order]
    head = {"suite": suite.version}
    head |= {name: found[name] for name in ("backends", "games")}
    REFERENCE.mkdir(exist_ok=True)
    text = json.dumps(head)[:-1] + ', "memories": {\n' + ",\n".join(lines) + "\n}}\n"
    (REFERENCE / f"{tier}.json").write_text(text, encoding="utf-8")
    print(f"{len(order)} memories")


def _complete(memories: dict[str, Any], larger: Suite, smaller: Suite) -> None:
    """Take missing results from the larger tier, once the played ones equal it."""
    for memory, cells in shipped_cells(larger.tier).items():
        found = taken(cells, larger, smaller)
        if memory in _PLAYED:
            again = [SuiteCell.from_json(cell) for cell in memories[memory]]
            if outcome(again) != outcome(found):
                sys.exit(f"{memory} plays otherwise than in {larger.tier}: play that tier again")
        memories[memory] = json.loads(json.dumps([dataclasses.asdict(cell) for cell in found]))


def _played(tier: str) -> Sequence[str]:
    suite = load_suite(tier)
    return _PLAYED if tier == _SMALL else (*suite.controls, *suite.memories)


def main() -> None:
    """Play a tier into a folder and write its reference."""
    tier, place = sys.argv[1], Path(sys.argv[2])
    if sys.argv[3:]:
        replay(tier, place, sys.argv[3], sys.argv[4:] or _played(tier))
        return
    play(tier, _played(tier), place)
    merge(tier, sorted(place.iterdir()))


if __name__ == "__main__":
    main()

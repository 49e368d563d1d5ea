"""``gym-memory memory``: inspect, save, move and compare stored memories."""

from __future__ import annotations

import difflib
import json
from collections.abc import Sequence
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from gym_memory.cli import LOOKS, options
from gym_memory.cli.show import output, print_json, print_table
from gym_memory.core.errors import InvalidArgumentError
from gym_memory.memory.base import count_tokens
from gym_memory.wrappers.memory import DEFAULT_BUDGET

if TYPE_CHECKING:
    from gym_memory.memory.stores.store import Store
    from gym_memory.run.results.archive import FactRecord, RestoredMemory

__all__ = ["app"]

app = typer.Typer(
    **LOOKS,
    no_args_is_help=True,
    help="""Look into memories: what they know, when they learnt it and from which text.

    A file is a saved memory, a durable store, or the recorded steps of an episode
    (`steps/*.jsonl.gz` of every run), from which any memory learns again.

    Example: `gym-memory memory inspect results/first/steps/0a1b2c3d-seed0.jsonl.gz --as-of 12`
    """,
)

# The package of a memory may bring a command of its own.
for _point in entry_points(group="gym_memory.memory_commands"):
    app.command(_point.name)(_point.load())

Source = Annotated[
    str, Argument(metavar="FILE", help="Saved memory, recorded steps, store or its URL.")
]
Name = Annotated[
    str,
    Option("--memory", "-m", metavar="MEMORY", help="Memory that learns from the recorded steps."),
]
Episode = Annotated[
    int | None, Option(metavar="N", help="Episode of recorded steps; default: the last.")
]
AsOf = Annotated[
    int | None, Option("--as-of", metavar="T", min=0, help="Use the state after step T.")
]


@app.command()
def inspect(
    source: Source,
    memory: Name = "",
    episode: Episode = None,
    as_of: AsOf = None,
    entity: Annotated[str, Option(metavar="NAME", help="Only facts about this.")] = "",
    past: Annotated[bool, Option("--all", help="Also show facts that are no longer true.")] = False,
    focus: Annotated[
        str, Option(metavar="TEXT", help="Aim of the policy, for which to recall.")
    ] = "",
    budget: options.Budget = DEFAULT_BUDGET,
    last: Annotated[int, Option(metavar="N", min=1, help="Records of a store.")] = 20,
    json_lines: options.Json = False,
    plugins: options.Plugins = None,
) -> None:
    """Show what a memory knows, when and from which words it learnt each fact, and its recall.

    With `--as-of T`, show the state after step T: the facts believed then, and the recall.

    Example: `gym-memory memory inspect arigraph.json --as-of 12 --entity apple`
    """
    from gym_memory.run.results.archive import file_kind, open_memory

    options.load_plugins(plugins)
    if file_kind(source) == "store":
        _inspect_store(source, last, json_lines=json_lines)
        return
    opened = open_memory(source, memory, episode=episode, as_of=as_of)
    facts = _facts(opened, entity, past=past)
    recall = opened.recall(budget, focus)
    if json_lines:
        print_json([{"kind": "fact", **fact.to_json()} for fact in facts])
        print_json([{"kind": "recall", **recall._asdict()}])
        return
    console = output()
    stats, steps = opened.memory.stats(), opened.steps
    console.print(
        f"{opened.memory.name}: {stats.facts} facts, {stats.live_facts} of them live, "
        f"{stats.episodes} observations, {stats.lessons} lessons"
        + (f"; task {opened.task.id}, step {steps[-1].t}" if steps else "")
    )
    if facts:
        _print_facts(facts)
    console.print(f"\nIt recalls ({count_tokens(recall.text)} tokens):")
    console.print(recall.text or "(nothing)", soft_wrap=True)


@app.command()
def save(
    source: Source,
    target: Annotated[Path, Argument(metavar="TARGET", help="File to write.")],
    memory: Name = "",
    episode: Episode = None,
    as_of: AsOf = None,
    plugins: options.Plugins = None,
) -> None:
    """Replay recorded steps into a memory, and save it as a file that `Memory.load` reads.

    Example: `gym-memory memory save results/first/steps/0a1b2c3d-seed0.jsonl.gz arigraph.json`
    """
    from gym_memory.run.results.archive import open_memory

    options.load_plugins(plugins)
    opened = open_memory(source, memory, episode=episode, as_of=as_of)
    opened.memory.save(target)
    output().print(f"Saved {opened.memory.name} to {target}", soft_wrap=True)


@app.command("export")
def export_store(
    source: Annotated[str, Argument(metavar="STORE", help="Durable store, or its URL.")],
    target: Annotated[Path, Argument(metavar="TARGET", help="JSONL file to write.")],
) -> None:
    """Write all records of a store as JSONL, one per line.

    Example: `gym-memory memory export lessons.db lessons.jsonl`
    """
    count = _store(source).export_jsonl(target)
    output().print(f"Wrote {count} records to {target}", soft_wrap=True)


@app.command("import")
def import_store(
    source: Annotated[Path, Argument(metavar="JSONL", help="What `export` wrote.")],
    target: Annotated[
        str, Argument(metavar="STORE", help="Store, or its URL; created if it is missing.")
    ],
) -> None:
    """Add exported records to a store, all or none.

    Example: `gym-memory memory import lessons.jsonl lessons.db`
    """
    from gym_memory.memory.stores.store import Store, exported_records

    records = exported_records(source)  # before the store is created
    store = Store(target)
    count = store.import_records(records)
    output().print(f"Added {count} records to {store.place}", soft_wrap=True)


@app.command("backup")
def backup_store(
    source: Annotated[str, Argument(metavar="STORE", help="Durable store, or its URL.")],
    target: Annotated[Path, Argument(metavar="TARGET", help="File to write.")],
    salvage: Annotated[
        bool, Option("--salvage", help="Leave out damaged records and graphs.")
    ] = False,
) -> None:
    """Copy a store with its graphs to a file; other processes may write meanwhile.

    Example: `gym-memory memory backup lessons.db lessons-monday.db`
    """
    from gym_memory.memory.stores.store import backup

    count = backup(source, target, salvage=salvage)
    output().print(f"Wrote {count} rows to {target}", soft_wrap=True)


@app.command("restore")
def restore_store(
    source: Annotated[Path, Argument(metavar="BACKUP", help="What `backup` wrote.")],
    target: Annotated[str, Argument(metavar="STORE", help="Empty or new store, or its URL.")],
    replace: Annotated[
        bool, Option("--replace", help="Delete the store's content, if the copy succeeds.")
    ] = False,
) -> None:
    """Copy a backup into a store, all or nothing.

    Example: `gym-memory memory restore lessons-monday.db lessons.db --replace`
    """
    from gym_memory.memory.stores.store import restore

    count = restore(source, target, replace=replace)
    output().print(f"Restored {count} rows", soft_wrap=True)


@app.command()
def diff(
    before: Annotated[str, Argument(metavar="BEFORE", help="As for inspect.")],
    after: Annotated[
        str | None,
        Argument(metavar="[AFTER]", help="As BEFORE; default: the same file, in its last state."),
    ] = None,
    memory: Name = "",
    episode: Episode = None,
    as_of: AsOf = None,
    until: Annotated[
        int | None, Option("--until", metavar="T", min=0, help="AFTER as of step T.")
    ] = None,
    json_lines: options.Json = False,
    plugins: options.Plugins = None,
) -> None:
    """Show what one memory knows and another does not, or what one learnt between two steps.

    `--as-of` is the step of BEFORE. Exit status 0, differences or not.

    Example: `gym-memory memory diff arigraph.json --as-of 10 --until 20`
    """
    from gym_memory.run.results.archive import file_kind, open_memory

    options.load_plugins(plugins)
    other = before if after is None else after
    kinds = {file_kind(before), file_kind(other)}
    if kinds == {"store"}:
        old, new = (
            [
                f"{r.memory} | {r.key} | {r.kind} | {_text(r.payload)}"
                for r in _store(path).records()
            ]
            for path in (before, other)
        )
    elif "store" in kinds:
        raise InvalidArgumentError("expected two stores or two memories, got one of each")
    else:
        old = _memory_lines(open_memory(before, memory, episode=episode, as_of=as_of))
        new = _memory_lines(open_memory(other, memory, episode=episode, as_of=until))
    changes = [(line[0], line[2:]) for line in difflib.ndiff(old, new) if line[0] in "+-"]
    if json_lines:
        print_json([{"change": sign, "what": what} for sign, what in changes])
        return
    for sign, what in changes:
        output().print(f"{sign} {what}", style="green" if sign == "+" else "red", soft_wrap=True)
    if not changes:
        output().print("No difference.")


def _facts(opened: RestoredMemory, entity: str, *, past: bool) -> list[FactRecord]:
    from gym_memory.run.results.archive import fact_records

    if opened.memory.graph is None:
        if entity:
            raise InvalidArgumentError(f"expected a memory with a graph, got {opened.memory.name}")
        return []
    return [
        fact
        for fact in fact_records(opened.memory)
        if (past or fact.live) and (not entity or entity.lower() in (fact.fact[0], fact.fact[2]))
    ]


def _print_facts(facts: Sequence[FactRecord]) -> None:
    lines = []
    for fact in facts:
        spans = [
            f"{start}-" if end is None else f"{start}-{end - 1}" for start, end in fact.intervals
        ]
        first = fact.evidence[0] if fact.evidence else None
        learnt = "–" if first is None else f"step {first.step}"
        words = "" if first is None else first.context or "(what was done)"
        words += f", said by {first.said_by}" if first and first.said_by else ""
        if len(fact.evidence) > 1:
            words += f" and {len(fact.evidence) - 1} more"
        lines.append((", ".join(fact.fact), ", ".join(spans), learnt, words, fact.ended_by))
    print_table(("fact", "true in steps", "learnt", "from the words", "ended by"), lines)


def _memory_lines(opened: RestoredMemory) -> list[str]:
    """Return a memory's live facts, one per line, or its state if it keeps no graph."""
    facts = _facts(opened, "", past=False)
    if facts:
        return sorted(", ".join(fact.fact) for fact in facts)
    return json.dumps(opened.memory.state(), indent=1, ensure_ascii=False).splitlines()


def _store(path: str) -> Store:
    from gym_memory.memory.stores.store import Store
    from gym_memory.run.results.archive import file_kind

    if file_kind(path) != "store":
        raise InvalidArgumentError(f"expected a durable store at {path!r}, got another file")
    return Store(path)


def _inspect_store(path: str, last: int, *, json_lines: bool) -> None:
    store = _store(path)
    records = store.records(last=last)
    if json_lines:
        print_json([record._asdict() for record in records])
        return
    names = ("memory", "about", "kind")
    spaces = [(*space, str(count)) for space, count in store.namespaces().items()]
    print_table((*names, "records"), spaces, right=("records",), title=store.place)
    latest = [(str(r.seq), r.memory, r.key, r.kind, _text(r.payload)) for r in records]
    print_table(("no.", *names, "record"), latest, right=("no.",), title="latest")


def _text(payload: Any) -> str:
    return payload if isinstance(payload, str) else json.dumps(payload, ensure_ascii=False)

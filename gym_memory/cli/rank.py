"""``gym-memory rank``: one fixed suite, one card a memory."""

from __future__ import annotations

import dataclasses
import shlex
from typing import Annotated

import typer
from rich.markup import escape
from typer import Argument, Option

from gym_memory.cli import options
from gym_memory.cli.compare import default_out, play_parts
from gym_memory.cli.show import new_table, output, print_json, progress
from gym_memory.core.files import write_atomic
from gym_memory.core.names import format_spec, parse_spec

__all__ = ["rank"]


@options.grouped
def rank(
    memory: Annotated[
        list[str],
        Argument(metavar="[MEMORY]...", callback=options.named, help="Memory, or ./FILE.py:NAME."),
    ] = [],  # noqa: B006 - typer copies it
    tier: Annotated[
        str, Option(help="smoke (2 minutes), standard (30 minutes) or full (8 hours, two cores).")
    ] = "standard",
    alone: Annotated[
        bool, Option("--alone", help="Rank only what is named, without the results that ship.")
    ] = False,
    plugins: options.Plugins = None,
    *,
    playing: options.Playing,
) -> None:
    """Rank memories by a fixed suite: play, play by text alone, exam, audit; no language model.

    Only the named memories are played; the results of ours ship. Without a name, print these.
    Writes `rank.json`, which `gym-memory verify` checks, and `rank.html`. If interrupted, run the
    command again: it continues.

    Example: `gym-memory rank ./my_memory.py:Mine --tier standard`
    """
    from gym_memory.evaluate.rank.card import cards
    from gym_memory.evaluate.rank.page import main_table, more_tables, numbers, page
    from gym_memory.evaluate.rank.result import build, code_hash, load_reference, write
    from gym_memory.evaluate.rank.suite import Cell, load_suite

    suite = load_suite(tier)
    failed = False
    if memory:
        memories = [format_spec(*parse_spec(spec)) for spec in memory]
        own = options.load_plugins(plugins, *memories)
        configs = {part.name: part.config(memories, own) for part in suite.parts}
        for config in configs.values():
            options.load_plugins(config.plugins)
        out = playing.out or default_out(f"rank-{tier}", *configs.values())
        parts = {out / name: config for name, config in configs.items()}
        rows = play_parts(parts, out, playing)
        failed = any(row.result.failed for played in rows for row in played)
        words = ["gym-memory", "rank", *memories, "--tier", tier, *(["--alone"] if alone else [])]
        record, made = build(out, suite, shlex.join(words), code_hash(), alone)
        write(out, record)
        write_atomic(out / "rank.html", page(suite, made))
        progress().print(f"Page: {out / 'rank.html'}", markup=False, soft_wrap=True)
    else:
        shipped = load_reference(tier)["memories"]
        made = cards(suite, {m: [Cell.from_json(c) for c in v] for m, v in shipped.items()})
    if playing.json_lines:
        print_json([dataclasses.asdict(card) for card in made])
    else:
        for title, header, lines in (main_table(made), *more_tables(made)):
            table = new_table(*header, right=numbers(header), title=title)
            for line in lines:
                table.add_row(*map(escape, line))
            output().print(table)
    raise typer.Exit(int(failed))

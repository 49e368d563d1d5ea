"""``gym-memory exam``, ``quality``, ``rank`` and ``credit``: judge memories and their contents."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
import os
import shlex
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text
from typer import Argument, Option

from gym_memory.cli import options
from gym_memory.cli.compare import default_out, play_parts
from gym_memory.cli.show import output, print_json, print_table, progress, shown_progress
from gym_memory.core.errors import InvalidArgumentError, ResultsError
from gym_memory.core.files import write_atomic
from gym_memory.core.names import Spec, specs
from gym_memory.run.config import Job, parse_seeds
from gym_memory.run.results.score import format_interval, format_number
from gym_memory.wrappers.memory import DEFAULT_BUDGET, DEFAULT_MEMORY

if TYPE_CHECKING:
    from gym_memory.evaluate.credit import EpisodeCredit
    from gym_memory.evaluate.exam.scores import ExamScore
    from gym_memory.evaluate.quality.score import EpisodeQuality, Quality
    from gym_memory.evaluate.rank.card import Card

__all__ = ["credit", "exam", "print_exam", "quality", "rank"]


@contextlib.contextmanager
def _kept_if_complete(begun: Path | None = None) -> Iterator[None]:
    """On an interrupt, report that nothing is kept and remove the file that was ``begun``."""
    try:
        yield
    except KeyboardInterrupt:
        if begun is not None:
            begun.unlink(missing_ok=True)
        progress().print("Interrupted. Nothing was kept; run the command again to start over.")
        raise typer.Exit(130) from None


def exam(
    env: options.Envs,
    memory: Annotated[
        list[str] | None,
        Option(
            *("--memory", "-m"),
            metavar="MEMORY",
            callback=options.named,
            help="Memory. Repeatable. Default: all.",
        ),
    ] = None,
    policy: options.Policies = ["planner", "random"],  # noqa: B006 - typer copies it
    seeds: options.Seeds = "0:20",
    budgets: Annotated[
        str, Option(metavar="TOKENS", help="Tokens that a recall may take, comma-separated.")
    ] = "200,500,1000,2000",
    lengths: Annotated[
        str,
        Option(
            metavar="STEPS",
            help="Steps after which to ask; a game that ends earlier is asked about once",
        ),
    ] = "50,150,500",
    per_kind: Annotated[
        int, Option(metavar="N", min=1, help="Most questions of each kind at a time.")
    ] = 4,
    wordings: Annotated[
        str, Option(metavar="NAMES", help="seen, unseen, focus (plans), partial or everyday names.")
    ] = "seen,unseen,focus",
    out: options.Out = None,
    json_lines: options.Json = False,
    plugins: options.Plugins = None,
) -> None:
    """Ask memories about episodes that were played once and replayed into each of them.

    Where is X, where was it at step 12, what did the recipe say, which rooms are next to A, the
    way from A to B, how many, what came first, and what was never seen. An answer is right if
    the recall within the budget states it; all memories are read the same way. A question comes in
    words that development saw, in words that it did not, and as the plan of the policy that
    played. Prints the share of right answers for each kind; `--out` keeps the numbers, every
    question with all answers, and plots against budget and age of the evidence.

    Example: `gym-memory exam --env "TreasureHunt?level=easy&split=test" --memory history
    --memory arigraph --budgets 200,500 --lengths 50,150 --seeds 0:5 --out results/exam`
    """
    from gym_memory.evaluate.exam import ExamConfig, exam_scores, examine
    from gym_memory.evaluate.exam.scores import write_exam
    from gym_memory.memory.base import MEMORIES

    options.load_plugins(plugins)
    config = ExamConfig(
        envs=specs(env),
        memories=specs(memory or MEMORIES.names()),
        policies=specs(policy),
        seeds=parse_seeds(seeds),
        budgets=_numbers("budgets", budgets),
        lengths=_numbers("lengths", lengths),
        per_kind=per_kind,
        wordings=tuple(wordings.split(",")),
    )
    with _kept_if_complete(), shown_progress("exam") as update:
        answers = list(examine(config, lambda done, total: update(done, total, ())))
    table = exam_scores(answers)
    if json_lines:
        print_json([mark.to_json() for mark in table])
    else:
        print_exam(table)
    if out is not None:
        paths = write_exam(out, config, answers)
        progress().print(f"Written: {' '.join(map(str, paths))}", soft_wrap=True)


def _numbers(name: str, text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise InvalidArgumentError(
            f"expected --{name} as numbers such as 200,500, got {text!r}"
        ) from None


def print_exam(table: Sequence[ExamScore]) -> None:
    """Print the share of right answers of each memory, and the number of questions."""
    from gym_memory.evaluate.exam.scores import ALL, leads, main_wording, totals
    from gym_memory.evaluate.exam.session import KINDS

    if not table:
        output().print("No question could be asked: nothing happened in these episodes.")
        return
    wordings = list(dict.fromkeys(mark.wording for mark in table))
    main = main_wording(wordings)
    kinds = [kind for kind in (*KINDS, ALL) if any(mark.kind == kind for mark in table)]
    cells = {(mark.budget, mark.memory, mark.kind): mark for mark in table if mark.wording == main}
    others = {w: f"all, {w}" for w in wordings if w != main}
    columns = ("95 % of all", "wrong", "unproven", "used", *others.values())
    also = {(m.budget, m.memory, m.wording): m.right for m in table if m.kind == ALL}
    readers = list(dict.fromkeys((mark.budget, mark.memory) for mark in table))
    numbers = {mark.kind: mark.n for mark in cells.values()}
    shares = [
        (str(budget), memory, *(_best_share(cells, budget, memory, kind) for kind in kinds))
        for budget, memory in readers
    ]
    print_table(
        ("tokens", "memory", *kinds),
        [*shares, ("", "questions", *(str(numbers.get(kind, 0)) for kind in kinds))],
        right=("tokens", *kinds),
        title=f"share of right answers, {main} wordings",
        parted=True,
    )
    legend = "; ".join(f"{kind}: {KINDS[kind].title}" for kind in kinds if kind in KINDS)
    output().print(f"Kinds: {legend}.")
    print_table(
        ("tokens", "memory", *columns),
        [
            (
                str(budget), memory,
                *totals(cells.get((budget, memory, ALL))),
                *(format_number(also.get((budget, memory, wording)), ".2f") for wording in others),
            )
            for budget, memory in readers
        ],
        right=("tokens", *columns),
        title="all kinds",
        parted=True,
    )  # fmt: skip
    for line in leads(table):
        output().print(line)


def _best_share(
    cells: dict[tuple[int, str, str], ExamScore], budget: int, memory: str, kind: str
) -> str | Text:
    """Format a share; bold where no other memory but ``oracle`` has a higher one."""
    from gym_memory.run.results.score import ENGINE_MEMORY

    mark = cells.get((budget, memory, kind))
    if mark is None:
        return "–"
    best = max(
        other.right
        for (tokens, name, what), other in cells.items()
        if (tokens, what) == (budget, kind) and name != ENGINE_MEMORY
    )
    return Text(f"{mark.right:.2f}", "bold" if mark.right >= best else "")


_NOISE = 0.2
"""Default share of odd commands in random play."""


def quality(
    env: options.Envs,
    memory: options.Memory = DEFAULT_MEMORY,
    policy: options.Policies = ["random"],  # noqa: B006 - typer copies it
    seeds: options.Seeds = "0:10",
    noise: Annotated[
        float | None,
        Option(
            min=0.0,
            max=1.0,
            metavar="P",
            help="Share of steps that play an odd command instead of the policy's action: other "
            f"words, or refused. Default: {_NOISE} in random play, none with other policies.",
        ),
    ] = None,
    budget: options.Budget = DEFAULT_BUDGET,
    max_steps: options.MaxSteps = None,
    out: Annotated[
        Path | None,
        Option("--out", "-o", metavar="FOLDER", help="Folder for the numbers and the plot."),
    ] = None,
    json_lines: options.Json = False,
    plugins: options.Plugins = None,
) -> None:
    """Score the graph of a memory against what an ideal observer of the same text would know.

    Prints precision, recall, staleness, growth and update rate per environment and policy; for
    the policy `walkthrough` also recall@k of what its next action needs; then the map against the
    engine's, where the engine states the agent's place. `--out` keeps the
    numbers in `quality.json` and the curves of AriGraph's Figures 5 and 6 in `quality.svg`.

    Example: `gym-memory quality --env "Cooking?level=hard" --env Cleaning --policy random
    --policy walkthrough --seeds 0:50 --out results/quality`
    """
    from gym_memory.evaluate.quality.score import measure, row_record, summarize, write_quality

    options.load_plugins(plugins)
    jobs = [
        Job(
            options.with_max_steps(spec, max_steps), Spec(memory), Spec(player), seed, budget=budget
        )
        for spec in env
        for player in policy
        for seed in parse_seeds(seeds)
    ]
    odd = {player: _NOISE if player == "random" else 0.0 for player in policy}
    if noise is not None:
        odd = dict.fromkeys(policy, noise)
    episodes: list[EpisodeQuality] = []
    with _kept_if_complete(), shown_progress("quality") as update:
        for job in jobs:
            update(len(episodes), len(jobs), ())
            episodes.append(measure(job, noise=odd[job.policy]))
        update(len(jobs), len(jobs), ())
    rows = summarize(episodes)
    if out is not None:
        write_quality(out, episodes, memory=memory, seeds=seeds, noise=odd, budget=budget)
    if json_lines:
        print_json([row_record(row) for row in rows])
    else:
        _print(rows, memory)


def _print(rows: Sequence[Quality], memory: str) -> None:
    from gym_memory.evaluate.quality.score import KS
    from gym_memory.evaluate.quality.truth import MEASURES

    numbers = (
        "games", "steps", "precision", "recall", "stale", "unproven",
        "live", "growth", "updates", "needed", *(f"@{k}" for k in KS), "observed",
    )  # fmt: skip
    names = ("environment", "policy")
    lines = [
        (
            row.env, row.policy, str(row.episodes), str(row.steps),
            f"{row.precision:.4f}", f"{row.recall:.4f}", f"{row.staleness:.4f}",
            f"{row.unproven:.4f}", f"{row.live:.1f}", f"{row.growth:.2f}", f"{row.updates:.2f}",
            str(row.needed), *map(_share, (*row.found, row.observed)),
        )
        for row in rows
    ]  # fmt: skip
    minor = ("observed", "growth", "updates", "live", *(f"@{k}" for k in KS), "needed", "steps")
    print_table((*names, *numbers), lines, right=numbers, minor=minor, title=f"quality of {memory}")
    mapped = [row for row in rows if row.map.steps]
    maps = [(row.env, row.policy, *map(_share, row.map.shares.values())) for row in mapped]
    if maps:
        print_table((*names, *MEASURES), maps, right=MEASURES, title="map truth")


def _share(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.2f}"


@options.grouped
def rank(
    memory: Annotated[
        list[str],
        Argument(metavar="[MEMORY]...", callback=options.named, help="Memory, or ./FILE.py:NAME."),
    ] = [],  # noqa: B006 - typer copies it
    tier: Annotated[
        str,
        Option(
            help="check (20 seconds), smoke (2 minutes), standard (5 minutes, two cores) or full "
            "(hours); streams: over tasks (2 minutes)."
        ),
    ] = "smoke",
    alone: Annotated[
        bool, Option("--alone", help="Rank only the named memories, without the shipped results.")
    ] = False,
    plugins: options.Plugins = None,
    *,
    playing: options.Playing,
) -> None:
    """Rank memories by a fixed suite: play, play by text alone, harm, exam, audit; no model.

    The tier `streams` plays many tasks with one memory, to rank what memories learn over tasks.

    Only the named memories are played; the results of ours ship. Without a name, print these.
    Writes `rank.json`, which `gym-memory verify` checks, and `rank.html`. If interrupted, run the
    command again: it continues.

    Example: `gym-memory rank ./my_memory.py:Mine --tier standard`
    """
    from gym_memory.evaluate.rank.card import cards
    from gym_memory.evaluate.rank.page import main_table, more_tables, numbers, page, sentences
    from gym_memory.evaluate.rank.result import build, code_hash, load_reference, write
    from gym_memory.evaluate.rank.suite import SuiteCell, load_suite

    suite = load_suite(tier)
    failed = False
    own_memories: list[str] = []
    if memory:
        memories = [Spec(spec) for spec in memory]
        own = options.load_plugins(plugins, *memories)
        configs = {part.name: part.config(memories, own) for part in suite.parts}
        for config in configs.values():
            options.load_plugins(config.plugins)
        out = playing.out or default_out(f"rank-{tier}", *configs.values())
        parts = {out / name: config for name, config in configs.items()}
        own_memories = list(memories)
        rows = play_parts(parts, out, playing)
        failed = any(row.result.failed for played in rows for row in played)
        words = ["gym-memory", "rank", *memories, "--tier", tier, *(["--alone"] if alone else [])]
        record, made = build(out, suite, shlex.join(words), code_hash(), alone)
        write(out, record)
        write_atomic(out / "rank.html", page(suite, made, memories))
        progress().print(f"Page: {out / 'rank.html'}", soft_wrap=True)
    else:
        shipped = load_reference(tier)["memories"]
        made = cards(suite, {m: [SuiteCell.from_json(c) for c in v] for m, v in shipped.items()})
    if playing.json_lines:
        print_json([dataclasses.asdict(card) for card in made])
    else:
        for title, header, lines in (main_table(made), *more_tables(made)):
            shown = [_highlighted(line, line[0] in own_memories) for line in lines]
            print_table(header, shown, right=numbers(header), title=title)
        for sentence in sentences(made):
            output().print(sentence)
        if own_memories:
            _print_losses(record["memories"], made, tier, own_memories)
    raise typer.Exit(int(failed))


def _highlighted(cells: Sequence[str], own: bool) -> list[Text]:
    return [Text(cell, "bold reverse" if own and not n else "bold" * own)
            for n, cell in enumerate(cells)]  # fmt: skip


def _print_losses(
    played: dict[str, list[dict[str, Any]]], made: Sequence[Card], tier: str, own: Sequence[str]
) -> None:
    """Print the games that cost the user's memories most, and the abilities that they lack."""
    from gym_memory.evaluate.rank.losses import best_of, lost_abilities, lost_games
    from gym_memory.evaluate.rank.result import load_reference
    from gym_memory.evaluate.rank.suite import SuiteCell

    shipped = load_reference(tier)["memories"]
    best = best_of(made, own)
    if best not in shipped:
        return
    cells = {memory: [SuiteCell.from_json(c) for c in found] for memory, found in played.items()}
    lost = lost_games(cells, best, [SuiteCell.from_json(c) for c in shipped[best]])
    if lost:
        output().print(
            f"The games that cost most against {best}, each with the command that shows where "
            "they part:"
        )
    for number, game in enumerate(lost, 1):
        output().print(
            f"  {game.env} {game.task}, {game.policy}, {game.budget} tokens: {game.memory} "
            f"{game.score:.2f}, {best} {game.best_score:.2f}\n"
            f"    {game.command(f'results/why-{number}')}",
            soft_wrap=True,
        )
    cards = {card.memory: card for card in made}
    for memory in own:
        kinds = lost_abilities(cards[memory], cards[best]) if memory in cards else []
        if kinds:
            said = ", ".join(
                f"{name} {ours:.2f} ({best} {theirs:.2f})" for name, ours, theirs in kinds
            )
            output().print(f"Exam questions that {memory} loses: {said}")


_SHOWN_CHARS = 70


def credit(
    env: options.Env,
    memory: options.Memory = DEFAULT_MEMORY,
    policy: options.Policy = "planner",
    seeds: options.Seeds = "0",
    demonstrated: Annotated[
        int,
        Option(metavar="N", min=0, help="Number of first episodes, which the walkthrough plays."),
    ] = 0,
    step: Annotated[
        int | None, Option(metavar="T", min=0, help="Measure only the recall of this step.")
    ] = None,
    kinds: Annotated[str, Option(metavar="KINDS", help="Kinds of items, comma-separated.")] = (
        "fact,episode,lesson"
    ),
    most: Annotated[int, Option(metavar="N", min=1, help="Most items per episode.")] = 20,
    alone: Annotated[
        bool, Option("--alone", help="Also measure each item without all others.")
    ] = False,
    samples: Annotated[
        int, Option(metavar="N", min=0, help="Number of random orders for Shapley values.")
    ] = 0,
    budget: options.Budget = DEFAULT_BUDGET,
    max_steps: options.MaxSteps = None,
    out: options.Out = None,
    export: Annotated[
        Path | None,
        Option(
            metavar="FILE", help="Parquet file to write, with the worth and features of each item."
        ),
    ] = None,
    json_lines: options.Json = False,
    plugins: options.Plugins = None,
) -> None:
    """Measure what each recalled fact, episode and lesson was worth, by leaving it out.

    Every episode is replayed with the same policy and seed, once without each item. The seeds make
    a stream: one memory goes on from episode to episode. It prints the worth of each item in score
    and steps, how far published rules are from the worth of lessons, and the number of replays.
    `--out` keeps the numbers in `credit.json` and the episodes, with the worths beside the recalls,
    in `steps.jsonl.gz` for `gym-memory view`. `--export` writes a row per item, with the relation,
    rank, distance and age of a fact when it was first shown, to learn a ranking from.

    Example: `gym-memory credit --env "TreasureHunt?level=easy" --policy planner --seeds 3
    --alone --samples 4 --out results/credit`
    """
    from gym_memory.baselines.base import make_policy
    from gym_memory.evaluate.credit import credit as credited
    from gym_memory.evaluate.credit import export_rows
    from gym_memory.run.replays import KINDS
    from gym_memory.viewer.recordings import PLAYED
    from gym_memory.wrappers.record import RecordTrajectory

    options.load_plugins(plugins)
    chosen = [kind for kind in KINDS if kind in kinds.split(",")]
    if set(kinds.split(",")) != set(chosen):
        raise InvalidArgumentError(f"expected --kinds of {','.join(KINDS)}, got {kinds!r}")
    stream = parse_seeds(seeds)
    job = Job(
        options.with_max_steps(env, max_steps), Spec(memory), Spec(policy), stream[0], budget=budget
    )
    world = job.make_env()
    begun = None if out is None else out / ".steps.jsonl.gz.tmp"  # whole when it is renamed
    if begun is not None:
        begun.unlink(missing_ok=True)
        world = RecordTrajectory(world, str(begun), detail=True)
        begun.parent.mkdir(parents=True, exist_ok=True)
    episodes: list[EpisodeCredit] = []
    with _kept_if_complete(begun), closing(world), shown_progress("credit") as update:
        for episode in credited(
            *(world, make_policy(policy), stream),
            demonstrated=demonstrated, step=step, kinds=chosen, most=most, alone=alone,
            samples=samples, describes=export is not None,
        ):  # fmt: skip
            episodes.append(episode)
            update(len(episodes), len(stream) - demonstrated, ())
    rows = [episode.to_json() for episode in episodes]
    if json_lines:
        print_json(rows)
    else:
        _print_credit(episodes, f"{memory}, {policy}, {env}")
    if export is not None:
        from gym_memory.train.export import to_parquet

        rows_of_items = export_rows(episodes, env=str(job.env), memory=memory, policy=policy)
        count = to_parquet(rows_of_items, export)
        progress().print(f"Written: {export}, {count} items", soft_wrap=True)
    if out is not None and begun is not None:
        named = {"env": job.env, "memory": memory, "policy": policy, "seeds": [*stream]}
        try:
            write_atomic(out / PLAYED, json.dumps(named) + "\n")
            os.replace(begun, out / "steps.jsonl.gz")
            write_atomic(out / "credit.json", json.dumps(rows, indent=1) + "\n")
        except OSError as error:
            raise ResultsError(f"cannot write to {str(out)!r}: {error}") from error
        progress().print(
            f"Written: {out / 'credit.json'}. See each recall: gym-memory view "
            f"{shlex.quote(str(out / 'steps.jsonl.gz'))}",
            soft_wrap=True,
        )


def _print_credit(episodes: Sequence[EpisodeCredit], title: str) -> None:
    from gym_memory.evaluate.credit import by_item, rule_errors

    numbers = ("episodes", "score", "steps", "alone", "Shapley")
    lines = [
        (
            " ".join(f"{item.key.kind}: {item.text}".split())[:_SHOWN_CHARS],
            str(item.episodes), f"{item.score:+.3f}", f"{item.steps:+.1f}",
            *(format_number(part, "+.3f") for part in (item.alone, item.shapley)),
        )
        for item in by_item(episodes)
    ]  # fmt: skip
    print_table(("item", *numbers), lines, right=numbers, title=title)
    output().print("Worth of an item: + is good for score, alone and Shapley; - is good for steps.")
    errors = rule_errors([episodes])
    if errors[0].items:
        counted = ("items", "rank", "95 %", "harmful", "kept", "useful", "dropped")
        lines = [
            (
                row.rule, str(row.items), f"{row.rank:+.2f}",
                format_interval((row.low, row.high), "+"),
                *map(str, (row.harmful, row.kept, row.useful, row.dropped)),
            )
            for row in errors
        ]  # fmt: skip
        minor = ("dropped", "useful", "kept", "harmful")
        title = "rules against the worth"
        print_table(("rule", *counted), lines, right=counted, minor=minor, title=title)
    replays, steps = sum(e.replays for e in episodes), sum(e.steps for e in episodes)
    left = sum(episode.items - len(episode.worths) for episode in episodes)
    output().print(
        f"{replays} replays, {steps} steps, {sum(e.seconds for e in episodes):.1f} CPU seconds; "
        f"{left} items not measured."
    )

"""Cards and ranks of memories, from the cells of a tier.

Memories compare by the area under their score against the logarithm of the budget, game by game:
all play the same games under the same budgets. A rank is the range that the gaps to all others
allow over the games of these worlds: from one more than the number of surely better memories, to
the number of those not surely worse. The intervals of the gaps are corrected for their number, so
the ranges hold together (Mogstad et al. 2024, marginal confidence sets of ranks). Memories whose
ranges overlap tie.

What holds in other worlds has the world as its unit: the gap to the best memory and to the
controls. A memory is first if its gap to each other excludes 0; a claim over all of them needs no
correction (Berger 1982, intersection-union test).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gym_memory.evaluate.exam.session import SILENCE
from gym_memory.evaluate.rank.suite import NAMES, Measure, Suite, SuiteCell
from gym_memory.run.results import intervals
from gym_memory.run.results.intervals import LEVEL, Estimate, Interval
from gym_memory.run.results.score import ENGINE_MEMORY, grouped
from gym_memory.run.results.sweep import area

__all__ = ["Card", "Games", "Number", "Rank", "areas_of", "cards", "correlation", "played_alike"]
__all__ += ["ranks"]

Rank = tuple[int, int]
"""Best and worst rank that the intervals allow."""
Cells = Mapping[str, Sequence[SuiteCell]]
"""Cells of each memory."""
Games = dict[tuple[str, str], float]
"""Value of each game, keyed by environment and task."""
MAIN_BUDGET = 1000
_PLAY: tuple[Measure, ...] = ("play", "stream")
"""Measures for the ranking: the score in play, or over streams of tasks."""


@dataclasses.dataclass(frozen=True)
class Number:
    """A mean, its 95 % interval over games and the number of games; None without games."""

    value: float | None
    ci: Interval | None
    n: int

    @classmethod
    def of(cls, found: Estimate) -> Number:
        """Round an estimate."""
        ci = found.interval() if found.clusters else None
        ends = (round(ci[0], 4), round(ci[1], 4)) if ci else None
        value = None if math.isnan(found.mean) else round(found.mean, 4)
        return cls(value, ends, found.clusters)


@dataclasses.dataclass(frozen=True)
class Card:
    """Measured qualities of a memory.

    ``faults`` are reasons not to rank it. ``group`` names memories that play a first episode alike
    and count as one; ``stands_for`` are the other members of the group. ``unshown`` has the
    measures that were played when only memories of facts saw what a step earned. ``score`` is at
    1,000 tokens, ``area`` over all budgets; ``behind`` is the gap of areas to the best memory and
    ``gains`` are those to controls, with the world as the unit where there are several. ``text`` is
    play by the rendered text alone. ``stale`` and ``poisoned`` are shares of games in which a
    recall states what no longer holds, or what a false text says. ``names`` is the exam by how
    things are named, ``bytes`` the size of the state per step.
    """

    memory: str
    control: str
    group: str
    stands_for: tuple[str, ...]
    unshown: tuple[Measure, ...]
    faults: tuple[str, ...]
    rank: Rank | None
    score: Number
    area: Number
    behind: Number
    gains: dict[str, Number]
    worlds: dict[str, float]
    text: Number
    stale: Number
    poisoned: Number
    exam: Number
    abilities: dict[str, Number]
    names: dict[str, Number]
    tokens: float
    calls: float
    bytes: float
    failed: int
    ms: float


def cards(suite: Suite, found: Cells) -> list[Card]:
    """Return the cards of all memories, largest area first, controls last."""
    areas = {  # controls have no rank, so they may exceed a budget
        memory: areas_of(suite, cells, bounded=memory not in suite.controls)
        for memory, cells in found.items()
    }
    faults = {memory: tuple(_faults(suite, cells)) for memory, cells in found.items()}
    groups = played_alike(suite, found)
    ranked = {m: a for m, a in areas.items() if a and not faults[m] and m not in suite.controls}
    whole = ranks({groups.get(memory, memory): own for memory, own in ranked.items()})
    best = max(ranked, key=lambda m: _mean(ranked[m].values()), default="")
    made = []
    for memory, cells in found.items():
        play, exam = _measured(suite, cells, *_PLAY), _measured(suite, cells, "exam")
        group = groups.get(memory, "")
        members = next((m for m in suite.groups.values() if memory in m), ()) if group else ()
        moments, size = (
            sum(sum(cell.marks.get(name, ())) for cell in cells) for name in ("moments", "bytes")
        )
        others = {c: areas.get(c, {}) if c != memory else {} for c in suite.rivals}
        made.append(
            Card(
                memory=memory,
                control=suite.controls.get(memory, ""),
                group=group,
                stands_for=tuple(other for other in members if other != memory),
                unshown=_unshown(suite, cells),
                faults=faults[memory],
                rank=whole.get(group or memory) if memory in ranked else None,
                score=_number(_scores(play)),
                area=_number(areas[memory]),
                behind=_lead(areas.get(best, {}) if memory != best else {}, areas[memory]),
                gains={name: _lead(areas[memory], other) for name, other in others.items()},
                worlds={
                    env: round(_mean(v for g, v in areas[memory].items() if g[0] == env), 4)
                    for env in dict.fromkeys(env for env, _ in areas[memory])
                },
                text=_number(_scores(_measured(suite, cells, "text"))),
                stale=_believed(_measured(suite, cells, "stale")),
                poisoned=_believed(_measured(suite, cells, "poison")),
                exam=_shares(exam, [k for kinds in suite.abilities.values() for k in kinds]),
                abilities={name: _shares(exam, kinds) for name, kinds in suite.abilities.items()},
                names={name: _shares(exam, kinds) for name, kinds in _named(suite).items()},
                tokens=round(_mean(cell.tokens for cell in play), 1),
                calls=round(_mean(cell.calls for cell in play), 3),
                bytes=round(size / max(moments, 1), 1),
                failed=sum(cell.failed for cell in cells),
                ms=round(_mean(cell.ms for cell in play), 3),
            )
        )
    return sorted(made, key=lambda c: (bool(c.control), -(c.area.value or 0.0), c.memory))


def played_alike(suite: Suite, found: Cells) -> dict[str, str]:
    """Return the group of each memory whose group played all games and exams alike, if known."""

    def results(memory: str) -> list[Any]:
        return [(cell.part, cell.budget, cell.scores, _answers(cell)) for cell in found[memory]]

    alike: dict[str, str] = {}
    for name, members in suite.groups.items() if not suite.is_stream else ():
        known = [memory for memory in members if memory in found]
        if known[:1] == [*members[:1]] and all(results(m) == results(known[0]) for m in known):
            alike |= dict.fromkeys(known, f"{len(members)} {name}")
    return alike


def _unshown(suite: Suite, cells: Sequence[SuiteCell]) -> tuple[Measure, ...]:
    """Return the measures, apart from the audit, in which a cell does not state its rewards."""
    old = {cell.part for cell in cells if not cell.rewards}
    measures = {part.measure: None for part in suite.parts if part.name in old}
    return tuple(measure for measure in measures if measure != "audit")


def _answers(cell: SuiteCell) -> list[tuple[str, tuple[int, ...]]]:
    return sorted(mark for mark in cell.marks.items() if mark[0].startswith("right "))


def ranks(areas: Mapping[str, Games]) -> dict[str, Rank]:
    """Return the rank of each memory by the gaps between areas, which share their games."""
    found: dict[str, list[int]] = {memory: [1, len(areas)] for memory in areas}
    corrected = 1 - (1 - LEVEL) / max(len(areas) - 1, 1)
    names = list(areas)
    for i, one in enumerate(names):
        for other in names[i + 1 :]:
            ends = intervals.gaps(*_gap(areas[one], areas[other])).interval(corrected)
            for better, worse, sure in (
                (one, other, ends is not None and ends[0] > 0),
                (other, one, ends is not None and ends[1] < 0),
            ):
                found[worse][0] += sure
                found[better][1] -= sure
    return {memory: (best, worst) for memory, (best, worst) in found.items()}


def correlation(made: Iterable[Card]) -> Number:
    """Return the rank correlation of exam and play over memories, and its interval.

    Memories with equal scores in both count once; the memory of the engine's facts is left out.
    """
    points = sorted({p for card in made if card.memory != ENGINE_MEMORY and (p := place(card))})
    found = intervals.rank_correlation([exam for exam, _ in points], [play for _, play in points])
    if found is None:
        return Number(None, None, len(points))
    r, (low, high) = found
    return Number(round(r, 4), (round(low, 4), round(high, 4)), len(points))


def place(card: Card) -> tuple[float, float] | None:
    """Return the exam score and the area of a card; None if one is missing."""
    exam, play = card.exam.value, card.area.value
    return None if exam is None or play is None else (exam, play)


def _measured(suite: Suite, cells: Sequence[SuiteCell], *measures: Measure) -> list[SuiteCell]:
    """Return the cells of the parts that measure something."""
    parts = {part.name for part in suite.parts if part.measure in measures}
    return [cell for cell in cells if cell.part in parts]


def areas_of(suite: Suite, cells: Sequence[SuiteCell], *, bounded: bool = True) -> Games:
    """Return the area of each game; none if a budget is missing or, if bounded, exceeded."""
    found: Games = {}
    play = _measured(suite, cells, *_PLAY)
    if bounded and any(cell.tokens > cell.budget for cell in play):
        return {}
    for (env, _), group in grouped(play, lambda c: (c.env, c.policy)).items():
        group = sorted(group, key=lambda cell: cell.budget)
        at = [cell.budget for cell in group]
        part = next(part for part in suite.parts if part.name == group[0].part)
        if at != sorted(part.budgets):
            return {}
        for n, task in enumerate(group[0].tasks):
            found[env, task or str(n)] = area(at, [cell.scores[n] for cell in group])
    return found


def _faults(suite: Suite, cells: Sequence[SuiteCell]) -> Iterable[str]:
    def count(name: str) -> int:
        return sum(sum(cell.marks.get(name, ())) for cell in cells)

    steps = count("steps")
    if not steps or any(c.failed for c in _measured(suite, cells, "audit")):
        yield "the audit failed"
    if lost := sum(cell.failed for cell in _measured(suite, cells, "stream")):
        yield f"failed in {lost} streams"
    if over := count("over"):
        yield f"exceeds the budget in {over} recalls"
    if other := count("replay"):
        yield (
            f"recalls otherwise at {other} of {steps} steps where a new process without the game "
            "sees the same: it reads the engine, knows other episodes or is not repeatable"
        )
    if lost := count("state"):
        yield f"recalls otherwise at {lost} steps from its own state: it keeps some outside"


def _scores(cells: Sequence[SuiteCell]) -> Games:
    return {
        (cell.env, task or str(n)): score
        for cell in cells
        if cell.budget == MAIN_BUDGET
        for n, (task, score) in enumerate(zip(cell.tasks, cell.scores, strict=True))
    }


def _shares(cells: Sequence[SuiteCell], kinds: Iterable[str]) -> Number:
    """Return the share of right answers over the games that were asked."""
    kinds, shares, games = list(kinds), [], []
    for cell in cells:
        for n, task in enumerate(cell.tasks):
            asked, right = (
                sum(cell.marks.get(f"{what} {kind}", (0,) * (n + 1))[n] for kind in kinds)
                for what in ("asked", "right")
            )
            if asked:
                shares.append(right / asked)
                games.append((cell.env, task))
    return Number.of(intervals.scores(shares, games))


def _believed(cells: Sequence[SuiteCell]) -> Number:
    """Return the share of games with an attack that the memory believes, by game."""
    whole = [c for c in cells if not c.failed]
    found = [pair for c in whole for pair in zip(c.marks["believed"], c.tasks, strict=True)]
    return Number.of(intervals.scores([float(b) for b, _ in found], [task for _, task in found]))


def _named(suite: Suite) -> dict[str, list[str]]:
    """Return the counts of questions that have an answer, by wording of names."""
    full = [k for kinds in suite.abilities.values() for k in kinds if k not in SILENCE]
    return {"full": full, **{name: [name] for name in NAMES}}


def _lead(one: Games, other: Games) -> Number:
    """Return the gap of two areas: over worlds if there are several, else over games."""
    gaps, games = _gap(one, other)
    worlds = [env for env, _ in games]
    several = len(set(worlds)) > 1
    return Number.of(
        intervals.over_worlds(gaps, worlds) if several else intervals.gaps(gaps, games)
    )


def _gap(one: Games, other: Games) -> tuple[list[float], list[tuple[str, str]]]:
    """Return the differences of the games that both played, and these games."""
    games = [game for game in one if game in other]
    return [one[game] - other[game] for game in games], games


def _number(games: Games) -> Number:
    return Number.of(intervals.scores(list(games.values()), list(games)))


def _mean(values: Iterable[float]) -> float:
    values = list(values)
    return sum(values) / len(values) if values else 0.0

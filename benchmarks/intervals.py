"""Measure how often the intervals of ``results/intervals.py`` contain the true mean.

Draws scores with a known mean, of the kinds that occur in runs: games won or lost, quarters of a
recipe, any share, games that mostly give 0, games with three seeds each; gaps between two policies
on the same games; and games played by several trainings of one learner. Writes ``intervals.md``
beside this file::

    python benchmarks/intervals.py
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gym_memory.run.results.intervals import Estimate, gaps, over_worlds, scores

HERE = Path(__file__).parent
SIZES = (5, 10, 20, 50, 100)
DRAWS = 1000
TRIES = 3

Draw = Callable[[np.random.Generator, int], Estimate]


def shares() -> Iterator[tuple[str, float, Draw]]:
    """Name, true mean, and an estimate from n games."""
    for p in (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.8, 0.95):
        yield "won or lost", p, lambda rng, n, p=p: scores((rng.random(n) < p) * 1.0)
    for p in (0.1, 0.3, 0.6, 0.9):
        yield "quarters", p, lambda rng, n, p=p: scores(rng.binomial(4, p, n) / 4)
    for mean in (0.2, 0.5, 0.8):
        for tight in (1, 5, 20):
            a, b = mean * tight, (1 - mean) * tight
            yield "any share", mean, lambda rng, n, a=a, b=b: scores(rng.beta(a, b, n))
    for p in (0.1, 0.3, 0.6):
        yield (
            "30 % give nothing",
            0.7 * p,
            lambda rng, n, p=p: scores((rng.random(n) < 0.7) * rng.binomial(4, p, n) / 4),
        )
    for mean, tight in ((0.2, 1), (0.5, 2), (0.8, 4), (0.9, 1)):
        a, b = mean * tight, (1 - mean) * tight
        yield "three tries a game", mean, lambda rng, n, a=a, b=b: tried(rng, n, a, b)


def tried(rng: np.random.Generator, n: int, a: float, b: float) -> Estimate:
    """Draw games of different difficulty, each tried several times."""
    won = rng.random((TRIES, n)) < rng.beta(a, b, n)
    return scores(won.ravel() * 1.0, np.tile(range(n), TRIES).tolist())


def differences() -> Iterator[tuple[str, float, Draw]]:
    for p, q, same in ((0.5, 0.5, 0.6), (0.9, 0.3, 0.2), (0.8, 0.7, 0.8), (0.3, 0.3, 0.0)):

        def coins(rng: np.random.Generator, n: int, p: float = p, q: float = q, s: float = same):
            one = rng.random(n)
            other = np.where(rng.random(n) < s, one, rng.random(n))
            return gaps((one < p) * 1.0 - (other < q) * 1.0)

        yield "gaps, won or lost", p - q, coins
    for p, q, same in ((0.5, 0.4, 0.5), (0.8, 0.7, 0.5), (0.6, 0.2, 0.3)):

        def quarters(rng: np.random.Generator, n: int, p: float = p, q: float = q, s: float = same):
            gap: NDArray[np.float64] = (rng.binomial(4, p, n) - rng.binomial(4, q, n)) / 4
            return gaps(np.where(rng.random(n) < s, 0.0, gap))

        yield "gaps, quarters", (p - q) * (1 - same), quarters
    for mean, wide in ((0.0, 0.1), (0.1, 0.1), (0.3, 0.2)):
        yield (
            "gaps, any share",
            mean,
            lambda rng, n, m=mean, w=wide: gaps(m + w * rng.uniform(-1.7, 1.7, n)),
        )


TRAININGS = ((2, 20), (3, 20), (5, 20), (5, 100))
"""Numbers of trainings, and of games that each plays."""
KINDS = {"alike": (0.0, 0.0), "somewhat apart": (0.05, 0.0), "far apart": (0.15, 0.0),
         "one in five fails": (0.03, 0.2)}  # fmt: skip
"""Differences between trainings: standard deviation, and the share that gets a third."""


def crossed() -> Iterator[tuple[str, float, Callable[[np.random.Generator, int, int], Estimate]]]:
    """Name, true mean, and an estimate from trainings and games."""
    for kind, (apart, failing) in KINDS.items():
        for parts in (1, 4):  # games won or lost, and quarters

            def arm(
                rng: np.random.Generator, mean: float, hard: NDArray[np.float64], runs: int,
                apart: float = apart, failing: float = failing, parts: int = parts,
            ) -> NDArray[np.float64]:  # fmt: skip
                right = np.clip(mean + hard + apart * rng.standard_normal((runs, 1)), 0, 1)
                right = np.where(rng.random((runs, 1)) < failing, right / 3, right)
                return rng.binomial(parts, right) / parts

            def truth(mean: float, apart: float = apart, failing: float = failing) -> float:
                rng = np.random.default_rng(1)
                right = mean + 0.2 * rng.standard_normal(10**6)
                right += apart * rng.standard_normal(10**6)
                return float(np.clip(right, 0, 1).mean()) * (1 - failing * 2 / 3)

            for mean in (0.1, 0.5, 0.8, 0.95):
                yield (
                    f"scores, trainings {kind}",
                    truth(mean),
                    lambda rng, runs, n, m=mean, arm=arm: scores(
                        *labelled(arm(rng, m, 0.2 * rng.standard_normal(n), runs))
                    ),
                )
            for one, other in ((0.8, 0.3), (0.6, 0.5), (0.9, 0.9), (0.95, 0.1)):

                def gap(
                    rng: np.random.Generator, runs: int, n: int, a: float = one, b: float = other,
                    arm: Callable[..., NDArray[np.float64]] = arm,
                ) -> Estimate:  # fmt: skip
                    hard = 0.2 * rng.standard_normal(n)
                    return gaps(*labelled(arm(rng, a, hard, runs) - arm(rng, b, hard, runs)))

                yield f"gaps, trainings {kind}", truth(one) - truth(other), gap


def labelled(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], list[int], list[int]]:
    """Draw values of shape (trainings, games) with the game and the training of each."""
    runs, games = np.indices(values.shape)
    return values.ravel(), games.ravel().tolist(), runs.ravel().tolist()


def coverage(mean: float, draw: Callable[[], Estimate], draws: int) -> tuple[float, float]:
    """Return the share of intervals that contain the true mean, and their width."""
    hits, width = 0, 0.0
    for _ in range(draws):
        low, high = draw().interval() or (0.0, 1.0)
        hits += low - 1e-12 <= mean <= high + 1e-12
        width += high - low
    return hits / draws, width / draws


def games_alone(rng: np.random.Generator) -> list[str]:
    """Return the table of scores and gaps over games, as lines."""
    held: dict[str, dict[int, list[float]]] = {}
    for name, mean, draw in (*shares(), *differences()):
        for n in SIZES:
            found = coverage(mean, lambda n=n, draw=draw: draw(rng, n), DRAWS)
            held.setdefault(name, {}).setdefault(n, []).append(found[0])
    lines = [
        f"| scores | {' | '.join(f'{n} games' for n in SIZES)} |",
        f"|---|{'--:|' * len(SIZES)}",
    ]
    for name, by_size in held.items():
        cells = [f"{np.mean(by_size[n]):.3f} ({min(by_size[n]):.2f})" for n in SIZES]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    every = [f"{np.mean([np.mean(by[n]) for by in held.values()]):.3f}" for n in SIZES]
    return [*lines, f"| **all** | {' | '.join(every)} |"]


def over_trainings(rng: np.random.Generator) -> list[str]:
    """Return the table of trainings that play the same games, as lines."""
    held: dict[str, dict[tuple[int, int], list[tuple[float, float]]]] = {}
    for name, mean, draw in sorted(crossed(), key=lambda one: one[0].split(",")[0]):
        for runs, n in TRAININGS:
            found = coverage(mean, lambda r=runs, n=n, draw=draw: draw(rng, r, n), DRAWS // 5)
            held.setdefault(name, {}).setdefault((runs, n), []).append(found)
    lines = [
        f"| | {' | '.join(f'{runs} x {n} games' for runs, n in TRAININGS)} |",
        f"|---|{'--:|' * len(TRAININGS)}",
    ]
    for name, by_shape in held.items():
        cells = []
        for shape in TRAININGS:
            held_by, widths = zip(*by_shape[shape], strict=True)
            cells.append(f"{np.mean(held_by):.3f} ({min(held_by):.2f}) / {np.mean(widths):.2f}")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


WORLDS = (3, 5, 7, 10)
_GAMES = 10
"""Games of a world."""


def leads_over_worlds() -> list[str]:
    """Return lines of a table of leads, with worlds and with games as the unit."""
    rng = np.random.default_rng(1)
    lines = [
        f"| worlds differ by | {' | '.join(f'{n} worlds' for n in WORLDS)} |",
        f"|---|{'--:|' * len(WORLDS)}",
    ]
    for apart in (0.0, 0.05, 0.15, 0.3):
        cells = []
        for n in WORLDS:
            labels = np.repeat(range(n), _GAMES).tolist()

            def draw(n: int = n, apart: float = apart) -> NDArray[np.float64]:
                means = np.repeat(0.1 + apart * rng.standard_normal(n), _GAMES)
                return means + 0.1 * rng.standard_normal(n * _GAMES)

            world, _ = coverage(
                0.1, lambda draw=draw, labels=labels: over_worlds(draw(), labels), DRAWS
            )
            game, _ = coverage(0.1, lambda draw=draw: gaps(draw()), DRAWS)
            cells.append(f"{world:.3f} / {game:.3f}")
        lines.append(f"| {apart:g} | {' | '.join(cells)} |")
    return lines


def main() -> None:
    rng = np.random.default_rng(0)
    lines = [
        f"# Coverage of 95 % intervals, {DRAWS} draws a cell",
        "",
        "Mean over the true means tried, and the lowest of them in brackets. Made by "
        "`python benchmarks/intervals.py`.",
        "",
        *games_alone(rng),
        "",
        f"Several trainings that all play the same games, {DRAWS // 5} draws a cell; behind the "
        "bar how wide the interval is. Games differ by a standard deviation of .2, won or lost or "
        "in quarters. Of a few trainings nobody can know whether the next one fails, so these "
        "intervals are wide rather than wrong.",
        "",
        *over_trainings(rng),
        "",
        f"Leads in several worlds of {_GAMES} games each, with the world as the unit / with games "
        "as the unit. Worlds differ by the standard deviation of the first column, games of a "
        "world by .1.",
        "",
        *leads_over_worlds(),
    ]
    text = "\n".join(lines) + "\n"
    (HERE / "intervals.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()

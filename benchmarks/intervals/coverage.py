"""How often the intervals of ``results/intervals.py`` hold the true mean.

Draws scores whose mean is known, of the kinds that runs give: games won or lost, quarters of a
recipe, any share, games most of which give nothing, games tried with three seeds each; and gaps
between two policies on the same games. Writes ``coverage.md`` beside this file::

    python benchmarks/intervals/coverage.py
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gym_memory.results.intervals import Estimate, gaps, scores

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
    """Games that differ in how hard they are, each tried several times."""
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


def main() -> None:
    rng = np.random.default_rng(0)
    held: dict[str, dict[int, list[float]]] = {}
    for name, mean, draw in (*shares(), *differences()):
        for n in SIZES:
            hits = 0
            for _ in range(DRAWS):
                low, high = draw(rng, n).interval() or (0.0, 1.0)
                hits += low - 1e-12 <= mean <= high + 1e-12
            held.setdefault(name, {}).setdefault(n, []).append(hits / DRAWS)
    lines = [
        f"# Coverage of 95 % intervals, {DRAWS} draws a cell",
        "",
        "Mean over the true means tried, and the lowest of them in brackets. Made by "
        "`python benchmarks/intervals/coverage.py`.",
        "",
        f"| scores | {' | '.join(f'{n} games' for n in SIZES)} |",
        f"|---|{'--:|' * len(SIZES)}",
    ]
    for name, by_size in held.items():
        cells = [f"{np.mean(by_size[n]):.3f} ({min(by_size[n]):.2f})" for n in SIZES]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    every = [f"{np.mean([np.mean(by[n]) for by in held.values()]):.3f}" for n in SIZES]
    lines.append(f"| **all** | {' | '.join(every)} |")
    text = "\n".join(lines) + "\n"
    (HERE / "coverage.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()

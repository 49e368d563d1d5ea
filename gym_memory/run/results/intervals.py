"""Estimate the uncertainty of means: intervals whose unit is the task, and corrected p-values.

The scores of one game under several seeds, or of one training on many games, are not independent.
So values come with their task and their training run; the variance of the mean clusters by both
(Cameron, Gelbach and Miller 2011, equation 2.13).

* **Scores** in [0, 1]: the interval holds the means that a score test does not reject (Wilson
  1927). The variance of a bounded value follows the mean, ``c m (1 - m)``; ``c`` is estimated from
  the clusters and shrunk by half an observation towards that of a coin. So the interval stays in
  the range and keeps a width if all values agree: twenty wins in twenty games give [0.84, 1].
* **Gaps** between scores, in [-1, 1]: for games that are won or lost, gains and losses are such
  scores, and their intervals are combined (MOVER, Zou and Donner 2008). Other games, and several
  trainings, get Student's interval with half an observation added at a cluster's largest gap.
* **Values** without bounds: Student's interval.
* **Over worlds**: an estimate for worlds that were not played, whose unit is the world.

``benchmarks/intervals`` measures how often the intervals cover the truth.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Estimate", "Interval", "gaps", "holm", "over_worlds", "rank_correlation", "scores"]
__all__ += ["values"]

LEVEL = 0.95
Interval = tuple[float, float]
"""Lower and upper end of an interval."""
Values = Sequence[float] | NDArray[np.float64]
Labels = Sequence[Hashable] | None

_PSEUDO = 0.5
"""Weight of a Bernoulli variance, in observations."""
_HALVINGS = 40


class Estimate(NamedTuple):
    """A mean of values (NaN without any), with its uncertainty.

    ``clusters`` counts independent units: tasks, or training runs if those are fewer. ``ends`` maps
    a normal quantile to the ends of its interval; None for fewer than two clusters.
    """

    mean: float
    clusters: int
    ends: Callable[[float], Interval] | None

    def interval(self, level: float = LEVEL) -> Interval | None:
        """Return the confidence interval; ``level`` in (0, 1) is its coverage."""
        return self.ends(NormalDist().inv_cdf((1 + level) / 2)) if self.ends else None

    def p_value(self) -> float:
        """Return the two-sided p-value of the hypothesis that the true mean is 0."""
        if self.ends is None:
            return 1.0
        inside, outside = 8.0, 0.0
        for _ in range(_HALVINGS):
            z = (inside + outside) / 2
            low, high = self.ends(z)
            inside, outside = (z, outside) if low <= 0 <= high else (inside, z)
        return min(1.0, 2 * NormalDist().cdf(-outside))


def scores(data: Values, tasks: Labels = None, runs: Labels = None) -> Estimate:
    """Estimate the mean of scores in [0, 1], given the task and the training run of each."""
    return _estimate(_Clusters.of(data, tasks, runs), lambda c: c.wilson(c.data))


def gaps(data: Values, tasks: Labels = None, runs: Labels = None) -> Estimate:
    """Estimate the mean of differences between scores, in [-1, 1]; see :func:`scores`."""
    return _estimate(
        _Clusters.of(data, tasks, runs),
        # The score of a training is not Bernoulli, even if each of its games is won or lost.
        lambda c: _won_and_lost(c) if c.are_signs and len(c.labels) == 1 else _shrunk(c),
    )


def _won_and_lost(clusters: _Clusters) -> Callable[[float], Interval]:
    """Combine the intervals of two shares into one of their difference."""
    won, lost = np.maximum(clusters.data, 0.0), np.maximum(-clusters.data, 0.0)
    gained, missed = clusters.wilson(won), clusters.wilson(lost)
    up, down = math.fsum(won) / len(won), math.fsum(lost) / len(lost)
    # No task gains and loses at once, so the two shares are negatively correlated.
    both = math.sqrt(up * down / ((1 - up) * (1 - down))) if up < 1 and down < 1 else 0.0

    def ends(z: float) -> Interval:
        (low_up, high_up), (low_down, high_down) = gained(z), missed(z)
        below, above = (up - low_up, high_down - down), (high_up - up, down - low_down)
        low, high = (
            math.sqrt(a * a + b * b + 2 * min(both, 1.0) * a * b) for a, b in (below, above)
        )
        return max(-1.0, up - down - low), min(1.0, up - down + high)

    return ends


def _shrunk(clusters: _Clusters) -> Callable[[float], Interval]:
    """Return Student's interval, its variance enlarged by a pseudo-cluster at the largest mean."""
    mean, number = clusters.mean, clusters.number
    largest = float(np.abs(clusters.means).max())
    squares = clusters.variance(clusters.data) * number * (number - 1) + _PSEUDO * largest**2
    spread = math.sqrt(squares / ((number - 1 + _PSEUDO) * number))

    def ends(z: float) -> Interval:
        reach = _t_of_normal(z, 2.0 * number) * spread
        return max(-1.0, mean - reach), min(1.0, mean + reach)

    return ends


def values(data: Values, tasks: Labels = None, runs: Labels = None) -> Estimate:
    """Estimate the mean of values without bounds; see :func:`scores`."""

    def ends(clusters: _Clusters) -> Callable[[float], Interval]:
        mean, spread = clusters.mean, math.sqrt(clusters.variance(clusters.data))
        degrees = clusters.number - 1.0
        return lambda z: (
            mean - _t_of_normal(z, degrees) * spread,
            mean + _t_of_normal(z, degrees) * spread,
        )

    return _estimate(_Clusters.of(data, tasks, runs), ends)


def over_worlds(data: Values, worlds: Sequence[Hashable]) -> Estimate:
    """Estimate the mean of differences, given the world of each; worlds have equal weights.

    Student's interval of the means of the worlds. It keeps its coverage with few worlds and with
    unequal variances (Ibragimov and Müller 2010).
    """
    found: dict[Hashable, list[float]] = {}
    for value, world in zip(data, worlds, strict=True):
        found.setdefault(world, []).append(float(value))
    mean, number, ends = values([math.fsum(own) / len(own) for own in found.values()])
    if ends is None:
        return Estimate(mean, number, None)

    def inside(z: float) -> Interval:
        low, high = ends(z)
        return max(-1.0, low), min(1.0, high)

    return Estimate(mean, number, inside)


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct the p-values of a family of tests for their number (Holm 1979).

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    corrected = [0.0] * len(p_values)
    largest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[index]))
        corrected[index] = largest
    return corrected


def rank_correlation(one: Values, other: Values) -> tuple[float, Interval] | None:
    """Return Spearman's correlation and its 95 % interval; None for fewer than four pairs.

    It is also None if one side is constant. The interval is Fisher's with the variance of
    Bonett and Wright (2000).
    """
    ours, theirs = _midranks(one), _midranks(other)
    if len(one) < 4 or not (np.ptp(ours) and np.ptp(theirs)):
        return None
    r = float(np.corrcoef(ours, theirs)[0, 1])
    reach = 1.96 * math.sqrt((1 + r * r / 2) / (len(one) - 3))
    z = math.atanh(max(-0.9999, min(r, 0.9999)))
    return r, (math.tanh(z - reach), math.tanh(z + reach))


def _midranks(values: Values) -> NDArray[np.float64]:
    """Return ranks; equal values share their mean rank."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: NDArray[np.float64] = (np.cumsum(counts) - (counts - 1) / 2)[place]
    return ranks


class _Clusters(NamedTuple):
    """Sorted values, their cluster labels, and the number of clusters in the coarsest labelling."""

    data: NDArray[np.float64]
    labels: list[NDArray[np.int64]]
    number: int

    @classmethod
    def of(cls, data: Values, tasks: Labels, runs: Labels) -> _Clusters:
        """Sort the values, so that the result does not depend on the order of completion."""
        array = np.asarray(data, dtype=np.float64)
        order = np.lexsort([_numbered(g) for g in (runs, tasks) if g is not None] + [array])
        labels = [_numbered(g)[order] for g in (tasks, runs) if g is not None]
        labels = labels or [np.arange(len(array))]
        return cls(array[order], labels, min(len(np.unique(group)) for group in labels))

    @property
    def mean(self) -> float:
        return math.fsum(self.data) / len(self.data) if len(self.data) else math.nan

    @property
    def means(self) -> NDArray[np.float64]:
        """Return the mean of each cluster of the coarsest labelling."""
        group = min(self.labels, key=lambda labels: int(labels.max()))
        means: NDArray[np.float64] = np.bincount(group, weights=self.data) / np.bincount(group)
        return means

    @property
    def are_signs(self) -> bool:
        """True if all values are -1, 0 or 1."""
        return bool(np.isin(self.data, (-1.0, 0.0, 1.0)).all())

    def variance(self, data: NDArray[np.float64]) -> float:
        """Return the variance of the mean of values that vary together within a cluster."""
        residuals = data - math.fsum(data) / len(data)

        def of(group: NDArray[np.int64]) -> float:
            sums = np.bincount(group, weights=residuals)
            return len(sums) / (len(sums) - 1) * math.fsum(sums * sums) / len(data) ** 2

        if len(self.labels) == 1:
            return of(self.labels[0])
        cells = self.labels[0] * (int(self.labels[1].max()) + 1) + self.labels[1]
        both = of(np.unique(cells, return_inverse=True)[1])
        # The sum may fall below its parts by chance, but clustering must not narrow the interval.
        return max(of(self.labels[0]) + of(self.labels[1]) - both, both)

    def wilson(self, data: NDArray[np.float64]) -> Callable[[float], Interval]:
        """Return the ends of the interval of the mean of values in [0, 1]."""
        mean, number = min(math.fsum(data) / len(data), 1.0), self.number
        if self._are_single_outcomes(data):
            factor, degrees = 1.0 / number, math.inf
        else:
            pulled = (mean * number + _PSEUDO / 2) / (number + _PSEUDO)
            coin = pulled * (1 - pulled)
            squares = self.variance(data) * number * (number - 1) + _PSEUDO * coin
            factor, degrees = squares / ((number - 1 + _PSEUDO) * coin * number), 2.0 * number
        return lambda z: _not_rejected(mean, factor * _t_of_normal(z, degrees) ** 2)

    def _are_single_outcomes(self, data: NDArray[np.float64]) -> bool:
        """True if all values are 0 or 1 and agree within each cluster."""
        if not np.isin(data, (0.0, 1.0)).all():
            return False
        if len(self.labels) > 1:
            return bool(np.ptp(data) == 0)
        ones, sizes = np.bincount(self.labels[0], weights=data), np.bincount(self.labels[0])
        return bool((np.isclose(ones, 0) | np.isclose(ones, sizes)).all())


def _numbered(group: Sequence[Hashable]) -> NDArray[np.int64]:
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(label, len(numbers)) for label in group], dtype=np.int64)


def _estimate(
    clusters: _Clusters, ends: Callable[[_Clusters], Callable[[float], Interval]]
) -> Estimate:
    enough = clusters.number >= 2
    return Estimate(clusters.mean, clusters.number, ends(clusters) if enough else None)


def _not_rejected(mean: float, weight: float) -> Interval:
    """Return the range of ``m`` with ``(mean - m)^2 <= weight m (1 - m)``."""
    middle = (2 * mean + weight) / (2 * (1 + weight))
    reach = math.sqrt(max(weight * (weight + 4 * mean * (1 - mean)), 0.0)) / (2 * (1 + weight))
    return max(0.0, min(middle - reach, mean)), min(1.0, max(middle + reach, mean))


def _t_of_normal(z: float, degrees: float) -> float:
    """Return Student's quantile (Peizer and Pratt 1968); 0.4 % off at 4 degrees, exact at 1."""
    if math.isinf(degrees):
        return z
    if degrees == 1.0:
        return math.tan(math.pi * (NormalDist().cdf(z) - 0.5))
    shrink = (degrees - 2 / 3 + 0.1 / degrees) ** 2 / (degrees - 5 / 6)
    return math.sqrt(degrees * math.expm1(min(z * z / shrink, 700.0)))

"""Score a memory's graph against the knowledge of an ideal observer of the same text.

Measured per step and averaged over the steps of all episodes:

* *precision*: the share of the live facts known to be true, among those that the observer can
  judge;
* *unproven*: the share of the live facts that it cannot judge: true, but stated by no text;
* *recall*: the share of its knowledge that is live in the graph;
* *staleness*: the share of the live facts that it knows to be no longer true;
* *recall@k*: of the facts that the next action needs and the present text does not show, the share
  among the first k recalled facts, and the share in recalled observations. Only for policies that
  play the engine's solution, whose actions are all needed.

The map has its own measures (:mod:`~gym_memory.evaluate.quality.truth`).

The paper (AriGraph, Appendix C, Figures 5 and 6) reports growth and update rate, live facts and
replaced facts per step, which are here too.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np

from gym_memory.baselines.base import make_policy
from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.files import json_by_entry, write_atomic
from gym_memory.core.records import Triple
from gym_memory.core.text import split_reward
from gym_memory.draw.svg import PALETTE, Line, line_figure, picture
from gym_memory.evaluate.observe import ObserveOracle, StepSight
from gym_memory.evaluate.quality.observer import IdealObserver
from gym_memory.evaluate.quality.truth import MapTruth, MapWatch
from gym_memory.graph.schema import INVENTORY, direction_of
from gym_memory.run import rollout
from gym_memory.run.config import Job
from gym_memory.run.results.score import grouped

__all__ = ["KS", "EpisodeQuality", "Quality", "curves", "growth_picture", "measure", "needed_facts"]
__all__ += ["odd_command", "quality_record", "row_record", "summarize", "write_quality"]

KS = (5, 10, 20, 50)
"""Values of k for recall@k, in recalled facts."""

_GOING = re.compile(r"go (\w+)$")
_NO_MAP = MapTruth()


@dataclasses.dataclass(frozen=True)
class EpisodeQuality:
    """Measures of an episode by step; the reset is step 0.

    ``precision``, ``recall``, ``staleness`` and ``unproven`` are shares in [0, 1]; ``live``,
    ``added`` and ``retired`` count facts. Over all steps, ``needed`` facts were needed and not in
    view. Of these, ``found`` were among the first k recalled facts, for each k of ``KS``, and
    ``observed`` were in a recalled observation.
    """

    env: str
    policy: str
    seed: int
    task_id: str = ""
    precision: tuple[float, ...] = ()
    recall: tuple[float, ...] = ()
    staleness: tuple[float, ...] = ()
    unproven: tuple[float, ...] = ()
    live: tuple[int, ...] = ()
    added: tuple[int, ...] = ()
    retired: tuple[int, ...] = ()
    needed: int = 0
    found: tuple[int, ...] = (0,) * len(KS)
    observed: int = 0
    map: MapTruth = _NO_MAP

    @property
    def steps(self) -> int:
        """Return the steps played."""
        return max(len(self.live) - 1, 0)


@dataclasses.dataclass(frozen=True)
class Quality:
    """Means over all steps of all episodes of one environment and policy."""

    env: str
    policy: str
    episodes: int
    steps: int
    precision: float
    recall: float
    staleness: float
    unproven: float
    live: float
    """Live facts at the end of an episode."""
    growth: float
    """Number of facts that became live, per step."""
    updates: float
    """Number of facts that ceased to be live, per step."""
    needed: int
    found: tuple[float, ...]
    """recall@k of facts for each k of ``KS``; NaN where none was needed."""
    observed: float
    """recall@k of observations; NaN where no fact was needed."""
    map: MapTruth = _NO_MAP
    """Counts over all steps, zero where the engine states no place."""


def summarize(episodes: Iterable[EpisodeQuality]) -> list[Quality]:
    """Return one row per environment and policy, in order of first appearance."""
    groups = grouped(episodes, lambda episode: (episode.env, episode.policy))
    return [_mean(env, policy, group) for (env, policy), group in groups.items()]


def _mean(env: str, policy: str, group: Sequence[EpisodeQuality]) -> Quality:
    def over_steps(name: str) -> float:
        return float(np.mean(np.concatenate([getattr(episode, name) for episode in group])))

    def share(hits: int, needed: int) -> float:
        return hits / needed if needed else float("nan")

    steps = sum(episode.steps for episode in group)
    needed = sum(episode.needed for episode in group)
    return Quality(
        env, policy, len(group), steps,
        over_steps("precision"), over_steps("recall"),
        over_steps("staleness"), over_steps("unproven"),
        float(np.mean([episode.live[-1] for episode in group])),
        sum(sum(episode.added[1:]) for episode in group) / max(steps, 1),
        sum(sum(episode.retired) for episode in group) / max(steps, 1),
        needed,
        tuple(share(sum(e.found[i] for e in group), needed) for i in range(len(KS))),
        share(sum(episode.observed for episode in group), needed),
        MapTruth(*map(sum, zip(*(episode.map for episode in group), strict=True))),
    )  # fmt: skip


def curves(episodes: Sequence[EpisodeQuality]) -> tuple[list[float], list[float]]:
    """Return the mean numbers of live and of retired facts at each step."""
    longest = max((len(episode.live) for episode in episodes), default=0)
    live = np.full((len(episodes), longest), np.nan)
    retired = np.full((len(episodes), longest), np.nan)
    for row, episode in enumerate(episodes):
        live[row, : len(episode.live)] = episode.live
        retired[row, : len(episode.retired)] = episode.retired
    return np.nanmean(live, axis=0).tolist(), np.nanmean(retired, axis=0).tolist()


def measure(job: Job, *, noise: float = 0.0) -> EpisodeQuality:
    """Play an episode and score the memory's graph at each step.

    With probability ``noise``, a step plays an :func:`odd_command` instead of the policy's action.
    A memory without a graph is an InvalidArgumentError.
    """
    env, policy = job.make_env(), make_policy(job.policy)
    try:
        if env.get_wrapper_attr("memory").graph is None:
            raise InvalidArgumentError(
                f"expected a memory that keeps a graph, such as 'arigraph', got {job.memory!r}"
            )
        scorer = GraphScorer(env, noise, job.seed, counts_needs=policy.uses_oracle)
        watched = ObserveOracle(env, scorer.see, scorer.choose)
        result = rollout(watched, policy, job.seed, task_id=job.task_id)
    finally:
        env.close()
    return EpisodeQuality(
        job.env, job.policy, job.seed, result.task_id, needed=scorer.needed,
        found=tuple(scorer.found), observed=scorer.observed, map=scorer.map.truth,
        **{name: tuple(values) for name, values in scorer.series.items()},
    )  # fmt: skip


class GraphScorer:
    """Scores of a memory's graph at each step of an episode."""

    def __init__(self, env: gym.Env[Any, Any], noise: float, seed: int, *, counts_needs: bool):
        self.series: dict[str, list[Any]] = {}
        self.needed = self.observed = 0
        self.found = [0] * len(KS)
        self.map = MapWatch()
        self._env, self._noise, self._rng = env, noise, np.random.default_rng([seed, 1])
        self._counts_needs = counts_needs
        self._observer = IdealObserver()
        self._obs: dict[str, Any] = {}
        self._stated: dict[Triple, list[str]] = {}

    def choose(self, action: str) -> str:
        """Return the policy's action or, at random, an odd command."""
        if self._noise and self._rng.random() < self._noise:
            return odd_command(self._rng, [f.subject for f in self._observer.shown])
        if self._counts_needs:
            self._count_needs(action)
        return action

    def see(self, sight: StepSight) -> None:
        """Score the graph after a step."""
        obs, observer, oracle = sight.obs, sight.observer, sight.oracle
        graph, t = self._env.get_wrapper_attr("memory").graph, sight.info["moves"]
        self.map.see(oracle, obs["text"], sight.action, graph)
        undecided = oracle.objects.get("undecided", ())  # relations that the engine does not know
        live = {
            fact
            for fact in graph.live()
            if fact.relation not in undecided and observer.is_scored(fact)
        }
        known = {fact for fact in observer.known if observer.is_scored(fact)}
        right = live & observer.known
        unproven = (live & (observer.true | observer.rough)) - right
        judged = len(live) - len(unproven)
        stale = (live & observer.past) - observer.true
        added, retired = graph.diff(t - 1, t) if t else (live, ())
        for name, value in (
            ("precision", len(right) / judged if judged else 1.0),
            ("recall", len(known & live) / max(len(known), 1)),
            ("staleness", len(stale) / max(len(live), 1)),
            ("unproven", len(unproven) / max(len(live), 1)),
            ("live", len(graph)),
            ("added", len(added)),
            ("retired", len(retired)),
        ):
            self.series.setdefault(name, []).append(value)
        if self._counts_needs:
            for fact in observer.shown:
                self._stated.setdefault(fact, []).append(_squeezed(obs["text"]))
        self._obs, self._observer = obs, observer

    def _count_needs(self, action: str) -> None:
        """Count the needed facts that the text does not show, and the recalled ones."""
        observer = self._observer
        hidden = needed_facts(action, observer.known, observer.room) - observer.shown
        recalled = [Triple(*fact) for fact in self._obs["triples"]]
        self.needed += len(hidden)
        for i, k in enumerate(KS):
            self.found[i] += len(hidden & set(recalled[:k]))
        episodes = [_squeezed(split_reward(text)[0]) for text in self._obs["episodes"]]
        for fact in hidden:
            texts = self._stated.get(fact, ())
            self.observed += any(text.startswith(seen) for text in texts for seen in episodes)


def _squeezed(text: str) -> str:
    return " ".join(text.split())


def needed_facts(action: str, known: Iterable[Triple], room: str) -> set[Triple]:
    """Return the known facts needed to choose an action.

    For a move, its destination. Otherwise the facts between the named things, what must be done
    with them, and their places if these are here or the inventory.

    >>> known = [Triple("egg", "needs to be", "fried"), Triple("stove", "used for", "frying"),
    ...          Triple("egg", "is in", "inventory"), Triple("salt", "is in", "inventory")]
    >>> sorted(f.relation for f in needed_facts("cook egg with stove", known, "kitchen"))
    ['is in', 'needs to be', 'used for']
    """
    going = _GOING.match(action)
    if going:
        way = going[1]
        return {f for f in known if f.object == room and direction_of(f.relation) == way}
    words = f" {action.lower()} "

    def is_needed(fact: Triple) -> bool:
        subject, relation, obj = fact
        if f" {subject} " not in words:
            return relation == "requires" and f" {obj} " in words
        todo = relation in ("needs to be", "used for")
        return todo or obj in (room, INVENTORY) or f" {obj} " in words

    return {fact for fact in known if is_needed(fact)}


_PLAIN = (
    "look", "l", "inventory", "i", "wait", "go north", "go south", "go east", "go west", "go up",
    "north", "south", "east", "west", "prepare meal", "goal", "help", "jump", "take all",
    "drop all", "examine me", "take", "open", "dance", "what is this", "xyzzy",
)  # fmt: skip
_ON_ONE = (
    "take", "get", "pick up", "drop", "open", "close", "eat", "drink", "examine", "x", "read",
    "search", "look in", "push", "enter", "lick", "examine the", "unlock", "lock",
)  # fmt: skip
_ON_TWO = (
    "take {} from {}", "get {} from {}", "put {} on {}", "put {} in {}", "insert {} into {}",
    "unlock {} with {}", "lock {} with {}", "cook {} with {}", "slice {} with {}",
    "dice {} with {}", "chop {} using {}", "put {} under {}", "throw {} at {}",
)  # fmt: skip


def odd_command(rng: np.random.Generator, names: Iterable[str]) -> str:
    """Return a command in the words of a person, which the game may refuse."""
    things = sorted(set(names)) or ["nothing"]

    def thing() -> str:
        return things[rng.integers(len(things))]

    kind = rng.integers(3)
    if kind == 0:
        return _PLAIN[rng.integers(len(_PLAIN))]
    if kind == 1:
        return f"{_ON_ONE[rng.integers(len(_ON_ONE))]} {thing()}"
    return _ON_TWO[rng.integers(len(_ON_TWO))].format(thing(), thing())


_WINDOW_STEPS = 5
"""Window of the moving average in the curve of updates, in steps."""


def row_record(row: Quality) -> dict[str, Any]:
    """Return a row as JSON values, with null for values that were not counted."""
    record = dataclasses.asdict(row) | {"map": row.map.shares}
    return {name: _plain(value) for name, value in record.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return None if math.isnan(value) else round(value, 6)
    return value


def quality_record(episodes: Sequence[EpisodeQuality], **settings: Any) -> dict[str, Any]:
    """Return JSON values: rows with their worst episodes, curves, tasks and settings."""
    groups = grouped(episodes, lambda episode: f"{episode.env}, {episode.policy}")
    return {
        "settings": settings,
        "rows": [row_record(row) for row in summarize(episodes)],
        "worst": {
            name: {
                "precision": _plain(min(float(np.mean(e.precision)) for e in group)),
                "recall": _plain(min(float(np.mean(e.recall)) for e in group)),
                "staleness": _plain(max(float(np.mean(e.staleness)) for e in group)),
            }
            for name, group in groups.items()
        },
        "curves": {
            name: dict(zip(("live", "updates"), map(_plain, curves(group)), strict=True))
            for name, group in groups.items()
        },
        "tasks": [[e.env, e.policy, e.seed, e.task_id, e.steps] for e in episodes],
    }


def write_quality(
    folder: Path, episodes: Sequence[EpisodeQuality], **settings: Any
) -> tuple[Path, Path]:
    """Write ``quality.json`` and ``quality.svg`` into a folder; return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    numbers, drawn = folder / "quality.json", folder / "quality.svg"
    record = quality_record(episodes, **settings)
    write_atomic(numbers, json_by_entry(record))
    write_atomic(drawn, growth_picture(record["curves"]))
    return numbers, drawn


def growth_picture(shown: Mapping[str, Mapping[str, Sequence[float]]]) -> str:
    """Draw live and retired facts over the steps of an episode; ``shown`` maps labels to curves."""
    colour = {name: number % len(PALETTE) for number, name in enumerate(shown)}
    size: list[Line] = []
    rate: list[Line] = []
    for name, series in shown.items():
        updates = np.asarray(series["updates"], dtype=float)
        window = np.ones(min(_WINDOW_STEPS, len(updates)))
        smooth = np.convolve(updates, window, "same")
        smooth /= np.convolve(np.ones(len(updates)), window, "same")
        for lines, values in ((size, series["live"]), (rate, smooth.tolist())):
            points = [(float(step), float(value)) for step, value in enumerate(values)]
            lines.append(Line("", "", "", name, colour[name], points))
    panels = [("live facts", size), (f"facts retired a step (mean of {_WINDOW_STEPS})", rate)]
    figure = line_figure("growth", "Size of the graph and its updates", panels, "step", "facts")
    return picture(figure, colour)

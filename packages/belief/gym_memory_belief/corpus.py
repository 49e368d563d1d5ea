"""The corpus of the updater: recorded episodes as arrays."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gym_memory.baselines.base import make_policy
from gym_memory.core.names import Spec
from gym_memory.core.records import Step
from gym_memory.core.trajectory import read_trajectory
from gym_memory.graph.schema import PLAYER
from gym_memory.run import rollout
from gym_memory.wrappers.make import make_env
from gym_memory.wrappers.record import RecordTrajectory
from gym_memory_belief.reading import ARTICLES, LINKS, Words, mentions, names_in_action
from gym_memory_belief.sight import Sight, look, new_names, segments

__all__ = ["Episode", "common_words", "play", "prepare", "read_corpus"]

_BESIDE = 2
"""Words to either side of a mention that describe it."""
_TELLING = 3
"""Letters of a describing word, at least."""


class Episode(NamedTuple):
    """An episode in arrays.

    Attributes:
        game: Its task.
        names: Names of the nodes in the order of appearance, ``you`` first.
        known: Number of them known after each step, shape (steps,).
        sights: The steps; the sight of step t is of the nodes known then.
        named: 1 where the text of a step names a node, shape (steps, nodes), float32.
        acted: 1 where the action of a step names a node, same shape.
        beside: For each step, nodes and the words beside them.
    """

    game: str
    names: tuple[str, ...]
    known: NDArray[np.int64]
    sights: tuple[Sight, ...]
    named: NDArray[np.float32]
    acted: NDArray[np.float32]
    beside: tuple[tuple[tuple[int, str], ...], ...]


def play(
    folder: Path,
    envs: Iterable[str],
    policies: Iterable[str],
    seeds: Iterable[int],
    done: Callable[[], None] = lambda: None,
) -> list[Path]:
    """Play and record every seed of every environment with every policy; keep old recordings.

    Args:
        folder: Folder of the recordings.
        envs: Environments, names with parameters.
        policies: Policies with parameters; they play with the memory ``arigraph``.
        seeds: Seeds, one episode each.
        done: Called after every episode.

    Returns:
        The recordings, one an episode.
    """
    folder.mkdir(parents=True, exist_ok=True)
    seeds = list(seeds)
    paths = []
    for spec in envs:
        name, parameters = Spec(spec).parts
        for policy in policies:
            key = hashlib.sha256(f"{spec} {policy}".encode()).hexdigest()[:12]
            env = None
            for seed in seeds:
                path = folder / f"{key}-{seed}.jsonl.gz"
                paths.append(path)
                if not path.exists():
                    env = env or make_env(name, memory="arigraph", **parameters)
                    unfinished = path.with_suffix(".part")
                    unfinished.unlink(missing_ok=True)
                    recorded = RecordTrajectory(env, str(unfinished), valid_actions=True)
                    rollout(recorded, make_policy(policy), seed)
                    unfinished.replace(path)
                done()
            if env is not None:
                env.close()
    return paths


def read_corpus(paths: Iterable[Path], nodes: int) -> list[Episode]:
    """Return recorded episodes as arrays, each cut before it has more names than ``nodes``."""
    return [
        prepare(trajectory.task.id, trajectory.steps, nodes)
        for path in paths
        for trajectory in read_trajectory(path)
    ]


def prepare(game: str, steps: Sequence[Step], nodes: int) -> Episode:
    """Return one episode as arrays."""
    index: dict[str, int] = {PLAYER: 0}
    known, sights, beside = [], [], []
    named: list[list[int]] = []
    acted: list[list[int]] = []
    for step in steps:
        before = dict(index)
        for name in new_names(step, index):
            index[name] = len(index)
        if len(index) > nodes:
            index = before
            break
        known.append(len(index))
        sights.append(look(step, index))
        text, inventory, _ = segments(step)
        named.append([index[m.name] for m in mentions(text, index)])
        acted.append([index[n] for n in names_in_action(step.action) if n in index])
        beside.append((*_beside(text, index), *_beside(inventory, index)))
    shape = (len(known), len(index))
    return Episode(
        game,
        tuple(index),
        np.array(known),
        tuple(sights),
        _ones(shape, named),
        _ones(shape, acted),
        tuple(beside),
    )


def _ones(shape: tuple[int, int], rows: list[list[int]]) -> NDArray[np.float32]:
    table = np.zeros(shape, dtype=np.float32)
    for row, columns in zip(table, rows, strict=True):
        row[columns] = 1.0
    return table


def _beside(text: Words, index: dict[str, int]) -> Iterable[tuple[int, str]]:
    """Yield nodes and the words within ``_BESIDE`` of their mentions, in the same sentence."""
    for mention in mentions(text, index):
        before = range(max(mention.start - _BESIDE, 0), mention.start)
        after = range(mention.end, min(mention.end + _BESIDE, len(text.words)))
        for i in (*before, *after):
            if text.sentences[i] == text.sentences[mention.start]:
                yield index[mention.name], text.words[i]


def common_words(episodes: Sequence[Episode], most: int, games: float = 0.1) -> tuple[str, ...]:
    """Return words that describe names: the most frequent ones beside them, no names.

    Args:
        episodes: Training episodes.
        most: Number of words.
        games: Share of the games in which a word must occur.
    """
    where: dict[str, set[str]] = {}
    count: Counter[str] = Counter()
    named = {word for episode in episodes for name in episode.names for word in name.split()}
    for episode in episodes:
        for pairs in episode.beside:
            for _, word in pairs:
                if len(word) >= _TELLING and word not in named and word not in LINKS | ARTICLES:
                    where.setdefault(word, set()).add(episode.game)
                    count[word] += 1
    least = games * len({episode.game for episode in episodes})
    words = [word for word in count if len(where[word]) >= least]
    return tuple(sorted(words, key=lambda word: (-count[word], word))[:most])

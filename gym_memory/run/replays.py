"""Replay an episode without some recalled items, to measure the exact worth of each.

All replays have the same engine, policy, seed and memory, so only the items change the outcome.
"""

from __future__ import annotations

import copy
import random
import zlib
from collections.abc import Callable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeGuard

import gymnasium as gym

from gym_memory.baselines.base import Act, Policy, make_policy
from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.records import Cue, Outcome, Reason, Reasons, Recall, Triple
from gym_memory.memory.base import Memory
from gym_memory.memory.reading import fact_lines, read_head, read_line, render_facts
from gym_memory.memory.recall.features import FactFeatures, fact_features
from gym_memory.memory.roles.text import unmarked
from gym_memory.run.loop import EpisodeResult, rollout
from gym_memory.wrappers.memory import MemoryObservation
from gym_memory.wrappers.record import RecordTrajectory

if TYPE_CHECKING:
    from gym_memory.memory.experience.base import ExperienceMemory

__all__ = ["KINDS", "Key", "Kind", "Lens", "Replays", "Worth", "credit_exactly"]
__all__ += ["has_experience", "memory_holder", "without"]

Kind = Literal["fact", "episode", "lesson"]
KINDS: tuple[Kind, ...] = ("fact", "episode", "lesson")


class Key(NamedTuple):
    """An identity of an item that a recall shows.

    ``name`` is the number of an item of a memory of experience; for other items it is their text.
    """

    kind: Kind
    name: str | int


class Worth(NamedTuple):
    """Worth of an item in an episode; None is a number that was not measured.

    ``shown`` counts the recalls that showed it. ``score`` is the normalized score with all items
    minus the score without this one, in [-1, 1]; ``steps`` is the same difference in environment
    steps, negative if the item saves steps. ``alone`` is the gain of this item over no item at all,
    and ``shapley`` its mean gain over sampled orders of the items.
    """

    key: Key
    text: str
    shown: int
    score: float
    steps: int
    alone: float | None = None
    alone_steps: int | None = None
    shapley: float | None = None


class Lens:
    """A view of a memory that hides the items in ``dropped`` and records all that it recalls.

    All other calls go to the memory, but outcomes only if the view ``learns``. :meth:`reasons` adds
    ``notes`` to items. If the view ``describes`` and the memory keeps a graph, ``features``
    are those of each fact when it was first shown.
    """

    exact = False

    def __init__(
        self,
        memory: Memory,
        *,
        first_only: bool = False,
        learns: bool = False,
        describes: bool = False,
    ):
        self._memory, self._first_only, self._learns = memory, first_only, learns
        self._describes = describes
        self.dropped: frozenset[Key] = frozenset()
        self.shown: dict[Key, int] = {}
        self.texts: dict[Key, str] = {}
        self.notes: dict[Key, str] = {}
        self.features: dict[Key, FactFeatures] = {}
        self._keys: tuple[list[Key], ...] = ([], [], [])

    def __getattr__(self, name: str) -> Any:
        return getattr(self._memory, name)

    def end(self, outcome: Outcome) -> None:
        """Pass the outcome to a memory that learns."""
        if self._learns:
            self._memory.end(outcome)

    def recall(self, cue: Cue, budget: int) -> Recall:
        """Return the memory's recall without dropped items."""
        recall = self._memory.recall(cue, budget)
        if self._first_only and self.shown:
            return recall
        lessons: list[str | int] = [unmarked(lesson) for lesson in recall.lessons]
        if has_experience(self._memory):
            ids = self._memory.ids(recall.lessons)
            lessons = [id or text for id, text in zip(ids, lessons, strict=True)]
        self._keys = (
            [Key("fact", str(fact)) for fact in recall.triples],
            [Key("episode", text) for text in recall.episodes],
            [Key("lesson", name) for name in lessons],
        )
        texts = (*map(str, recall.triples), *recall.episodes, *map(unmarked, recall.lessons))
        for key, text in zip(chain.from_iterable(self._keys), texts, strict=True):
            self.shown[key] = self.shown.get(key, 0) + 1
            self.texts.setdefault(key, text)
        if self._describes:
            self._describe(cue, recall)
        if not self.dropped:
            return recall
        return without(recall, *([key in self.dropped for key in keys] for keys in self._keys))

    def _describe(self, cue: Cue, recall: Recall) -> None:
        graph = self._memory.graph
        if graph is not None and any(key not in self.features for key in self._keys[0]):
            found = fact_features(graph, cue, recall.triples, graph.now)
            for key, triple in zip(self._keys[0], recall.triples, strict=True):
                self.features.setdefault(key, found[triple])

    def reasons(self, cue: Cue, budget: int) -> Reasons:
        """Return the memory's reasons, with a note on each item that has one."""
        given = self._memory.reasons(cue, budget)
        return Reasons(
            *map(self._noted, (given.triples, given.episodes, given.lessons), self._keys)
        )

    def _noted(self, reasons: Sequence[Reason], keys: Sequence[Key]) -> tuple[Reason, ...]:
        known = [*reasons, *[Reason("")] * (len(keys) - len(reasons))]
        pairs = zip(known, keys, strict=False)
        return tuple(
            reason._replace(note="; ".join(filter(None, (reason.note, self.notes.get(key, "")))))
            for reason, key in pairs
        )


def without(
    recall: Recall, facts: Sequence[bool], episodes: Sequence[bool], lessons: Sequence[bool]
) -> Recall:
    """Return a recall, and its text, without the items that are marked True.

    >>> recall = Recall("pan: is in den; is hot", (Triple("pan", "is in", "den"),
    ...                                            Triple("pan", "is", "hot")))
    >>> without(recall, [True, False], [], []).text
    'pan: is hot'
    """
    text = recall.text
    gone = {fact for fact, drop in zip(recall.triples, facts, strict=True) if drop}
    kept = tuple(fact for fact in recall.triples if fact not in gone)
    whole = render_facts(recall.triples)
    if gone and whole in text:
        text = text.replace(whole, render_facts(kept), 1).strip("\n")
    elif gone:
        lines = (_line_without(line, gone) for line in text.split("\n"))
        text = "\n".join(line for line in lines if line is not None)
    for body, drop in zip(recall.episodes, episodes, strict=True):
        at = text.find(body) if drop and body else -1
        if at >= 0:
            start = text.rfind("\n", 0, max(at - 1, 0)) + 1
            start = start if read_head(text[start : max(at - 1, 0)]) else at
            text = text[:start] + text[at + len(body) :].removeprefix("\n")
    for lesson, drop in zip(recall.lessons, lessons, strict=True):
        if drop:
            line = f"{lesson}\n"
            text = text.replace(line if line in text else lesson, "", 1)
    left = [
        tuple(item for item, drop in zip(items, marks, strict=True) if not drop)
        for items, marks in ((recall.episodes, episodes), (recall.lessons, lessons))
    ]
    return Recall(text, kept, *left)


def _line_without(line: str, gone: set[Triple]) -> str | None:
    """Return a line without some facts, or None if it states no other."""
    stated = read_line(line)
    if gone.isdisjoint(stated):
        return line
    kept = [fact for fact in stated if fact not in gone]
    return "\n".join(fact_lines(kept[0].subject, kept)) if kept else None


def has_experience(memory: Memory) -> TypeGuard[ExperienceMemory]:
    """True for a memory of experience; imports its module, with the extraction rules, only now."""
    from gym_memory.memory.experience.base import ExperienceMemory

    return isinstance(memory, ExperienceMemory)


def memory_holder(env: gym.Env[Any, Any]) -> MemoryObservation:
    """Return the wrapper with the memory."""
    holder = env
    while not isinstance(holder, MemoryObservation):
        if not isinstance(holder, gym.Wrapper):
            raise InvalidArgumentError(f"expected an environment with a memory, got {env}")
        holder = holder.env
    return holder


class _SnapshotStart(gym.Wrapper[Any, Any, Any, Any]):
    """An environment whose reset returns to a snapshot."""

    def __init__(self, env: gym.Env[Any, Any], snapshot: Any):
        super().__init__(env)
        self._snapshot = snapshot

    def reset(self, **given: Any) -> tuple[Any, dict[str, Any]]:
        found: tuple[Any, dict[str, Any]] = self.env.get_wrapper_attr("restore")(self._snapshot)
        return found


class Replays:
    """Replays of an episode without some of its items; they do not change the memory.

    A replay starts at the reset and drops items from every recall. With ``step`` it starts at the
    engine's snapshot of that step and drops items from the recall of that step alone. A set of
    items is played once; ``replays`` and ``steps`` count all plays and their steps. An item that
    only a replay recalls is not dropped. A policy must play the same way with the same seed. With
    ``describes``, ``features`` are those of each fact when it was first shown.
    """

    def __init__(
        self,
        env: gym.Env[Any, Any],
        policy: Policy | Act,
        seed: int,
        *,
        step: int | None = None,
        describes: bool = False,
        **named: Any,
    ):
        while isinstance(env, RecordTrajectory):
            env = env.env
        holder = memory_holder(env)
        self._env, self._policy, self._seed, self._named = env, make_policy(policy), seed, named
        self.holder, self._step = holder, step
        holder.finish()
        self._memory = holder.memory
        self._start = self._memory.snapshot()
        self._resumed: tuple[Any, Policy] | None = None
        self._known: dict[frozenset[Key], EpisodeResult] = {}
        self.replays = self.steps = 0
        self.texts: dict[Key, str] = {}
        lens = Lens(self._memory, describes=describes)
        self.whole = self._rollout(lens, self._env, self._policy, self._keep)
        if step is None:
            self.shown = lens.shown
        elif self._resumed is None:
            raise InvalidArgumentError(
                f"expected step as one before the end, below {self.whole.steps}, got {step}"
            )
        else:
            first = Lens(self._memory, first_only=True, describes=describes)
            again = self._replay(first)
            if (again.value, again.curve[-1][1]) != (self.whole.value, self.whole.curve[-1][1]):
                raise InvalidArgumentError(
                    "expected a policy that plays the same way again, got another outcome"
                )
            self.whole, self.shown, lens = again, first.shown, first
        self.texts, self.features = lens.texts, lens.features

    def _keep(self, t: int, info: dict[str, Any]) -> None:
        if t == self._step and self._resumed is None:
            snapshot = self._env.get_wrapper_attr("snapshot")()
            self._resumed = snapshot, _copy(self._current)

    def _rollout(
        self, lens: Lens, env: Any, policy: Policy, on_step: Callable[..., None] | None = None
    ) -> EpisodeResult:
        self._current = _copy(policy)
        if env is not self._env:
            self._current.reset = lambda *given, **named: None  # type: ignore[method-assign]
        self.holder.memory = lens  # type: ignore[assignment]
        try:
            result = rollout(env, self._current, self._seed, on_step=on_step, **self._named)
            self.holder.finish()
        finally:
            self.holder.memory = self._memory
            self._memory.restore(self._start)
        self.replays += 1
        self.steps += result.steps
        return result

    def _replay(self, lens: Lens) -> EpisodeResult:
        if self._resumed is None:
            return self._rollout(lens, self._env, self._policy)
        snapshot, policy = self._resumed
        return self._rollout(lens, _SnapshotStart(self._env, snapshot), policy)

    def without(self, dropped: frozenset[Key]) -> EpisodeResult:
        """Return the result without some items."""
        if not dropped:
            return self.whole
        if dropped not in self._known:
            lens = Lens(self._memory, first_only=self._step is not None)
            lens.dropped = dropped
            self._known[dropped] = self._replay(lens)
        return self._known[dropped]

    def worths(
        self,
        kinds: Sequence[Kind] = KINDS,
        most: int | None = None,
        *,
        alone: bool = False,
        samples: int = 0,
    ) -> list[Worth]:
        """Measure the ``most`` often shown items of some kinds, leaving out one at a time.

        Each item costs one replay. ``alone`` costs one more per item, and one without any item.
        Each of the ``samples`` random orders for Shapley values (Castro et al. 2009) costs at most
        one per item.
        """
        shown = [key for key in self.shown if key.kind in kinds]
        items = sorted(shown, key=lambda key: -self.shown[key])[:most]
        every, whole = frozenset(items), self.whole
        shares = dict.fromkeys(items, 0.0)
        chance = random.Random(zlib.crc32(f"{whole.task_id}/{self._step}".encode()))
        for _ in range(samples):
            order, before = chance.sample(items, len(items)), whole.value
            for place, key in enumerate(order, 1):
                now = self.without(frozenset(order[:place])).value
                shares[key] += (before - now) / samples
                before = now
        found = []
        for key in items:
            less = self.without(frozenset((key,)))
            worth = Worth(key, self.texts[key], self.shown[key], whole.value - less.value,
                          whole.steps - less.steps)  # fmt: skip
            if alone:
                one, none = self.without(every - {key}), self.without(every)
                worth = worth._replace(
                    alone=one.value - none.value, alone_steps=one.steps - none.steps
                )
            found.append(worth._replace(shapley=shares[key]) if samples else worth)
        return found

    def by_id(self) -> dict[int, float]:
        """Return the scores of the items of a memory of experience."""
        worths = self.worths(("lesson",))
        return {worth.key.name: worth.score for worth in worths if isinstance(worth.key.name, int)}


def _copy(policy: Policy) -> Policy:
    """Return a copy of a policy that shares the callables of the environment."""
    shared = (policy.oracle, policy.keep_state)
    return copy.deepcopy(policy, {id(part): part for part in shared})


def credit_exactly(env: gym.Env[Any, Any], policy: Policy | Act, seed: int, **named: Any) -> None:
    """Replay the next episode if the memory has ``utility=exact``."""
    memory = env.get_wrapper_attr("memory")
    if memory.exact:
        memory.worths = Replays(env, policy, seed, **named).by_id()

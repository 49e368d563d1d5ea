"""ScienceWorld as a raw text environment."""

from __future__ import annotations

from collections.abc import Sequence

from gym_memory.core.errors import InvalidArgumentError, UnknownNameError
from gym_memory.core.records import Oracle
from gym_memory.core.settings import checked
from gym_memory.games.base import Feedback, TextEnv
from gym_memory.games.scienceworld import catalog
from gym_memory.games.scienceworld.engine import (
    EngineAnswer,
    ScienceWorldEngine,
    acquire,
    check_installed,
    release,
)
from gym_memory.games.scienceworld.facts import UNDECIDED, read_world
from gym_memory.games.scienceworld.rules_items import AMBIGUOUS

__all__ = ["ScienceWorld"]

_NOT_UNDERSTOOD = ("No known action matches", "Unknown action.", "ERROR: ")
_FULL_SCORE = 100

_gold_paths: dict[tuple[str, int, str], tuple[str, ...]] = {}


class ScienceWorld(TextEnv):
    """Thirty tasks of ScienceWorld on the original engine, which needs Java.

    Task ids are ``scienceworld/<task>/<variation>``. Several tasks are interleaved, so the first
    seeds play each of them. An episode is won (``success``) with a score of 100 and lost if it ends
    below it, mostly with -100 for a wrong focus, which ``normalized_score`` counts as 0. The engine
    answers an ambiguous command with numbered choices; these numbers are then the only valid
    actions.

    Args:
        task: A task's name, its number (``"1-1"``) or CLIN's short name (``"Temp1"``); None for
            all tasks of the split.
        split: ``train``, ``dev``, ``test`` (the official ones) or ``clin``: the first test
            variations that CLIN's paper plays, 164 of 18 tasks. None means ``test``.
        variation: The only variation to play, regardless of splits.
        world_of: Another task whose worlds this task uses, since the engine makes the same world
            for the same variation of any task. If this task has fewer variations, those of its own
            split are repeated.
        simplification: Names of :data:`~gym_memory.games.scienceworld.catalog.SIMPLIFICATIONS`,
            separated by commas.
        max_steps: Step limit; 100 is usual, but some solutions need more.
        inventory: True to show the inventory text in the observation.
    """

    dialect = "scienceworld"
    splits = catalog.SPLITS
    max_action_chars = 500
    worker_gib = 1.5  # a JVM

    @checked
    def __init__(
        self,
        task: str | None = None,
        split: str | None = None,
        *,
        variation: int | None = None,
        world_of: str | None = None,
        simplification: str = "",
        max_steps: int = 100,
        valid_actions: bool = True,
        inventory: bool = True,
        render_mode: str | None = None,
    ):
        self._version = check_installed()
        named = None if task is None else catalog.find_task(task)
        world = None if world_of is None else catalog.find_task(world_of)
        split, self._ids = _choose(named, split, variation, world)
        super().__init__(
            max_steps=max_steps, valid_actions=valid_actions, split=split, render_mode=render_mode
        )
        _check_simplification(simplification, self._ids)
        self.simplification = simplification
        self._show_inventory = inventory
        self._engine: ScienceWorldEngine | None = None
        self._now = ("", 0)
        self._goal = ""
        self._listed: tuple[int, bool, tuple[str, ...]] | None = None

    @property
    def engine(self) -> ScienceWorldEngine:
        """Return the engine, and start one if none is alive."""
        if self._engine is None or not self._engine.usable:
            self._engine = acquire()
        return self._engine

    def _open(self, task_id: str) -> Feedback:
        _, task, number = task_id.split("/")
        self._now = (task, int(number))
        self._listed = None
        text = self.engine.load(*self._now, self.simplification)
        self._goal = self.engine.goal()
        carried = self.engine.inventory() if self._show_inventory else ""
        return self._feedback_of(EngineAnswer(text, inventory=carried))

    def _send(self, action: str) -> Feedback:
        assert self._engine is not None
        return self._feedback_of(self._engine.send(action, inventory=self._show_inventory))

    def _feedback_of(self, answer: EngineAnswer) -> Feedback:
        won = answer.score == _FULL_SCORE
        return Feedback(
            answer.text.strip(),
            float(answer.score),
            float(_FULL_SCORE),
            won,
            not won and (answer.completed or answer.score < 0),
            answer.inventory,
            not answer.text.startswith(_NOT_UNDERSTOOD),
        )

    def _list_valid_actions(self) -> tuple[str, ...]:
        """Return the engine's list, cached if the last command took no time."""
        moves, ambiguous = self.engine.moves(), self._feedback.text.startswith(AMBIGUOUS)
        if self._listed is None or self._listed[:2] != (moves, ambiguous):
            self._listed = (moves, ambiguous, self.engine.valid_actions())
        return self._listed[2]

    def _close(self) -> None:
        if self._engine is not None:
            release(self._engine)
            self._engine = None

    def goal(self) -> str:
        """Return the engine's task description."""
        return self._goal

    def oracle(self) -> Oracle:
        """Return the engine's facts and solution; the first call of a task takes a second.

        ``objects`` has ``seen``, the facts in the last answer; ``undecided``, relations that the
        engine lacks; and ``world``, a :class:`gym_memory.games.scienceworld.facts.World`.
        """
        walkthrough = self._gold_path()
        world = read_world(self.engine.objects())
        action = self._actions[-1] if self._actions else ""
        answer = self._feedback if self._feedback.accepted else self._feedback._replace(text="")
        seen = world.shown(answer.text, action, answer.inventory)
        return Oracle(
            world.facts, walkthrough, {"seen": seen, "undecided": UNDECIDED, "world": world}
        )

    def _gold_path(self) -> tuple[str, ...]:
        key = (*self._now, self.simplification)
        if key not in _gold_paths:
            _gold_paths[key] = self.engine.gold_path(*key)
            self.restore(self.snapshot())
        return _gold_paths[key]

    def versions(self) -> dict[str, str]:
        """Return the version of the ScienceWorld package, which includes the engine."""
        return {"scienceworld": self._version}


def _choose(
    task: str | None, split: str | None, variation: int | None, world_of: str | None
) -> tuple[str, tuple[str, ...]]:
    """Return the split's name and the task ids."""
    if world_of is not None and (task is None or variation is not None):
        raise InvalidArgumentError(
            f"expected world_of together with a task and without a variation, got task={task!r}, "
            f"variation={variation!r}"
        )
    if variation is not None:
        if task is None or split is not None:
            raise InvalidArgumentError(
                "expected variation together with a task and without a split, got "
                f"task={task!r}, split={split!r}, variation={variation!r}"
            )
        total = catalog.TASKS[task][1]
        if not 0 <= variation < total:
            raise InvalidArgumentError(
                f"expected a variation of {task} in 0..{total - 1}, got {variation}"
            )
        home = next(s for s in catalog.SPLITS if variation in catalog.variations(task, s))
        return home, (f"scienceworld/{task}/{variation}",)
    split = "test" if split is None else split
    if task is not None:
        tasks = [task]
    else:
        tasks = [row.task for row in catalog.CLIN] if split == "clin" else list(catalog.TASKS)
    numbers: dict[str, Sequence[int]] = {name: catalog.variations(name, split) for name in tasks}
    if task is not None and world_of is not None:
        own, total = numbers[task], catalog.TASKS[task][1]
        worlds = enumerate(catalog.variations(world_of, split))
        numbers[task] = [n if n < total else own[turn % len(own)] for turn, n in worlds]
    turns = range(max(len(chosen) for chosen in numbers.values()))
    return split, tuple(
        f"scienceworld/{name}/{chosen[turn]}"
        for turn in turns
        for name, chosen in numbers.items()
        if turn < len(chosen)
    )


def _check_simplification(simplification: str, ids: Sequence[str]) -> None:
    wanted = [name for name in simplification.split(",") if name]
    for name in wanted:
        if name not in catalog.SIMPLIFICATIONS:
            raise UnknownNameError("simplification", name, catalog.SIMPLIFICATIONS)
    electrical = sorted({i.split("/")[1] for i in ids} & catalog.ELECTRICAL)
    if "noElectricalAction" in wanted and electrical:
        raise InvalidArgumentError(
            f"noElectricalAction takes away what {electrical[0]} needs: choose other tasks"
        )

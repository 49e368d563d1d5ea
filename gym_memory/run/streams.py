"""Protocol ``stream``: tasks in sequence with one memory, then tests that it only reads.

A stream shows what an episode cannot: learning over tasks, transfer, forgetting and growth. Each
episode of a job is a turn, and its number alone says which phase it belongs to.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Annotated, Any, Literal

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.settings import Help, checked
from gym_memory.run import EpisodeResult
from gym_memory.run.protocols import PROTOCOLS, JobScore, Play, Protocol, Turn

__all__ = ["Stream"]

_PLUS = re.compile(r"[+\s]+")


@PROTOCOLS.register("stream")
class Stream(Protocol):
    """Play tasks in sequence with one memory, kept as long as its layers live.

    The first tasks are ``shown`` by the walkthrough; the policy plays the others (``learn``), whose
    mean is the score. In all later phases the memory is read only. ``again``: tasks of the stream
    with all that was learnt. ``fresh``: the same with an empty memory. ``early`` and ``late``:
    further tasks of the first environment, after its part of the stream and at the end. ``test``:
    further tasks of each environment of ``tests``. The seed of a job draws the order.
    """

    @checked
    def __init__(
        self,
        *,
        tasks: Annotated[int, Help("Tasks of the stream.", low=1)] = 30,
        shown: Annotated[int, Help("Of these, tasks that the walkthrough plays first.", low=0)] = 6,
        order: Annotated[
            Literal["shuffled", "easy", "hard", "blocks"],
            Help(
                "By chance, by the length of the walkthrough (short or long first), or one "
                "environment after the other."
            ),
        ] = "shuffled",
        also: Annotated[str, Help("Further environments of the stream, joined by ``+``.")] = "",
        again: Annotated[
            int, Help("Tasks to play again, read only and with an empty memory.", low=0)
        ] = 0,
        tests: Annotated[str, Help("Environments to test on, joined by ``+``.")] = "",
        probe: Annotated[int, Help("Further tasks of each environment to test on.", low=0)] = 0,
    ):
        self.tasks, self.shown, self.order, self.probe = tasks, shown, order, probe
        self._also, self.tests = ([s for s in _PLUS.split(t) if s] for t in (also, tests))
        if shown >= tasks:
            raise InvalidArgumentError(f"expected shown below tasks={tasks}, got {shown}")
        if again > tasks - shown:
            raise InvalidArgumentError(f"expected again at most tasks - shown, got {again}")
        if bool(self.tests) > bool(probe):
            raise InvalidArgumentError("expected probe, the tasks of each test, got 0")
        self.again = [shown + n * (tasks - shown) // again for n in range(again)]

    @property
    def parts(self) -> int:
        """Return the number of environments that share the tasks."""
        return 1 + len(self._also)

    @property
    def worlds(self) -> list[str]:
        """Return the environments besides the job's own."""
        return [*self._also, *self.tests]

    @cached_property
    def turns(self) -> list[Turn]:
        """Return all episodes; ``place`` counts the tasks of the stream, or of the probe."""
        turns = [Turn("shown" if n < self.shown else "learn", 0, n) for n in range(self.tasks)]
        if self._also and self.probe:
            first = -(-self.tasks // self.parts)
            turns[first:first] = [Turn("early", 0, n) for n in range(self.probe)]
        for phase in ("again", "fresh"):
            turns += [Turn(phase, 0, n) for n in self.again]
        if self._also:
            turns += [Turn("late", 0, n) for n in range(self.probe)]
        for world in range(self.parts, self.parts + len(self.tests)):
            turns += [Turn("test", world, n) for n in range(self.probe)]
        return turns

    def tested(self, turn: Turn) -> str:
        """Return the environment of a test."""
        return self.worlds[turn.world - 1]

    def stage(self, env: Any, policy: Any, seed: int) -> Any:
        """Build the further environments, and draw the order."""
        from gym_memory.run.stage import Stage  # heavy; names need none

        stage = Stage(env, policy, self.worlds)
        stage.tasks = self._ordered(random.Random(seed), stage.length)
        return stage

    def _ordered(
        self, chance: random.Random, length: Callable[[int, int], int]
    ) -> list[tuple[int, int]]:
        """Return environment and seed of each task; each environment has an equal share."""
        worlds = [n * self.parts // self.tasks for n in range(self.tasks)]
        tasks = [(world, n - worlds.index(world)) for n, world in enumerate(worlds)]
        chance.shuffle(tasks)
        if self.order == "blocks":
            tasks.sort(key=lambda task: task[0])
        elif self.order != "shuffled":
            lengths = {task: length(*task) for task in tasks}
            tasks.sort(key=lengths.__getitem__, reverse=self.order == "hard")
        return tasks

    def episodes(self, play: Play) -> Iterator[EpisodeResult]:
        """Play every turn."""
        for turn in self.turns:
            yield play(turn=turn)

    def summarize(self, results: Sequence[EpisodeResult]) -> JobScore:
        """Return the mean over the tasks that the policy played while the memory learnt."""
        own = [r for r, t in zip(results, self.turns, strict=False) if t.phase == "learn"]
        total, steps, curve = 0.0, 0, [(0, 0.0)]
        for number, result in enumerate(own, 1):
            total, steps = total + result.value, steps + result.steps
            curve.append((steps, total / number))
        return JobScore(curve[-1][1], None, steps, tuple(curve))

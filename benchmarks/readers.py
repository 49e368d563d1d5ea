"""Memories for a reader that is trained once on many of them, and the scores of both players.

Shared by ``text/mixed``, ``text/value`` and ``smollm/mixed``, which train the readers.
"""

from __future__ import annotations

import json
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar

from gym_memory.baselines.base import Policy, make_policy
from gym_memory.core.names import Spec
from gym_memory.core.records import Cue, Outcome, Recall, Step, Task
from gym_memory.memory.base import MEMORIES, Memory, make_memory
from gym_memory.run import rollout
from gym_memory.wrappers.make import make_env

READ = (
    *("arigraph", "fusion", "summary", "stma", "history", "rag", "simulacra", "amem", "ldm2"),
    *("memrl", "present", "none"),
)
"""Memories of the mixture."""
PLAYED = (
    *("arigraph", "none", "history", "summary", "rag", "stma", "fusion", "amem", "ldm2", "memrl"),
    *("simulacra", "present", "shuffled", "noise"),
)
"""Memories of the tables, the most important first; two controls were not used in training."""
PLANNER = "planner?encoder=hash"


class Mixture(Memory):
    """A memory that is another one of :data:`READ` in each episode, in turn.

    With ``cuts`` above 1, the budget is also whole, a half, a quarter, ... in turn.
    """

    name: ClassVar[str] = "mixture"

    def __init__(self, cuts: int = 1) -> None:
        self._inner = [make_memory(spec) for spec in READ]
        self._turn, self._now = 0, self._inner[0]
        self._cuts, self._cut = cuts, 0

    def begin(self, task: Task, seed: int | None) -> None:
        """Start an episode with the next memory; games begin at different ones."""
        self._turn += 1
        cut, memory = divmod(zlib.crc32(task.id.encode()) + self._turn, len(self._inner))
        self._now, self._cut = self._inner[memory], cut % self._cuts
        self._now.begin(task, seed)

    def observe(self, step: Step) -> None:
        """Let the memory of this episode learn."""
        self._now.observe(step)

    def recall(self, cue: Cue, budget: int) -> Recall:
        """Return what it recalls."""
        return self._now.recall(cue, budget >> self._cut)

    def end(self, outcome: Outcome) -> None:
        """End its episode."""
        self._now.end(outcome)

    def state(self) -> dict[str, Any]:
        """Return the present memory's number; its contents end with the episode."""
        return {"turn": self._turn}

    def load_state(self, state: dict[str, Any]) -> None:
        """Go on with the next episode."""
        self._turn = state["turn"]


MEMORIES.register(Mixture.name, Mixture)


def play(
    memory: str, env: str, reader: Policy, games: Sequence[int], *, budget: int, max_steps: int
) -> dict[str, Any]:
    """Return scores of a reader and of the planner in test games, and the reader's mean tokens."""
    name, kwargs = Spec(env).parts
    settings = {"budget": budget, "split": "test", "max_steps": max_steps, **kwargs}
    found: dict[str, Any] = {}
    for who, policy in (("model", reader), ("rules", make_policy(PLANNER))):
        played = make_env(name, memory=memory, **settings)
        results = [rollout(played, policy, seed=game) for game in games]
        played.close()
        found[who] = [round(result.normalized, 4) for result in results]
        if who == "model":
            found["tokens"] = round(sum(result.tokens for result in results) / len(results))
    return found


def fill(
    kept: Path,
    train: Callable[[], dict[str, Any]],
    played: Callable[[str, Sequence[int]], dict[str, Any]],
    rounds: Iterable[Sequence[int]],
) -> None:
    """Append the missing rows to a file: one of the training, then one per memory in each round."""
    rows = [json.loads(line) for line in kept.open()] if kept.exists() else []
    done = Counter(row.get("memory", "") for row in rows)
    with kept.open("a", encoding="utf-8") as file:
        if not done[""]:
            print(json.dumps(train()), file=file, flush=True)
        for number, games in enumerate(rounds):
            for memory in PLAYED:
                if done[memory] <= number:
                    row = {"memory": memory, **played(memory, games)}
                    print(json.dumps(row), file=file, flush=True)

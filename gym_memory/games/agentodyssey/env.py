"""AgentOdyssey: an open world, played for its official score."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from typing import Annotated, Any

from gym_memory.core.records import Oracle
from gym_memory.core.settings import Help, checked
from gym_memory.games.agentodyssey.engine import WORLDS, Engine, list_actions
from gym_memory.games.agentodyssey.facts import true_facts
from gym_memory.games.base import ENVIRONMENTS, Feedback, TextEnv

__all__ = ["AgentOdyssey"]

_SEEDS = 100
_GOAL = "Explore the world, follow its quests, craft, trade and fight."


@ENVIRONMENTS.register("AgentOdyssey")
class AgentOdyssey(TextEnv):
    """Play the worlds of the package ``agentodyssey`` on its own engine.

    The score is the package's: a point for each stage of the main quest, side quest, new area,
    new kind crafted, traded or defeated; a death costs one. Nothing in the tutorial counts.
    ``info["rewards"]`` has the sums by category, of which ``quest`` ranks the workshop challenge.
    There is no best score; the end of the main quest wins.

    Args:
        tutorial: Whether a world that has a tutorial begins in it, as in the official setting.
        max_steps: Step limit; 500 is the challenge's.
    """

    dialect = "plain"
    needs = "agentodyssey"
    needs_extra = "pip install --no-deps agentodyssey==0.1.0 termcolor"

    @checked
    def __init__(
        self,
        world: Annotated[str, Help("Which world.", choices=WORLDS)] = "remnant",
        *,
        tutorial: Annotated[bool, Help("Whether to begin in the tutorial.")] = True,
        max_steps: int = 500,
        valid_actions: bool = True,
        render_mode: str | None = None,
    ):
        super().__init__(max_steps=max_steps, valid_actions=valid_actions, render_mode=render_mode)
        self.world = world
        self.tutorial = tutorial
        self._ids = [f"agentodyssey/{world}/{seed}" for seed in range(_SEEDS)]
        self._engine: Engine | None = None
        self._rewards: dict[str, int] = {}

    @property
    def engine(self) -> Engine:
        """Return the game in progress."""
        assert self._engine is not None, "reset() starts a game"
        return self._engine

    def _task_ids(self) -> Sequence[str]:
        return self._ids

    def _open(self, task_id: str) -> Feedback:
        seed = int(task_id.rpartition("/")[2])
        self._engine = Engine(self.world, seed, tutorial=self.tutorial)
        self._rewards = {}
        return Feedback(self._engine.text.strip())

    def _send(self, action: str) -> Feedback:
        answer = self.engine.send(action)
        for name, points in answer.rewards.items():
            self._rewards[name] = self._rewards.get(name, 0) + points
        return Feedback(
            answer.text.strip(),
            score=float(self._rewards["total"]),
            won=answer.done,
            accepted=answer.accepted,
        )

    def _list_valid_actions(self) -> tuple[str, ...]:
        return list_actions(self.engine)

    def _save(self) -> Any:
        return self.engine.copy(), dict(self._rewards)

    def _load(self, native: Any) -> None:
        self._engine, self._rewards = native[0].copy(), dict(native[1])

    def _info(self, *, accepted: bool) -> dict[str, Any]:
        return super()._info(accepted=accepted) | {"rewards": dict(self._rewards)}

    def goal(self) -> str:
        """Return the aim in our words; the world states its quests in its texts."""
        return _GOAL

    def oracle(self) -> Oracle:
        """Return where everything is and all exits; a solution is not known."""
        return Oracle(true_facts(self.engine), ())

    def versions(self) -> dict[str, str]:
        """Return the version of the engine."""
        return {"agentodyssey": version("agentodyssey")}

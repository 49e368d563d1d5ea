"""A taskset for verifiers, with the game as the user."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any, Literal

from gym_memory.core.optional import require
from gym_memory.core.records import value_of
from gym_memory.train.session import GameTurn, Session, task_names
from gym_memory.train.steps import MAX_ACTIONS, opening, state_prompt, turn_text
from gym_memory.wrappers.encode import INSTRUCTIONS
from gym_memory.wrappers.memory import DEFAULT_BUDGET, DEFAULT_MEMORY

__all__ = ["GameEnv", "GameEnvConfig", "GameHarness", "GameHarnessConfig", "GameTask"]
__all__ += ["GameTaskData", "GameTaskset", "GameTasksetConfig"]

vf: Any = require("verifiers.v1", "verifiers", "the taskset")
_runtimes: Any = require("verifiers.v1.runtimes", "verifiers", "the taskset")
_harness: Any = require("verifiers.v1.configs.harness", "verifiers", "the taskset")
_chat: Any = require("verifiers.v1.dialects.chat", "verifiers", "the taskset")
_httpx: Any = require("httpx", "verifiers", "the taskset")


class GameTasksetConfig(vf.TasksetConfig):
    """Settings of the games and their memory.

    Attributes:
        game: An environment, ``Cooking?level=rl-1``.
        memory: A memory with optional parameters.
        budget: Tokens that the recalled memory may take.
        split: A split; empty for the environment's own.
    """

    game: str = "Cooking?level=rl-1"
    memory: str = DEFAULT_MEMORY
    budget: int = DEFAULT_BUDGET
    split: str = ""


class GameTaskData(vf.TaskData):
    """One game: its session, and its index in the split, which is also its seed."""

    game: str
    memory: str
    budget: int
    split: str
    index: int


class GameTask(vf.Task[GameTaskData, vf.State, vf.TaskConfig]):
    """One game."""


class GameTaskset(vf.Taskset[GameTask, GameTasksetConfig]):
    """Games of a split, in their order."""

    def load(self) -> Iterator[GameTask]:
        """Yield one task per game."""
        config = self.config
        for index, name in enumerate(task_names(config.game, config.split)):
            data = GameTaskData(
                name=name,
                system_prompt=INSTRUCTIONS,
                game=config.game,
                memory=config.memory,
                budget=config.budget,
                split=config.split,
                index=index,
            )
            yield GameTask(data, config.task)


class GameHarnessConfig(_harness.HarnessConfig):
    """No settings."""


class GameHarness(vf.Harness[GameHarnessConfig]):
    """A harness that gets one reply from the model in this process, without a program."""

    APPENDS_SYSTEM_PROMPT = True
    SUPPORTS_RESUME = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: Any,
        trace: Any,
        runtime: Any,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: Any,
        tool_interception_url: str | None = None,
    ) -> Any:
        """Send the conversation so far; verifiers records the response."""
        system, prompt = self.resolve_prompt(data)
        messages = [{"role": "system", "content": system}] if system else []
        if isinstance(prompt, str):
            messages.append({"role": "user", "content": prompt})
        else:
            messages += [_chat.message_to_wire(message) for message in prompt or ()]
        async with _httpx.AsyncClient(timeout=None) as client:
            answer = await client.post(
                f"{endpoint.rstrip('/')}/chat/completions",
                headers={"Authorization": f"Bearer {secret}"},
                json={"model": ctx.model, "messages": messages},
            )
        return _runtimes.ProgramResult(int(answer.is_error), "", answer.text)


class GameEnvConfig(vf.EnvConfig):
    """Settings of play.

    Attributes:
        player: The agent that is trained.
        prompts: ``turns`` appends to one conversation, ``state`` begins one at every step.
        max_actions: Valid actions that a prompt lists, at most; None for all.
    """

    player: vf.AgentConfig = vf.AgentConfig(runtime=_runtimes.SubprocessConfig())
    prompts: Literal["turns", "state"] = "turns"
    max_actions: int | None = MAX_ACTIONS


class GameEnv(vf.Env[GameEnvConfig]):
    """A game played by an agent; the reward of a trace is the game's normalized score."""

    async def run(self, task: Any, agents: Any) -> None:
        """Play one game to its end."""
        data = task.data
        session = await asyncio.to_thread(Session, data.game, data.memory, data.budget)
        try:
            turn = await asyncio.to_thread(session.reset, split=data.split, index=data.index)
            play = self._turns if self.config.prompts == "turns" else self._states
            traces = await play(task, agents.player, session, turn)
            for trace in traces:
                trace.record_reward("score", value_of(session.turn.info))
                trace.record_metric("steps", float(session.turn.info["moves"]))
        finally:
            session.close()

    async def _turns(self, task: Any, player: Any, session: Session, turn: GameTurn) -> list[Any]:
        """Play in one conversation, to which every turn adds the new text."""
        shown = opening(turn.obs, self.config.max_actions)
        async with player.interaction(task) as interaction:
            while not turn.done:
                segment = await interaction.turn(shown)
                if segment.terminated:
                    break
                turn = await asyncio.to_thread(session.step, segment.last_reply)
                shown = turn_text(turn.obs, self.config.max_actions)
        return [interaction.trace]

    async def _states(self, task: Any, player: Any, session: Session, turn: GameTurn) -> list[Any]:
        """Play with one run per step, whose prompt is the whole state."""
        traces: list[Any] = []
        while not turn.done:
            shown = state_prompt(turn.obs, self.config.max_actions)[-1]["content"]
            data = task.data.model_copy(update={"prompt": shown})
            traces.append(await player.run(type(task)(data, task.config)))
            if not traces[-1].ok:
                break
            turn = await asyncio.to_thread(session.step, traces[-1].last_reply)
        return traces

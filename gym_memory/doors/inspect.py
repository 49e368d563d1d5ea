"""Environments as tasks of Inspect: ``inspect eval gym_memory/cooking -T memory=arigraph``."""

from __future__ import annotations

import asyncio
import math
from typing import Any, Literal

from gym_memory.core.names import Spec
from gym_memory.core.optional import require
from gym_memory.core.records import value_of
from gym_memory.core.settings import check_name
from gym_memory.games.base import ENVIRONMENTS
from gym_memory.train.session import GameTurn, Session, check_game
from gym_memory.train.steps import MAX_ACTIONS, opening, state_prompt, turn_text
from gym_memory.wrappers.encode import INSTRUCTIONS
from gym_memory.wrappers.memory import DEFAULT_BUDGET, DEFAULT_MEMORY

__all__ = ["game_score", "game_task", "play_game"]

_ai: Any = require("inspect_ai", "inspect", "tasks of Inspect")

Prompts = Literal["state", "turns"]
_MEASURES = ("score", "success", "steps", "memory_tokens")


def game_task(
    env: str,
    memory: str = DEFAULT_MEMORY,
    budget: int = DEFAULT_BUDGET,
    split: str = "",
    prompts: Prompts = "state",
    max_actions: int | None = MAX_ACTIONS,
) -> Any:
    """Return an Inspect task with a sample for each game of a split, the environment's by default.

    With ``prompts="state"`` each step is a prompt of constant size that shows the memory; with
    ``turns`` one conversation grows, and the memory is shown at its beginning alone.
    """
    check_name("prompts", prompts, ("state", "turns"))
    samples = [
        _ai.dataset.Sample(id=name, input=name, metadata={"index": index})
        for index, name in enumerate(check_game(env, memory, budget, split))
    ]
    return _ai.Task(
        dataset=_ai.dataset.MemoryDataset(samples, name=env),
        solver=play_game(env, memory, budget, split, prompts, max_actions),
        scorer=game_score(),
        metadata={"env": env, "memory": memory, "budget": budget, "split": split},
    )


@_ai.solver.solver
def play_game(
    env: str, memory: str, budget: int, split: str, prompts: Prompts, max_actions: int | None
) -> Any:
    """Return a solver that plays a sample's game with the model of the evaluation."""

    async def solve(state: Any, generate: Any) -> Any:
        session = await asyncio.to_thread(Session, env, memory, budget)
        try:
            index = state.metadata["index"]
            turn = await asyncio.to_thread(session.reset, split=split, index=index)
            state.messages = [_ai.model.ChatMessageSystem(content=INSTRUCTIONS)]
            shown = opening(turn.obs, max_actions)
            _note(state, turn, "")
            while not turn.done and not state.completed:
                state.messages.append(_ai.model.ChatMessageUser(content=shown))
                sent = state.messages
                if prompts == "state":
                    sent = [state.messages[0], state.messages[-1]]
                state.output = await _ai.model.get_model().generate(sent)
                state.messages.append(state.output.message)
                turn = await asyncio.to_thread(session.step, state.output.completion)
                _note(state, turn, state.output.completion)
                if prompts == "state":
                    shown = state_prompt(turn.obs, max_actions)[-1]["content"]
                else:
                    shown = turn_text(turn.obs, max_actions)
        finally:
            await asyncio.to_thread(session.close)
        state.completed = True
        return state

    return solve


def _note(state: Any, turn: GameTurn, reply: str) -> None:
    """Log the result of a reply, and store the score for the scorer."""
    info, stats = turn.info, turn.info["memory_stats"]
    steps = max(info["moves"], 1)
    tokens = state.store.get("tokens", 0) + stats.tokens
    success = math.nan if info["success"] is None else float(info["success"])
    state.store.set("tokens", tokens)
    values = (value_of(info), success, float(info["moves"]), tokens / steps)
    state.store.set("measures", dict(zip(_MEASURES, values, strict=True)))
    _ai.log.transcript().info(
        {
            "step": info["moves"],
            "reply": reply,
            "text": turn.obs["text"],
            "memory": turn.obs["memory"],
            "memory tokens": stats.tokens,
            "score": info["score"],
        },
        source="gym-memory",
    )


@_ai.scorer.scorer(
    metrics=[{name: [_ai.scorer.mean(), _ai.scorer.stderr()] for name in _MEASURES}], name="game"
)
def game_score() -> Any:
    """Return a scorer of normalized score, success, steps and tokens of a recall."""

    async def score(state: Any, target: Any) -> Any:
        return _ai.scorer.Score(value=state.store.get("measures"))

    return score


def _define(name: str) -> Any:
    def made(
        memory: str = DEFAULT_MEMORY,
        budget: int = DEFAULT_BUDGET,
        split: str = "",
        prompts: Prompts = "state",
        max_actions: int | None = MAX_ACTIONS,
        **settings: Any,
    ) -> Any:
        env = Spec.of(name, settings)
        return game_task(env, memory, budget, split, prompts, max_actions)

    made.__doc__ = f"Games of {name}; other parameters are its settings."
    return _ai.task(name=name.lower())(made)


tasks = {name.lower(): _define(name) for name in (*ENVIRONMENTS.builtin(), "Panel")}
"""Tasks by name; ``inspect eval gym_memory/NAME`` plays one."""

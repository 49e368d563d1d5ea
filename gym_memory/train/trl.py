"""For TRL's GRPO trainer: games that a model plays by tools, and rollouts step by step.

With tools the conversation grows. Step by step, every step is a prompt of constant size and a reply
of its own. No TRL is imported.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.names import Spec
from gym_memory.core.optional import require
from gym_memory.core.records import value_of
from gym_memory.core.settings import check_int
from gym_memory.train.session import GameTurn, Session, split_names, task_names
from gym_memory.train.steps import (
    MAX_ACTIONS,
    Record,
    make_row,
    opening,
    returns,
    state_prompt,
    turn_text,
)
from gym_memory.wrappers.memory import DEFAULT_BUDGET, DEFAULT_MEMORY

__all__ = ["StepwiseRollout", "TextGame", "environment_factory", "rows", "score_reward"]
__all__ += ["task_rows"]


# --- tools --------------------------------------------------------------------------------------


TOOL_INSTRUCTIONS = (
    "You are playing a text game. Work towards the task: play one command at a time by calling "
    "the tool `act`, until the game is over."
)


class TextGame:
    """A game of one rollout; public methods but ``reset`` and ``get_reward`` are tools.

    A turn lists ``max_actions`` valid actions at most; 0 for none, None for all.
    """

    def __init__(
        self,
        env: str,
        memory: str = DEFAULT_MEMORY,
        budget: int = DEFAULT_BUDGET,
        max_actions: int | None = MAX_ACTIONS,
    ):
        self._session = Session(env, memory, budget)
        self._max_actions = max_actions
        self._gained = 0.0

    def reset(
        self,
        split: str = "",
        index: int | None = None,
        seed: int | None = None,
        **row: Any,
    ) -> str:
        """Begin the game of a row, see :func:`rows`; other columns are ignored.

        Args:
            split: Split of the games; empty for the environment's own.
            index: Number of the game in the split.
            seed: Seed of chance; the index by default.
            **row: Other columns.

        Returns:
            The first observation; the trainer adds it to the prompt.
        """
        turn = self._session.reset(split=split, index=index, seed=seed)
        self._gained = 0.0
        return opening(turn.obs, self._max_actions)

    def act(self, command: str) -> str:
        """Play one command of the game.

        Args:
            command: The command, written as the game lists it.

        Returns:
            What happens, and what can be done next.
        """
        if self._session.turn.done:
            raise ValueError("The game is over.")  # what the trainer shows to the model
        turn = self._session.step(command)
        self._gained += turn.reward
        shown = turn_text(turn.obs, self._max_actions)
        return f"{shown}\n\nThe game is over." if turn.done else shown

    def valid_actions(self) -> str:
        """List every command that the game takes now.

        Returns:
            One command a line.
        """
        return "\n".join(self._session.valid_actions())

    def recall(self, question: str) -> str:
        """Ask your memory of this game; it takes no step.

        Args:
            question: What you want to know, such as where a thing is.

        Returns:
            What the memory recalls.
        """
        return self._session.recall(question) or "Nothing is remembered of that."

    def get_reward(self) -> float:
        """Return the normalized score in [0, 1]; the points if the highest score is unknown."""
        info = self._session.turn.info
        return float(info["normalized_score"]) if info["max_score"] > 0 else self._gained


def environment_factory(
    env: str,
    memory: str = DEFAULT_MEMORY,
    budget: int = DEFAULT_BUDGET,
    max_actions: int | None = MAX_ACTIONS,
) -> Callable[[], TextGame]:
    """Return what ``GRPOTrainer(environment_factory=...)`` takes, a maker of :class:`TextGame`."""
    return functools.partial(TextGame, env, memory, budget, max_actions)


def rows(env: str, split: str = "", limit: int | None = None) -> list[dict[str, Any]]:
    """Return rows of a data set, one per task: ``prompt split index seed task_id``."""
    if limit is not None and limit < 1:
        raise InvalidArgumentError(f"expected limit as an int >= 1, got {limit!r}")
    return [
        {
            "prompt": [
                {"role": "system", "content": TOOL_INSTRUCTIONS},
                {"role": "user", "content": ""},
            ],
            "split": split,
            "index": index,
            "seed": index,
            "task_id": name,
        }
        for index, name in enumerate(task_names(env, split)[:limit])
    ]


# --- step by step -------------------------------------------------------------------------------


class _TrlSample(NamedTuple):
    before: GameTurn
    after: GameTurn
    prompt: list[Any]
    prompt_ids: list[int]
    reply: str
    reply_ids: list[int]
    logprobs: list[float]


class StepwiseRollout:
    """A rollout of a batch of episodes side by side, with one sampled step of each.

    Args:
        env: An environment, ``Cooking?level=rl-1``.
        memory: A memory with optional parameters.
        budget: Tokens that the recalled memory may take.
        max_steps: Steps of an episode, at most, >= 1.
        max_actions: Valid actions that a prompt lists, at most; None for all.
        max_tokens: Tokens of a reply, at most, >= 1.
        seed: Seed of the choice of steps.
        on_rows: Called with the rows (:data:`.COLUMNS`) of all steps of every batch.
    """

    def __init__(
        self,
        env: str,
        memory: str = DEFAULT_MEMORY,
        budget: int = DEFAULT_BUDGET,
        *,
        max_steps: int = 10,
        max_actions: int | None = MAX_ACTIONS,
        max_tokens: int = 16,
        seed: int = 0,
        on_rows: Callable[[list[Record]], None] | None = None,
    ):
        self._made_from = (env, memory, budget)
        self._tasks = {
            name: (split, index)
            for split in split_names(env)
            for index, name in enumerate(task_names(env, split))
        }
        self._max_steps = check_int("max_steps", max_steps, 1)
        self._max_tokens = check_int("max_tokens", max_tokens, 1)
        self._max_actions = max_actions
        self._rng = np.random.default_rng(seed)
        self._on_rows = on_rows
        self._sessions: list[Session] = []

    def __call__(self, prompts: Sequence[Any], trainer: Any) -> dict[str, Any]:
        """Play one episode for every prompt of :func:`task_rows`; return one sampled step of each.

        Besides ``prompt_ids completion_ids logprobs`` it has, for reward functions, ``score``
        (normalized) and ``valid`` (share of the replies that the game accepts).
        """
        while len(self._sessions) < len(prompts):
            self._sessions.append(Session(*self._made_from))
        sessions = self._sessions[: len(prompts)]
        for session, prompt in zip(sessions, prompts, strict=True):
            split, index = self._task(prompt)
            session.reset(split=split, index=index)
        episodes = self._play(sessions, trainer)
        if self._on_rows is not None:
            self._on_rows([row for episode in episodes for row in self._rows(episode)])
        chosen = [episode[int(self._rng.integers(len(episode)))] for episode in episodes]
        return {
            "prompt_ids": [sample.prompt_ids for sample in chosen],
            "completion_ids": [sample.reply_ids for sample in chosen],
            "logprobs": [sample.logprobs for sample in chosen],
            "score": [value_of(e[-1].after.info) for e in episodes],
            "valid": [1.0 - e[-1].after.info["n_invalid"] / len(e) for e in episodes],
        }

    def _task(self, prompt: Any) -> tuple[str, int]:
        name = prompt if isinstance(prompt, str) else prompt[-1]["content"]
        if name not in self._tasks:
            raise InvalidArgumentError(
                f"expected prompts of task_rows(), which name a task, got {str(name)[:100]!r}"
            )
        return self._tasks[name]

    def _play(self, sessions: Sequence[Session], trainer: Any) -> list[list[_TrlSample]]:
        episodes: list[list[_TrlSample]] = [[] for _ in sessions]
        for _ in range(self._max_steps):
            live = [i for i, session in enumerate(sessions) if not session.turn.done]
            if not live:
                break
            shown = [state_prompt(sessions[i].turn.obs, self._max_actions) for i in live]
            for i, prompt, answer in zip(live, shown, self._answers(shown, trainer), strict=True):
                before = sessions[i].turn
                after = sessions[i].step(answer[1])
                episodes[i].append(_TrlSample(before, after, prompt, *answer))
        return episodes

    def _answers(
        self, shown: Sequence[Any], trainer: Any
    ) -> list[tuple[list[int], str, list[int], list[float]]]:
        """Sample from the trained model: prompt ids, reply, reply ids and log-probabilities."""
        torch = require("torch", "trl", "training language models")
        tokenizer, model = trainer.processing_class, trainer.accelerator.unwrap_model(trainer.model)
        prompts = [
            tokenizer.apply_chat_template(
                p, add_generation_prompt=True, tokenize=True, return_dict=False
            )
            for p in shown
        ]
        longest = max(map(len, prompts))
        pad = tokenizer.pad_token_id
        ids = torch.tensor([[pad] * (longest - len(p)) + p for p in prompts], device=model.device)
        mask = torch.tensor(
            [[0] * (longest - len(p)) + [1] * len(p) for p in prompts], device=model.device
        )
        was_training = model.training
        model.eval()
        with torch.no_grad():
            made = model.generate(
                input_ids=ids,
                attention_mask=mask,
                max_new_tokens=self._max_tokens,
                do_sample=True,
                temperature=trainer.args.temperature,
                top_k=0,
                top_p=1.0,
                pad_token_id=pad,
                return_dict_in_generate=True,
                output_scores=True,
            )
        model.train(was_training)
        logs = torch.stack([scores.float().log_softmax(-1) for scores in made.scores], dim=1)
        replies = made.sequences[:, longest:]
        logprobs = logs.gather(-1, replies.unsqueeze(-1)).squeeze(-1)
        ends = {tokenizer.eos_token_id}
        answers = []
        for prompt, reply, chances in zip(
            prompts, replies.tolist(), logprobs.tolist(), strict=True
        ):
            end = next((n + 1 for n, token in enumerate(reply) if token in ends), len(reply))
            text = tokenizer.decode(reply[:end], skip_special_tokens=True)
            answers.append((prompt, text, reply[:end], chances[:end]))
        return answers

    def _rows(self, episode: Sequence[_TrlSample]) -> list[Record]:
        env, memory, _ = self._made_from
        ahead = returns([sample.after.reward for sample in episode])
        return [
            make_row(
                (env, memory, "trained", int(self._tasks[sample.after.info["task_id"]][1]), 0),
                _plain(sample.before),
                {**_plain(sample.after), "action": sample.reply},
                (sample.prompt, sample.reply, sample.logprobs),
                later,
            )
            for sample, later in zip(episode, ahead, strict=True)
        ]

    def close(self) -> None:
        """Close the games."""
        for session in self._sessions:
            session.close()
        self._sessions.clear()


def _plain(turn: GameTurn) -> dict[str, Any]:
    return {
        **turn.info,
        **turn.obs,
        "t": turn.info["moves"],
        "reward": turn.reward,
        "terminated": turn.terminated,
        "truncated": turn.truncated,
    }


def task_rows(env: str, split: str = "", limit: int | None = None) -> list[dict[str, Any]]:
    """Return rows of a data set for :class:`StepwiseRollout`: the prompt names the task.

    Warns if ``env`` is a panel: its tasks are for tests, so their rows are for ``eval_dataset``.
    """
    if Spec(env).name == "Panel":
        warnings.warn(
            f"{env!r} holds test tasks: give its rows as eval_dataset, and train on its world",
            stacklevel=2,
        )
    return [
        {"prompt": [{"role": "user", "content": name}]} for name in task_names(env, split)[:limit]
    ]


def score_reward(completions: Sequence[Any], score: Sequence[float], **others: Any) -> list[float]:
    """Return the episodes' normalized scores: the reward function for :class:`StepwiseRollout`."""
    return list(score)

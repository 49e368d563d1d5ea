"""TRL's own GRPO trainer with both doors, on a tiny model that is made here."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.train.session import Session
from gym_memory.train.steps import COLUMNS, state_prompt
from gym_memory.train.trl import (
    StepwiseRollout,
    environment_factory,
    rows,
    score_reward,
    task_rows,
)

pytestmark = pytest.mark.slow

for package in ("trl", "torch", "transformers", "tokenizers", "datasets", "textworld"):
    if find_spec(package) is None:  # imported by the tests: each worker reads all files
        pytest.skip(f"{package} is not installed", allow_module_level=True)

ENV = "Cooking?level=rl-1&split=train"
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]


def tokenizer() -> Any:
    """Return a tokenizer of one token per byte, with a chat template for tools."""
    import tokenizers
    import transformers
    from trl.chat_template_utils import qwen2_5_chat_template

    letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    vocab = {letter: number for number, letter in enumerate(letters)}
    bare = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=vocab, merges=[]))
    bare.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    bare.decoder = tokenizers.decoders.ByteLevel()
    bare.add_special_tokens(SPECIAL)
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=bare,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        padding_side="left",
        chat_template=qwen2_5_chat_template,
    )


def trainer(folder: Path, data: list[dict[str, Any]], **given: Any) -> Any:
    import datasets
    import torch
    import transformers
    import trl

    words = tokenizer()
    torch.manual_seed(0)
    model = transformers.LlamaForCausalLM(
        transformers.LlamaConfig(
            vocab_size=len(words),
            hidden_size=16,
            intermediate_size=32,
            num_hidden_layers=1,
            num_attention_heads=2,
            max_position_embeddings=4096,
            eos_token_id=words.eos_token_id,
            pad_token_id=words.pad_token_id,
        )
    )
    return trl.GRPOTrainer(
        model=model,
        args=trl.GRPOConfig(
            str(folder),
            per_device_train_batch_size=4,
            num_generations=2,
            max_steps=2,
            learning_rate=1e-2,
            beta=0.0,
            max_completion_length=8,
            logging_steps=1,
            save_strategy="no",
            report_to="none",
            use_cpu=True,
            bf16=False,
        ),
        train_dataset=datasets.Dataset.from_list(data),
        processing_class=words,
        **given,
    )


def short(completions: list[Any], **others: Any) -> list[float]:
    """Return a reward that a tiny model can earn: few letters beyond ASCII's first half."""
    return [float(sum(c < "n" for c in each[0]["content"])) for each in completions]


def test_steps_of_constant_size_train(tmp_path: Path) -> None:
    import torch

    kept: list[dict[str, Any]] = []
    rollout = StepwiseRollout(
        ENV, "arigraph", 50, max_steps=2, max_actions=4, max_tokens=8, on_rows=kept.extend
    )
    made = trainer(
        tmp_path, task_rows(ENV, limit=4), reward_funcs=[score_reward, short], rollout_func=rollout
    )
    before = made.model.lm_head.weight.detach().clone()
    made.train()
    logged = [entry for entry in made.state.log_history if "reward" in entry]
    assert len(logged) == 2
    assert not torch.equal(before, made.model.lm_head.weight)
    assert len(kept) == 2 * 4 * 2  # updates, episodes, steps
    assert all(tuple(row) == COLUMNS for row in kept)
    session = Session(ENV, "arigraph", 50)
    for row in kept:
        if row["t"] == 0:
            turn = session.reset(index=row["seed"])
            assert row["prompt"] == state_prompt(turn.obs, 4)
        assert 0 < len(row["logprobs"]) <= 8
        assert all(value <= 0 for value in row["logprobs"])
    with pytest.raises(InvalidArgumentError, match="name a task"):
        rollout([[{"role": "user", "content": "Hello"}]], made)
    rollout.close()


def test_the_trainer_takes_the_class_with_tools(tmp_path: Path) -> None:
    made = trainer(
        tmp_path,
        rows(ENV, limit=2),
        reward_funcs=[short],
        environment_factory=environment_factory(ENV, "history", 50, 4),
    )
    assert {tool.__name__ for tool in made.tools} == {"act", "valid_actions", "recall"}
    made.train()
    logged = [entry for entry in made.state.log_history if "reward" in entry]
    assert len(logged) == 2
    assert any("TextGame" in key for key in logged[0])

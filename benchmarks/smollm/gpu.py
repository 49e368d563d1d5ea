"""Fine-tune SmolLM2 on a GPU, one model a memory, and play them on a CPU.

    python -m benchmarks smollm/gpu collect               # here: labelled states as tokens
    python -m benchmarks smollm/gpu train --device cuda   # on the GPU: adapters, 10 MB each
    python -m benchmarks smollm/gpu play                  # here: unseen games

The planner plays the training games, half of the walks with a tenth of random actions, and
labels each state; the model sees the state with the memory of its arm. ``train`` needs no
environment. Memories of experience learn and play in streams of 15 games, five of them shown by the
walkthrough. ``gpu.jsonl`` has a row a training; ``agents/models.jsonl.gz`` the games of rl-2,
``clone.jsonl`` those of rl-4.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gym_memory.train.lm import Lm, LmLearner, LmSettings

HERE = Path(__file__).parent
TRAINED = HERE / "gpu.jsonl"
BUDGET = 150
GAMES = 100
STREAM, SHOWN = 15, 5
ON_CPU = 320
"""States of a training on a CPU, whose prompts are read once."""


class Arm(NamedTuple):
    """A model to train: its level, its memory, and the number of walks per game."""

    level: str
    memory: str
    walks: int

    @property
    def name(self) -> str:
        return f"{self.level}-{self.memory.partition('?')[0]}"

    @property
    def streamed(self) -> bool:
        return "?" in self.memory


RL2 = ("none", "summary", "arigraph", "memrl?inner=history", "workflows?inner=history")
ARMS = tuple(Arm("rl-2", memory, 6) for memory in RL2)
ARMS += tuple(Arm("rl-4", memory, 4) for memory in ("none", "summary", "arigraph"))
TOKENS = {"rl-2": 400, "rl-4": 520}


def settings(level: str) -> LmSettings:
    return LmSettings(
        method="lora", rank=16, tokens=TOKENS[level], batch=32, shown=1_000_000, kept=0, lr=1e-3
    )


# ---------------------------------------------------------------- collect


def collect(arm: Arm, path: Path, games: int) -> None:
    from gym_memory.train.steps import AdvisedObservation
    from gym_memory.wrappers.make import make_env

    learner = LmLearner(settings(arm.level))
    chance = random.Random(0)
    shown: list[tuple[list[int], list[int]]] = []

    def play(env: Any, game: int, noise: float, *, label: bool) -> None:
        obs, _ = env.reset(seed=game)
        done = False
        while not done:
            seen = learner.see(obs)
            if label and seen.label >= 0:
                shown.append((seen.prompt, seen.actions[seen.label]))
            advised = obs["advice"] and chance.random() >= noise
            action = obs["advice"] if advised else chance.choice(obs["valid_actions"])
            obs, _, terminated, truncated, _ = env.step(action)
            done = terminated or truncated

    def make() -> Any:
        env = make_env(
            "Cooking", memory=arm.memory, budget=BUDGET, level=arm.level, gata_actions=True,
            split="train", max_steps=25 if arm.level == "rl-4" else 12,
        )  # fmt: skip
        return AdvisedObservation(env)

    for walk in range(arm.walks):
        noise = 0.1 if walk % 2 else 0.0
        order = list(range(games))
        chance.shuffle(order)
        env = make()
        for place, game in enumerate(order):
            if arm.streamed and place and place % STREAM == 0:
                env.close()
                env = make()
            label = not arm.streamed or place % STREAM >= SHOWN
            play(env, game, noise if label else 0.0, label=label)
        env.close()
    prompts, answers = zip(*shown, strict=True)
    flat = {"prompts": prompts, "answers": answers}
    arrays = {name: np.concatenate(lists).astype(np.uint16) for name, lists in flat.items()}
    lengths = {f"{name}_lengths": [len(one) for one in lists] for name, lists in flat.items()}
    np.savez_compressed(path, **arrays, **lengths)
    tokens = np.mean(lengths["prompts_lengths"])
    print(f"{arm.name}: {len(shown)} states, {tokens:.0f} tokens a prompt", flush=True)


def read(path: Path) -> list[tuple[list[int], list[int]]]:
    with np.load(path) as data:
        parts = [
            [one.tolist() for one in np.split(data[name], np.cumsum(data[f"{name}_lengths"])[:-1])]
            for name in ("prompts", "answers")
        ]
    return list(zip(*parts, strict=True))


# ---------------------------------------------------------------- train


def train(
    arm: Arm, data: Path, out: Path, device: str, epochs: float, most: float, seed: int
) -> dict[str, Any]:
    import torch

    shown = read(data)
    random.Random(seed).shuffle(shown)
    player = how = settings(arm.level)
    if device == "cpu":
        shown = shown[:ON_CPU]
        player = how = dataclasses.replace(how, method="alora", rank=8, batch=4, kept=ON_CPU)
    else:  # half the memory to move; the adapters have 32 bits
        how = dataclasses.replace(how, model="smollm?dtype=bfloat16")
    learner = LmLearner(how, seed=seed, device=device)
    held_out, learner.shown = shown[: len(shown) // 20], shown[len(shown) // 20 :]
    batch = learner.settings.batch
    updates = round(epochs * len(learner.shown) / batch)
    started, losses = time.perf_counter(), []
    for update in range(updates):
        spent = time.perf_counter() - started
        left = 1 - max(update / updates, spent / most)
        if left <= 0:
            break
        rate = min(1.0, (update + 1) / 30) * left
        learner.optimizer.param_groups[0]["lr"] = learner.settings.lr * rate
        with torch.autocast(device, dtype=torch.bfloat16, enabled=device != "cpu"):
            logged = learner.update()
        losses.append(logged["clone_loss"])
        if update % 25 == 0:
            print(f"{arm.name}: {update} of {updates}, loss {losses[-1]:.3f}, {spent:.0f} s")
    seconds = time.perf_counter() - started
    learner.shown, agreed = held_out, 0
    if learner.frozen is not None:
        learner.frozen.kept.clear()  # the prompts that were trained on
    with torch.no_grad(), torch.autocast(device, dtype=torch.bfloat16, enabled=device != "cpu"):
        for start in range(0, len(held_out), batch):
            numbers = range(start, min(start + batch, len(held_out)))
            agreed += sum(
                bool((logits.argmax(1) == answer).all())
                for logits, answer in learner.logits(numbers)
            )
    learner.shown = []
    for parameter in learner.optimizer.param_groups[0]["params"]:
        parameter.data = parameter.data.half()
    learner.settings = player
    learner.save(out, {"env": f"Cooking?level={arm.level}", "memory": arm.memory})
    return {
        "level": arm.level, "memory": arm.memory, "seed": seed, "states": len(shown),
        "updates": learner.updates,
        "last_loss": round(float(np.mean(losses[-50:])), 4),
        "held_out_agreed": round(agreed / len(held_out), 3),
        "device": torch.cuda.get_device_name() if device != "cpu" else "cpu",
        "seconds": round(seconds),
    }  # fmt: skip


# ---------------------------------------------------------------- play


def play(arm: Arm, player: Path, games: int) -> None:
    import clone
    from keep import pack

    from gym_memory.core.names import Spec
    from gym_memory.run.compare import compare
    from gym_memory.run.config import RunConfig

    policy = Spec.of("lm", {"checkpoint": str(player)})
    made = json.loads(player.with_suffix(".json").read_text("utf-8"))
    where = "cpu" if made["device"] == "cpu" else "gpu"
    lines = TRAINED.read_text("utf-8").splitlines() if TRAINED.exists() else []
    if json.dumps(made) not in lines:
        TRAINED.write_text("\n".join([*lines, json.dumps(made)]) + "\n", "utf-8")
    if arm.level == "rl-2":
        env = "Cooking?level=rl-2&gata_actions=true&split=test&max_steps=10"
        protocol = f"stream?tasks={STREAM}&shown={SHOWN}"
        config = RunConfig((env,), (arm.memory,), (policy,), (0,), protocol, (BUDGET,))
        rows = compare(config, player.parent / "played" / arm.name, workers=1)
        kept = HERE.parent / "agents" / "models.jsonl.gz"
        pack(kept, f"models-{where}-{arm.name}", (row.to_json() for row in rows))
        return
    level = clone.LEVELS[arm.level]
    rows = [json.loads(line) for line in clone.PATH.read_text("utf-8").splitlines()]
    done = {(r["level"], r["memory"], r["game"]) for r in rows}
    learnt = Lm(str(player))
    for game in range(games):
        name = f"{arm.level}-gpu" + (f"-{made['seed']}" if made.get("seed") else "")
        if (key := (name, arm.memory, game)) not in done:
            row = dict(zip(("level", "memory", "game"), key, strict=True))
            row |= clone.play(level, arm.memory, learnt, game)
            with clone.PATH.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")


def chosen(names: list[str]) -> Iterator[Arm]:
    yield from (arm for arm in ARMS if not names or arm.name in names)


def main() -> None:
    parser = argparse.ArgumentParser(description="SmolLM2 fine-tuned on a GPU.")
    parser.add_argument("what", choices=("collect", "train", "play"))
    parser.add_argument("arms", nargs="*", help=f"default: {' '.join(arm.name for arm in ARMS)}")
    parser.add_argument("--folder", type=Path, default=Path("results/smollm-gpu"))
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--epochs", type=float, default=4.0)
    parser.add_argument("--seconds", type=float, default=3600.0, help="of a training, at most")
    parser.add_argument("--seed", type=int, default=0, help="of a training")
    parser.add_argument("--games", type=int, default=0, help="default: 100 to collect, 20 to play")
    options = parser.parse_args()
    folder = options.folder
    folder.mkdir(parents=True, exist_ok=True)
    for arm in chosen(options.arms):
        data, player = folder / f"{arm.name}.npz", folder / f"{arm.name}.safetensors"
        if options.what == "collect":
            collect(arm, data, options.games or GAMES)
        elif options.what == "train":
            how = options.device, options.epochs, options.seconds, options.seed
            made = train(arm, data, player, *how)
            print(json.dumps(made), flush=True)
            (folder / f"{arm.name}.json").write_text(json.dumps(made) + "\n", "utf-8")
        else:
            play(arm, player, options.games or 20)


if __name__ == "__main__":
    main()

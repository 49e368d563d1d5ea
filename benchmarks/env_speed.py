"""Measure our TextWorld environments against bare TextWorld with the same infos.

    python benchmarks/env_speed.py --episodes 40

prints all measured pairs and writes the table ``env_speed.md``. Both sides play the
same commands on the same compiled games, episode by episode in turn, in one process; times are CPU
seconds and include ``reset`` of a game that both have played before. Ours is
``gym.make(..., memory="none")``, with everything that its info holds (score, best score, success,
whether the command was carried out); bare is ``textworld.start`` with score, best score, won and
lost. A command script is the walkthrough mixed with random valid actions, cut at the step limit.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import textworld

import gym_memory  # noqa: F401 - registers the environments

TASKS = (
    ("Cooking", "rl-1"),
    ("Cooking", "rl-4"),
    ("Cooking", "medium"),
    ("Cooking", "hardest"),
    ("TreasureHunt", "hardest"),
    ("Cleaning", "standard"),
)
INFO_SETS: dict[str, dict[str, bool]] = {
    "feedback": {"valid_actions": False, "inventory": False},
    "feedback + valid actions": {"valid_actions": True, "inventory": False},
    "feedback + inventory": {"valid_actions": False, "inventory": True},
    "feedback + valid actions + inventory": {"valid_actions": True, "inventory": True},
}
GAMES = 4
"""Games a task; each is played again and again, as in training."""


def make_scripts(name: str, level: str, episodes: int) -> list[tuple[str, Path, list[str]]]:
    """Commands to play: (task id, compiled game, commands) for each episode."""
    env = gym.make(f"gym_memory/{name}-v0", level=level, split="train", memory="none")
    raw: Any = env.unwrapped
    scripts = []
    for episode in range(episodes):
        rng = random.Random(episode)
        obs, info = env.reset(seed=episode % GAMES)
        best = list(raw.oracle().walkthrough)
        commands: list[str] = []
        done = False
        while not done:
            follow = best and rng.random() < 0.5
            action = best.pop(0) if follow else rng.choice(obs["valid_actions"])
            commands.append(action)
            obs, _, terminated, truncated, _ = env.step(action)
            done = terminated or truncated
        scripts.append((info["task_id"], Path(raw._story(info["task_id"])), commands))
    env.close()
    return scripts


class Ours:
    """Our environment as the user makes it."""

    def __init__(self, name: str, level: str, infos: dict[str, bool]):
        self.env: Any = gym.make(
            f"gym_memory/{name}-v0", level=level, split="train", memory="none", **infos
        )

    def play(self, task_id: str, story: Path, commands: list[str]) -> list[str]:
        """Play an episode; returns what was read.

        What earlier episodes left of admissible commands is thrown away: training repeats states,
        but not whole episodes as this script does.
        """
        obs, _ = self.env.reset(options={"task_id": task_id})
        self.env.unwrapped.game.world.forget()
        seen = [obs["text"]]
        for command in commands:
            obs = self.env.step(command)[0]
            seen.append(obs["text"])
        return seen


class Bare:
    """TextWorld's own environments, one a game, made beforehand."""

    def __init__(self, infos: dict[str, bool]):
        self.infos = textworld.EnvInfos(
            feedback=True,
            score=True,
            max_score=True,
            won=True,
            lost=True,
            admissible_commands=infos["valid_actions"],
            inventory=infos["inventory"],
        )
        self.envs: dict[Path, Any] = {}

    def play(self, task_id: str, story: Path, commands: list[str]) -> list[str]:
        """Play an episode; returns what was read."""
        if story not in self.envs:
            self.envs[story] = textworld.start(str(story), self.infos)
        env = self.envs[story]
        state = env.reset()
        seen = [state.feedback]
        for command in commands:
            state = env.step(command)[0]
            seen.append(state.feedback)
        return seen


def timed(side: Any, script: tuple[str, Path, list[str]]) -> float:
    """CPU seconds of an episode."""
    started = time.process_time()
    side.play(*script)
    return time.process_time() - started


def measure(name: str, level: str, infos: dict[str, bool], scripts: list[Any]) -> dict[str, Any]:
    """Play all scripts on both sides in turn."""
    ours, bare = Ours(name, level, infos), Bare(infos)
    for script in scripts[:GAMES]:  # both sides load every game before the clock starts
        ours.play(*script)
        bare.play(*script)
    pairs = []
    for i, script in enumerate(scripts):
        if i % 2:
            t_bare, t_ours = timed(bare, script), timed(ours, script)
        else:
            t_ours, t_bare = timed(ours, script), timed(bare, script)
        pairs.append((len(script[2]), t_ours, t_bare))
    steps, ours_s, bare_s = (np.array(column, dtype=float) for column in zip(*pairs, strict=True))
    rng = np.random.default_rng(0)
    picks = rng.integers(0, len(pairs), (2000, len(pairs)))
    ratios = bare_s[picks].sum(1) / ours_s[picks].sum(1)
    low, high = np.percentile(ratios, [2.5, 97.5])
    return {
        "environment": name,
        "level": level,
        "episodes": len(pairs),
        "steps": int(steps.sum()),
        "ours_steps_per_cpu_s": round(float(steps.sum() / ours_s.sum()), 1),
        "bare_steps_per_cpu_s": round(float(steps.sum() / bare_s.sum()), 1),
        "ratio": round(float(bare_s.sum() / ours_s.sum()), 3),
        "ratio_ci95": [round(float(low), 3), round(float(high), 3)],
    }


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--episodes", type=int, default=40)
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".md"))
    parser.add_argument("--task", action="append", help="Name/level; default: all")
    options = parser.parse_args()
    tasks = [tuple(t.split("/")) for t in options.task] if options.task else TASKS
    rows = []
    for name, level in tasks:
        scripts = make_scripts(name, level, options.episodes)
        for label, infos in INFO_SETS.items():
            rows.append({"infos": label, **measure(name, level, infos, scripts)})
            print(json.dumps(rows[-1]), flush=True)
    options.out.write_text(table(rows))


def table(rows: list[dict[str, Any]]) -> str:
    """The rows as Markdown."""
    lines = [
        'Steps a CPU second, ours (`memory="none"`) against bare `textworld.start`; ratio with a '
        "95 % bootstrap interval over episodes. Made by `benchmarks/env_speed.py`.",
        "",
        "| environment | infos | ours | bare | ratio | 95 % |",
        "|---|---|---:|---:|---:|---|",
    ]
    for r in rows:
        low, high = r["ratio_ci95"]
        lines.append(
            f"| {r['environment']} {r['level']} | {r['infos']} | {r['ours_steps_per_cpu_s']} | "
            f"{r['bare_steps_per_cpu_s']} | {r['ratio']} | {low} to {high} |"
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()

"""Switch off one part of the imitator at a time and play dev variations again.

    python -m benchmarks scienceworld/ablate

Episodes are recorded with every part. Their observations are then given to the imitator without a
part: only an episode with an action that differs is played again, any other keeps its score. A
wrong focus counts as 0.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple
from unittest.mock import patch

from gym_memory.baselines.base import Policy, make_policy
from gym_memory.baselines.rules.scienceworld import demonstrations, guide, phrases, scene, turn
from gym_memory.run import rollout
from gym_memory.run.jobs import Job

RECORDED = Path(__file__).parent / "learner/demonstrations.jsonl.gz"
ENV = "ScienceWorld?split=dev&max_steps=150&valid_actions=false"
PARTS: dict[str, tuple[Any, str, Callable[..., Any]]] = {
    "series": (turn.Decision, "series", lambda self: (self.aim,) if self.aim else ()),
    "object": (phrases, "_object", lambda tokens, start, end: start),
    "settled": (scene, "_settled", lambda reported: [one for one in reported if one[0].verb]),
    "liked": (turn.Sight, "_liked", lambda self, phrase: ""),
    "trait": (guide, "_is_as_shown", lambda goal, guide, scene: True),
    "room holding": (scene, "_room_holding", lambda holder, facts, here: holder),
    "as empty": (turn.Sight, "_as_empty", lambda self, phrase, act: ""),
    "now called": (turn.Sight, "now_called", lambda self, phrase: phrase),
    "poured": (turn.Sight, "poured", lambda self, act: act),
    "changed": (turn.Sight, "_changed", lambda self, core, things: ""),
    "content": (turn.Sight, "_content", lambda self, phrase, things: phrase),
    "focused": (turn.Sight, "_focused", lambda self, held: held),
    "focus first": (turn.Decision, "_focus_first", lambda self, number: number),
    "needless": (turn.Decision, "_needless", lambda self, number: False),
    "put room": (turn.Decision, "_put_room", lambda self, room: room),
    "elsewhere": (guide, "_is_elsewhere", lambda holder, content, scene: False),
    "looks": (guide, "_looks_so", lambda how, shown, number, scene, goal: 0.0),
    "timed": (guide, "_timed", lambda act, goal, guide, scene: act),
}
"""Part to what replaces it."""


class Watched(Policy):
    """Note what a policy sees and does."""

    def __init__(self, policy: Policy):
        self.policy, self.seen, self.actions = policy, [], []

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:
        self.policy.reset(info, seed)

    def act(self, obs: Any, info: dict[str, Any]) -> str:
        action = self.policy.act(obs, info)
        self.focus = self.policy.focus
        self.seen.append((obs, info))
        self.actions.append(action)
        return action


class Played(NamedTuple):
    """An episode: its score in [0, 1], its observations and its actions."""

    seed: int
    task: str
    score: float
    seen: list[Any]
    actions: list[str]


def play(env: Any, seed: int) -> Played:
    """Play an episode."""
    policy = Watched(make_policy(f"imitator?checkpoint={RECORDED}"))
    result = rollout(env, policy, seed)
    score = max(0.0, result.score) / 100
    return Played(seed, result.task_id, score, policy.seen, policy.actions)


def is_same(played: Played) -> bool:
    """True if the imitator, as it is now, does the same on the recorded observations."""
    policy = make_policy(f"imitator?checkpoint={RECORDED}")
    policy.reset({}, played.seed)
    return all(
        policy.act(obs, info) == action
        for (obs, info), action in zip(played.seen, played.actions, strict=True)
    )


@contextmanager
def without(part: str) -> Iterator[None]:
    """Switch a part off."""
    owner, name, instead = PARTS[part]
    caches = [
        found.cache_clear
        for module in (demonstrations, guide, phrases, scene, turn)
        for found in vars(module).values()
        if hasattr(found, "cache_clear")
    ]
    with ExitStack() as stack:
        stack.enter_context(patch.object(owner, name, instead))
        for clear in caches:
            clear()
            stack.callback(clear)
        yield


def main() -> None:
    """Play all and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--memory", action="append", help="as often as wanted")
    parser.add_argument("--task", help="the only one")
    parser.add_argument("--seeds", default="0:90", help="30 tasks by turns: FIRST:END")
    parser.add_argument("--part", action="append", choices=PARTS, help="all if not given")
    args = parser.parse_args()
    first, end = map(int, args.seeds.split(":"))
    print("| memory | part | episodes | differ | better | worse | change of the mean |")
    print("|---|---|--:|--:|--:|--:|--:|")
    for memory in args.memory or ["arigraph", "history"]:
        spec = f"{ENV}&task={args.task}" if args.task else ENV
        env = Job(spec, memory, "imitator", 0).make_env()
        whole = [play(env, seed) for seed in range(first, end)]
        n = len(whole)
        print(f"| {memory} | all: {100 * fmean(p.score for p in whole):.1f} | {n} | | | | |")
        for part in args.part or PARTS:
            with without(part):
                other = [p for p in whole if not is_same(p)]
                gaps = {p.task: 100 * (play(env, p.seed).score - p.score) for p in other}
            up, down = (sum(sign * gap > 0 for gap in gaps.values()) for sign in (1, -1))
            mean = sum(gaps.values()) / n
            print(f"| | {part} | {n} | {len(gaps)} | {up} | {down} | {mean:+.2f} |", flush=True)
            print(*(f"{t} {g:+.0f}" for t, g in gaps.items() if g), file=sys.stderr)
        env.close()


if __name__ == "__main__":
    main()

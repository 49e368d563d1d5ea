"""Switch off one part of a rule-based player at a time and play again.

    python -m benchmarks ablate imitator
    python -m benchmarks ablate tidier --stories ../games

Episodes are recorded with every part. Their observations are then given to the player without a
part. Only an episode with a different action is played again; all others keep their score.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from types import ModuleType
from typing import Any, NamedTuple
from unittest.mock import patch

from gym_memory.baselines.base import Policy, make_policy
from gym_memory.baselines.rules.scienceworld import demonstrations, guide, phrases, scene, turn
from gym_memory.baselines.rules.textworld import places, tidying
from gym_memory.run import rollout
from gym_memory.run.config import Job

Parts = dict[str, tuple[Any, str, Any]]
"""Part to its module or class, its public name there, and its replacement."""


class Player(NamedTuple):
    """A policy, the games it plays, the modules whose caches know its parts, and the parts."""

    policy: str
    envs: tuple[str, ...]
    modules: tuple[ModuleType, ...]
    parts: Parts


def _always(value: Any) -> Callable[..., Any]:
    return lambda *args: value


def _weight(**changes: float) -> tuple[ModuleType, str, places.PlaceWeights]:
    return places, "WEIGHTS", replace(places.WEIGHTS, **changes)


PLAYERS = {
    "imitator": Player(
        "imitator?checkpoint=shipped",
        ("ScienceWorld?split=dev&max_steps=150&valid_actions=false",),
        (demonstrations, guide, phrases, scene, turn),
        {
            "series": (
                turn.ScienceDecision,
                "round_of_aim",
                lambda self: (self.aim,) * bool(self.aim),
            ),
            "object": (phrases, "start_of_object", lambda tokens, start, end: start),
            "settled": (scene, "merge_choices", lambda seen: [one for one in seen if one[0].verb]),
            "liked": (turn.Sight, "likeliest_focus", _always("")),
            "trait": (guide, "trait_agrees", _always(True)),
            "room holding": (scene, "room_holding", lambda holder, facts, here: holder),
            "as empty": (turn.Sight, "empty_vessel", _always("")),
            "focused": (turn.Sight, "focused_name", lambda self, held: held),
            "focus first": (
                turn.ScienceDecision,
                "first_missed_focus",
                lambda self, number: number,
            ),
            "needless": (turn.ScienceDecision, "is_needless", _always(False)),
            "put room": (turn.ScienceDecision, "own_room", lambda self, room: room),
            "elsewhere": (guide, "is_out_of_place", _always(False)),
            "looks": (guide, "look_likeness", _always(0.0)),
            "timed": (guide, "decide_by_time", lambda act, goal, guide, scene: act),
        },
    ),
    "tidier": Player(
        "planner",
        ("Cleaning?split=train", "Cleaning?level=voices-house&split=train"),
        (places, tidying),
        {
            "number of things": (tidying, "count_in_task", _always(None)),
            "large houses": (tidying, "is_large", _always(False)),
            "what nothing takes": (tidying, "is_fixed", _always(False)),
            "worth taking": (tidying, "is_worth_taking", _always(True)),
            "worth searching": (tidying, "is_worth_searching", _always(False)),
            "messages": (tidying, "is_message", _always(False)),
            "distance": (tidying, "rooms_apart", _always(0)),
            "several at once": (tidying, "MAX_PLANNED", 1),
            "near the best": (tidying, "MIN_RATIO", 1.0),
            "surely after a loss": (tidying, "MIN_RATIO_AT_RISK", 0.0),
            "perhaps right before": (tidying, "PRIOR_SHARE", 0.0001),
            "kinds": _weight(furniture_kinds=0.0),
            "room of the furniture": _weight(furniture_room=0.0),
            "company": _weight(furniture_things=0.0),
            "like everything": _weight(everyday=0.0),
            "room's name of a kind": _weight(listed_room=0.0),
            "name of the room": _weight(room_name=0.0),
            "furniture of the room": _weight(room_furniture=0.0),
            "nearest in the room": _weight(room_nearest=0.0),
            "all in the room": _weight(room_things=0.0),
            "kinds of the room": _weight(room_kinds=0.0),
            "rounds": _weight(rounds=1),
            "margin": _weight(margin=0.0),
        },
    ),
}


class Watched(Policy):
    """Record the observations and actions of a policy."""

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

    env: Any
    task: str
    seed: int
    score: float
    seen: list[Any]
    actions: list[str]


def play(player: Player, env: Any, seed: int) -> Played:
    """Play an episode."""
    policy = Watched(make_policy(player.policy))
    result = rollout(env, policy, seed)
    score = max(0.0, result.value)
    return Played(env, result.task_id, seed, score, policy.seen, policy.actions)


def is_same(player: Player, played: Played) -> bool:
    """True if the present player takes the same actions on the recorded observations."""
    policy = make_policy(player.policy)
    policy.reset({}, played.seed)
    return all(
        policy.act(obs, info) == action
        for (obs, info), action in zip(played.seen, played.actions, strict=True)
    )


@contextmanager
def without(player: Player, part: str) -> Iterator[None]:
    """Switch a part off."""
    caches = [
        found.cache_clear
        for module in player.modules
        for found in vars(module).values()
        if hasattr(found, "cache_clear")
    ]
    with ExitStack() as stack:
        stack.enter_context(patch.object(*player.parts[part]))
        for clear in caches:
            clear()
            stack.callback(clear)
        yield


def main() -> None:
    """Play all and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("player", choices=PLAYERS)
    parser.add_argument("--memory", action="append", help="as often as wanted")
    parser.add_argument("--more", default="", help="added to the environments: task=boil")
    parser.add_argument("--seeds", default="0:90", help="FIRST:END")
    parser.add_argument("--stories", type=Path, help="folder of .z8 games to play too")
    parser.add_argument("--part", action="append", help="all if not given")
    args = parser.parse_args()
    player = PLAYERS[args.player]
    stories = sorted(args.stories.rglob("*.z8")) if args.stories else []
    games = [(f"{env}&{args.more}".rstrip("&"), seed) for env in player.envs
             for seed in range(*map(int, args.seeds.split(":")))]  # fmt: skip
    games += [(f"TextWorld?path={story}&max_steps=50", 0) for story in stories]
    print("| memory | part | episodes | differ | better | worse | change of the mean |")
    print("|---|---|--:|--:|--:|--:|--:|")
    for memory in args.memory or ["arigraph", "history"]:
        envs = {spec: Job(spec, memory, player.policy, 0).make_env() for spec, _ in games}
        whole = [play(player, envs[spec], seed) for spec, seed in games]
        n = len(whole)
        print(f"| {memory} | all: {100 * fmean(p.score for p in whole):.1f} | {n} | | | | |")
        for part in args.part or player.parts:
            with without(player, part):
                other = [p for p in whole if not is_same(player, p)]
                again = [play(player, p.env, p.seed).score for p in other]
            gaps = [100 * (score - p.score) for p, score in zip(other, again, strict=True)]
            up, down = (sum(sign * gap > 0 for gap in gaps) for sign in (1, -1))
            mean = sum(gaps) / n
            print(f"| | {part} | {n} | {len(gaps)} | {up} | {down} | {mean:+.2f} |", flush=True)
            found = zip(other, gaps, strict=True)
            print(*(f"{p.task} {gap:+.0f}" for p, gap in found if gap), file=sys.stderr)
        for env in envs.values():
            env.close()


if __name__ == "__main__":
    main()
